"""Cases for the tests of tables and diagrams: built from a few words, played at once or left waiting."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import msgspec
from places import TOP

from labsim.case.model import Case, RecordedCase
from labsim.play.performance import Performance, run, start
from labsim.play.report import Report
from labsim.proof.recordings import read_lines
from labsim.reading.reading import parse_case, recorded_case

RECORDED = TOP / "fixtures" / "recorded"
PUBLISH: dict[str, Any] = {"approval": "exec", "args": {"action": "publish"}, "mode": "always-ask"}
MARKUP = (
    '<img src=x onerror="alert(1)">&amp;\x1b[31m\u202e'  # markup, an entity, a terminal's and a reader's control
)
NO_UI_ERROR = (
    'Tool "seed_note" requires approval but no interactive UI available.\n'
    "Options:\n"
    "  1. Set tools.approvalMode: yolo in /settings\n"
    "  2. Add tools.approval.seed_note: allow to config\n"
    "  3. Use an interactive UI to approve the tool call"
)


def case(case_id: str, scenario: str = "wrapper", expected: dict[str, Any] | None = None, **given: Any) -> Case:
    """A case of one's own; a wrapper case is `PUBLISH` with the given parts changed."""
    made = {**PUBLISH, **given} if scenario == "wrapper" else given
    return parse_case({"id": case_id, "scenario": scenario, "given": made, "expected": expected or {}}, case_id)


def play(case_id: str, scenario: str = "wrapper", expected: dict[str, Any] | None = None, **given: Any) -> Report:
    return run(case(case_id, scenario, expected, **given))


def wait(case_id: str, **given: Any) -> Performance:
    """The same, with nobody answering."""
    return start(case(case_id, **given), lambda performance, question: None)


TWICE = play(
    "twice",
    expected={"outcome": "throw", "effects": 1, "prompts": 2, "errorIncludes": "denied by user"},
    choices=["Approve", "Deny"],
    repeat=2,
)
NO_UI = play("no-ui", ui=False)
OVER_RPC = play("over-rpc", ui="rpc", choices=["Approve"])
SILENT_DENY = play("silent-deny", userPolicies={"seed_note": "deny"})
HANDLED = play(
    "handled",
    handlers=[
        {"revise": {"action": "inspect"}},
        {"asks": "Sure?", "ext": "guard"},
        {"waits": 500, "ext": "slow"},
        {"block": True, "reason": "not today", "ext": "last"},
    ],
    choices=[True],
)
DENIED_WRITE = play("denied-write", "fallback", error={"code": "EACCES", "message": "no"}, handlers=[False, True])
DIALOG = play(
    "dialog", "rpc", method="select", title="Pick", options=["a", "b"], script=[{"reply": {"value": "a"}}]
)
DISPATCHED = play(
    "dispatched",
    "dispatch",
    args={"action": "reserve"},
    mode="yolo",
    userPolicies={"seed_slot": "prompt"},
    choices=["Approve", "Deny"],
)
BATCH = case(
    "batch",
    "loop",
    approval={"fn": "seed-slot"},
    mode="always-ask",
    handlers=[{"tool": "seed_slot", "block": True, "reason": "not today"}],
    choices=["Approve"],
    calls=[
        {"name": "seed_note", "args": {"action": "publish"}},
        {"name": "seed_slot", "args": {"action": "inspect"}},
        {"name": "seed_nope"},
    ],
)
LOOPED = run(BATCH)
RESOLVED = play("resolved", "resolve", approval="exec", mode="write")
CLASSIFIED = play("classified", "classify-error", expected={"permissionDenied": True}, message="EACCES: no")


def recorded_reports(every: int) -> Iterator[Report]:
    """Every so-manieth recorded wrapper case, played."""
    for number, line in enumerate(filter(None, read_lines(RECORDED / "wrapper.jsonl.gz"))):
        if number % every == 0:
            row = msgspec.json.decode(line, type=RecordedCase)
            yield run(recorded_case(row, row.id))


class Markup(HTMLParser):
    """The elements of a piece of HTML, with their attributes and the text directly inside them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None], list[str]]] = []
        self._open: list[int] = []
        self.feed(html)
        self.close()
        assert not self._open, f"not closed: {[self.elements[place][0] for place in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))
        if tag != "br":
            self._open.append(len(self.elements) - 1)
        elif self._open:
            self.elements[self._open[-1]][2].append("\n")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs), []))

    def handle_endtag(self, tag: str) -> None:
        place = self._open.pop()
        assert self.elements[place][0] == tag, f"</{tag}> closes <{self.elements[place][0]}>"

    def handle_data(self, data: str) -> None:
        if self._open:
            self.elements[self._open[-1]][2].append(data)

    def texts(self, *tags: str, **attributes: str) -> list[str]:
        """The text of every element of those tags that has those attributes."""
        return [
            "".join(text)
            for tag, attrs, text in self.elements
            if tag in tags and attributes.items() <= {k: v for k, v in attrs.items() if v is not None}.items()
        ]
