"""The fourth layer of `check_chapter`: the notebook as it is saved, before anything of it is run.

A worked edition holds what the scripted learner saw, readable anywhere: text and tables, no widgets, nothing of a
machine, and words for whoever does not see a picture. Every section that says something goes on to show it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from workbook.chapter.chapter import Chapter
from workbook.chapter.notebooks import NotANotebook, read_notebook
from workbook.check_chapter.fault import Checking, Fault, Layer
from workbook.check_chapter.wording import wording
from workbook.notebook.nbval_guard import compared_cells, uncompared_cells

NO_RUN: Final = "no-run"  # the tag of a cell that sums up, and has nothing to show
MOST_OUTPUT: Final = 256 * 1024  # bytes that one cell may leave behind
LONGEST_CELL: Final = 10  # lines

_SHOWN: Final = frozenset({"text/plain", "text/html", "text/markdown", "image/png", "image/svg+xml"})
_WIDGET: Final = "application/vnd.jupyter.widget-view+json"
_FENCE: Final = re.compile(r"^(```|~~~).*?^\\1", re.DOTALL | re.MULTILINE)
_CODE: Final = re.compile(r"`[^`]*`")
_IMAGE: Final = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<target>[^)\s]+)[^)]*\)")
_HEADING: Final = re.compile(r"^#{1,6} ")
_ADDRESS: Final = re.compile(r"\bat 0x[0-9a-f]{6,}\b")
_ASKS: Final = frozenset({"predict", "reveal", "reset", "given"})
#: What differs from run to run, as it is called; a generator that is given a seed does not.
_CHANGES: Final = re.compile(
    r"(?:^|\.)(?:datetime|date)\.(?:now|today|utcnow)$|^time\.(?:time|time_ns|monotonic|perf_counter|ctime|localtime)$"
    r"|^random\.(?!Random$|seed$)\w+$|^secrets\.\w+$|^uuid\.uuid[14]$|^os\.(?:urandom|getpid|times)$"
    r"|^(?:np|numpy)\.random\.(?!default_rng$|seed$|Generator$)\w+$|^id$"
)


class _Cell(Struct, frozen=True, kw_only=True):
    """One cell with its place, for messages."""

    number: int  # from 1
    kind: str
    source: str
    tags: tuple[str, ...]
    raw: Any

    @property
    def place(self) -> str:
        first = next(iter(self.source.strip().splitlines()), "")
        return f"cell {self.number} ({first[:50]})" if first else f"cell {self.number}"


def check_notebook(checking: Checking, chapter: Chapter) -> Iterator[Fault]:
    """Every fault of the saved notebook. `chapter`, open, knows its checkpoints and exercises."""
    path = checking.chapter.notebook
    name = checking.name(path)
    try:
        notebook = read_notebook(path)
    except NotANotebook as error:
        remedy = "A notebook is a file that JupyterLab saved as .ipynb."
        yield Fault(layer=Layer.NOTEBOOK, file=name, found=error.found, remedy=remedy)
        return
    cells = [
        _Cell(
            number=number,
            kind=cell.cell_type,
            source=cell.source,
            tags=tuple(cell.metadata.get("tags", ())),
            raw=cell,
        )
        for number, cell in enumerate(notebook.cells, start=1)
    ]
    found = [
        *_as_a_whole(notebook, cells),
        *_never_compared(notebook, cells),
        *_told_and_shown(cells),
        *_asked(cells, chapter),
    ]
    for cell in cells:
        if cell.kind == "code":
            found += [*_code(cell), *_outputs(cell)]
        else:
            found += _prose(cell, path)
    for place, what, remedy in found:
        yield Fault(layer=Layer.NOTEBOOK, file=name, place=place, found=what, remedy=remedy)


_Found = Iterator[tuple[str, str, str]]


def _as_a_whole(notebook: Any, cells: list[_Cell]) -> _Found:
    if "widgets" in notebook.metadata:
        yield (
            "metadata.widgets",
            "widget state is saved",
            "Run `workbook bake`; a browser saves what only it can show.",
        )
    wanted = {"kernelspec": "python3", "language_info": "python"}
    for key in notebook.metadata:
        if key not in (*wanted, "widgets"):
            yield (
                f"metadata.{key}",
                "only kernelspec and language_info say something of a chapter",
                "Run `workbook bake`.",
            )
    if set(notebook.metadata.get("language_info", {})) - {"name"}:
        yield "metadata.language_info", "it holds the Python that ran it", "Run `workbook bake`."
    if notebook.nbformat_minor < 5:
        yield (
            "nbformat_minor",
            "cells have no ids in this format",
            "Save it as format 4.5: open and save it in JupyterLab.",
        )
    first = cells[0] if cells else None
    if first is None or first.kind != "markdown" or not first.source.lstrip().startswith("# "):
        place = first.place if first else "cells"
        yield (
            place,
            "the notebook does not begin with a title",
            'Begin with a cell of text: "# " and what one does in the chapter.',
        )
    counts = [cell.raw.execution_count for cell in cells if cell.kind == "code" and cell.source.strip()]
    if None not in counts and counts != list(range(1, len(counts) + 1)):
        yield "execution counts", f"they are {counts}, so the cells were not run in order", "Run `workbook bake`."


def _never_compared(notebook: Any, cells: list[_Cell]) -> _Found:
    for cell in uncompared_cells(notebook):
        what, _, remedy = cell.reason.partition("; ")
        if what == "it was saved without being run":
            remedy = "run `workbook bake`"
        yield cells[cell.index].place, what, f"{remedy[:1].upper()}{remedy[1:]}."
    if not compared_cells(notebook) and not uncompared_cells(notebook):
        yield "cells", "there is no code cell", "A chapter shows what it says: add a run."


def _told_and_shown(cells: list[_Cell]) -> _Found:
    """Prose is followed by a run before the next heading. Exceptions: the cell of the title, and tagged ones."""
    open_: _Cell | None = None
    for cell in cells:
        if cell.kind == "code":
            open_ = None if cell.source.strip() else open_
            continue
        for part in _sections(cell.source):
            if _HEADING.match(part) and open_ is not None:
                yield _unshown(open_)
                open_ = None
            said = re.sub(r"^#{1,6} .*$", "", part, count=1, flags=re.MULTILINE).strip()
            if said and cell.number > 1 and NO_RUN not in cell.tags:
                open_ = cell
    if open_ is not None:
        yield _unshown(open_)


def _unshown(cell: _Cell) -> tuple[str, str, str]:
    return (
        cell.place,
        "it says something, and nothing is run before the next heading",
        f"Add a code cell that shows it, or tag the cell {NO_RUN} if it only sums up or points elsewhere.",
    )


def _sections(source: str) -> list[str]:
    """The text of a cell, cut before each heading."""
    plain = _FENCE.sub("", source)
    return [part for part in re.split(r"(?m)^(?=#{1,6} )", plain) if part.strip()]


def _asked(cells: list[_Cell], chapter: Chapter) -> _Found:
    """Each checkpoint is asked, and then revealed; each exercise is set, and then graded; no other is named."""
    calls = [(cell, *call) for cell in cells for call in _calls(cell)]
    own = {target for _, target, _, method, argument in calls if (method, argument) == ("open", chapter.id)}
    if not own:
        if chapter.cases:
            yield "cells", f"no cell opens the chapter {chapter.id!r}", f'Add one: desk = wb.open("{chapter.id}").'
        return
    used = [(cell, method, argument) for cell, _, of, method, argument in calls if of in own]
    for cell, method, argument in used:
        if method in _ASKS and argument not in chapter.checkpoints:
            yield cell.place, f"the chapter has no checkpoint {argument!r}", _one_of(chapter.checkpoints)
        if method in ("exercise", "grade") and argument not in chapter.exercises:
            yield cell.place, f"the chapter has no exercise {argument!r}", _one_of(chapter.exercises)
    for name in chapter.checkpoints:
        yield from _in_turn(used, name, "predict", "reveal", f'"{name}"')
    for name in chapter.exercises:
        yield from _in_turn(used, name, "exercise", "grade", f'"{name}", answer')


def _in_turn(used: list[tuple[_Cell, str, str]], name: str, ask: str, answer: str, arguments: str) -> _Found:
    """Whether what has that name is asked first and answered later, by methods of these names."""
    methods = [method for _, method, argument in used if argument == name]
    if ask not in methods:
        yield "cells", f"{name!r} is never asked", f'Add a cell: desk.{ask}("{name}").'
    elif answer not in methods:
        yield "cells", f"{name!r} is asked and never answered", f"Add a cell: desk.{answer}({arguments})."
    elif methods.index(answer) < methods.index(ask):
        at = next(cell for cell, method, argument in used if (method, argument) == (answer, name))
        yield at.place, f"{name!r} is answered before it is asked", f"Move the cell behind desk.{ask}."


def _calls(cell: _Cell) -> Iterator[tuple[str, str, str, str]]:
    """Methods that are called with a text first, such as `desk.predict("…")`.

    Each as: the name that its value is given, the name it is called on, the method, the text; "" for no name.
    """
    if cell.kind != "code":
        return
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return  # a magic; or found out when it is run
    given: dict[ast.expr, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            given[node.value] = node.targets[0].id
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            first, called_on = node.args[0], node.func.value
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                of = called_on.id if isinstance(called_on, ast.Name) else ""
                yield given.get(node, ""), of, node.func.attr, first.value


def _one_of(names: Iterable[str]) -> str:
    return f"There are: {', '.join(names) or 'none'}."


# ------------------------------------------------------------------------------------------------------- one cell


def _code(cell: _Cell) -> _Found:
    if len(cell.source.splitlines()) > LONGEST_CELL:
        yield (
            cell.place,
            f"it has more than {LONGEST_CELL} lines",
            "Let a function do it: one of wb, or of a module of yours.",
        )
    for line in cell.source.splitlines():
        if line.lstrip().startswith(("!", "%")):
            yield cell.place, f"{line.strip()!r} is for one kind of front end", "Use Python."
    try:
        tree = ast.parse(cell.source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _CHANGES.search(called := ast.unparse(node.func)):
            remedy = "Use a fixed value, or a generator with a seed: every run has to give the same bytes."
            yield cell.place, f"{called}() differs from run to run", remedy


def _outputs(cell: _Cell) -> _Found:
    size = len(json.dumps(cell.raw.outputs))
    if size > MOST_OUTPUT:
        found = f"its output has {size // 1024} kB, and {MOST_OUTPUT // 1024} are allowed"
        yield cell.place, found, "Show less of it."
    for output in cell.raw.outputs:
        if output.output_type == "error" and "raises-exception" not in cell.tags:
            yield (
                cell.place,
                f"it ended in {output.ename}",
                "Mend it, or tag the cell raises-exception if it is meant.",
            )
        if output.output_type == "stream" and output.name == "stderr":
            first = output.text.strip().splitlines()[0] if output.text.strip() else ""
            yield cell.place, f"it wrote to stderr ({first[:60]})", "Mend what it warns of."
        data = output.get("data", {})
        if _WIDGET in data:
            yield cell.place, "a widget is saved in its output", "Run `workbook bake`."
        for kind in data:
            if kind not in _SHOWN | {_WIDGET}:
                yield cell.place, f"its output is of the kind {kind}", "Show text or HTML, which every reader can."
        yield from _readable(cell, output)


def _readable(cell: _Cell, output: Any) -> _Found:
    data = output.get("data", {})
    texts = [output.get("text", ""), data.get("text/plain", ""), data.get("text/html", "")]
    if address := next((found for text in texts if (found := _ADDRESS.search(text))), None):
        yield (
            cell.place,
            f"{address[0]!r} is a place in memory, and differs from run to run",
            "Show something else of it.",
        )
    for kind in ("image/png", "image/svg+xml"):
        if kind in data and not output.metadata.get(kind, {}).get("alt"):
            remedy = "Use wb's plots, which bring words and a table."
            yield cell.place, "a picture in its output has no words for it", remedy
    yield from ((cell.place, found, remedy) for found, remedy in _of_html(data.get("text/html", "")))


def _prose(cell: _Cell, path: Path) -> Iterator[tuple[str, str, str]]:
    text = _CODE.sub("", _FENCE.sub("", cell.source))
    for image in _IMAGE.finditer(text):
        if not image["alt"].strip():
            yield (
                cell.place,
                f"the picture {image['target']} has no words for it",
                "Say what it shows: ![words](file).",
            )
        yield from ((cell.place, found, remedy) for found, remedy in _target(image["target"], path))
    yield from ((cell.place, found, remedy) for found, remedy in _of_html(text))
    yield from ((cell.place, found, remedy) for found, remedy in wording(re.sub(r"<[^>]*>", "", text)))


def _target(target: str, path: Path) -> Iterator[tuple[str, str]]:
    if re.match(r"[a-z]+://", target):
        yield f"the picture {target} comes from the network", "Put it into assets/, so that it is there offline."
    elif not target.startswith(("attachment:", "data:")) and not (path.parent / target).is_file():
        yield f"there is no file {target}", "Put it beside the notebook, in assets/."


def _of_html(html: str) -> Iterator[tuple[str, str]]:
    if "<" not in html:
        return
    reader = _Html()
    reader.feed(html)
    reader.close()
    yield from reader.found


class _Html(HTMLParser):
    """Looks for pictures without words and tables without a caption."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, str]] = []
        self._tables: list[bool] = []
        self._named = 0  # how many elements around this one have a name for whoever cannot see it
        self._open: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        named = bool(given.get("aria-label") or given.get("aria-labelledby") or given.get("aria-hidden") == "true")
        if tag == "img" and "alt" not in given:
            self.found.append(("an <img> has no alt text", 'Add alt="…", which says what it shows.'))
        if tag == "svg" and not (named or self._named):
            self.found.append(
                ("an <svg> has no words for it", "Use wb's plots, or give it role=img and aria-label.")
            )
        if tag == "table":
            self._tables.append(False)
        if tag == "caption" and self._tables:
            self._tables[-1] = True
        if tag not in ("img", "br", "hr", "input", "meta", "link", "col"):
            self._open.append((tag, named))
            self._named += named

    def handle_endtag(self, tag: str) -> None:
        if tag == "table" and self._tables and not self._tables.pop():
            remedy = "Use wb's tables, or give this one a <caption>."
            self.found.append(("a table has no caption", remedy))
        while self._open:
            open_tag, named = self._open.pop()
            self._named -= named
            if open_tag == tag:
                break
