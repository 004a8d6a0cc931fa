"""Ledgers to step through, each with its frames; among them rare ends that no case and no recording shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from engine_kit import Desk
from gate_kit import Silent, World, use
from loop_kit import Desk as Batch
from loop_kit import call as model_call
from msgspec import Struct
from played_kit import play

from labsim.errors import HostError
from labsim.play.report import Report
from labsim.stage.stage import AbortSignal
from labsim.tool import ToolResult
from workbook.ledgers.played import PlacedEvent, placed
from workbook.steppers.frames import Frame, UnderWay, frames, frames_of


class Film(NamedTuple):
    """What one ledger shows, with the report that it is of; None for a ledger that no case made."""

    name: str
    scenario: str
    events: list[PlacedEvent]
    frames: tuple[Frame, ...]
    report: Report | None = None


def film(report: Report) -> Film:
    return Film(report.case.id, report.case.scenario, placed(report), frames(report), report)


def of_ledger(events: Iterable[Struct], scenario: str, name: str, call_id: str = "call-1") -> Film:
    """The film of a ledger with a single call, made without a case."""
    rows = [PlacedEvent(number, call_id, event) for number, event in enumerate(events, start=1)]
    return Film(name, scenario, rows, frames_of(rows, scenario))


def runs(shown: Film) -> Iterator[list[UnderWay]]:
    """Each thing that was under way, row by row, from its first row to its last."""
    begun: dict[str, list[UnderWay]] = {}
    for frame in shown.frames:
        for one in frame.under_way:
            begun.setdefault(one.subject, []).append(one)
            if one.over:
                yield begun.pop(one.subject)
    yield from begun.values()


# ----------------------------------------------------------------------------------------------- made by hand


def hand_made() -> Iterator[Film]:
    """What neither a case nor a recording shows: rare ends, and rules that answer differently each time."""
    marked: dict[str, Any] = {"loopEmitted": True}
    for given in (
        {**marked, "signal": "aborted", "preview": "match"},
        {**marked, "choices": [{"throw": "the terminal is gone"}]},
        {**marked, "choices": ["Approve"], "resultHandlers": [{"isError": True}]},
    ):
        yield film(play("marked", **given))
    yield film(
        play(
            "hook-fails",
            "loop",
            approval={"fn": "throws"},
            handlers=[{"same": True}],
            calls=[{"name": "seed_note", "args": {"action": "inspect"}}],
        )
    )
    yield film(play("nothing-staged", "dispatch", path="xd://resolve", content="done", mode="yolo"))
    yield film(play("bad-report", "dispatch", path="xd://report_issue", content=" ", mode="yolo", autoQa=True))
    yield film(play("tool-fails", "gate", tools=[{"name": "dig", "fails": "no spade"}], steps=[{"call": "dig"}]))
    yield film(
        play(
            "overtaken",
            "review",
            steps=[
                {"do": "command", "words": "review"},
                {"do": "entry", "data": {"version": 1, "text": "Another.", "status": "draft", "revision": 1}},
                {"do": "reply", "value": "Mine."},
            ],
        )
    )
    wordless = Batch(execute=lambda call: ToolResult(content="no list"))
    wordless.run(model_call())
    yield of_ledger(wordless.ledger, "loop", "no-content", "c-1")
    yield from _moody_rules()
    yield from _rare_ends_at_the_second_host()


def _moody_rules() -> Iterator[Film]:
    """A declaration is asked for each judgement anew, so the second can come out otherwise (approval/A-8)."""
    for name, answers in {"fails": ["exec", HostError("no idea")], "denies": ["exec", {"policy": "deny"}]}.items():
        for is_marked in (False, True):
            left = list(answers)

            def rule(args: object, left: list[Any] = left) -> Any:
                answer = left.pop(0)
                if isinstance(answer, Exception):
                    raise answer
                return answer

            desk = Desk(approval=rule)
            if is_marked:
                desk.runner.mark_tool_call_emitted("call-1", "seed_note")
            desk.error()
            yield of_ledger(desk.stage.ledger, "wrapper", f"second-judgement-{name}")


class _BrokenGate:
    def timeout(self) -> None:
        return None

    async def authorize(self, request: object) -> Any:
        raise ValueError("no power")


def _rare_ends_at_the_second_host() -> Iterator[Film]:
    broken = World(gate=_BrokenGate())
    broken.play(broken.runtime.attach("a"), [use("shell")])
    yield of_ledger(broken.stage.ledger, "gate", "gate-fails", "c1")

    cancelled = World()
    signal = AbortSignal(cancelled.stage)
    cancelled.begin(cancelled.runtime.attach("a"), [use("shell")], approver=Silent(cancelled.stage), signal=signal)
    signal.abort()
    cancelled.stage.drain()
    yield of_ledger(cancelled.stage.ledger, "gate", "given-up", "c1")
