"""The Review Desk's chapter: its checkpoints, its pictures and its tables, all of them read from runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

import workbook as wb
from labsim.case.model import Case
from labsim.case.review import CommandStep, ReplyStep, SwitchStep
from labsim.describe.ledger import visible
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.review.base.events import GrantEnded, GrantGiven, NoteRecorded
from labsim.review.base.states import TRANSITIONS, Phase
from workbook.check_chapter.checkpoints import check
from workbook.checkpoint.file import ChoiceCheckpoint, parse_beliefs, parse_checkpoints
from workbook.checkpoint.judging import judge_options
from workbook.ledgers.played import NothingHappened
from workbook.ledgers.withheld import Withheld
from workbook.pictures.picture import Picture, box, label
from workbook.pictures.scene import Lane, Message, Stroke, review_lanes, scene

CHECKPOINTS = fixtures_dir() / "checkpoints" / "review-desk.json"
CASES: dict[str, Case] = {case.id: case for case in wb.open("review-desk").case_records}
every_case = pytest.mark.parametrize("case_id", CASES)


def played(name: str) -> Report:
    return run(CASES[f"review-{name}"])


def messages(report: Report) -> list[Message]:
    return [message for part in scene(report).parts for message in part.messages]


def texts(svg: str) -> list[str]:
    """The texts of a picture, in order; parsing fails where anything in it was not escaped."""
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


# --------------------------------------------------------------------------------------------------- checkpoints


def test_every_checkpoint_has_one_right_option_and_real_beliefs() -> None:
    """Design decision 3: found by playing, no problem at all, and at least ten of them."""
    file = parse_checkpoints(CHECKPOINTS.read_bytes(), CHECKPOINTS.name)
    beliefs = parse_beliefs((CHECKPOINTS.parent / "beliefs.json").read_bytes(), "beliefs.json")

    assert check(file, CASES.values(), beliefs) == []
    assert sum(isinstance(one, ChoiceCheckpoint) for one in file.checkpoints) >= 10


def test_the_scripted_learner_is_sometimes_wrong() -> None:
    """A worked edition shows both kinds of reveal."""
    file = parse_checkpoints(CHECKPOINTS.read_bytes(), CHECKPOINTS.name)
    right = []
    for one in file.checkpoints:
        if isinstance(one, ChoiceCheckpoint):
            judged = judge_options(one, run(CASES[one.case]))
            right.append(next(option.matches for option in judged if option.option.id == one.scripted))

    assert {True, False} == set(right)


def test_accepting_reaches_nobody() -> None:
    """The chapter's claim, over all cases: whatever is accepted, no executor is ever entered."""
    accepted = [report for report in map(run, CASES.values()) if report.observed.get("status") == "accepted"]

    assert len(accepted) >= 5
    assert {report.observed["effects"] for report in accepted} == {0}


# ------------------------------------------------------------------------------------------------------ sequences


@every_case
def test_every_event_of_a_review_is_drawn_on_a_lane_that_is_there(case_id: str) -> None:
    """One message an event, in ledger order, between the lanes of its case; the drawing forms all work."""
    report = run(CASES[case_id])
    shown = messages(report)
    known = {lane for lane, _ in scene(report).lanes}

    assert [message.number for message in shown] == list(range(1, len(report.ledger) + 1))
    assert {lane for message in shown for lane in (message.source, message.target)} <= known
    texts(wb.sequence(report).svg)


def test_approve_goes_to_the_gate_and_the_refusal_comes_from_the_desk() -> None:
    """review/V-30 to review/V-37: the question and its answer pass between gate and person; the session is never
    reached.
    """
    shown = messages(played("approve-is-not-a-grant"))
    ways = {message.name: (message.source, message.target, message.stroke) for message in shown}

    assert ways["question_asked"] == (Lane.WRAPPER, Lane.PERSON, Stroke.TELL)
    assert ways["ui.select"] == (Lane.PERSON, Lane.WRAPPER, Stroke.ANSWER)
    assert ways["act_refused"] == (Lane.TOOL, Lane.WRAPPER, Stroke.REFUSE)
    assert ways["call_threw"] == (Lane.WRAPPER, Lane.CALLER, Stroke.REFUSE)
    assert not [message for message in shown if Lane.DISK in (message.source, message.target)]


