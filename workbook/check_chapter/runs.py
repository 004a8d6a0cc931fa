"""The last layer of `check_chapter`: both editions of the notebook, run in kernels of their own.

The worked edition has to be what the scripted learner sees today, byte for byte, and again so; the clean one has
to run to its end with nobody there, and must not give an answer away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from workbook.chapter.chapter import Chapter
from workbook.check_chapter.fault import Checking, Fault, Layer
from workbook.checkpoint.kinds import (
    Checkpoint,
    ChoiceCheckpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
)
from workbook.notebook.bake import NotBaked, baked, comparable, run_unanswered

_RIGHT: Final = re.compile(r"^Exercise (?P<id>.+): right$", re.MULTILINE)


def check_runs(checking: Checking, chapter: Chapter) -> Iterator[Fault]:
    """Every fault that running shows. Everything that can be seen without has been looked at."""
    try:
        yield from _worked(checking)
    except NotBaked as error:
        yield _failed(checking, error, "the worked edition")
        return  # what fails with answers fails without as well
    yield from _clean(checking, chapter)


def _worked(checking: Checking) -> Iterator[Fault]:
    """The saved outputs are one run and this is another: where they agree, two runs gave the same bytes.

    Raises: NotBaked.
    """
    path = checking.chapter.notebook
    saved = path.read_text(encoding="utf-8")
    once = baked(path, {"PYTHONHASHSEED": "1"})
    if once == saved:
        return
    again = baked(path, {"PYTHONHASHSEED": "2"})
    if once == again and comparable(once) != comparable(saved):
        found = "the saved outputs are not what the scripted learner sees today"
        changed = ", ".join(_differing(comparable(saved), comparable(once))) or "ids and metadata"
        yield _fault(checking, "", f"{found} ({changed})", "Look at `workbook diff`, then run `workbook bake`.")
    for place in _differing(once, again):
        remedy = "Leave out what changes: times, chance, the order of a set, addresses."
        yield _fault(checking, place, "two runs give two different outputs", remedy)


def _clean(checking: Checking, chapter: Chapter) -> Iterator[Fault]:
    try:
        notebook = run_unanswered(checking.chapter.notebook)
    except NotBaked as error:
        yield _failed(checking, error, "the clean edition, which nobody answers,")
        return
    secrets = list(_secrets(chapter))
    asked = {one.case for one in chapter.checkpoint_records if not isinstance(one, PaperCheckpoint)}
    for number, cell in enumerate(notebook.cells, start=1):
        shown = "\n".join(_texts(cell))
        place = _place(number, cell.source)
        for what, secret in secrets:
            if _flat(secret) in _flat(shown):
                remedy = "Show it by desk.reveal, which waits for a commit."
                yield _fault(checking, place, f"in the clean edition it gives away {what}", remedy)
        for case_id in sorted(asked):
            if re.search(rf"(?:\b(?:of|run of|Case) |id=['\"]){re.escape(case_id)}(?![\w-])", shown):
                found = f"in the clean edition it shows a run of {case_id}, which a checkpoint is about"
                yield _fault(checking, place, found, "Play it by desk.play or desk.live, which wait for a commit.")
        for graded in _RIGHT.finditer(shown):
            remedy = 'Give the cell that answers it a skeleton: "cedar": {"skeleton": "…"} in its metadata.'
            found = f"the clean edition has a right answer to {graded['id']} in it"
            yield _fault(checking, place, found, remedy)


def _secrets(chapter: Chapter) -> Iterator[tuple[str, str]]:
    """What must not be seen before a commit, and what to call it."""
    for checkpoint in chapter.checkpoint_records:
        for text in _explanations(checkpoint):
            yield f"an explanation of {checkpoint.id}", text
    for belief in chapter.belief_records:
        yield f"the belief {belief.id}", belief.says


def _explanations(checkpoint: Checkpoint) -> list[str]:
    match checkpoint:
        case ChoiceCheckpoint():
            return [option.why for option in checkpoint.options]
        case FieldsCheckpoint():
            whys = [field.why for field in checkpoint.fields]
            return whys + [mistake.why for field in checkpoint.fields for mistake in field.wrong]
        case OrderCheckpoint():
            return [step.why for step in checkpoint.steps] + [pair.why for pair in checkpoint.wrong]
        case PaperCheckpoint():
            return [checkpoint.worked]


def _differing(saved: str, other: str) -> list[str]:
    """The cells whose outputs are not the same in two texts of one notebook."""
    import json

    pairs = zip(json.loads(saved)["cells"], json.loads(other)["cells"], strict=False)
    return [
        _place(number, "".join(left["source"]))
        for number, (left, right) in enumerate(pairs, start=1)
        if left.get("outputs") != right.get("outputs")
    ]


def _texts(cell: Any) -> Iterator[str]:
    for output in cell.get("outputs", ()):
        yield str(output.get("text", ""))
        yield from (str(text) for text in output.get("data", {}).values())


def _flat(text: str) -> str:
    """Without line breaks and marks of HTML, since a text is wrapped where it is shown."""
    return " ".join(text.replace("&#x27;", "'").replace("&quot;", '"').replace("&amp;", "&").split())


def _failed(checking: Checking, error: NotBaked, what: str) -> Fault:
    path = checking.chapter.notebook
    place = ""
    if error.cell is not None:
        place = _place(error.cell + 1, error.source)
    return Fault(
        layer=Layer.RUNS,
        file=checking.name(path),
        place=place,
        found=f"{what} stops here ({error.found})",
        remedy="Run the notebook from top to bottom in JupyterLab to see the whole error.",
    )


def _place(number: int, source: str) -> str:
    first = next(iter(source.strip().splitlines()), "")
    return f"cell {number} ({first[:50]})" if first else f"cell {number}"


def _fault(checking: Checking, place: str, problem: str, remedy: str) -> Fault:
    name = checking.name(checking.chapter.notebook)
    return Fault(layer=Layer.RUNS, file=name, place=place, found=problem, remedy=remedy)
