"""The same desk in every mode: what is asked, shown, recorded and sent (review/V-21 to review/V-23,
review/V-62).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from review_kit import EDITED, FRESH, NO_GRANT, NOTE, Bench, kinds

from labsim.events.dialogs import QuestionAsked
from labsim.play.mode_matrix import Observed, mode_matrix, observe
from labsim.review.base.events import MessagePosted
from labsim.review.desk import Command
from labsim.review.surface import Mode
from labsim.review.tool import Op
from labsim.stage.stage import AbortSignal, Stage
from labsim.stage.ui import InertUI, QuestionUI

NO_UI = "Interactive review needs a UI. State is unchanged; use inspect or query."
SHOWN = "Release note: draft, revision 0. Permission: none."

# Every command and operation in every mode, written out: dialogs, notices, messages, frames, entries recorded,
# granted afterwards, error.
UPDATE = ("setStatus", "setWidget")
MATRIX: dict[tuple[str, str], tuple[Any, ...]] = {
    ("show", "tui"): ((), (), (SHOWN,), (), 0, False, ""),
    ("show", "rpc"): ((), (), (SHOWN,), ("message_end", *UPDATE), 0, False, ""),
    ("show", "print"): ((), (), (SHOWN,), (), 0, False, ""),
    ("review", "tui"): (("editor", "select"), (), (), (), 1, False, ""),
    ("review", "rpc"): (("editor", "select"), (), (), ("editor", "select", *UPDATE), 1, False, ""),
    ("review", "print"): ((), (), (NO_UI,), (), 0, False, ""),
    ("delegate", "tui"): (("confirm",), ("One change permitted at revision 0.",), (), (), 0, True, ""),
    ("delegate", "rpc"): (
        ("confirm",),
        ("One change permitted at revision 0.",),
        (),
        ("confirm", "notify", *UPDATE),
        0,
        True,
        "",
    ),
    ("delegate", "print"): ((), (), (NO_UI,), (), 0, False, ""),
    ("revoke", "tui"): ((), ("No permission to remove.",), (), (), 0, False, ""),
    ("revoke", "rpc"): ((), ("No permission to remove.",), (), ("notify", *UPDATE), 0, False, ""),
    ("revoke", "print"): ((), (), (), (), 0, False, ""),
    ("overlay", "tui"): (("custom",), (), (), (), 1, False, ""),
    ("overlay", "rpc"): (
        (),
        ("The overlay needs the terminal UI. Use /review-desk review.",),
        (),
        ("notify", *UPDATE),
        0,
        False,
        "",
    ),
    ("overlay", "print"): ((), (), (NO_UI,), (), 0, False, ""),
    ("act", "tui"): ((), (), (), (), 1, False, ""),
    ("act", "rpc"): ((), (), (), UPDATE, 1, False, ""),
    ("act", "print"): ((), (), (), (), 0, False, NO_GRANT),
    **{(op, mode): ((), (), (), (), 0, False, "") for op in ("inspect", "query", "discover") for mode in Mode},
}
for (what, mode), row in tuple(MATRIX.items()):
    if mode == "print":
        MATRIX[what, "json"] = row


def facts(seen: Observed) -> tuple[Any, ...]:
    return seen.dialogs, seen.notices, seen.messages, seen.frames, seen.recorded, seen.granted, seen.error


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("what", [*Command, *Op])
def test_what_comes_of_a_command_in_a_mode(what: Command | Op, mode: Mode):
    """review/V-21, review/V-22, review/V-23, rpc/R-22: every row in every column, played and compared with the
    specification.
    """
    seen = observe(what, mode)

    assert facts(seen) == MATRIX[what, mode]
    assert (seen.mode, seen.what) == (mode, what)
    changed = bool(seen.recorded)
    assert seen.status is seen.widget is (mode.has_ui and (isinstance(what, Command) or changed))


def test_the_matrix_is_every_row_in_every_mode():
    """It is computed, not typed."""
    assert [(seen.what, seen.mode.value) for seen in mode_matrix()] == [
        (what.value, mode.value) for what in (*Command, *Op) for mode in Mode
    ]


@pytest.mark.parametrize("mode", [Mode.PRINT, Mode.JSON])
@pytest.mark.parametrize("word", ["review", "delegate", "overlay"])
def test_an_inert_dialog_is_never_taken_for_escape(mode: Mode, word: str):
    """review/V-62, review-t14: the UI is looked for before a dialog opens; no entry, no grant, one message that
    explains.
    """
    bench = Bench(mode)
    bench.say(word)

    assert bench.stand == FRESH
    assert [event.summary for event in bench.of(MessagePosted)] == [NO_UI]
    assert bench.of(QuestionAsked) == []
    assert "note_recorded" not in kinds(bench.stage.ledger)


@pytest.mark.parametrize(
    ("mode", "inert"), [(Mode.TUI, True), (Mode.RPC, True), (Mode.PRINT, False), (Mode.JSON, False)]
)
def test_mode_and_adapter_must_both_have_a_person(mode: Mode, inert: bool):
    """review/V-62, on the strict side: a host that says tui and has nobody, or print and somebody, asks nobody."""
    stage = Stage()
    bench = Bench(mode, ui=InertUI() if inert else QuestionUI(stage), stage=stage)
    for word in ("review", "delegate", "overlay"):
        bench.say(word)

    assert bench.stand == FRESH
    assert bench.of(QuestionAsked) == []
    assert [event.summary for event in bench.of(MessagePosted)] == [NO_UI] * 3


def test_print_mode_can_read_and_never_change():
    """review-t14, review/V-21 to review/V-23, review/V-62: refused one by one, revision 0, no entry; reading goes
    on.
    """
    bench = Bench(Mode.PRINT)
    for word in ("review", "delegate", "overlay", "revoke"):
        bench.say(word)

    assert bench.no_act("accept", 0) == NO_GRANT
    assert bench.told(op="inspect")["text"] == NOTE
    assert bench.sessions.current.entries == ()
    assert kinds(bench.stage.ledger).count("notified") == 0


def test_enter_in_the_editor_is_a_line_break_and_not_a_submission():
    """review/V-63: the text is taken as submitted, of as many lines as it has; the chord is named where it is
    shown.
    """
    from labsim.review.base.words import COPY

    bench = Bench()
    bench.review(EDITED, "Accept locally")

    assert EDITED.count("\n") == 2
    assert bench.stand[0] == EDITED
    assert "Ctrl+Q or Ctrl+Enter submits" in COPY.editor.hint
    assert "Enter starts a new line" in COPY.editor.hint


def test_the_desk_asks_for_nothing_but_its_own_dialogs():
    """review/V-59: no raw input, no composer, no title: an adapter that has only the three dialogs is enough."""

    class OnlyDialogs:
        has_ui = True

        def __init__(self, stage: Stage) -> None:
            self._ui = QuestionUI(stage)

        async def editor(self, title: str, prefill: str = "", *, signal: AbortSignal | None = None) -> Any:
            return await self._ui.editor(title, prefill, signal=signal)

        async def select(self, title: str, options: Sequence[str], *, signal: AbortSignal | None = None) -> Any:
            return await self._ui.select(title, options, signal=signal)

        async def confirm(self, title: str, message: str, *, signal: AbortSignal | None = None) -> Any:
            return await self._ui.confirm(title, message, signal=signal)

    stage = Stage()
    bench = Bench(ui=OnlyDialogs(stage), stage=stage)  # type: ignore[arg-type]
    bench.grant()
    bench.review(EDITED, "Accept locally")
    bench.say("overlay")
    bench.reply("accept")

    assert bench.stand == (EDITED, "accepted", 2, False, False)