def test_only_a_recorded_note_has_an_effect_in_the_picture() -> None:
    """review/S2: accepting is one thick arrow, from the desk to the session."""
    shown = messages(played("t02-accept-records-the-edited-text"))

    assert [(one.name, one.source, one.target) for one in shown if one.stroke is Stroke.EFFECT] == [
        ("note_recorded", Lane.TOOL, Lane.DISK)
    ]


def test_a_dialog_that_the_desk_closed_is_no_answer_of_a_person() -> None:
    """Nothing is drawn from the person after the question, until the late text comes."""
    shown = messages(played("t09-revoked-in-the-editor"))
    asked = next(place for place, message in enumerate(shown) if message.name == "question_asked")
    said = [message.name for message in shown[asked + 1 :] if message.source is Lane.PERSON]

    assert said == ["command_given", "late_reply"]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("t02-accept-records-the-edited-text", "person"),
        ("t15-no-overlay-over-rpc", "client (RPC)"),
        ("t14-print-mode-asks-nobody", "nobody (no UI)"),
        ("t14-json-mode-likewise", "nobody (no UI)"),
    ],
)
def test_the_lane_of_the_person_says_who_is_there(name: str, label: str) -> None:
    """review/V-21 to review/V-23, review/V-62: over RPC a client, in print and JSON nobody."""
    given: Any = CASES[f"review-{name}"].given

    assert dict(review_lanes(given))[Lane.PERSON] == label


# ------------------------------------------------------------------------------------------------------- branches


def test_two_branches_are_drawn_from_their_entries() -> None:
    """review/V-9: siblings under the root, each revision 1, and a sign at the leaf."""
    picture = wb.branches(played("t12-branches-do-not-see-each-other"))

    assert picture.text.splitlines() == [
        "session-1",
        "  root: the packaged note: draft r0",
        "  |-- entry-1: accepted r1, with a new text   <-- you are here",
        "  `-- entry-2: rejected r1, with the text as it was",
    ]
    assert sorted(texts(picture.svg)) == [
        "entry-1: accepted r1, with a new text",
        "entry-2: rejected r1, with the text as it was",
        "root: the packaged note: draft r0",
        "session-1",
        "you are here",
    ]


def test_what_is_not_the_desks_is_drawn_and_said() -> None:
    """review/V-10: malformed entries are in the tree, and are no change by the desk."""
    assert wb.branches(played("t19-corrupt-entry-is-skipped")).text.splitlines()[2:] == [
        "  `-- entry-1: accepted r1, with a new text",
        "      `-- entry-2: custom: not a change by the desk",
        "          `-- entry-3: custom: not a change by the desk   <-- you are here",
    ]


def test_a_fork_is_a_session_of_its_own() -> None:
    """review/S14: where one stands is marked in the new session, and there only."""
    lines = wb.branches(played("t11-fork")).text.splitlines()

    assert [line for line in lines if not line.startswith(" ")] == ["session-1", "session-2"]
    assert [line.endswith("you are here") for line in lines] == [False, False, False, True]


def test_entries_that_came_along_are_told_apart() -> None:
    """A fork copies the branch: what it copied is there, and what is recorded after it stands below."""
    case: Any = CASES["review-t02-accept-records-the-edited-text"]
    steps = [
        *case.given.steps,
        SwitchStep(how="fork"),
        CommandStep(words="review"),
        ReplyStep(value=None),
        SwitchStep(how="resume", session="session-1"),
    ]

    assert wb.branches(run(replace(case, given=replace(case.given, steps=steps)))).text.splitlines() == [
        "session-1",
        "  root: the packaged note: draft r0",
        "  `-- entry-1: accepted r1, with a new text   <-- you are here",
        "session-2",
        "  root: the packaged note: draft r0",
        "  `-- entry-1: came along from the session before",
        "      `-- entry-2: cancelled r2, with the text as it was",
    ]


