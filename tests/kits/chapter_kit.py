"""A learner's copy of a chapter in a real JupyterLab: what the browser tests of chapters share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from playwright.sync_api import Locator, expect

from workbook.chapter import copies

if TYPE_CHECKING:
    from browser import Notebook, OpenNotebook  # at run time pytest imports it, as a plugin


class OpenCopy:
    """A learner's copy of a chapter, open in JupyterLab and run from top to bottom by nobody."""

    def __init__(self, notebook: Notebook, file: Path) -> None:
        """`file`: where the copy lies; it has not been changed since it was opened."""
        self.folder = file.parent
        self._sources = [cell.source for cell in nbformat.read(file, as_version=4).cells]
        self.notebook = notebook
        self.notebook.run_all(timeout_ms=120_000)

    def cell(self, source: str) -> int:
        """The place of the one cell that is `source`, or that begins with it."""
        whole = [place for place, text in enumerate(self._sources) if text == source]
        (place,) = whole or [place for place, text in enumerate(self._sources) if text.startswith(source)]
        return place

    def output(self, source: str) -> Locator:
        return self.notebook.output(self.cell(source))

    def press(self, source: str, name: str, nth: int = 0) -> None:
        self.output(source).get_by_role("button", name=name, exact=True).nth(nth).click()

    def commit(self, checkpoint: str, option: str, sure: str = "fairly sure") -> None:
        source = f'desk.predict("{checkpoint}")'
        self.output(source).get_by_role("radio", name=option).check()
        self.output(source).get_by_role("radio", name=sure, exact=True).check()
        self.press(source, "Commit")

    def run(self, source: str) -> None:
        self.notebook.run(self.cell(source))

    def run_all_again(self) -> None:
        """Run All once more, to its end: the last code cell has another number then."""
        last = self.notebook.panel.locator(".jp-CodeCell .jp-InputPrompt").last
        before = last.inner_text()
        self.notebook.command("notebook:run-all-cells")
        expect(last).not_to_have_text(re.compile(rf"\*|{re.escape(before)}"), timeout=120_000)

    def rows(self, source: str) -> list[str]:
        """The rows of the table below a cell, each as its text."""
        return self.output(source).get_by_role("row").all_inner_texts()

    def write(self, source: str, text: str) -> None:
        """Put `text` in the place of what stands in a cell, as somebody who selects all and types."""
        place = self.cell(source)
        editor = self.notebook.cell(place).locator(".cm-content")
        editor.click()
        editor.press("Control+a")
        self.notebook.page.keyboard.insert_text(text)
        self._sources[place] = text


class OpenChapter(OpenCopy):
    """A chapter that came with the package, in a copy that is made for the test."""

    def __init__(self, open_notebook: OpenNotebook, chapter: str) -> None:
        copies.start(open_notebook.folder)
        file = open_notebook.folder / chapter
        super().__init__(open_notebook(file=file), file)
