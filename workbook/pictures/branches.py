"""Two pictures of what happened at the Review Desk: the branches of a session, and the life of each grant.

Both are read from the ledger of a played case; the phases, which no case decides, are in `review_phases`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from labsim.play.report import Report
from labsim.review.base.events import (
    ActRefused,
    EntryArrived,
    GrantEnded,
    GrantGiven,
    NoteRecorded,
    SessionMoved,
    SessionReopened,
)
from labsim.review.branch.sessions import FIRST_SESSION
from workbook.ledgers.played import Played, caption_of, eventful, report_of
from workbook.ledgers.withheld import unless_withheld
from workbook.pictures.picture import LETTER, LINE, WIDTH, Picture, arrow, box, cross, label, line

HERE: Final = "you are here"

# ------------------------------------------------------------------------------------------------- branches


class _Node(Struct):
    """One place in a session's tree. `id` None: before the first entry."""

    id: str | None
    says: str
    children: list[_Node]


class _Tree:
    """One session as the ledger tells it; entries that came along from another session are taken as read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.root = _Node(None, "the packaged note: draft r0", [])
        self.nodes: dict[str | None, _Node] = {None: self.root}
        self.leaf: str | None = None

    def add(self, entry_id: str, parent_id: str | None, says: str) -> None:
        if parent_id not in self.nodes:
            self.add(str(parent_id), None, "came along from the session before")
        node = _Node(entry_id, says, [])
        self.nodes[parent_id].children.append(node)
        self.nodes[entry_id] = node
        self.leaf = entry_id

    def way(self) -> set[str | None]:
        """The ids on the current branch."""

        def holds(node: _Node) -> list[str | None]:
            if node.id == self.leaf:
                return [node.id]
            below = [found for child in node.children for found in holds(child)]
            return [node.id, *below] if below else []

        return set(holds(self.root))


@unless_withheld
def branches(played: Played, after: Sequence[Played] = ()) -> Picture:
    """The entries of each session as a tree, and where the session stands now.

    `after`: runs that come before it; while one of them is withheld, so is this, since it would tell the same.
    Raises: NotPlayed, NothingHappened.
    """
    report = eventful(played)
    trees, current = _trees(report)
    text: list[str] = []
    pieces: list[str] = []
    listed: list[str] = []
    y = 0.0
    for tree in trees.values():
        here = tree.name == current
        text += [tree.name, *_tree_lines(tree.root, tree.leaf if here else "", "  ", "  ", "")]
        drawn, y = _tree_pieces(tree, here, y)
        pieces += drawn
        listed += _tree_words(tree, here)
    return Picture(
        caption=caption_of("Branches in", report),
        text="\n".join(text),
        pieces=tuple(pieces),
        height=y + 6,
        listed=tuple(listed),
    )


def _trees(report: Report) -> tuple[dict[str, _Tree], str]:
    current = FIRST_SESSION
    trees = {current: _Tree(current)}
    for event in report.ledger:
        match event:
            case NoteRecorded(session_id=name):
                text = "a new text" if event.text_changed else "the text as it was"
                says = f"{event.status.value} r{event.revision}, with {text}"
                trees[name].add(event.entry_id, event.parent_id, says)
            case EntryArrived(session_id=name):
                tree = trees[name]
                tree.add(event.entry_id, tree.leaf, f"{event.type}: not a change by the desk")
            case SessionMoved(session_id=current):
                tree = trees.setdefault(current, _Tree(current))
                if event.leaf_id not in tree.nodes:
                    tree.add(str(event.leaf_id), None, "came along from the session before")
                tree.leaf = event.leaf_id
            case SessionReopened(session_id=current):
                # A reopened session stands at its newest entry (`SessionTree`).
                trees[current].leaf = next(reversed(trees[current].nodes))
    return trees, current


def _name(node: _Node) -> str:
    return f"{node.id or 'root'}: {node.says}"


def _tree_lines(node: _Node, leaf: str | None, first: str, rest: str, fork: str) -> Iterator[str]:
    yield f"{first}{fork}{_name(node)}{f'   <-- {HERE}' if node.id == leaf else ''}"
    for child in node.children:
        last = child is node.children[-1]
        yield from _tree_lines(child, leaf, rest, rest + ("    " if last else "|   "), "`-- " if last else "|-- ")


def _tree_words(tree: _Tree, here: bool) -> Iterator[str]:
    def words(node: _Node, parent: str) -> Iterator[str]:
        under = f", under {parent}" if parent else ""
        stands = f"; {HERE}" if here and node.id == tree.leaf else ""
        yield f"{tree.name}, {_name(node)}{under}{stands}"
        for child in node.children:
            yield from words(child, node.id or "root")

    return words(tree.root, "")


def _tree_pieces(tree: _Tree, here: bool, top: float) -> tuple[list[str], float]:
    way = tree.way()
    pieces = [label(tree.name, 4, top + LINE, "name")]
    step, height, indent = 40.0, 28.0, 44.0
    y = top + LINE + 10

    def draw(node: _Node, x: float) -> float:
        nonlocal y
        at = y
        width = len(_name(node)) * LETTER + 24
        middle = at + height / 2
        drawn = [box(x, at, width, height, _name(node), bold=1 if node.id in way else 0)]
        if here and node.id == tree.leaf:
            drawn.append(arrow(x + width + 44, middle, x + width + 4, middle))
            drawn.append(label(HERE, x + width + 50, middle + 4, "name"))
        y += step
        for child in node.children:
            middle_of_child = y + height / 2
            kind = "effect" if child.id in way else "tell"
            pieces.append(line(x + 16, at + height, x + 16, middle_of_child, kind))
            pieces.append(line(x + 16, middle_of_child, x + indent, middle_of_child, kind))
            draw(child, x + indent)
        pieces.extend(drawn)
        return at

    draw(tree.root, 8)
    return pieces, y


# --------------------------------------------------------------------------------------------------- grants


_NO_GRANT: Final = "no grant was given"


class _Life(Struct):
    """One grant: the numbers of the ledger's rows at which it was given and ended (None: it is still there)."""

    revision: int
    session: str
    given: int
    ended: int | None = None
    why: str = ""