@every_case
def test_every_recorded_entry_is_in_the_picture_once(case_id: str) -> None:
    """Nothing is left out, and nothing is drawn that the ledger does not have; and it is well-formed."""
    report = run(CASES[case_id])
    picture = wb.branches(report)
    recorded = [event.entry_id for event in report.ledger if isinstance(event, NoteRecorded)]

    for entry in recorded:
        assert len(re.findall(rf"{entry}: (?!came)", picture.text)) == recorded.count(entry)
    assert picture.text.count("you are here") == 1
    texts(picture.svg)


# --------------------------------------------------------------------------------------------------------- phases


def test_the_state_diagram_has_every_step_of_the_table() -> None:
    """One table for engine and picture: each pair of phases that a step joins is in it, with the step's name."""
    picture = wb.phases()
    parts = dict(re.findall(r"(?m)^(\S.*)\n((?:    .*\n?)+)", picture.text))

    for (phase, action), step in TRANSITIONS.items():
        if phase is Phase.CLOSED:
            continue
        here = parts.get(f"{phase} -> {step.to}", "") + parts.get(f"{phase}, and still {step.to}", "")
        named = re.compile(rf"(?m)^    {re.escape(str(action))}(?: \(.*)?(?::.*)?$")
        assert named.search(here) or named.search(parts["from every phase"]), (phase, action)


def test_the_state_diagram_draws_what_it_lists() -> None:
    """Picture and plain form have the same steps."""
    picture = wb.phases()
    listed = {line.strip() for line in picture.text.splitlines() if line.startswith("    ")}

    assert listed <= set(texts(picture.svg))
    assert {str(phase) for phase in Phase if phase is not Phase.CLOSED} <= set(texts(picture.svg))


# --------------------------------------------------------------------------------------------------------- grants


def test_a_grant_is_a_bar_from_its_row_to_its_end() -> None:
    """review/end-1: given, missed once, used up."""
    lines = wb.grants(played("t07-stale-revision")).text.splitlines()
    ledger = list(played("t07-stale-revision").ledger)
    given = next(place for place, event in enumerate(ledger) if isinstance(event, GrantGiven))
    ended = next(place for place, event in enumerate(ledger) if isinstance(event, GrantEnded))

    assert (lines[0].index("="), lines[0].index("x")) == (given, ended)
    assert lines[0].endswith(f"given in row {given + 1}, ended in row {ended + 1}: used up by an agent change")
    assert [line.split(": ")[1] for line in lines[1:]] == ["an act is refused", "accepted r1 is recorded"]


@every_case
def test_a_timeline_has_each_grant_and_how_it_ended(case_id: str) -> None:
    """As many bars as grants; each end in the ledger's own words; no case without one breaks."""
    report = run(CASES[case_id])
    picture = wb.grants(report)
    given = [event for event in report.ledger if isinstance(event, GrantGiven)]
    ends = [str(event.why) for event in report.ledger if isinstance(event, GrantEnded)]

    assert picture.text.count("given in row") == len(given)
    for end in ends:
        assert f": {end}" in picture.text
    assert ("no grant was given" in picture.text) is (not given)
    texts(picture.svg)


# --------------------------------------------------------------------------------------------------------- tables


