"""The controls hold no rule: they show what they are told, as text, and hand on what a button sent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ipywidgets
import pytest

import workbook
from workbook.checkpoint.control import CheckpointControl
from workbook.live.controls import VIEW, DialogControl, front_end

STATIC = Path(workbook.__file__).with_name("static")
SVG_NAMESPACE = '"http://www.w3.org/2000/svg"'  # a name that elements are made under; nothing is fetched from it
SCRIPTS = sorted(STATIC.glob("*.js"))


def custom(content: object) -> dict[str, Any]:
    """A message as the front end's `model.send` makes it."""
    return {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}


@pytest.mark.parametrize("kind", [DialogControl, CheckpointControl])
def test_a_control_is_an_ipywidget_like_any_other(kind: type[Any]):
    """It can stand in a box, and a front end draws it by its model."""
    control = kind(print)

    assert isinstance(control, ipywidgets.DOMWidget)
    assert ipywidgets.VBox([control]).children == (control,)
    assert control.view()[VIEW]["model_id"] == control.model_id


@pytest.mark.parametrize("kind", [DialogControl, CheckpointControl])
def test_whatever_the_front_end_sends_is_handed_on_as_it_is(kind: type[Any]):
    """Judging it is not a control's business."""
    got: list[object] = []
    control = kind(got.append)
    for content in ({"type": "reply"}, "nonsense", None):
        control._handle_msg(custom(content))

    assert got == [{"type": "reply"}, "nonsense", None]


def test_an_update_is_one_message():
    """So that a front end never draws one half of a change."""
    sent: list[dict[str, Any]] = []
    control = DialogControl(print, status="before")
    control.send_state = lambda key=None: sent.append({name: getattr(control, name) for name in key or ()})
    control.update({"status": "after", "title": "A play", "ledger": {"rows": []}})

    assert sent == [{"status": "after", "title": "A play", "ledger": {"rows": []}}]


def test_a_front_end_cannot_commit_by_setting_a_value(capsys: pytest.CaptureFixture[str]):
    """Only a message can; a synced value from the page changes what this view shows, and nothing else."""
    got: list[object] = []
    control = CheckpointControl(got.append, locked=False)
    control.set_state({"locked": True, "answer": "two"})

    assert got == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_front_end_file_sets_text_only_as_text_and_fetches_nothing(script: Path):
    """No way to parse markup or run text, no address, no import."""
    source = script.read_text(encoding="utf-8").replace(SVG_NAMESPACE, "")

    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert word not in source
    assert not re.search(r"https?:|//[a-z]+\.|^import |import\(", source, re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_whatever_can_take_the_focus_keeps_jupyterlabs_keys_away(script: Path):
    """Each such element is made through `focusable`; otherwise d d on it would delete the cell."""
    source = script.read_text(encoding="utf-8")
    for wrapper, tag in re.findall(r'(\w*)\(?(?<!function )make\("?(\w+)"?', source):
        if tag in ("tag", "button", "input", "textarea", "select", "summary", "a"):
            assert wrapper == "focusable", tag


def test_the_style_sheet_fetches_nothing_and_takes_its_colours_from_the_theme():
    """Every colour is one of JupyterLab's variables; the literal beside it is for other front ends."""
    css = front_end("controls.css")

    assert not re.search(r"url\(|@import|https?:", css)
    for line in css.splitlines():
        if re.search(r"#[0-9a-f]{3,6}\b", line):
            assert "var(--jp-" in line, line


def test_the_front_end_is_one_module_with_one_export():
    """A widget's module cannot import from beside itself, so its files are joined."""
    for kind in (DialogControl, CheckpointControl):
        assert kind._esm.count("export default") == 1
        assert "import " not in re.sub(r"//.*", "", kind._esm)
