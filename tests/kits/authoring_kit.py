"""A chapter that is made once, and changed in one way at a time: for the tests of what an author can get wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import nbformat
from nbformat import v4

CHAPTER = "greenhouse-desk"

#: Changes a chapter's folder in one way.
Change: TypeAlias = Callable[[Path], None]
DROP: Any = object()


def text(file: str, old: str, new: str) -> Change:
    """Put `new` in the place of the first `old` of a file."""

    def change(folder: Path) -> None:
        said = (folder / file).read_text(encoding="utf-8")
        assert old in said, (file, old)
        (folder / file).write_text(said.replace(old, new, 1), encoding="utf-8")

    return change


def value(file: str, *path: str | int, to: Any = DROP) -> Change:
    """Set the value at a path of a JSON file, or take it out."""

    def change(folder: Path) -> None:
        data = json.loads((folder / file).read_bytes())
        here: Any = data
        for step in path[:-1]:
            here = here[step]
        if to is DROP:
            del here[path[-1]]
        elif isinstance(here, list) and path[-1] == len(here):
            here.append(to)
        else:
            here[path[-1]] = to
        (folder / file).write_text(json.dumps(data, indent=2, ensure_ascii=False), encoding="utf-8")

    return change


def put(file: str, content: str) -> Change:
    """Write a file, in the place of another if there is one."""

    def change(folder: Path) -> None:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(content, encoding="utf-8")

    return change


def gone(file: str) -> Change:
    return lambda folder: (folder / file).unlink()


def notebook(edit: Callable[[Any], None]) -> Change:
    """Change the notebook as nbformat reads it."""

    def change(folder: Path) -> None:
        path = folder / "notebook.ipynb"
        made = nbformat.read(path, as_version=4)
        edit(made)
        path.write_text(nbformat.writes(made) + "\n", encoding="utf-8")

    return change


def cell(cell_id: str, edit: Callable[[Any], None]) -> Change:
    """Change one cell."""
    return notebook(lambda made: edit(next(one for one in made.cells if one.id == cell_id)))


def source(cell_id: str, said: str) -> Change:
    """Another source for a cell; its outputs stay."""
    return cell(cell_id, lambda one: one.update(source=said))


def without(cell_id: str) -> Change:
    def edit(made: Any) -> None:
        made.cells = [one for one in made.cells if one.id != cell_id]
        for number, one in enumerate((one for one in made.cells if one.cell_type == "code"), start=1):
            one.execution_count = number
            for output in one.outputs:
                if "execution_count" in output:
                    output.execution_count = number

    return notebook(edit)


def shows(cell_id: str, **data: Any) -> Change:
    """Another output for a cell: `html` or `plain` text, or any kind of data by `kind=` and `of=`."""
    kinds = {"html": "text/html", "plain": "text/plain"}
    bundle = {kinds[name]: said for name, said in data.items() if name in kinds}
    if "kind" in data:
        bundle[data["kind"]] = data["of"]

    def edit(one: Any) -> None:
        one.outputs = [v4.new_output("execute_result", data=bundle, execution_count=one.execution_count)]

    return cell(cell_id, edit)
