"""The overlay panel: rows that fit, text that harms nobody, keys that are whole, one outcome (review/V-50 to
review/V-61).
"""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from review_kit import CLOSED, FRESH, NOTE, Bench, kinds, plain

from labsim.errors import AbortError
from labsim.review.base.events import PanelHidden, PanelNeverShown, PanelShown
from labsim.review.branch.note import Note
from labsim.review.panel.display import clusters, columns, cut, sanitise, wrap
from labsim.review.panel.overlay import StageOverlays
from labsim.review.panel.panel import Panel, PanelOutcome, open_panel
from labsim.stage.stage import AbortSignal, Future, Stage
from labsim.terms import DialogKind, Status

UP, DOWN, UP_APPLICATION, DOWN_APPLICATION, ESC = "\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB", "\x1b"
HINT = "Up/Down scroll  a accept  r reject  Esc cancel"


def panel(text: str, viewport: int = 80, status: Status = Status.DRAFT, revision: int = 0) -> Panel:
    return open_panel(Note(text=text, status=status, revision=revision, entry_id=None), viewport)


def widest(row: str) -> int:
    """The columns of a row, counted without our own measure: wide characters two, marks none, all others one."""
    return sum(map(_one, row))


def _one(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me") or character == "\u200b":
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


# ----------------------------------------------------------------------------------------------------------- rows


def test_the_twelve_rows_of_a_short_note():
    """review/V-51, review/V-52: title with status and revision, rule, eight lines padded with blanks, position,
    hint.
    """
    assert panel("One.\nTwo.", 46, Status.ACCEPTED, 3).rows == (
        "Review desk: accepted, revision 3",
        "-" * 46,
        "One.",
        "Two.",
        "",
        "",
        "",
        "",
        "",
        "",
        "Lines 1-2 of 2",
        HINT,
    )


@pytest.mark.parametrize(("viewport", "width"), [(1, 1), (20, 20), (99, 99), (100, 100), (101, 100), (300, 100)])
def test_the_width_is_the_viewports_but_at_most_100(viewport: int, width: int):
    """review/V-50."""
    shown = panel("x" * 500, viewport)

    assert shown.width == width
    assert shown.body[0] == "x" * width
    assert shown.rows[1] == "-" * width


@pytest.mark.parametrize("viewport", [0, -5])
def test_a_terminal_without_columns_counts_as_one_column_wide(viewport: int):
    """review/V-50: at any width of 1 or more; less than that is no width."""
    assert panel("ab", viewport).body[:2] == ("a", "b")


def test_rows_that_are_too_long_are_cut_with_an_ellipsis():
    """review/V-52."""
    assert panel("x", 10).rows[0] == "Review de…"
    assert panel("x", 10).rows[-1] == "Up/Down s…"
    assert panel("x", 1).rows == ("…", "-", "x", "", "", "", "", "", "", "", "…", "…")


PIECES = [
    *"ab \t\n\r\x07\x1b\x9b\x9d\x9c\u202e\u2066\u200f\u200b\u0301\ufe0f田🌱é가❤☰🇩[m<>\ud800\udc00\u2028\xad\x85",
    "word ",
    "    ",
    "\r\n",
    "\x1b[31m",
    "\x1b]0;x\x07",
    "\x1bP",
    "longword",
]
#: Texts that are mostly trouble, with any other character now and then.
HOSTILE = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=60).map("".join)


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(HOSTILE, st.sampled_from([1, 2, 3, 20, 100, 300]), st.integers(0, 30))
def test_no_row_is_ever_too_wide_and_the_body_always_has_eight_lines(text: str, viewport: int, downs: int):
    """review/V-50, review/V-51, review/V-54, review/V-58, review-t16: for any text, at any width, wherever one has
    scrolled to.
    """
    shown = panel(text, viewport)
    for _ in range(downs):
        shown = shown.press(DOWN)

    assert len(shown.rows) == 12
    assert len(shown.body) == 8
    for row in shown.rows:
        assert widest(row) <= min(viewport, 100)
        assert columns(row) <= min(viewport, 100)
        assert len(row.splitlines()) <= 1
        assert not any(unicodedata.category(c) in ("Cc", "Cs") for c in row)
        assert not set(row) & set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert 0 <= shown.offset <= max(0, len(shown.lines) - 8)


def test_twelve_thousand_hostile_characters_are_only_a_long_note():
    """review-t16, review/V-50: the longest note there can be, of the worst characters."""
    text = ("\x1b]0;x\x07\x1b[31m\u202e<script>alert(1)</script>田\u0301\t" * 400)[:12_000]
    shown = panel(text, 20)

    assert max(map(widest, shown.lines)) <= 20
    assert "<script>" in "".join(shown.lines)  # review/V-58 takes nothing out that is only text
    assert "\x1b" not in "".join(shown.lines)


