"""`wb.stepper`: a ledger as a control and as a table, and a sentence where there is nothing to step through."""

from __future__ import annotations

from typing import Any

import pytest
from played_kit import (
    CLASSIFIED,
    DENIED_WRITE,
    DIALOG,
    DISPATCHED,
    LOOPED,
    MARKUP,
    RESOLVED,
    TWICE,
    Markup,
    play,
    wait,
)
from stepping_kit import built_in

import workbook as wb
from labsim.play.performance import run
from workbook.ledgers.played import NotPlayed
from workbook.ledgers.withheld import Withheld
from workbook.live.controls import VIEW
from workbook.show.grid import body
from workbook.steppers.view import NOTHING_UNDER_WAY, UNCHANGED, NoSuchRow, Stepper


def shown(played: Any, row: int = 1) -> Stepper:
    stepper = wb.stepper(played, row)
    assert isinstance(stepper, Stepper)
    return stepper


def column(stepper: Stepper, name: str) -> list[str]:
    grid = stepper.table()
    return [cells[grid.columns.index(name)] for cells in grid.rows]


def test_the_table_has_a_row_for_each_row_of_the_ledger():
    """Its number and its event are those of every other table of the same ledger."""
    table, ledger = shown(TWICE).table(), wb.ledger(TWICE)

    assert [int(cells[1]) for cells in table.rows] == list(ledger["n"])
    assert [cells[3] for cells in table.rows] == [
        f"{event}\n{says}" for event, says in zip(ledger["event"], ledger["says"], strict=True)
    ]
    assert [cells[0] for cells in table.rows] == list(ledger["call"])


def test_a_cell_says_what_changed_and_that_nothing_did():
    """The row in which a call is refused, whole; the row before it changes neither state nor dangers."""
    table = shown(play("declined", choices=["Deny"])).table()

    assert table.rows[7:] == (
        (
            *("call-1", "8", "the call: 11-13", "ui.select\nthe answer is Deny (offered: Approve, Deny)"),
            "prompts: 1\neffects: 0\nopen questions: none\n"
            "policy in force: prompt by mode (approval/R9), on the effective input",
            "call-1 is stopped: any answer but Approve",
        ),
        (
            *("call-1", "9", "the call: 14-15", "tool_approval_resolved\nnot approved: denied by user"),
            *(UNCHANGED, UNCHANGED),
        ),
        (
            *("call-1", "10", "the call: 14-15", "call_threw\nthrows: Tool call denied by user: seed_note"),
            *(UNCHANGED, "call-1 threw; any answer but Approve (wrapper/W-40, wrapper/W-41)"),
        ),
    )


def test_what_waits_at_the_device_stands_behind_its_place():
    """Two gates, told apart in words."""
    last = column(shown(DISPATCHED), "what could still stop it")

    assert "; at the device: the approval rule fails, a deny on the input as it came, " in last[0]
    assert "call-1 is stopped: at the device: any answer but Approve" not in last[0]
    assert (
        last[-1]
        == "call-1 returned an error result; at the device: any answer but Approve (wrapper/W-40, wrapper/W-41)"
    )


def test_every_stop_that_is_named_is_told_in_full():
    """The table has a few words for each; below it each has its sentence and its rules."""
    stepper = shown(TWICE)
    (_, _, in_full) = stepper.page().blocks
    named = {danger.why.short for frame in stepper.frames for one in frame.under_way for danger in one.stops}

    assert {row[0] for row in in_full.grid.rows} == named  # type: ignore[union-attr]


STATES = {
    "wrapper": (TWICE, "prompts: 0\neffects: 0\nopen questions: none"),
    "loop": (LOOPED, "prompts: 0\neffects: 0\nopen questions: none"),
    "fallback": (DENIED_WRITE, "attempts: 1"),
    "rpc": (DIALOG, "–"),
    "resolve": (RESOLVED, "policy in force: prompt by mode (approval/R9), on the original input"),
    "review": (
        play("show", "review", steps=[{"do": "command", "words": "show"}]),
        "prompts: 0\neffects: 0\nopen questions: none\npermission: none",
    ),
    "gate": (
        play("dig", "gate", tools=[{"name": "dig"}], steps=[{"call": "dig"}]),
        "prompts: 0\neffects: 0\nopen questions: none\nremembered rules: none",
    ),
}


