"""What tests of controls in a browser share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
from playwright.sync_api import Page

OPEN = "import workbook as wb\nwb.setup()\ndesk = wb.open('mini', folder='.')"


#: Where JupyterLab's keys act on the cell: in command mode, whatever has the focus.
CELLS = "() => document.querySelectorAll('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell').length"


FOCUSED = "() => document.activeElement.textContent"


def serious(page: Page) -> list[tuple[str, list[Any]]]:
    """What axe-core finds in the outputs that keeps somebody out: rule, and the elements."""
    source = Path(axe_playwright_python.__file__).with_name("axe.min.js")
    if not page.evaluate("() => Boolean(window.axe)"):
        page.add_script_tag(path=source)
    found = page.evaluate(
        """() => axe.run({ include: [['.jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output']] },
                         { resultTypes: ['violations'] })"""
    )
    return [
        (one["id"], [node["html"] for node in one["nodes"]])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