# -------------------------------------------------------------------------------------------------------- wrapping


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("one two three", 7, ["one two", "three"]),
        ("one two three", 8, ["one two", "three"]),
        ("one two three", 3, ["one", "two", "thr", "ee"]),
        ("abcdef", 3, ["abc", "def"]),  # mid-word where there is no space
        ("a\n\nb", 5, ["a", "", "b"]),  # empty lines are kept
        ("", 5, [""]),
        ("田田田", 5, ["田田", "田"]),  # a wide character that does not fit moves on
        ("a田", 2, ["a", "田"]),
        ("田", 1, ["…"]),  # it fits nowhere
        ("  ab cd", 4, ["  ab", "cd"]),
        ("    abcdef", 6, ["    ab", "cdef"]),  # a row begins with spaces: no place to break
        ("a  b", 2, ["a ", "b"]),
        ("e\u0301e\u0301e\u0301", 2, ["e\u0301e\u0301", "e\u0301"]),  # marks stay with their letter
        ("\u2764\ufe0fx", 2, ["\u2764\ufe0f", "x"]),  # a picture is two columns wide
        ("ab 田田", 4, ["ab", "田田"]),
        ("a 田b", 3, ["a", "田b"]),
    ],
)
def test_text_is_wrapped_at_spaces_if_possible(text: str, width: int, rows: list[str]):
    """review/V-53."""
    assert list(wrap(text, width)) == rows


@pytest.mark.slow
@settings(derandomize=True, max_examples=150, deadline=None)
@given(HOSTILE, st.integers(2, 30))
def test_wrapping_loses_nothing_but_the_spaces_it_breaks_at(text: str, width: int):
    """review/V-53."""
    clean = sanitise(text)

    assert "".join(wrap(clean, width)).replace(" ", "") == clean.replace(" ", "").replace("\n", "")


@pytest.mark.parametrize(
    ("text", "width"),
    [("a", 1), ("田", 2), ("\u0301", 0), ("é", 1), ("\u200b", 0), ("가", 2), ("🇩🇪", 4), ("☰", 2), ("\xad", 1)],
)
def test_columns_of_a_character(text: str, width: int):
    """review/V-50: as a terminal counts; where terminals differ, the larger number."""
    assert columns(text) == width


def test_marks_belong_to_the_character_before():
    """review/V-53."""
    assert list(clusters("\u0301ae\u0301\u0302田\ufe0f")) == [
        ("\u0301", 0),
        ("a", 1),
        ("e\u0301\u0302", 1),
        ("田\ufe0f", 2),
    ]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("田田", 3, "田…"), ("田田", 2, "…"), ("ab", 1, "…"), ("ab", 0, "")],
)
def test_cutting_leaves_room_for_the_ellipsis(text: str, width: int, shown: str):
    """review/V-52."""
    assert cut(text, width) == shown


# ------------------------------------------------------------------------------------------------------ sanitising


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;2;3Hx\x1b[?25l", "x"),
        ("\x9b31mred", "red"),  # C1 form
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://seed\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9cx", "x"),
        ("\x1bP1;2qdata\x1b\\x", "x"),  # DCS
        ("\x1b_app\x1b\\x\x1b^pm\x1b\\", "x"),
        ("\x1bcx\x1b7\x1b(B", "x"),
        ("\x1b]0;never closed, and the rest of the note", "]0;never closed, and the rest of the note"),
        ("\x1b[31", "[31"),
        ("\x1b", ""),
        ("\x1b\x1b[31m[31mx", "[31mx"),  # taking one out makes no other
        ("\x1b\u202e[31mx", "[31mx"),
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\u2028b\u2029c", "a\nb\nc"),
        ("a\tb", "a    b"),
        ("a\x00b\x08c\x7fd\x0be\x0cf", "abcdef"),
        ("a\x85b\x90c", "abc"),
        ("a\ud800b\udfffc", "abc"),
        ("\u061ca\u200eb\u200fc\u202ad\u202be\u202cf\u202dg\u202eh\u2066i\u2067j\u2068k\u2069", "abcdefghijk"),
        ("<b onclick='x'>&amp;</b>", "<b onclick='x'>&amp;</b>"),
        ("https://seed.example {0} %s $x$ `y`", "https://seed.example {0} %s $x$ `y`"),
        ("é田🌱\u200b", "é田🌱\u200b"),
    ],
)
def test_what_acts_on_a_terminal_is_taken_out_and_nothing_else(text: str, shown: str):
    """review/V-58: ANSI and OSC sequences, control characters but newline and tab, C1, half pairs, bidi
    controls.
    """
    assert sanitise(text) == shown


