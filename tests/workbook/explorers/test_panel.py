"""The what-if panel: set by code or by messages of its control, copied, pasted, opened from a chapter, on paper."""

from __future__ import annotations

import json
import random
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from desk_kit import HOSTILE, case, desk

import workbook as wb
from labsim.errors import CaseError
from labsim.reading.reading import parse_case
from workbook.explorers.input import NoSuchControl, NoSuchWord
from workbook.explorers.panel import Explorer, NotACase
from workbook.explorers.state import SPACE, START, Answers, PanelState, Tiers
from workbook.learner.who import Learner
from workbook.ledgers.played import NotPlayed
from workbook.ledgers.withheld import Withheld


def fields(panel: Explorer) -> dict[str, dict[str, Any]]:
    """The controls as the front end is told of them, by name."""
    return {field["name"]: field for group in panel.told()["groups"] for field in group["fields"]}


def set_to(panel: Explorer, control: str, word: str) -> None:
    """As the front end does."""
    panel.receive({"type": "set", "control": control, "word": word, "view": "a", "n": 1})


# ----------------------------------------------------------------------------------------------------- set by code


def test_a_panel_starts_with_one_call_that_a_person_approves():
    """The first state is a case that shows a dialog and an effect."""
    panel = Explorer()

    assert (
        panel.status == "Decision: prompt, by the mode (approval/R9). 1 dialog opens. Outcome: return; effects 1."
    )
    assert json.loads(panel.json) == {
        "id": "what-if",
        "scenario": "wrapper",
        "given": {
            "approval": "exec",
            "args": {"action": "publish"},
            "mode": "always-ask",
            "choices": ["Approve"],
        },
    }


def test_code_sets_what_the_controls_set():
    """`set` takes the controls' words and what cases say, and gives the panel back: a cell can end in it."""
    panel = Explorer().set(
        mode="yolo", tier="exec", ui="rpc", answers=[None, "Deny", {"disconnect": "client went away"}]
    )

    assert panel.state == PanelState(
        mode=SPACE["mode"]("yolo"),  # type: ignore[operator]  # an enum, called with a word
        ui=SPACE["ui"]("rpc"),  # type: ignore[operator]
        answers=(Answers.DISMISSED, Answers.DENY, Answers.DISCONNECTS),
    )
    assert panel.case.given.mode == "yolo"
    same = Explorer()
    for control, word in (("mode", "yolo"), ("ui", "rpc"), ("answers.2", "disconnects"), ("answers.1", "deny")):
        set_to(same, control, word)
    set_to(same, "answers.0", "dismissed")
    assert same.state == panel.state


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        ({"moode": "yolo"}, NoSuchControl, "The panel has no control 'moode'. Use one of: tier, policy"),
        ({"mode": "yollo"}, NoSuchWord, "mode: 'yollo' is not allowed here. Use one of: always-ask, write, yolo"),
        ({"repeat": True}, NoSuchWord, "repeat: True is not allowed here. Use one of: 1, 2, 3, 4, 5."),
        ({"answers": ["Aprove"]}, NoSuchWord, "answers: 'Aprove' is not allowed here. Use one of: approve, deny"),
        ({"repeat": 0}, NotACase, "0 calls cannot be made here. Use 1 to 5."),
        ({"ui": False}, NotACase, "Nobody is there, so nobody can answer. Take the answers away"),
        (
            {"tier": None, "policy": "deny"},
            NotACase,
            "A tool that declares nothing has no policy, override or reason",
        ),
        ({"tier": "by-input", "override": True}, NotACase, "A rule that looks at the input says itself"),
        ({"answers": [{"disconnect": "client went away"}]}, NotACase, "Only an RPC client can disconnect"),
        ({"ui": "rpc", "answers": [{"throw": "the dialog broke"}]}, NotACase, "An RPC client cannot make a dialog"),
        ({"answers": [None] * 13}, NotACase, "There are 13 answers. Give 12 at most."),
    ],
)
def test_what_cannot_be_set_is_said_in_words_and_changes_nothing(
    words: dict[str, Any], error: type[Exception], says: str
):
    """Where, what was found, what would do; the panel stays a case."""
    panel = Explorer()

    with pytest.raises(error, match="^" + says.replace(".", r"\.").replace("(", r"\(")):
        panel.set(**words)

    assert panel.state == START


