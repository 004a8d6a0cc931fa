"""The overlay panel and the desk around it, as a notebook has them: by messages, as text, and with hostile text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from labsim.events.dialogs import LateReply
from labsim.review.base.events import GrantGiven, NoteRecorded, PanelHidden
from labsim.review.branch.note import valid_text
from labsim.review.panel.display import columns
from labsim.review.panel.panel import BODY_LINES
from workbook.learner.who import VARIABLE, Learner
from workbook.live import review_bench
from workbook.live.controls import VIEW, DeskControl
from workbook.live.review_bench import (
    BUTTONS,
    CHUNKS,
    HOSTILE_NOTE,
    WIDEST_VIEWPORT,
    HandsOn,
    NoSuchButton,
    NoSuchDialog,
    chunk_of,
    columns_in,
)

FORTY_LINES = "".join(f"line {number}\n" for number in range(1, 41))


def desk(*buttons: str, note: str | None = None) -> HandsOn:
    """A desk with a live learner and every button, some of them pressed."""
    made = HandsOn(tuple(BUTTONS), note=UNSET if note is None else note, learner=Learner.LIVE, name="desk")
    return made.press(*buttons)


def kinds(played: HandsOn, kind: type[Any]) -> list[Any]:
    return [event for event in played.report().ledger if isinstance(event, kind)]


def rows(played: HandsOn) -> list[str]:
    found: list[str] = played.state()["panel"]["rows"]
    return found


def key(played: HandsOn, *names: str) -> None:
    """Keys as the front end tells of them."""
    for name in names:
        played.receive({"type": "key", "key": name})


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, Learner.SCRIPTED)


# ------------------------------------------------------------------------------------------------------ the panel


def test_the_panel_shows_eight_body_lines_and_scrolls_by_one() -> None:
    """review/V-51, review/V-54: always eight lines of the note; Up and Down move by one and stop at either end."""
    made = desk("overlay", note=FORTY_LINES)
    assert rows(made)[2:10] == [f"line {number}" for number in range(1, 9)]

    key(made, "ArrowUp")
    assert rows(made)[10] == "Lines 1-8 of 41"
    key(made, "ArrowDown", "ArrowDown", "ArrowUp")
    assert rows(made)[2:10] == [f"line {number}" for number in range(2, 10)]
    key(made, *["ArrowDown"] * 100)
    assert rows(made)[10] == "Lines 34-41 of 41"
    assert len(rows(made)) == BODY_LINES + 4


@pytest.mark.parametrize(
    ("name", "status"), [("a", "accepted"), ("r", "rejected"), ("Escape", "cancelled")], ids=["a", "r", "Escape"]
)
def test_each_of_three_keys_is_an_outcome(name: str, status: str) -> None:
    """review/S13: a accepts, r rejects, Escape cancels; the panel is gone, and one entry records it."""
    made = desk("overlay")

    key(made, name)

    assert [(event.status, event.revision) for event in kinds(made, NoteRecorded)] == [(status, 1)]
    assert made.state()["panel"] == {"label": "", "rows": [], "open": False}
    assert len(kinds(made, PanelHidden)) == 1


def test_the_first_outcome_wins() -> None:
    """review/V-57: what is pressed after it reaches nobody, in one chunk of keys or in several messages."""
    one, several = desk("overlay"), desk("overlay")

    one.keys("r", "a", "Escape")
    key(several, "r", "a", "Escape")

    for made in (one, several):
        assert [event.status for event in kinds(made, NoteRecorded)] == ["rejected"]


@given(st.text(max_size=12).filter(lambda name: name not in CHUNKS))
def test_no_other_key_does_anything(name: str) -> None:
    """review/V-56: capitals, Enter, pasted text, and whatever a browser may call a key; not even an escape
    sequence.
    """
    made = desk("overlay", note=FORTY_LINES)
    before = made.state()

    key(made, name)

    assert made.state() == before


def test_an_arrow_is_never_read_as_escape() -> None:
    """review/V-55: a chunk is matched whole, so no arrow ends the panel."""
    assert {chunk_of(name) for name in ("ArrowUp", "ArrowDown")} == {"\x1b[A", "\x1b[B"}
    made = desk("overlay")
    key(made, "ArrowUp", "ArrowDown")

    assert made.state()["panel"]["open"] is True


def test_keys_without_a_panel_reach_nobody() -> None:
    """review/V-59: nothing listens while no panel is open."""
    made = desk()

    key(made, "a", "r", "Escape", "ArrowDown")

    assert list(made.report().ledger) == []


def test_revoke_hides_the_panel_and_records_nothing() -> None:
    """review/V-60, review/end-1 to review/end-9: revoked from outside, with the panel open; what is typed then
    changes nothing.
    """
    made = desk("overlay")

    made.receive({"type": "press", "button": "revoke"})
    key(made, "a")

    assert made.state()["panel"]["open"] is False
    assert kinds(made, NoteRecorded) == []
    assert made.status == "Review desk: draft, revision 0. Permission: none. No dialog is open."


@pytest.mark.slow
@given(st.integers(min_value=1, max_value=400))
def test_no_row_is_wider_than_the_place_or_than_a_hundred_columns(width: int) -> None:
    """review/V-50, review/V-61: at every width that the front end measures, hostile text and wide characters
    included.
    """
    made = desk("overlay", note=HOSTILE_NOTE)

    made.receive({"type": "resize", "columns": width})

    assert max(map(columns, rows(made))) <= min(width, 100)
    assert len(rows(made)) == BODY_LINES + 4


def test_a_width_that_is_none_changes_nothing() -> None:
    """A front end that measures nonsense costs nothing."""
    made = desk("overlay")
    before = made.state()

    for found in (0, -5, True, None, "wide", 2.5):
        made.receive({"type": "resize", "columns": found})
        assert columns_in(found) is None

    assert made.state()["panel"] == before["panel"]
    assert columns_in(10**9) == WIDEST_VIEWPORT


def test_hostile_text_is_shown_harmlessly_and_stored_as_it_was() -> None:
    """review/V-58: no control character reaches a row; markup is text; what is recorded is the text as it was."""
    made = desk("overlay", note=HOSTILE_NOTE)
    shown = "\n".join(rows(made))

    assert valid_text(HOSTILE_NOTE)
    assert {found for found in shown if ord(found) < 32 or 127 <= ord(found) < 160} == {"\n"}
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(shown)
    assert "<img src=x onerror=alert(1)> <b>bold</b> $$x^2$$" in shown
    key(made, "a")
    assert made.report().observed["text"] == HOSTILE_NOTE
    assert made.report().observed["authorized"] is False


# ------------------------------------------------------------------------------------------------------- the desk


def test_a_late_yes_is_noted_and_permits_nothing() -> None:
    """review/V-43, review/V-45: delegate, revoke, and then the yes; the act after it is refused."""
    made = desk("delegate", "revoke")
    (dialog,) = made.state()["dialogs"]
    assert (dialog["open"], dialog["late"], dialog["ended"]) == (False, True, "closed by the host")

    made.receive({"type": "reply", "dialog": "q-1", "option": 0})
    made.receive({"type": "press", "button": "act"})

    (dialog,) = made.state()["dialogs"]
    assert (dialog["late"], dialog["ended"]) == (False, "closed by the host; answered: Yes, too late")
    assert [event.question_id for event in kinds(made, LateReply)] == ["q-1"]
    assert (kinds(made, GrantGiven), kinds(made, NoteRecorded)) == ([], [])
    assert made.report().calls[-1].error == "No human grant: ask the human to run /review-desk delegate."


def test_a_yes_in_time_permits_one_change() -> None:
    """review/S7, review/S11, review/V-34: the same buttons without the revoke; a second act finds no grant."""
    made = desk("delegate").answer("q-1", True)
    assert made.status == (
        "Review desk: draft, revision 0. Permission: one change at revision 0. No dialog is open."
    )

    made.press("act", "act")

    assert [(event.status, event.revision) for event in kinds(made, NoteRecorded)] == [("accepted", 1)]
    assert [call.error is None for call in made.report().calls] == [True, False]


@pytest.mark.parametrize("button", ["revoke", "away", "restart"])
def test_a_grant_ends_by_revoke_by_moving_and_by_a_restart(button: str) -> None:
    """review/end-3, 4 and 7."""
    made = desk("delegate").answer("q-1", True).press(button, "act")

    assert kinds(made, NoteRecorded) == []
    assert made.report().observed["authorized"] is False


def test_a_review_goes_through_both_dialogs() -> None:
    """review/S2, by the messages of the control: the edited text, then the first label."""
    made = desk("review")
    made.receive({"type": "reply", "dialog": "q-1", "text": "Short.\n"})
    made.receive({"type": "reply", "dialog": "q-2", "option": 0})

    seen = made.report().observed
    assert (seen["status"], seen["revision"], seen["text"], seen["effects"]) == ("accepted", 1, "Short.\n", 0)


MESSAGES = st.one_of(
    st.sampled_from(sorted(BUTTONS)).map(lambda name: {"type": "press", "button": name}),
    st.sampled_from([*CHUNKS, "Enter"]).map(lambda name: {"type": "key", "key": name}),
    st.tuples(st.integers(1, 6), st.integers(0, 2)).map(
        lambda pair: {"type": "reply", "dialog": f"q-{pair[0]}", "option": pair[1]}
    ),
    st.integers(1, 6).map(lambda number: {"type": "reply", "dialog": f"q-{number}", "text": "Other words.\n"}),
    st.integers(1, 6).map(lambda number: {"type": "dismiss", "dialog": f"q-{number}"}),
)


@given(st.lists(MESSAGES, max_size=25))
def test_whatever_is_pressed_the_agent_makes_at_most_one_change_for_each_grant(messages: list[Any]) -> None:
    """review/V-34 under a learner's hands: in any order, late answers included, and no order breaks the desk."""
    made = desk()

    for message in messages:
        made.receive(message)
        assert "broke" not in made.status

    report = made.report()
    changed = sum(call.result is not None and call.result.details["op"] == "act" for call in report.calls)
    assert changed <= len(kinds(made, GrantGiven))
    assert report.observed["effects"] == 0
    assert report.observed["revision"] <= len(kinds(made, NoteRecorded))