@pytest.mark.slow
@settings(derandomize=True, max_examples=200, deadline=None)
@given(HOSTILE)
def test_sanitising_twice_changes_nothing_more(text: str):
    """review/V-58: what was taken out leaves nothing behind that would have to be taken out."""
    assert sanitise(sanitise(text)) == sanitise(text)


@pytest.mark.parametrize("opener", ["\x1b]", "\x9d", "\x1bP", "\x1b[0"])
def test_sanitising_takes_no_longer_for_a_note_of_openings(opener: str):
    """review/V-58: 12,000 characters that open a sequence and never close it; quadratic work would show in the
    suite.
    """
    text = (opener * 12_000)[:12_000]

    assert "\x1b" not in sanitise(text)


def test_the_stored_text_is_untouched():
    """review/V-58: for display only; the outcome records the text as it was."""
    hostile = "\x1b[31mRed\r\n\u202e<b>\ttab"
    bench = Bench(note=hostile)
    bench.say("overlay")
    assert bench.host.overlays.shown is not None
    bench.host.overlays.shown.press("a")

    assert bench.stand == (hostile, "accepted", 1, False, False)


# ------------------------------------------------------------------------------------------------------------ keys

LONG = "\n".join(f"line {number}" for number in range(1, 21))


def positions(shown: Panel, *chunks: str) -> list[int]:
    seen = []
    for chunk in chunks:
        shown = shown.press(chunk)
        seen.append(shown.offset)
    return seen


def test_up_and_down_move_by_one_line_and_stay_in_range():
    """review/V-54, review/V-55: both spellings of the arrows."""
    shown = panel(LONG)

    assert positions(shown, UP, DOWN, DOWN_APPLICATION, UP_APPLICATION, UP, UP) == [0, 1, 2, 1, 0, 0]
    assert positions(shown, *[DOWN] * 15)[-4:] == [12, 12, 12, 12]
    for _ in range(12):
        shown = shown.press(DOWN)
    assert shown.rows[2] == "line 13"
    assert shown.rows[10] == "Lines 13-20 of 20"


def test_a_note_of_eight_lines_does_not_scroll():
    """review/V-54: the offset stays within 0 and the number of lines less eight."""
    assert positions(panel("\n".join("12345678")), DOWN, DOWN) == [0, 0]


@pytest.mark.parametrize(
    ("chunk", "outcome"),
    [("a", PanelOutcome.ACCEPT), ("r", PanelOutcome.REJECT), (ESC, PanelOutcome.CANCEL)],
)
def test_three_keys_decide(chunk: str, outcome: PanelOutcome):
    """review/S13, review/V-55."""
    assert panel(NOTE).press(chunk).outcome is outcome


NO_KEYS = [
    "A",
    "R",
    "\r",
    "\n",
    " ",
    "",
    "aa",
    "ar",
    "accept",
    "a\n",
    "á",
    "\x03",
    "q",
    "\x1b\x1b",
    "\x1b[",
    "\x1bO",
]


@pytest.mark.parametrize("chunk", [*NO_KEYS, "\x1b[C", "\x1b[1;2A", "\x1b[200~a\x1b[201~", "\x1b[Aa"])
def test_anything_else_is_ignored(chunk: str):
    """review/V-55, review/V-56: capital letters, Enter, pasted text; a chunk counts whole, so an arrow is never an
    Escape.
    """
    shown = panel(LONG).press(DOWN)

    assert shown.press(chunk) is shown


@pytest.mark.parametrize("first", ["a", "r", ESC])
@pytest.mark.parametrize("later", ["a", "r", ESC, DOWN, UP])
def test_the_first_outcome_wins(first: str, later: str):
    """review/V-57: later keys do nothing."""
    decided = panel(LONG).press(first)

    assert decided.press(later) is decided


def test_a_resize_wraps_again_and_keeps_the_offset_in_range():
    """review/V-61."""
    shown = panel("word " * 100, 20)
    for _ in range(50):
        shown = shown.press(DOWN)
    assert (len(shown.lines), shown.offset) == (25, 17)

    wide = shown.resize(300)
    assert (wide.width, len(wide.lines), wide.offset) == (100, 5, 0)
    assert wide.resize(20).lines == shown.lines


# ----------------------------------------------------------------------------------------------------- on the desk


