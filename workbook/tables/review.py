"""The Review Desk in tables: every command in every mode, and the entries that a case recorded.

The mode matrix is played when it is asked for: each cell of it is a desk of its own, with a person who says yes to
whatever is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from labsim.describe.ledger import visible
from labsim.play.mode_matrix import Observed
from labsim.play.mode_matrix import mode_matrix as observe_all
from labsim.review.base.events import NoteRecorded
from labsim.review.surface import Mode
from labsim.review.tool import Op
from labsim.terms import DialogKind
from workbook.ledgers.played import NothingHappened, Played, caption_of, eventful, several
from workbook.ledgers.withheld import unless_withheld
from workbook.show.frame import INTEGER, NOTHING, TEXT, Look, Table


@unless_withheld
def mode_matrix(after: Sequence[Played] = ()) -> Table:
    """Every command and every operation in every mode, each run on a fresh desk; nothing in it is typed.

    `after`: runs that come before it; while one of them is withheld, so is this, since it would tell the same.

    Columns, all string: `what`, the command or operation; `tui`, `rpc`, `print`, `json`, what came of it there.
    """
    seen: dict[str, dict[Mode, Observed]] = {}
    for one in observe_all():
        seen.setdefault(one.what, {})[one.mode] = one
    columns = {"what": list(seen)} | {
        str(mode): ["\n".join(_came_of(found[mode])) for found in seen.values()] for mode in Mode
    }
    return Table(
        columns, dict.fromkeys(columns, TEXT), Look(caption="Every command in every mode, run", header="what")
    )


def _came_of(observed: Observed) -> Iterator[str]:
    """What one command or operation showed, in words."""
    found = False
    if observed.dialogs:
        yield f"opens: {', '.join(map(_dialog, observed.dialogs))}"
        found = True
    for said in (*observed.notices, *observed.messages):
        yield f"says: {said}"
        found = True
    if observed.recorded:
        yield "records one entry" if observed.recorded == 1 else f"records {observed.recorded} entries"
        found = True
    if observed.granted:
        yield "a grant is there"
        found = True
    if observed.error:
        yield f"refused: {observed.error}"
        found = True
    if not found:
        yield "answers with data" if observed.what in frozenset(Op) else "says nothing"


def _dialog(kind: DialogKind) -> str:
    return "the panel" if kind is DialogKind.CUSTOM else str(kind)


@unless_withheld
def notes(played: Sequence[Played]) -> Table:
    """What became of the note in several cases, in the order given.

    Columns: `case` string; `status` string; `revision`, `entries`, `effects` int64; `grant` string, `yes` where one
    is there at the end; `text` string, as the note has it; `error` string, of the last call, `–` for none.
    Raises: NotPlayed.
    """
    seen = [(report.case.id, report.observed) for report in several(played)]
    return Table(
        {
            "case": [visible(case.removeprefix("review-")) for case, _ in seen],
            "status": [visible(found["status"]) for _, found in seen],
            "revision": [found["revision"] for _, found in seen],
            "entries": [found["entries"] for _, found in seen],
            "effects": [found["effects"] for _, found in seen],
            "grant": ["yes" if found["authorized"] else "no" for _, found in seen],
            "text": [visible(found["text"].strip()) for _, found in seen],
            "error": [visible(found.get("error", NOTHING)) for _, found in seen],
        },
        {
            **dict.fromkeys(("case", "status"), TEXT),
            **dict.fromkeys(("revision", "entries", "effects"), INTEGER),
            **dict.fromkeys(("grant", "text", "error"), TEXT),
        },
        Look(caption=f"The note after {len(seen)} {'case' if len(seen) == 1 else 'cases'}", header="case"),
    )


@unless_withheld
def entries(played: Played) -> Table:
    """The changes that a case recorded, in order; nothing else is ever kept of it.

    Columns: `entry`, `session`, `under` string, its place in the tree; `status` string; `revision` int64; `text`
    string, `new` or `as it was`; `row` int64, its row in the ledger.
    Raises: NotPlayed; NothingHappened, if nothing was recorded.
    """
    report = eventful(played)
    found = [(row, event) for row, event in enumerate(report.ledger, start=1) if isinstance(event, NoteRecorded)]
    if not found:
        raise NothingHappened(report, "nothing was recorded", "expected(report) shows what it observed.")
    return Table(
        {
            "entry": [event.entry_id for _, event in found],
            "session": [event.session_id for _, event in found],
            "under": [event.parent_id or "root" for _, event in found],
            "status": [str(event.status) for _, event in found],
            "revision": [event.revision for _, event in found],
            "text": ["new" if event.text_changed else "as it was" for _, event in found],
            "row": [row for row, _ in found],
        },
        {
            "entry": TEXT,
            "session": TEXT,
            "under": TEXT,
            "status": TEXT,
            "revision": INTEGER,
            "text": TEXT,
            "row": INTEGER,
        },
        Look(caption=caption_of("Entries of", report), header="entry"),
    )