def test_nonsense_from_a_front_end_changes_nothing() -> None:
    """No message can break a desk, press a button that it does not show, or answer what was never asked."""
    made = HandsOn(("overlay",), learner=Learner.LIVE, name="desk")
    for message in (None, 3, {}, {"type": "press"}, {"type": "press", "button": "delegate"}, {"type": "key"}):
        made.receive(message)
    made.receive({"type": "reply", "dialog": "q-9", "option": 0})

    assert list(made.report().ledger) == []


def test_what_is_not_there_is_named() -> None:
    """A button or a dialog that does not exist: the error says which there are."""
    made = desk("delegate")

    with pytest.raises(NoSuchButton, match=r"no button 'approve' here\. Use one of: show, review"):
        made.press("approve")
    with pytest.raises(NoSuchDialog, match=r"No dialog 'q-7' was opened here\. There are: q-1"):
        made.answer("q-7", True)


def test_a_superseded_desk_is_dead() -> None:
    """Its cell was run again: an open dialog is given up, and no button does anything."""
    made = desk("delegate")
    made.supersede()

    made.receive({"type": "reply", "dialog": "q-1", "option": 0})
    made.receive({"type": "press", "button": "act"})

    assert made.state()["dialogs"][0]["late"] is False
    assert (kinds(made, GrantGiven), kinds(made, NoteRecorded)) == ([], [])