# ------------------------------------------------------------------------------------------- set by its control


def test_contradicting_controls_stay_as_they_are_and_one_press_puts_them_right():
    """A control is never moved by the panel; nothing is played meanwhile, and the last case stays the panel's."""
    panel = Explorer()
    set_to(panel, "ui", "none")
    told = panel.told()

    assert told["status"] == (
        "No case, so nothing is played. Nobody is there, so nobody can answer. "
        "Take the answers away, or have somebody there."
    )
    assert told["problems"] == [{"button": "Take the answers away", "control": "ui"}]
    assert (told["above"], told["below"], told["picture"], told["case"], told["remarks"]) == ([], [], {}, "", [])
    assert {name for name, field in fields(panel).items() if field["wrong"]} == {"ui", "answers.0"}
    assert (fields(panel)["ui"]["value"], panel.state.ui) == ("none", "yes")

    panel.receive({"type": "fix", "problem": 0})
    panel.receive({"type": "fix", "problem": 0})  # a double click

    assert (
        panel.status == "Decision: prompt, by the mode (approval/R9). No dialog opens. Outcome: throw; effects 0."
    )
    assert (panel.state.ui, panel.state.answers, panel.problems) == ("none", (), ())


def test_there_is_a_control_for_each_dialog_that_opens_and_each_answer_given():
    """Their labels say whose dialog it is, or that there is none; a list of answers has no gaps."""
    panel = Explorer().set(handler="asks", repeat=2, answers=[True])
    assert [field["label"] for name, field in fields(panel).items() if name.startswith("answers")] == [
        "Answer to dialog 1 (call-1, a handler's question)",
        "Answer to dialog 2 (call-1, approval)",
        "Answer to dialog 3 (call-2, a handler's question)",
    ]
    assert panel.told()["remarks"] == [
        "The list of answers ends before the dialogs do: the last 2 dialogs have no answer, as if dismissed."
    ]

    set_to(panel, "answers.2", "confirmed")
    assert panel.state.answers == (Answers.CONFIRMED, Answers.DISMISSED, Answers.CONFIRMED)
    set_to(panel, "answers.2", "unanswered")
    assert panel.state.answers == (Answers.CONFIRMED, Answers.DISMISSED)

    panel.set(mode="yolo", handler="none", repeat=1, answers=["Deny"])
    assert fields(panel)["answers.0"]["label"] == "Answer 1, whose dialog never opens"
    assert panel.told()["remarks"] == ["Answer 1 (Deny): never used, since no dialog opens."]


def test_odd_values_are_remarked_on():
    """What a host takes in silence is said aloud, and that a teaching case has to excuse it."""
    panel = Explorer().set(mode="misspelt", user="misspelt", auto_approve="yes", tier=None, answers=[])

    remarks = panel.told()["remarks"]
    assert [remark.partition(",")[0] for remark in remarks] == [
        '"allways-ask" is no mode',
        '"denied" is no policy',
        'Auto-approve counts only if it is exactly true; the text "yes" changes nothing. A teaching case has to '
        "say that this is meant; the copy does",
        "A tool that declares nothing counts as exec.",
    ]
    assert panel.case.unusual == ["given.mode", "given.userPolicies.seed_note", "given.autoApprove"]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "set", "control": "mode", "word": "yollo", "view": "a", "n": 1},
        {"type": "set", "control": "moode", "word": "yolo", "view": "a", "n": 1},
        {"type": "set", "control": "answers.99", "word": "approve", "view": "a", "n": 1},
        {"type": "set", "control": "answers.x", "word": "approve", "view": "a", "n": 1},
        {"type": "set", "control": "repeat", "word": "1e3", "view": "a", "n": 1},
        {"type": "set", "control": "mode"},
        {"type": "fix", "problem": 3},
        {"type": "paste", "text": "{}"},
        {"type": "nothing of the kind"},
        7,
    ],
)
def test_no_message_of_a_broken_front_end_does_any_harm(message: object):
    """Whatever it sends, the state stays, and nothing is raised."""
    panel = Explorer()
    panel.receive(message)

    assert (panel.state, panel.problems) == (START, ())


def test_a_change_comes_back_with_its_number():
    """So that a view can tell an answer to its last change from one to the change before."""
    panel = Explorer()
    panel.receive({"type": "set", "control": "mode", "word": "yolo", "view": "v-1", "n": 7})

    assert panel.told()["seen"] == ["v-1", 7]