@pytest.mark.parametrize(("chunk", "status"), [("a", "accepted"), ("r", "rejected"), (ESC, "cancelled")])
def test_each_outcome_of_the_panel_is_one_entry(chunk: str, status: str):
    """review/S13, review/V-60: recorded with the text as it was; hidden, disposed, focus returned."""
    bench = Bench()
    bench.say("overlay")
    overlays = bench.host.overlays
    assert overlays.shown is not None
    (question,) = bench.stage.questions
    overlays.shown.press(chunk)
    assert overlays.shown is None

    assert bench.stand == (NOTE, status, 1, False, False)
    assert bench.entries == 1
    assert [event.question_id for event in bench.of(PanelShown)] == [question.id]
    assert [event.question_id for event in bench.of(PanelHidden)] == [question.id]


def test_the_panel_is_a_question_that_any_driver_can_answer():
    """review/V-52, review/V-58: its title, its sanitised text, and the three outcomes as options."""
    bench = Bench(note="\x1b[31mRed\n")
    bench.say("overlay")
    (question,) = bench.stage.questions

    assert question.kind is DialogKind.CUSTOM
    assert question.title == "Review desk: draft, revision 0"
    assert question.options == ("accept", "reject", "cancel")
    assert question.prefill == "Red\n"


@pytest.mark.parametrize("answer", [UNSET, None, "publish", "Accept locally", 5, True])
def test_an_outcome_that_is_none_of_the_three_cancels(answer: object):
    """review/S13, review/V-17: as with the selector, only the exact word accepts."""
    bench = Bench()
    bench.say("overlay")
    bench.reply(answer)

    assert bench.stand == (NOTE, "cancelled", 1, False, False)


def test_a_key_after_the_outcome_finds_nobody():
    """review/V-57, review/V-59: the panel listens while it is shown, and types nothing anywhere."""
    bench = Bench()
    bench.say("overlay")
    shown = bench.host.overlays.shown
    assert shown is not None
    for chunk in ("r", "a", ESC):
        shown.press(chunk)

    assert bench.stand == (NOTE, "rejected", 1, False, False)
    assert bench.entries == 1
    assert "late_reply" not in kinds(bench.stage.ledger)
    assert not [event for event in plain(bench.stage.ledger) if "editor_text" in str(event)]


def test_revoke_hides_the_panel_at_once():
    """review/V-60, review/V-47, review/S9: off the screen before anybody hears of it; nothing recorded."""
    bench = Bench()
    bench.say("overlay")
    shown = bench.host.overlays.shown
    assert shown is not None
    bench.say("revoke")
    assert bench.host.overlays.shown is None
    shown.press("a")

    assert bench.stand == FRESH
    assert bench.notices[-1] == ("info", CLOSED)
    order = [kind for kind in kinds(bench.stage.ledger) if kind.startswith(("panel", "dialog_over", "late"))]
    assert order == ["panel_shown", "panel_hidden", "dialog_over", "late_reply"]


def test_a_panel_of_a_resized_terminal():
    """review/V-61: the panel on screen follows, and so does the next one."""
    bench = Bench(note="word " * 40, viewport=20)
    bench.say("overlay")
    overlays = bench.host.overlays
    assert overlays.shown is not None
    overlays.resize(300)
    assert overlays.shown.panel.width == 100
    overlays.shown.press("r")

    bench.say("overlay")
    assert overlays.shown is not None
    assert overlays.shown.panel.width == 100


def test_a_panel_that_is_ready_after_the_abort_is_never_shown():
    """review/V-60: disposed, not shown; the custom call is rejected with the abort's reason."""
    stage = Stage()
    overlays, signal, ready = StageOverlays(stage), AbortSignal(stage), Future[Panel](stage)

    async def slowly() -> Panel:
        return await ready

    task = stage.spawn(overlays.custom(lambda viewport: slowly(), signal=signal))
    signal.abort()
    ready.set_result(panel(NOTE))
    stage.drain()

    with pytest.raises(AbortError, match="The overlay was aborted"):
        task.result()
    assert overlays.shown is None
    assert [type(event) for event in stage.ledger] == [PanelNeverShown]


def test_an_abort_beforehand_makes_no_panel():
    """review/V-60, rpc/R-33: the factory is not even called."""
    stage = Stage()
    made: list[Any] = []
    task = stage.spawn(StageOverlays(stage).custom(made.append, signal=AbortSignal(stage, aborted=True)))  # type: ignore[arg-type]

    with pytest.raises(AbortError):
        task.result()
    assert made == []
    assert len(stage.ledger) == 0
