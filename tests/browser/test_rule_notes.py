"""What a table says of the rules that it cites, in a real JupyterLab: opened by its reader, and open on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from workbook.show.cited import all_rules

if TYPE_CHECKING:
    from browser import OpenNotebook  # at run time pytest imports it, as a plugin

pytestmark = pytest.mark.browser
pytest_plugins = ["browser"]

SAYS = all_rules().find("approval/R9").says


def test_the_sentences_are_opened_by_the_keyboard_and_are_open_on_paper(notebook: OpenNotebook) -> None:
    """A table stays as short as it is, and no id is left unexplained on a printed page."""
    opened = notebook('import workbook as wb\nwb.ledger(wb.rule("wrapper/W-33").play())')
    opened.run_all()
    output, page = opened.output(0), opened.page
    title = output.get_by_text("The rule named here, in a sentence")
    sentence = output.get_by_text(f"approval/R9: {SAYS}")

    expect(title).to_be_visible()
    expect(sentence).to_be_hidden()
    page.emulate_media(media="print")
    expect(sentence).to_be_visible()
    page.emulate_media(media="screen")
    expect(sentence).to_be_hidden()
    title.focus()
    page.keyboard.press("Enter")
    expect(sentence).to_be_visible()