def test_starting_again_leads_back_to_what_was_opened():
    """To the panel's own start, or to the case that was opened last."""
    panel = Explorer().set(mode="yolo")
    panel.receive({"type": "restart"})
    assert panel.state == START

    panel.paste('{"id": "mine", "scenario": "wrapper", "given": {"approval": "read", "mode": "yolo"}}')
    panel.set(tier="exec")
    panel.receive({"type": "restart"})
    assert (panel.state.tier, panel.case.id) == (Tiers.READ, "mine")


def test_one_change_takes_less_than_twenty_milliseconds():
    """Live: from the message to everything that the control is told, each time a case that was not played before.

    Processor time, so that a busy machine does not count.
    """
    chance = random.Random(7)
    panel = Explorer()
    panel.told()  # pandas is imported once
    changes, begun = 0, time.process_time()
    while changes < 60:
        name = chance.choice([name for name in SPACE if name != "answers"])
        set_to(panel, name, str(chance.choice(list(SPACE[name]))))
        panel.told()
        if panel.problems:
            panel.receive({"type": "fix", "problem": 0})
        changes += 1

    assert (time.process_time() - begun) / changes < 0.020


# ----------------------------------------------------------------------------------------------- copied and pasted


def test_parts_without_a_control_are_kept_and_named():
    """A case that says more is still a case: it goes out as it came in, until a control is set otherwise."""
    given = {
        "approval": {"tier": "write", "policyKey": "catalogue"},
        "args": {"action": "publish", "shelf": 4},
        "mode": "yollo",
        "userPolicies": {"catalogue": "prompt"},
        "sessionId": "s-1",
        "choices": ["Approve"],
        "repeat": 9,
        "executor": "error-result",
    }
    raw = {
        "id": "mine",
        "scenario": "wrapper",
        "given": given,
        "unusual": ["given.mode"],
        "why": "Because.",
        "expected": {"prompts": 9},
    }
    panel = Explorer().paste(json.dumps(raw))

    copied = json.loads(panel.json)
    assert copied == {key: raw[key] for key in ("id", "scenario", "given", "unusual")}
    assert panel.told()["remarks"][-3:] == [
        "Kept as they are, without a control: sessionId, executor.",
        "Kept as in the opened case, since no option says it: Tier, Action in its input, Mode, "
        "User's policy for the tool, How often it is made.",
        "Not taken over: expected, why. They are about the opened case, and need not hold once something is "
        "changed.",
    ]
    assert fields(panel)["tier"]["options"][0] == {
        "word": "as-opened",
        "text": 'as in the opened case: {"tier":"write","policyKey":"catalogue"}',
    }
    assert fields(panel)["repeat"]["value"] == "9"

    panel.set(mode="write", repeat=2)
    changed = json.loads(panel.json)
    assert changed == {
        "id": "mine-what-if",
        "scenario": "wrapper",
        "given": {**given, "mode": "write", "repeat": 2},
    }
    assert json.loads(Explorer().paste(panel.json).set(ui="rpc").json)["id"] == "mine-what-if"
    panel.set(mode="as-opened", repeat=9)
    assert json.loads(panel.json) == copied


def test_a_kept_part_cannot_be_mixed_with_controls_of_its_own():
    """A declaration is kept as a whole, and so are handlers."""
    panel = Explorer().paste(
        '{"id": "mine", "scenario": "wrapper", "given": {"approval": {"fn": "from-args"}, '
        '"args": {"approval": "read"}, "mode": "write", "handlers": [{"waits": 5}], '
        '"choices": [{"throw": "gone"}]}}'
    )

    with pytest.raises(NotACase, match="The declaration is that of the opened case, all of it"):
        panel.set(policy="deny")
    with pytest.raises(NotACase, match="The handlers are those of the opened case, all of them"):
        panel.set(second_handler="blocks")
    with pytest.raises(NotACase, match=r"^given\.choices\[0\]: an RPC client cannot make a dialog throw\. "):
        panel.set(ui="rpc")
    with pytest.raises(NotACase, match="Nobody is there, so nobody can answer"):
        panel.set(ui=False)
    assert panel.report().observed["effects"] == 1