# ----------------------------------------------------------------------------------------------------- as a cell


def test_a_live_desk_is_a_control_with_a_text_form() -> None:
    """Where widgets are drawn it is one; where they are not, its text says what it shows."""
    made = desk("overlay")
    bundle = made._repr_mimebundle_()

    assert isinstance(made.widget, DeskControl)
    assert made.widget is made.widget
    assert VIEW in bundle
    lines = [line.strip() for line in bundle["text/plain"].splitlines()]
    assert lines[lines.index("The panel:") + 1 :][: len(rows(made))] == [row.strip() for row in rows(made)]
    key(made, "ArrowDown")
    assert made.widget.panel == made.state()["panel"]


@pytest.mark.usefixtures("scripted")
def test_the_scripted_learner_shows_text_only() -> None:
    """Worked editions: no widget, a late yes at the desk, and the panel scrolled by two lines."""
    tried, shown, hostile = review_bench.hands_on(), review_bench.overlay(), review_bench.overlay(hostile=True)

    for made in (tried, shown, hostile):
        assert set(made._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert [event.question_id for event in kinds(tried, LateReply)] == ["q-1"]
    assert "Lines 3-10 of 17" in str(shown.page())
    assert "<img src=x" in str(hostile.page())
    assert "<img src=x" not in hostile.page().html()


def test_a_live_desk_begins_untouched() -> None:
    """Nothing is pressed for a person; only the panel of `overlay` is open already."""
    assert list(review_bench.hands_on().report().ledger) == []
    assert review_bench.overlay().state()["panel"]["open"] is True