@unless_withheld
def grants(played: Played) -> Picture:
    """When each grant was given and when it ended, along the rows of the ledger; beneath them what was tried.

    Raises: NotPlayed.
    """
    report = report_of(played)  # a desk that nobody has touched yet has an empty ledger, and no grant
    lives, marks = _lives(report)
    total = len(report.ledger)
    return Picture(
        caption=caption_of("Grants in", report, "along the rows of its ledger"),
        text="\n".join(_life_lines(lives, marks, total)),
        pieces=tuple(_life_pieces(lives, marks, total)),
        height=(len(lives) + 2) * 34.0 + 16,
        listed=(
            *([_life_words(one) for one in lives] or [_NO_GRANT]),
            *(f"row {row}: {says}" for row, says in marks),
        ),
    )


def _lives(report: Report) -> tuple[list[_Life], list[tuple[int, str]]]:
    lives: list[_Life] = []
    marks: list[tuple[int, str]] = []
    for row, event in enumerate(report.ledger, start=1):
        match event:
            case GrantGiven():
                lives.append(_Life(event.revision, event.session_id, row))
            case GrantEnded():
                lives[-1].ended, lives[-1].why = row, str(event.why)
            case NoteRecorded():
                marks.append((row, f"{event.status} r{event.revision} is recorded"))
            case ActRefused():
                marks.append((row, "an act is refused"))
    return lives, marks


def _life_words(life: _Life) -> str:
    end = "still there at the end" if life.ended is None else f"ended in row {life.ended}: {life.why}"
    return f"revision {life.revision} of {life.session}, given in row {life.given}, {end}"


def _life_lines(lives: Sequence[_Life], marks: Sequence[tuple[int, str]], total: int) -> Iterator[str]:
    scale = max(1, -(-total // 70))  # rows of the ledger to one character
    width = -(-total // scale)
    for one in lives:
        start, end = (one.given - 1) // scale, ((one.ended or total) - 1) // scale
        bar = "=" * max(end - start, 0) + (">" if one.ended is None else "x")
        yield f"{' ' * start}{bar}".ljust(width) + f"  {_life_words(one)}"
    if not lives:
        yield _NO_GRANT
    for row, says in marks:
        yield f"{' ' * ((row - 1) // scale)}^".ljust(width) + f"  row {row}: {says}"


def _life_pieces(lives: Sequence[_Life], marks: Sequence[tuple[int, str]], total: int) -> Iterator[str]:
    left, step = 20.0, (WIDTH - 60.0) / max(total, 1)

    def at(row: int) -> float:
        return left + (row - 1) * step

    y = 24.0
    for one in lives:
        words = _life_words(one)
        room = WIDTH - 10 - len(words) * LETTER * 0.9
        yield label(words, max(4.0, min(at(one.given), room)), y - 6)
        end = at(one.ended) if one.ended is not None else at(total) + 12
        yield line(at(one.given), y + 4, end, y + 4, "effect")
        yield (
            cross(end, y + 4)
            if one.ended is not None
            else f'<path class="head" d="M{end + 8:g} {y + 4:g}l-8 -5v10z"/>'
        )
        y += 34
    if not lives:
        yield label(_NO_GRANT, 4, y - 6)
    y = len(lives) * 34.0 + 30
    yield line(at(1), y, at(total), y, "life")
    taken = -1.0
    for place, (row, says) in enumerate(marks):
        yield line(at(row), y - 6, at(row), y + 6)
        width = len(says) * LETTER * 0.9
        x = max(4.0, min(at(row) - width / 2, WIDTH - 4 - width))
        lower = place % 2 == 1 and x < taken
        yield label(says, x, y + (34 if lower else 20))
        taken = x + width + 8