def test_the_mode_matrix_is_run_and_reads_as_section_9() -> None:
    """review/V-21 to review/V-23, review/V-62: nothing is recorded where nobody can be asked; the panel opens in a
    terminal only.
    """
    matrix = wb.mode_matrix().set_index("what")

    assert list(matrix.columns) == ["tui", "rpc", "print", "json"]
    assert list(matrix.index) == [
        *("show", "review", "delegate", "revoke", "overlay"),
        *("discover", "inspect", "query", "act"),
    ]
    refusal = "says: Interactive review needs a UI. State is unchanged; use inspect or query."
    assert [matrix.loc[what, "print"] for what in ("review", "delegate", "overlay")] == [refusal] * 3
    assert list(matrix["print"]) == list(matrix["json"])
    assert matrix.loc["overlay", "tui"] == "opens: the panel\nrecords one entry"
    assert matrix.loc["overlay", "rpc"] == "says: The overlay needs the terminal UI. Use /review-desk review."
    assert list(matrix.loc["act"]) == [
        *["records one entry"] * 2,
        *["refused: No human grant: ask the human to run /review-desk delegate."] * 2,
    ]


def test_the_note_after_several_cases_is_one_row_each() -> None:
    """The fields that a case shows of its note, under their names."""
    table = wb.notes([played("t03-reject-keeps-the-old-text"), played("a-grant-is-not-approve")])

    assert table.to_dict("records") == [
        {
            "case": "t03-reject-keeps-the-old-text",
            "status": "rejected",
            "revision": 1,
            "entries": 1,
            "effects": 0,
            "grant": "no",
            "text": "Seed swap on Saturday.",
            "error": "–",
        },
        {
            "case": "a-grant-is-not-approve",
            "status": "draft",
            "revision": 0,
            "entries": 0,
            "effects": 0,
            "grant": "yes",
            "text": "Seed swap on Saturday.",
            "error": "Tool call denied by user: review_desk",
        },
    ]


def test_entries_are_listed_in_recording_order() -> None:
    """review/V-11; and a case that recorded nothing says so."""
    table = wb.entries(played("accepted-is-not-final"))

    assert list(zip(table["entry"], table["under"], table["status"], table["revision"], strict=True)) == [
        ("entry-1", "root", "accepted", 1),
        ("entry-2", "entry-1", "draft", 2),
    ]
    with pytest.raises(NothingHappened, match="nothing was recorded"):
        wb.entries(played("t01-looking-changes-nothing"))


@pytest.mark.parametrize("shows", [wb.branches, wb.grants, wb.entries])
def test_a_withheld_run_stays_withheld(shows: Callable[[Any], object]) -> None:
    """Running all gives no answer away, whatever the picture."""
    assert isinstance(shows(Withheld(["late-yes"])), Withheld)


def test_what_would_tell_the_same_is_withheld_as_well() -> None:
    """The matrix and the state diagram wait for the runs that come before them."""
    for shown in (
        wb.notes([Withheld(["escape"])]),  # type: ignore[list-item]  # what `desk.play` hands out before a commit
        wb.mode_matrix(after=[Withheld(["in-print-mode"])]),  # type: ignore[list-item]  # as above
        wb.branches(played("t11-fork"), after=[Withheld(["root"])]),  # type: ignore[list-item]  # as above
        wb.phases(after=[Withheld(["escape"])]),  # type: ignore[list-item]  # as above
    ):
        assert isinstance(shown, Withheld)


def test_pictures_carry_hostile_text_as_text() -> None:
    """Design, untrusted text: whatever a picture is made of, it adds no element, and no formula is read into it."""
    hostile = "<img src=x onerror=alert(1)>\x1b[31m\u202e$$x$$"
    picture = Picture(
        caption=hostile,
        text=hostile,
        pieces=(label(hostile, 0, 0), box(0, 0, 9, 9, hostile)),
        height=10,
        listed=(hostile,),
    )
    bundle = picture._repr_mimebundle_()

    assert set(bundle) == {"text/plain", "text/html"}
    assert 'class="cedar-scene mathjax_ignore tex2jax_ignore"' in bundle["text/html"]
    assert "<img" not in bundle["text/html"]
    assert not {"\x1b", "\u202e"} & set("".join(bundle.values()))
    assert texts(picture.svg) == [visible(hostile)] * 2