def test_a_reason_of_the_cases_own_is_what_the_switch_stands_for():
    """So that the other parts of a declaration can still be turned one by one."""
    said = {"tier": "write", "override": True, "reason": "A bed is cleared for good."}
    panel = wb.explorer({"id": "mine", "scenario": "wrapper", "given": {"approval": said, "mode": "write"}})

    assert fields(panel)["reason"]["options"][1]["text"] == "yes: A bed is cleared for good."
    assert json.loads(panel.set(override=False).json)["given"]["approval"] == {
        "tier": "write",
        "reason": "A bed is cleared for good.",
    }


def test_a_longer_spelling_of_a_handler_is_the_same_handler():
    """`revise` at the top of a case is a first handler."""
    panel = Explorer().paste(
        '{"id": "mine", "scenario": "wrapper", '
        '"given": {"approval": "exec", "mode": "yolo", "revise": {"action": "inspect"}}}'
    )

    assert panel.state.handler == "revises-to-inspect"
    assert json.loads(panel.json)["given"]["handlers"] == [{"revise": {"action": "inspect"}}]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the pasted case: there is no text. Paste one case"),
        ("boundary-approve", "the pasted case: line 1"),
        ("[1, 2]", "the pasted case: a case is a JSON object, and this is a list"),
        ('{"id": "a", "id": "b"}', "the pasted case"),
        (
            '{"id": "a", "scenario": "wrapper", "given": {"mode": "yollo"}}',
            "the pasted case.given.mode: 'yollo' is not",
        ),
        (
            '{"id": "a", "scenario": "wrapper", "given": {"modee": "yolo"}}',
            "the pasted case: given: the key 'modee' is not",
        ),
        (
            '{"id": "a", "scenario": "wrapper", "given": {"repeat": 0}}',
            "the pasted case.given.repeat: 0 is out of range",
        ),
        (
            '{"id": "a", "scenario": "wrapper", "given": {"ui": false, "choices": ["Deny"]}}',
            "the pasted case.given.choices: there is no UI",
        ),
        (
            '{"id": "a", "scenario": "resolve", "given": {}}',
            "the pasted case.scenario: 'resolve' cases have no controls here",
        ),
        ('{"schemaVersion": 1, "id": "a", "cases": []}', "the pasted case: this is a file of cases. Paste one of"),
        ("x" * 20_001, "the pasted case: the text has 20,001 characters"),
        ('{"id": "\ud800"}', "the pasted case"),
    ],
)
def test_a_text_that_is_no_case_is_refused_with_its_place(text: str, says: str):
    """Strictly, in words, and the panel stays as it was; by its control the words are in the field's place too."""
    panel = Explorer().set(mode="write")
    with pytest.raises(CaseError) as refused:
        panel.paste(text)
    assert str(refused.value).startswith(says)

    panel.receive({"type": "paste", "text": text})
    told = panel.told()
    assert told["paste_problem"].startswith(says)
    assert told["status"].startswith(f"Not opened: {told['paste_problem']}")
    assert (panel.state.mode, told["pastes"]) == ("write", 0)


def test_pasting_by_the_control_announces_what_was_opened():
    """The front end shuts the field when the count of opened cases goes up."""
    panel = Explorer()
    panel.receive({"type": "paste", "text": Explorer().set(mode="yolo").json})

    told = panel.told()
    assert (told["pastes"], told["paste_problem"], panel.state.mode) == (1, "", "yolo")
    assert told["status"].startswith("Opened what-if. Decision: allow, by the mode (approval/R4b).")


# ------------------------------------------------------------------------------------------- opened from a chapter


def test_a_case_is_opened_from_whatever_has_one(tmp_path: Path):
    """A played case, a live one, a case, its JSON; a panel is a played case in turn."""
    chapter = desk(tmp_path)
    raw = {"id": "mine", "scenario": "wrapper", "given": {"approval": "read", "mode": "yolo"}}

    assert wb.explorer(chapter.play("denied")).case.id == "denied"
    assert wb.explorer(chapter.live("once")).case.id == "once"
    assert wb.explorer(case("by-pipe")).state.ui == "rpc"
    assert wb.explorer(raw).json == wb.explorer(json.dumps(raw)).json
    assert wb.explorer(parse_case(raw, "mine")).state.tier == "read"
    panel = wb.explorer(mode="yolo")
    assert wb.explorer(panel).state.mode == "yolo"
    assert wb.lifecycle(panel).event.tolist()[-1] == "returned"


