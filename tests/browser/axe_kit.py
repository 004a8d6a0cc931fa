"""What axe-core finds in a page that keeps somebody out, and what it does not look for and we do.

For the tests of front ends: the outputs of a notebook that is open in JupyterLab, or a whole page of ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import axe_playwright_python
from playwright.sync_api import Error, Page

OUTPUTS: Final = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell-outputArea"
_SETTLED_MS: Final = 5_000  # a panel asks the kernel to wrap its lines anew
_SOURCE: Final = Path(axe_playwright_python.__file__).with_name("axe.min.js")
_AXE: Final = """([scope, rules]) => axe.run({ include: [[scope]] }, {
    resultTypes: ['violations'], ...(rules.length ? { runOnly: { type: 'rule', values: rules } } : {}) }).then(
    found => found.violations.filter(one => ['serious', 'critical'].includes(one.impact)).flatMap(
        one => one.nodes.map(node => `${one.id}: ${node.html.slice(0, 200)}`)))"""
#: Groups, tables, pictures and live regions, as our controls and pages promise them; axe-core asks for less.
_PROMISES: Final = """scope => {
    const found = [], within = (selector, root = document) => [...root.querySelectorAll(selector)];
    const say = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 200)}`);
    const named = node => (node.getAttribute('aria-label') ?? '').trim() !== '';
    const shown = node => node.checkVisibility();
    for (const root of within(scope)) {
        for (const radio of within('input[type=radio]', root).filter(shown)) {
            const group = radio.closest('fieldset');
            const legend = group?.querySelector(':scope > legend');
            if (!legend?.textContent.trim()) say('a radio in no named group', radio);
            else if (within('input[type=radio]', group).some(other => other.name !== radio.name))
                say('two names in one group', group);
        }
        for (const group of within('[role=group], [role=region], [role=application]', root).filter(shown))
            if (!named(group)) say('a group without a name', group);
        for (const button of within('button, summary', root).filter(shown))
            if (!button.textContent.trim() && !named(button)) say('a button without a name', button);
        for (const table of within('table', root)) {
            if (!table.caption?.textContent.trim()) say('a table without a caption', table);
            const heads = within('th', table);
            if (heads.length === 0) say('a table without headers', table);
            for (const head of heads) if (!head.scope) say('a header without a scope', head);
        }
        for (const picture of within('img', root)) if (!picture.alt) say('a picture without a text', picture);
        for (const picture of within('svg', root))
            if (!picture.closest('[role=img][aria-label], [aria-hidden=true]'))
                say('a drawing without a text', picture);
        for (const control of within('.cedar-control', root)) {
            const regions = within('[role=status], [role=alert], [aria-live]', control);
            if (regions.length !== 1) say(`${regions.length} live regions`, control);
        }
    }
    return found }"""
#: Controls and tables that go beyond their place without a way to scroll, and pages that scroll sideways.
_CUT: Final = """scope => {
    const found = [], say = (what, node) => found.push(`${what}: ${node.outerHTML.slice(0, 160)}`);
    const scrolls = node => node && ['auto', 'scroll'].includes(getComputedStyle(node).overflowX);
    for (const root of document.querySelectorAll(scope)) {
        for (const node of [root, ...root.querySelectorAll('*')]) {
            if (!node.checkVisibility() || node.closest('svg') || scrolls(node)) continue;
            if (node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline'
                && !node.matches('table, thead, tbody, tr, input, select, textarea'))
                say(`${node.scrollWidth} in ${node.clientWidth}`, node);
        }
    }
    if (document.documentElement.scrollWidth > innerWidth) say('the page scrolls sideways', document.body);
    return found }"""


def barriers(page: Page, scope: str = OUTPUTS) -> list[str]:
    """What is serious or critical to axe-core within `scope`, or breaks a promise of ours; rule and element."""
    promised: list[str] = page.evaluate(_PROMISES, scope)
    return _violations(page, scope) + promised


def faint(page: Page, scope: str = OUTPUTS) -> list[str]:
    """Only what is too faint: all that a change of theme can bring about."""
    return _violations(page, scope, "color-contrast")


def _violations(page: Page, scope: str, *rules: str) -> list[str]:
    if not page.evaluate("() => Boolean(window.axe)"):
        page.add_script_tag(path=_SOURCE)
    found: list[str] = page.evaluate(_AXE, [scope, list(rules)])
    return found


def cut_off(page: Page, scope: str = OUTPUTS, *, settled_ms: int = _SETTLED_MS) -> list[str]:
    """What does not fit its place within `scope` a moment after the window got its size."""
    try:
        page.wait_for_function(f"scope => ({_CUT})(scope).length === 0", arg=scope, timeout=settled_ms)
    except Error:  # it did not come to that in time: then tell what there is
        found: list[str] = page.evaluate(_CUT, scope)
        return found
    return []
