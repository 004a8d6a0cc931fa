"""The commands of a person, the dialogs they open, and every way a grant ends (review/S1 to review/V-49)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from review_kit import CLOSED, EDITED, FRESH, NO_GRANT, NOTE, Bench, kinds, plain

from labsim.approval import Settings
from labsim.errors import HostError
from labsim.events.dialogs import QuestionAsked
from labsim.review.base.events import DialogOver, Discarded, MessagePosted, StatusShown, StepTaken, WidgetShown
from labsim.review.base.states import Action, NoSuchStep, Phase
from labsim.review.branch.entries import EntryType
from labsim.review.branch.sessions import Sessions
from labsim.review.branch.tree import SessionTree
from labsim.review.machine import Machine
from labsim.review.surface import CustomMessage, Mode
from labsim.stage.stage import AbortSignal, Stage
from labsim.stage.ui import QuestionUI
from labsim.terms import DialogKind

ACCEPT, REJECT, CANCEL = "Accept locally", "Reject", "Cancel"

# --------------------------------------------------------------------------------------------------- the words


@pytest.mark.parametrize("words", ["show", "", "   ", "SHOW", " Show  me the note ", "show\tplease"])
def test_show_posts_a_summary_that_unfolds_to_the_note(words: str):
    """review/S1, review/command-show: the first word counts, trimmed and in any case; none means show."""
    bench = Bench()
    bench.say(words)

    assert plain(bench.stage.ledger) == [
        {"event": "command_given", "word": "show"},
        {"event": "step_taken", "action": "read", "rule": "review/S1", "phase": "idle", "to": "idle"},
        {
            "event": "message_posted",
            "summary": "Release note: draft, revision 0. Permission: none.",
            "text": NOTE,
        },
        {"event": "status_shown", "text": "draft r0"},
        {
            "event": "widget_shown",
            "lines": ["Review desk: draft, revision 0", "Permission: none", "Note: Seed swap on Saturday."],
        },
    ]


@pytest.mark.parametrize("word", ["publish", "reviews", "/review-desk", "re view", "\x1b[31m"])
def test_an_unknown_command_is_a_warning(word: str):
    """review/command-show: and nothing else happens."""
    bench = Bench()
    bench.say(word)

    assert bench.notices == [("warning", "Unknown command. Use: show, review, delegate, revoke, overlay.")]
    assert bench.stand == FRESH


def test_review_asks_for_the_text_and_then_for_the_verdict():
    """review/command-show: editor prefilled with the text, then the selector with its three labels."""
    bench = Bench()
    bench.say("review")
    (editor,) = bench.stage.questions
    bench.reply(EDITED)
    (selector,) = bench.stage.questions

    assert (editor.kind, editor.title, editor.prefill) == (DialogKind.EDITOR, "Edit the release note", NOTE)
    assert (selector.kind, selector.title) == (DialogKind.SELECT, "Record the review")
    assert selector.options == ("Accept locally", "Reject", "Cancel")


def test_delegate_asks_with_the_revision_in_the_message():
    """review/command-show, review/V-40 to review/V-49: the confirm dialog names the revision."""
    bench = Bench()
    bench.review("x", ACCEPT)
    bench.say("delegate")

    (question,) = bench.stage.questions
    assert question.kind is DialogKind.CONFIRM
    assert question.title == "Permit one agent change?"
    assert question.message == "Revision 1, this session, one change."


# ------------------------------------------------------------------------------------------------ review outcomes


@pytest.mark.parametrize(
    ("replies", "stand"),
    [
        ([EDITED, ACCEPT], (EDITED, "accepted", 1, False, False)),  # review/S2
        ([NOTE, ACCEPT], (NOTE, "accepted", 1, False, False)),  # review/V-15
        ([EDITED, REJECT], (NOTE, "rejected", 1, False, False)),  # review/S4, review/V-16
        ([UNSET], (NOTE, "cancelled", 1, False, False)),  # review/S5
        ([EDITED, CANCEL], (NOTE, "cancelled", 1, False, False)),  # review/S6, review/V-16
        ([EDITED, UNSET], (NOTE, "cancelled", 1, False, False)),  # review/S6
        ([EDITED, "accept locally"], (NOTE, "cancelled", 1, False, False)),  # review/V-17
        ([EDITED, "Accept locally "], (NOTE, "cancelled", 1, False, False)),  # review/V-17
        ([EDITED, True], (NOTE, "cancelled", 1, False, False)),  # review/V-17
        ([EDITED, 0], (NOTE, "cancelled", 1, False, False)),  # review/V-17
        ([5], (NOTE, "cancelled", 1, False, False)),  # rpc/R-28: what is no text is nothing
        ([" \n", REJECT], (NOTE, "rejected", 1, False, False)),  # the text is judged only where it counts
        (["x" * 12_001, CANCEL], (NOTE, "cancelled", 1, False, False)),
        (["x" * 12_000, ACCEPT], ("x" * 12_000, "accepted", 1, False, False)),  # review/V-2
    ],
)
def test_each_way_through_a_review_is_one_entry(replies: list[Any], stand: tuple[Any, ...]):
    """review/S2, review/S4, review/S5, review/S6, review/V-15, review/V-16, review/V-17: status, text and revision,
    and the desk is free again (review/V-49).
    """
    bench = Bench()
    bench.review(*replies)

    assert bench.stand == stand
    assert bench.entries == 1
    assert bench.notices == []
    assert bench.stage.questions == ()


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff", "x" * 12_001])
def test_an_invalid_text_is_not_accepted_and_keeps_the_grant(text: str):
    """review/S3, review/V-2, review/V-24: an error, nothing stored, the grant as it was."""
    bench = Bench()
    bench.grant()
    bench.review(text, ACCEPT)

    assert bench.stand == (NOTE, "draft", 0, True, False)
    assert bench.notices[-1] == ("error", "Blank or over-12000-character draft.")
    assert bench.entries == 0


def test_no_status_is_final():
    """review/V-5: from each status to each other one, by a person and by the agent."""
    bench = Bench()
    ways: dict[str, list[Any]] = {
        "accepted": [NOTE, ACCEPT],
        "rejected": [NOTE, REJECT],
        "cancelled": [UNSET],
    }
    seen = set()
    for first in ways:
        for second in ways:
            bench.review(*ways[first])
            bench.review(*ways[second])
            seen.add((first, bench.stand[1]))
        bench.review(*ways[first])
        bench.grant()
        bench.act("revise", bench.stand[2], text="Again.")
        seen.add((first, bench.stand[1]))

    assert seen == {(a, b) for a in ways for b in (*ways, "draft")}
    assert bench.stand[2] == bench.entries == 24


# ------------------------------------------------------------------------------------------------------ the grant


def test_a_yes_permits_one_change_at_this_revision():
    """review/S7, review/V-25, review/V-29: grant, notice, status line and widget."""
    bench = Bench()
    bench.grant()

    assert bench.stand == (NOTE, "draft", 0, True, False)
    assert bench.notices == [("info", "One change permitted at revision 0.")]
    assert bench.of(StatusShown)[-1].text == "draft r0 · one change permitted"
    assert bench.of(WidgetShown)[-1].lines == (
        "Review desk: draft, revision 0",
        "Permission: one change at revision 0",
        "Note: Seed swap on Saturday.",
    )


@pytest.mark.parametrize("answer", [False, UNSET, None, "true", 1, "Yes", [True]])
def test_anything_but_yes_permits_nothing(answer: object):
    """review/S8, review/V-26; rpc/R-32: only exactly true is a yes."""
    bench = Bench()
    bench.say("delegate")
    bench.reply(answer)

    assert bench.stand == FRESH
    assert bench.notices == [("info", "No permission given.")]


@pytest.mark.parametrize("answer", ["true", 1, "Yes", [True], {"confirmed": True}])
def test_only_exactly_true_is_a_yes_whatever_an_adapter_hands_on(answer: object):
    """review/S8, rpc/R-32: the real adapter delivers `confirmed` as it came, so the desk itself must be strict."""

    class HandsOn(QuestionUI):
        async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
            return answer

    stage = Stage()
    bench = Bench(ui=HandsOn(stage), stage=stage)
    bench.say("delegate")

    assert bench.stand == FRESH
    assert bench.notices == [("info", "No permission given.")]


def test_a_permission_is_gone_when_it_is_asked_for_again():
    """review/end-8: dropped when the question opens, given again only on Yes; the status says so at once."""
    bench = Bench()
    bench.grant()
    bench.say("delegate")
    assert bench.host.desk.grant is None
    assert bench.of(StatusShown)[-1].text == "draft r0"

    bench.reply(True)
    assert bench.stand == (NOTE, "draft", 0, True, False)
    assert bench.ends == ["ASKED_AGAIN"]


ENDS: dict[str, tuple[Callable[[Bench], object], str]] = {
    "1 an agent change": (lambda b: b.act("reject", 0), "CONSUMED"),
    "2 a review accepted": (lambda b: b.review(EDITED, ACCEPT), "REVIEWED"),
    "2 a review cancelled": (lambda b: b.review(UNSET), "REVIEWED"),
    "2 the panel": (lambda b: (b.say("overlay"), b.host.overlays.shown.press("a")), "REVIEWED"),  # type: ignore[union-attr]
    "3 revoke": (lambda b: b.say("revoke"), "REVOKED"),
    "4 new session": (lambda b: b.move("new"), "SWITCHED"),
    "4 resumed session": (lambda b: b.move("resume", "session-1"), "SWITCHED"),
    "4 fork": (lambda b: b.move("fork"), "SWITCHED"),
    "5 branch": (lambda b: b.move("branch", None), "BRANCHED"),
    "6 tree navigation to where it was": (lambda b: b.move("go", None), "MOVED"),
    "7 shutdown": (lambda b: b.stage.play(b.host.shutdown()), "SHUT_DOWN"),
    "8 asked again and declined": (lambda b: (b.say("delegate"), b.reply(False)), "ASKED_AGAIN"),
}


@pytest.mark.parametrize("end", ENDS)
def test_every_row_of_section_6_ends_the_grant(end: str):
    """review/end-1 to review/end-9, review/S9, review/S14, review/S15: each of them once, on a fresh desk with a
    grant; then an act fails (review-t10, review-t11).
    """
    bench = Bench()
    bench.grant()
    does, why = ENDS[end]
    does(bench)

    assert bench.ends == [why]
    assert bench.host.desk.grant is None
    assert bench.no_act("accept", bench.host.desk.note.revision) == NO_GRANT


def test_a_grant_that_ended_does_not_come_back_with_its_session():
    """review/end-4."""
    bench = Bench()
    bench.grant()
    bench.move("new")
    bench.move("resume", "session-1")

    assert bench.stand == FRESH


SURVIVES: dict[str, Callable[[Bench], object]] = {
    "a failed act": lambda b: b.no_act("accept", 7),
    "an unknown op": lambda b: b.refused(op="publish"),
    "show": lambda b: b.say("show"),
    "inspect": lambda b: b.told(op="inspect"),
    "query": lambda b: b.told(op="query"),
    "discover": lambda b: b.told(op="discover"),
    "a chat message": lambda b: b.sessions.current.append(EntryType.MESSAGE, at_ms=0, message={"content": "hi"}),
    "another approval mode": lambda b: setattr(b.host, "settings", Settings("always-ask")),
    "a refused second dialog": lambda b: (b.say("review"), b.say("delegate")),
    "an open review": lambda b: b.say("review"),
    "an invalid accept": lambda b: b.review(" ", ACCEPT),
    "a mistyped command": lambda b: b.say("delgate"),
    "a vetoed move": lambda b: (
        setattr(b, "vetoes", True),
        b.move("go", None),
        b.move("new"),
        b.move("branch", None),
    ),
    "time": lambda b: b.stage.advance(10**9),
}


@pytest.mark.parametrize("what", SURVIVES)
def test_what_is_no_row_of_section_6_leaves_the_grant(what: str):
    """review/S12; review/V-38."""
    bench = Bench()
    bench.grant()
    SURVIVES[what](bench)

    assert bench.ends == []
    assert bench.host.desk.authorized


def test_a_grant_of_another_revision_is_no_permission():
    """review/V-1 to review/V-5: authorised means the grant's session and the grant's revision are the current
    ones.
    """
    bench = Bench()
    bench.grant()
    data = {"version": 1, "text": "Theirs.", "status": "draft", "revision": 1}
    bench.sessions.current.append(EntryType.CUSTOM, at_ms=0, custom_type="workbook-review-desk-state", data=data)

    assert bench.host.desk.grant is not None
    assert not bench.host.desk.authorized
    assert bench.no_act("accept", 1) == NO_GRANT


# ----------------------------------------------------------------------------------------------- one at a time


@pytest.mark.parametrize("opens", ["review", "delegate", "overlay"])
@pytest.mark.parametrize("second", ["review", "delegate", "overlay"])
def test_a_second_dialog_is_refused_while_one_is_open(opens: str, second: str):
    """review/V-20: a warning, and nothing changes."""
    bench = Bench()
    bench.say(opens)
    before = bench.stage.questions
    bench.say(second)

    assert bench.notices == [("warning", "Review dialog open. Finish it or run /review-desk revoke.")]
    assert bench.stage.questions == before
    assert bench.host.desk.busy


@pytest.mark.parametrize(
    ("with_grant", "text"), [(True, "Permission removed."), (False, "No permission to remove.")]
)
def test_revoke_says_whether_there_was_a_permission(with_grant: bool, text: str):
    """review/S9, review/V-27."""
    bench = Bench()
    if with_grant:
        bench.grant()
    bench.say("revoke")

    assert bench.notices[-1] == ("info", text)
    assert bench.stand == FRESH


# ------------------------------------------------------------------------------------------------- aborted dialogs

ABORTS: dict[str, Callable[[Bench], object]] = {
    "revoke": lambda b: b.say("revoke"),
    "new session": lambda b: b.move("new"),
    "branch": lambda b: b.move("branch", None),
    "tree": lambda b: b.move("go", None),
    "shutdown": lambda b: b.stage.play(b.host.shutdown()),
}
OPENED: dict[str, tuple[Callable[[Bench], object], str]] = {
    "editor": (lambda b: b.say("review"), "review"),
    "selector": (lambda b: b.review(EDITED), "review"),
    "confirm": (lambda b: b.say("delegate"), "delegate"),
    "panel": (lambda b: b.say("overlay"), "overlay"),
}
LATE = {"editor": EDITED, "selector": ACCEPT, "confirm": True, "panel": "accept"}


@pytest.mark.parametrize("dialog", OPENED)
@pytest.mark.parametrize("abort", ABORTS)
def test_an_aborted_dialog_records_nothing_whatever_comes_later(abort: str, dialog: str):
    """review/V-18, review/V-28, review/V-40, review/V-41, review/V-43, review/V-46, review/S9, review/S14 to
    review/S16: no entry anywhere, no selector, no grant; a late answer is swallowed.
    """
    bench = Bench()
    bench.grant()
    opens, pending = OPENED[dialog]
    opens(bench)
    (question,) = bench.stage.questions
    asked = len(bench.of(QuestionAsked))
    ABORTS[abort](bench)
    assert bench.stage.questions == ()
    assert not bench.host.desk.busy
    assert bench.notices[-1] == ("info", CLOSED)
    assert bench.of(DialogOver)[-1].why is Discarded.ABORTED
    assert bench.of(DialogOver)[-1].pending == pending

    assert not bench.stage.reply(question.id, LATE[dialog])
    assert len(bench.of(QuestionAsked)) == asked
    assert bench.stand == FRESH
    assert [tree.entries for tree in bench.sessions.trees.values()] == [()] * len(bench.sessions.trees)


@pytest.mark.parametrize("dialog", OPENED)
def test_the_abort_wins_over_an_answer_that_has_not_been_read(dialog: str):
    """review/V-18, review/V-43: the signal is looked at before the answer, also where the answer came first."""
    bench = Bench()
    OPENED[dialog][0](bench)
    (question,) = bench.stage.questions

    async def both() -> None:
        await bench.stage.rest()
        bench.stage.reply(question.id, LATE[dialog])  # settled, and nobody has woken up yet
        await bench.host.desk.command("revoke")

    bench.stage.play(both())
    assert bench.stand == FRESH
    assert bench.entries == 0
    assert bench.host.desk.grant is None


def test_revoked_between_editor_and_selector():
    """review/V-42: the selector is not opened, and what the editor gave is discarded."""

    class RevokedInBetween(QuestionUI):
        async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
            text = await super().editor(title, prefill, signal=signal)
            await bench.host.desk.command("revoke")
            return text

    stage = Stage()
    bench = Bench(ui=RevokedInBetween(stage), stage=stage)
    bench.review(EDITED)

    assert bench.stand == FRESH
    assert [event.kind for event in bench.of(QuestionAsked)] == ["editor"]


def test_after_revoke_a_new_dialog_may_open_and_the_old_answer_is_not_for_it():
    """review/V-45: busy is false at once, also before the old coroutine has noticed anything."""
    bench = Bench()
    bench.say("delegate")

    async def again() -> None:
        await bench.host.desk.command("revoke")
        assert not bench.host.desk.busy
        await bench.host.desk.command("delegate")

    task = bench.stage.play(again())
    assert [question.id for question in bench.stage.questions] == ["q-2"]
    assert not bench.stage.reply("q-1", True)
    assert bench.host.desk.busy
    assert bench.stand == (NOTE, "draft", 0, False, True)

    bench.reply(True)
    assert task.done
    assert bench.stand == (NOTE, "draft", 0, True, False)


def test_a_vetoed_move_leaves_grant_and_dialog():
    """review/V-38: only completed moves are heard."""
    bench = Bench()
    bench.grant()
    bench.say("review")
    bench.vetoes = True

    assert [bench.move("go", None), bench.move("new"), bench.move("fork"), bench.move("branch", None)] == [
        False
    ] * 4
    assert bench.stand == (NOTE, "draft", 0, True, True)
    bench.reply(EDITED)
    bench.reply(ACCEPT)
    assert bench.stand == (EDITED, "accepted", 1, False, False)


def test_a_note_that_changed_under_the_dialog_is_not_overwritten():
    """review/V-19: same epoch, same session, another revision: discarded, and silently."""
    bench = Bench()
    bench.review(EDITED)
    data = {"version": 1, "text": "Theirs.", "status": "draft", "revision": 1}
    bench.sessions.current.append(EntryType.CUSTOM, at_ms=0, custom_type="workbook-review-desk-state", data=data)
    bench.reply(ACCEPT)

    assert bench.stand == ("Theirs.", "draft", 1, False, False)
    assert bench.notices == []
    assert bench.of(DialogOver)[-1].why is Discarded.OVERTAKEN


@pytest.mark.parametrize("dialog", OPENED)
def test_a_leaf_that_moved_unannounced_discards_the_outcome(dialog: str):
    """review/V-19: the base entry must still be on the branch, also where no event told the desk."""
    bench = Bench()
    bench.review(EDITED, ACCEPT)
    OPENED[dialog][0](bench)
    bench.sessions.current.move_to(None)
    bench.sessions.current.append(
        EntryType.CUSTOM,
        at_ms=0,
        custom_type="workbook-review-desk-state",
        data={"version": 1, "text": "Theirs.", "status": "draft", "revision": 1},
    )
    bench.reply(LATE[dialog])

    assert bench.stand == ("Theirs.", "draft", 1, False, False)
    assert bench.entries == 1
    assert bench.host.desk.grant is None


def test_a_session_that_changed_unannounced_discards_the_outcome():
    """review/V-19: the same revision in another session is not the same."""
    bench = Bench()
    bench.say("delegate")
    bench.move("new")
    bench.move("resume", "session-1")
    bench.say("delegate")
    bench.sessions.current = bench.sessions.trees["session-2"]
    bench.reply(True)

    assert bench.stand == FRESH


def test_a_grant_is_no_permission_in_another_session():
    """review/V-1 to review/V-5: the same note at the same revision, and no event that would have ended the
    grant.
    """
    bench = Bench()
    bench.move("new")
    bench.move("resume", "session-1")
    bench.grant()
    bench.sessions.current = bench.sessions.trees["session-2"]

    assert bench.host.desk.grant is not None
    assert bench.stand == FRESH
    assert bench.no_act("accept", 0) == NO_GRANT
    assert bench.of(WidgetShown)[-1].lines[1] == "Permission: one change at revision 0"  # of where it was given
    assert bench.host.desk.shown().widget[1] == "Permission: none"


def test_each_part_of_what_a_dialog_was_opened_on_counts():
    """review/V-19: epoch, session, revision, and the entry on the branch; each of them alone is enough to
    discard.
    """
    stage = Stage()
    sessions = Sessions(stage)
    machine = Machine(stage, sessions, NOTE.encode())
    dialog = machine.open(Action.OPEN_REVIEW)
    assert machine.untouched(dialog)

    machine.take(Action.REVOKE)
    assert not machine.untouched(dialog)
    dialog = machine.open(Action.OPEN_REVIEW)
    machine.record(Action.ESCAPE, machine.note)
    assert not machine.untouched(dialog)
    dialog = machine.open(Action.OPEN_REVIEW)
    here, sessions.current = sessions.current, SessionTree("session-9", sessions.current.entries)
    assert not machine.untouched(dialog)
    sessions.current = here
    assert machine.untouched(dialog)
    here.move_to(None)
    assert not machine.untouched(dialog)
    here.append(
        EntryType.CUSTOM,
        at_ms=0,
        custom_type="workbook-review-desk-state",
        data={"version": 1, "text": NOTE, "status": "cancelled", "revision": 1},
    )
    assert not machine.untouched(dialog)  # the same revision, by another entry


def test_a_text_is_recorded_only_by_the_steps_that_take_one():
    """review/S2, review/S10, review/V-16: whoever passes one along with another step changes nothing by it."""
    stage = Stage()
    machine = Machine(stage, Sessions(stage), NOTE.encode())
    machine.open(Action.OPEN_REVIEW)
    machine.take(Action.SUBMIT_TEXT)

    assert machine.record(Action.REJECT, machine.note, "Typed.").text == NOTE
    assert machine.note.text == NOTE


@pytest.mark.parametrize("dialog", OPENED)
def test_a_dialog_that_raises_is_no_outcome(dialog: str):
    """review/V-47, review/V-49, review/S17: no record, pending cleared, the grant gone, the notice of
    review/V-28.
    """
    bench = Bench()
    bench.grant()
    OPENED[dialog][0](bench)
    (question,) = bench.stage.questions
    bench.stage.fail(question.id, HostError("the terminal is gone"))

    assert bench.stand == FRESH
    assert bench.entries == 0
    assert bench.notices[-1] == ("info", CLOSED)
    assert bench.of(DialogOver)[-1].why is Discarded.BROKE
    bench.review(EDITED, ACCEPT)
    assert bench.stand == (EDITED, "accepted", 1, False, False)


def test_a_fault_in_the_dialog_adapter_frees_the_desk_and_is_not_hidden():
    """review/V-49: on every exit path, also one nobody foresaw."""

    class Faulty(QuestionUI):
        async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
            raise ZeroDivisionError

    stage = Stage()
    bench = Bench(ui=Faulty(stage), stage=stage)
    task = bench.say("delegate")

    with pytest.raises(ZeroDivisionError):
        task.result()
    assert bench.stand == FRESH
    assert bench.host.desk.phase is Phase.IDLE


@pytest.mark.parametrize("dialog", OPENED)
def test_no_dialog_runs_out_of_time(dialog: str):
    """review/V-48."""
    bench = Bench()
    OPENED[dialog][0](bench)
    (question,) = bench.stage.questions
    bench.stage.advance(365 * 86_400_000)

    assert bench.stage.questions == (question,)
    assert bench.host.desk.busy


def test_a_closed_stage_leaves_the_desk_free_and_the_ledger_alone():
    """review/V-49: whoever gives the play up records nothing by it."""
    bench = Bench()
    bench.say("review")
    before = len(bench.stage.ledger)
    bench.stage.close()

    assert len(bench.stage.ledger) == before
    assert bench.stand == FRESH


def test_after_shutdown_the_desk_opens_nothing():
    """review/S15: the process is over; what was stored is all that is left."""
    bench = Bench()
    bench.stage.play(bench.host.shutdown())

    for word in ("review", "delegate", "overlay", "revoke"):
        with pytest.raises(NoSuchStep, match="while the desk is closed"):
            bench.say(word).result()
    assert bench.no_act() == NO_GRANT
    bench.stage.play(bench.host.shutdown())  # once more does no harm
    assert bench.stand == FRESH


# --------------------------------------------------------------------------------------------------------- shown


def test_status_and_widget_follow_every_command_and_every_change():
    """review/V-29: after a command, after a recorded change, and after a move, since the old one would be
    untrue.
    """
    bench = Bench()
    steps: list[tuple[Callable[[], object], str]] = [
        (lambda: bench.say("revoke"), "draft r0"),
        (bench.grant, "draft r0 · one change permitted"),
        (lambda: bench.act("accept", 0), "accepted r1"),
        (lambda: bench.review(UNSET), "cancelled r2"),
        (lambda: bench.move("go", "entry-1"), "accepted r1"),
        (lambda: bench.move("new"), "draft r0"),
    ]
    for does, status in steps:
        does()

        assert bench.of(StatusShown)[-1].text == status


def test_the_widgets_note_line_is_sanitised_and_at_most_60_columns_wide():
    """review/V-29, review/V-58: the first line only, cut with an ellipsis."""
    bench = Bench(note="\x1b[31m田" + "田" * 40 + "\nsecond")
    bench.say("show")

    assert bench.of(WidgetShown)[-1].lines[2] == "Note: " + "田" * 29 + "…"


def test_a_message_is_sanitised_where_it_is_rendered_and_raw_where_it_is_data():
    """The terminal unfolds it, a client gets the data and renders it itself."""
    bench = Bench(note="\x1b[31mRed\x1b[0m <b>\nsecond\n")
    bench.say("show")
    posted = bench.of(MessagePosted)[-1]
    message = CustomMessage(summary=posted.summary, text=posted.text)

    summary = "Release note: draft, revision 0. Permission: none."
    assert message.lines(unfolded=False) == (summary, "Expand to read the note.")
    assert message.lines(unfolded=True) == (summary, "Red <b>", "second", "")
    assert message.wire() == {
        "role": "custom",
        "customType": "review-desk",
        "content": summary,
        "display": True,
        "details": {"text": "\x1b[31mRed\x1b[0m <b>\nsecond\n"},
    }


def test_every_step_in_the_ledger_is_named_with_its_row():
    """review/S2, review/S7, review/S10: what the desk did can be read beside the specification."""
    bench = Bench()
    bench.grant()
    bench.act("revise", 0, text="x")
    bench.review("y", ACCEPT)

    assert [event.rule for event in bench.of(StepTaken)] == [
        "review/command-delegate",
        "review/S7",
        "review/S10",
        "review/command-review",
        "review/command-review",
        "review/S2",
    ]
    assert kinds(bench.stage.ledger).count("note_recorded") == 2


def test_frames_of_a_whole_delegation_over_rpc():
    """review/V-44, review/V-48: one confirm without a timeout, one cancel that names it."""
    bench = Bench(Mode.RPC)
    bench.say("delegate")
    bench.say("revoke")
    bench.stage.reply("q-1", True)

    frames = [event.frame for event in bench.stage.ledger if getattr(event, "frame", None)]
    assert frames[:2] == [
        {
            "type": "extension_ui_request",
            "id": "req-1",
            "method": "confirm",
            "title": "Permit one agent change?",
            "message": "Revision 0, this session, one change.",
        },
        {"type": "extension_ui_request", "id": "req-2", "method": "cancel", "targetId": "req-1"},
    ]
    assert frames[-1] == {"type": "extension_ui_response", "id": "req-1", "confirmed": True}
    assert bench.stand == FRESH


def test_frames_of_a_review_over_rpc():
    """An editor that is cancelled is followed by no select (review/S5)."""
    bench = Bench(Mode.RPC)
    bench.review(EDITED, REJECT)
    bench.review(UNSET)

    frames = [event["frame"] for event in plain(bench.stage.ledger) if event["event"] == "frame_sent"]
    assert [frame["method"] for frame in frames] == [
        "editor",
        "select",
        "setStatus",
        "setWidget",
        "editor",
        "setStatus",
        "setWidget",
    ]
    assert frames[0]["prefill"] == NOTE
    assert frames[1]["options"] == ["Accept locally", "Reject", "Cancel"]
    assert "optionDetails" not in frames[1]
    assert frames[2]["statusText"] == "rejected r1"
    assert frames[3]["widgetLines"][0] == "Review desk: rejected, revision 1"


def test_a_client_that_goes_away_takes_the_grant_with_it():
    """review/S17, review/V-47, review/end-9."""
    bench = Bench(Mode.RPC)
    bench.grant()
    bench.say("review")
    bench.ui.disconnect()  # type: ignore[attr-defined]
    bench.stage.drain()

    assert bench.stand == FRESH
    assert bench.ends == ["FAILED"]
    assert bench.entries == 0
    bench.say("delegate")
    assert bench.stand == FRESH
    assert bench.notices[-1] == ("info", CLOSED)