def test_a_withheld_case_stays_withheld(tmp_path: Path):
    """Design decision 3: a panel must not show what a checkpoint still asks; once it is answered, it opens."""
    chapter = desk(tmp_path)

    held = wb.explorer(chapter.play("twice"), mode="yolo")
    assert isinstance(held, Withheld)
    assert held.checkpoints == ("again",)

    chapter.predict("again").commit("two")
    opened = wb.explorer(chapter.play("twice"))
    assert isinstance(opened, Explorer)
    assert "must not tell" not in str(opened.page()) + opened.json
    assert "Not taken over: title, expected, why." in str(opened.page())


@pytest.mark.parametrize("found", [7, ["both"], wb])
def test_what_has_no_case_is_refused(found: object):
    """And the error says what would do."""
    with pytest.raises(NotPlayed, match="A played case is needed here"):
        wb.explorer(found)  # type: ignore[arg-type]


def test_a_case_of_another_scenario_is_refused_with_a_way_out():
    """The panel has no controls for it, and does not pretend to."""
    with pytest.raises(CaseError) as refused:
        wb.explorer(case("sorted"))

    assert str(refused.value) == (
        "sorted.scenario: 'classify-error' cases have no controls here. "
        'Open one of scenario "wrapper"; desk.play(…) plays the others.'
    )


# --------------------------------------------------------------------------------------------------------- on paper


def test_on_paper_a_panel_is_its_state_and_everything_that_follows(monkeypatch: pytest.MonkeyPatch):
    """Places without widgets, and the scripted learner, get text and HTML, and no view."""
    monkeypatch.setenv("CEDAR_LEARNER", Learner.SCRIPTED)
    panel = wb.explorer().set(mode="write", user="prompt", handler="revises-to-inspect", answers=["Deny"])
    bundle = panel._repr_mimebundle_()

    assert set(bundle) == {"text/plain", "text/html"}
    text = bundle["text/plain"]
    for part in (
        "User's policy for the tool  prompt",
        "1. Deny",
        "Decision: prompt, by the user's settings (approval/R7). 1 dialog opens.",
        "The user's policy comes before the mode.",
        "call-1: a prompt is required: the policy is prompt.",
        "Tool call denied by user: seed_note",
        'Input: {"action":"inspect"}',
        "- [Approve]",
    ):
        assert part in text, part
    assert panel._repr_mimebundle_() == Explorer(panel.state, learner=Learner.SCRIPTED)._repr_mimebundle_()


def test_hostile_text_of_an_opened_case_is_text_everywhere():
    """Markup is escaped on paper, control characters are visible in all that the control is told."""
    given = {"args": {"action": HOSTILE}, "tool": HOSTILE, "handlers": [{"returns": {}, "ext": HOSTILE}]}
    panel = Explorer().paste(json.dumps({"id": "mine", "scenario": "wrapper", "given": given}))
    told = panel.told()

    assert "<img" not in panel.page().html()
    assert "\x1b" not in json.dumps({**told, "case": ""}, ensure_ascii=False)
    assert "\\u001b[31" in fields(panel)["action"]["options"][0]["text"]
    assert json.loads(told["case"])["given"] == given
    assert ElementTree.fromstring(told["picture"]["svg"]).tag == "{http://www.w3.org/2000/svg}svg"
    assert "<img" not in told["picture"]["svg"]


def test_a_long_case_is_shown_in_part():
    """Hundreds of calls and a very long input are played; what is shown stays small."""
    given = {"args": {"action": "x" * 15_000}, "mode": "always-ask", "repeat": 300, "choices": ["Approve"] * 50}
    panel = Explorer().paste(json.dumps({"id": "mine", "scenario": "wrapper", "given": given}))
    told = panel.told()

    assert panel.report().observed["effects"] == 50
    assert len(json.dumps(told)) < 3_000_000
    assert told["below"][-3] == {
        "block": "paragraph",
        "text": "… and 285 more dialogs, not shown here.",
        "lead": "",
    }


def test_a_second_view_is_told_the_same_and_the_control_follows():
    """One panel, one control; what is set in code arrives there."""
    panel = Explorer()
    control = panel.widget
    assert panel.widget is control

    panel.set(mode="yolo")
    assert control.status == panel.status
    assert {name: getattr(control, name) for name in panel.told()} == panel.told()
    control.close()