@pytest.mark.parametrize(("played", "first"), STATES.values(), ids=STATES)
def test_a_desk_has_the_state_that_it_has(played: Any, first: str):
    """A file operation has no prompts, a dialog no policy; what a desk does have is there from the first row."""
    assert column(shown(played), "state so far")[0] == first


def test_the_state_of_the_desks_is_told_as_it_comes():
    """Permission, note, remembered rules and posture, in the rows in which they change."""
    delegated = play(
        "delegated", "review", steps=[{"do": "command", "words": "delegate"}, {"do": "reply", "value": True}]
    )
    ruled = play(
        "ruled",
        "gate",
        tools=[{"name": "dig"}],
        policy="prompt",
        rules=[{"scope": "global", "tool": "dig", "allow": True, "pattern": "*bed*"}],
        steps=[{"switch": "never"}, {"call": "dig"}],
    )

    assert "permission: one change, at revision 0 in session-1\nnote: draft r0" in str(
        column(shown(delegated), "state so far")
    ).replace("\\n", "\n")
    lines = [line for cell in column(shown(ruled), "state so far") for line in cell.split("\n")]
    assert "remembered rules: global: allow dig matching *bed*" in lines
    assert "posture: never" in lines


def test_an_empty_ledger_has_a_sentence():
    """What calls nothing cannot be stepped through, and that is no error."""
    text = (
        "There is nothing to step through: a {} case calls nothing, so its ledger is empty. wb.expected(report) "
        "shows what it observed."
    )
    for played, scenario in ((CLASSIFIED, "classify-error"), (play("read", "context", mode="write"), "context")):
        assert " ".join(str(shown(played)).split("\n")[-2:]) == text.format(scenario)
        assert set(shown(played)._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_row_outside_of_everything_says_that_nothing_is_under_way():
    """The second host opens a session before anybody calls anything."""
    dug = shown(play("dig", "gate", tools=[{"name": "dig"}], steps=[{"call": "dig"}]))

    assert column(dug, "what could still stop it")[:2] == [NOTHING_UNDER_WAY, NOTHING_UNDER_WAY]


def test_the_control_is_told_everything_at_once():
    """One row of it, whole; stops are places in one list, each said once."""
    state = shown(play("approved", choices=["Approve"]), row=8).state()
    row = state["rows"][7]

    assert {key: state[key] for key in ("title", "row", "grows")} == {
        "title": "Stepping through approved",
        "row": 7,
        "grows": False,
    }
    assert row == {
        "number": 8,
        "kind": "ui.select",
        "says": "the answer is Approve (offered: Approve, Deny)",
        "call": "call-1",
        "steps": [
            {
                "order": "the call",
                "numbers": "11-13",
                "does": "Put the question to a person. Nobody there, or a dialog that breaks: the call is refused.",
                "place": 7,
                "of": 10,
            }
        ],
        "state": [
            ["prompts", "1"],
            ["effects", "0"],
            ["open questions", "none"],
            ["policy in force", "prompt by mode (approval/R9), on the effective input"],
        ],
        "under_way": [
            {
                "subject": "call-1",
                "told": "call-1: nothing can prevent the effect any more. It can still end in an error:",
                "stops": row["under_way"][0]["stops"],
            }
        ],
    }
    assert [state["stops"][place] for place in row["under_way"][0]["stops"]] == [
        {
            "text": "The tool was entered and fails, perhaps because it sees the aborted signal. "
            "What it did stays done.",
            "rules": "wrapper/W-47, wrapper/W-48, wrapper/W-52",
            "late": True,
            "inner": False,
        },
        {
            "text": "A tool_result handler turns the result into an error. The effect stays.",
            "rules": "wrapper/W-53, wrapper/W-58",
            "late": True,
            "inner": False,
        },
    ]


TOLD = {
    "call_started": "call-1 can still be stopped by:",
    "ui.select": "call-1 is not over, and cannot go on. What stopped it:",
    "call_threw": "call-1 threw, because of: any answer but Approve (wrapper/W-40, wrapper/W-41).",
}


def test_how_a_call_stands_is_a_sentence():
    """Open, sure to be refused, and over."""
    rows = {row["kind"]: row["under_way"][0] for row in shown(play("no", choices=["Deny"])).state()["rows"]}

    assert {kind: rows[kind]["told"] for kind in TOLD} == TOLD
    assert rows["call_threw"]["stops"] == []


def test_a_live_play_is_read_again():
    """The stepper shows the ledger as it was, until it is asked to read it anew; another message does nothing."""
    live = wait("live")
    stepper = shown(live)
    control = stepper.widget
    assert (len(control.rows), control.grows, control.title) == (
        *(7, True),
        "Stepping through live; waiting for an answer",
    )
    live.reply("q-1", "Approve")

    stepper.receive({"type": "nonsense"})
    stepper.receive(None)
    assert len(control.rows) == 7
    stepper.receive({"type": "read"})
    assert (len(control.rows), control.grows, control.title) == (12, False, "Stepping through live")


def test_a_desk_that_is_tried_by_hand_can_be_stepped_through(monkeypatch: pytest.MonkeyPatch):
    """Whatever has a report: here the steps that the scripted learner takes at the Review Desk."""
    monkeypatch.setenv("CEDAR_LEARNER", "scripted")
    tried = shown(wb.hands_on())

    assert tried.frames[0].kind == "command_given"
    assert {one.subject for frame in tried.frames for one in frame.under_way} >= {"the request for permission"}


def test_a_cell_shows_the_control_to_a_person_and_the_table_to_a_script(monkeypatch: pytest.MonkeyPatch):
    """Wherever no widget can be, the table is there beside it; the scripted learner has it alone."""
    monkeypatch.delenv("CEDAR_LEARNER", raising=False)
    assert set(shown(TWICE)._repr_mimebundle_()) == {VIEW, "text/plain", "text/html"}

    monkeypatch.setenv("CEDAR_LEARNER", "scripted")
    scripted = shown(TWICE)._repr_mimebundle_()
    assert set(scripted) == {"text/plain", "text/html"}
    assert scripted["text/plain"] == repr(shown(TWICE))


def test_what_is_withheld_cannot_be_stepped_through():
    """A row of it would answer the checkpoint."""
    withheld = Withheld(["second-call"])

    assert str(wb.stepper(withheld)) == str(withheld)  # type: ignore[arg-type]


@pytest.mark.parametrize("row", [0, 99, -1, True])
def test_there_must_be_such_a_row(row: Any):
    """Rows count from 1, and it is said how many there are."""
    with pytest.raises(NoSuchRow, match=r"twice: there is no row .* to begin with\. Use 1 to 22\."):
        wb.stepper(TWICE, row)


def test_only_what_was_played_can_be_stepped_through():
    """As with every other table."""
    with pytest.raises(NotPlayed):
        wb.stepper("boundary-fallback")  # type: ignore[arg-type]


def test_a_tools_text_is_text_wherever_it_is_shown():
    """Markup, an entity and control characters in a call's input: escaped in HTML, visible in the control."""
    stepper = shown(play("hostile", args={"action": MARKUP}))

    assert any("<img src=x onerror=" in text for text in Markup(body(stepper.table())).texts("th"))
    assert "\x1b" not in str(stepper.state()) + str(stepper)


@pytest.mark.slow
def test_every_built_in_case_can_be_shown():
    """All desks, as a table and as a control; each row of the control has a place in its lists."""
    for case in built_in():
        stepper = shown(run(case))
        if stepper.frames:
            assert len(stepper.table().rows) == len(stepper.state()["rows"]) == len(stepper.frames)
