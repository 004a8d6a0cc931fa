"""Somebody at a notebook with a keyboard and nothing else: looks, presses, and waits for what there is to see.

Nothing here clicks, puts the focus anywhere, or gives JupyterLab a command: what the page is asked is only what a
person sees of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import Locator, expect

from workbook.checkpoint.kinds import (
    Checkpoint,
    ChoiceCheckpoint,
    FieldsCheckpoint,
    OrderCheckpoint,
    PaperCheckpoint,
)
from workbook.learner.records import Answer, Confidence

if TYPE_CHECKING:
    from browser import Notebook  # at run time pytest imports it, as a plugin

#: What a screen reader would call whatever has the focus; of a radio button, the text beside it.
FOCUSED = """() => { const node = document.activeElement, label = node.labels?.[0];
    return node.getAttribute('aria-label') || (label?.querySelector('span') ?? label ?? node).textContent }"""
#: The place of the cell that has the focus itself, so that the notebook's keys work; -1 if it is elsewhere.
ON_CELL = """() => [...document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell')]
    .findIndex(cell => cell === document.activeElement && cell.classList.contains('jp-mod-active'))"""
#: The cell that has the focus, and its prompt; null for a text.
HERE = f"""() => {{ const place = ({ON_CELL})();
    const cell = document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell')[place];
    return [place, cell?.matches('.jp-CodeCell') ? cell.querySelector('.jp-InputPrompt').textContent : null] }}"""
#: A cell has run since that was its prompt, and the notebook has gone on to the next.
WENT_ON = f"""([place, before]) => {{ const cell = document.querySelectorAll(
        '.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell')[place];
    const prompt = cell.querySelector('.jp-InputPrompt')?.textContent;
    return (before === null || (prompt !== before && !prompt.includes('*'))) && ({ON_CELL})() === place + 1 }}"""
FAR = 60  # more Tabs than any of our controls needs


class Typist:
    """The keyboard of one open notebook."""

    def __init__(self, notebook: Notebook) -> None:
        """The focus is on a cell, as it is when a notebook has opened or run."""
        self.notebook = notebook
        self.page = notebook.page
        self.page.wait_for_function(f"() => ({ON_CELL})() >= 0")

    # -- looking

    @property
    def place(self) -> int:
        """The cell that the notebook's keys act on; -1 if the focus is inside one, or nowhere in the notebook."""
        place: int = self.page.evaluate(ON_CELL)
        return place

    @property
    def focused(self) -> str:
        name: str = self.page.evaluate(FOCUSED)
        return name

    # -- from cell to cell

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def run(self) -> int:
        """Shift+Enter: the cell runs to its end, and the next one has the focus. Returns the place of that one."""
        here = self.page.evaluate(HERE)
        self.press("Shift+Enter")
        self.page.wait_for_function(WENT_ON, arg=here, polling=100)
        place: int = here[0]
        return place + 1

    def restart(self) -> None:
        """0 0 and Enter: JupyterLab asks whether it may, and does; the focus is back on the cell."""
        place = self.place
        self.press("0", "0")
        question = self.page.get_by_role("dialog")
        expect(question).to_contain_text("Restart Kernel?")
        self.press("Enter")
        expect(question).to_be_hidden()
        self.notebook.wait_for_kernel()
        assert self.place == place

    def back_into(self, place: int) -> Locator:
        """From the cell below into what a cell shows, as far as its first control; returns the output."""
        output = self.notebook.output(place)
        expect(output.locator(".cedar-control")).to_be_visible()
        self.press("ArrowUp")
        assert self.place == place
        inside = "node => node.contains(document.activeElement)"
        for _ in range(FAR):
            self.press("Tab")
            if output.locator(".cedar-control").evaluate(inside):
                return output
        raise AssertionError(f"Tab never leads from cell {place} into its control, but to {self.focused!r}")

    def out(self, place: int) -> None:
        """Escape puts the focus on the cell; the arrow leads on."""
        self.press("Escape")
        assert self.place == place, self.focused
        self.press("ArrowDown")
        assert self.place == place + 1

    # -- inside a control

    def tab_to(self, name: str | re.Pattern[str], key: str = "Tab") -> None:
        """On to what has that name, by Tab alone; stays if the focus is there already."""
        for _ in range(FAR):
            if re.fullmatch(name if isinstance(name, re.Pattern) else re.escape(name), self.focused):
                return
            self.press(key)
        raise AssertionError(f"{key} never leads to {name!r}, but to {self.focused!r}")

    def choose(self, text: str, nth: int) -> None:
        """The nth of a group of radio buttons, whose first has the focus or comes next; `text` is its own."""
        self.press("Space", *["ArrowDown"] * nth)
        assert self.focused == text

    def commit(self, output: Locator, checkpoint: Checkpoint, answer: Answer, sure: Confidence) -> None:
        """Give an answer, say how sure, press Commit; the focus is at the first part of the answer."""
        match checkpoint:
            case ChoiceCheckpoint(options=options):
                place = [option.id for option in options].index(str(answer))
                self.choose(options[place].text, place)
            case FieldsCheckpoint(fields=fields):
                assert isinstance(answer, dict)
                for number, field in enumerate(fields):
                    if number:
                        self.press("Tab")
                    value = answer[field.field]
                    if field.values:
                        nth = [one.value for one in field.values].index(value)
                        self.choose(field.values[nth].text, nth)
                    else:
                        assert self.focused == field.asks
                        self.page.keyboard.type(str(value))
            case OrderCheckpoint():
                self._put_in_order(output, checkpoint, list(answer))
            case PaperCheckpoint():
                assert self.focused == "Your answer"
                self.page.keyboard.type(str(answer))
        if not isinstance(checkpoint, PaperCheckpoint):
            self.tab_to(Confidence.GUESS)
            self.choose(sure, list(Confidence).index(sure))
        self.press("Tab")
        assert self.focused == "Commit"
        self.press("Enter")
        expect(output.get_by_role("status")).to_have_text("Committed. Your answer is locked.")

    def _put_in_order(self, output: Locator, checkpoint: OrderCheckpoint, wanted: list[str]) -> None:
        """From the first place to the last: the step that belongs there is moved up, by Enter and by arrow."""
        now = [step.id for step in checkpoint.listed]
        for place, step_id in enumerate(wanted):
            step = checkpoint.step(step_id)
            assert step is not None
            moves = now.index(step_id) - place
            if moves:
                self.tab_to(f"Move up: {step.text}")
            self.press(*["Enter", "ArrowUp"][:moves], *["ArrowUp"] * (moves - 2))
            now.remove(step_id)
            now.insert(place, step_id)
        texts = {step.id: step.text for step in checkpoint.steps}
        expect(output.locator(".cedar-step-text")).to_have_text([texts[step_id] for step_id in wanted])

    def reveal(self, output: Locator) -> None:
        """Reveal, and answer what is asked after it; every explanation is there at the end."""
        status = output.get_by_role("status")
        self.tab_to("Reveal")
        self.press("Enter")
        expect(status).not_to_have_text("Committed. Your answer is locked.")
        said = status.inner_text()
        if "which row differed" in said:
            if said.startswith("Right."):
                self.tab_to("None differed")
            else:
                self.tab_to("Row number")
                self.page.keyboard.type("1")
            self.press("Enter")
        elif "Which of its points" in said:
            self.press("Tab")
            while output.get_by_role("checkbox").first.evaluate("node => node !== document.activeElement"):
                self.press("Tab")
            self.press("Space")
            self.tab_to("Keep these")
            self.press("Enter")
        expect(status).to_contain_text(re.compile("explanation of every answer is below|Yours had 1 of"))
