"""Figures of the engine on this machine: resolutions, whole calls, bytes of an event, a cold start.

At the top of `labsim`, beside the command line. The one module with a wall clock, and nothing else uses it: timing
is a fact about a machine, so it is measured by hand and never asserted in a test.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

from msgspec import Struct

from labsim.approval import resolve
from labsim.case import WrapperCase, parse_case
from labsim.inert import InertExecutor, inert_tool
from labsim.play import Performance
from labsim.stage import Stage
from labsim.terms import ApprovalMode

CALLS = 1000  # a case repeats its call this often
COLD_ROUNDS = 7  # a whole process each
COLD_CASE = "boundary-approve-one-call"


class Figures(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was measured. Rates are the best of several rounds: the least disturbed one says what the code costs."""

    resolutions_per_s: int
    prompted_calls_per_s: int  # approved by a scripted answer, nobody listening
    prompted_calls_with_four_handlers_per_s: int  # tool_call, both approval events and tool_result are heard
    events_per_call: float
    bytes_per_event: int  # the whole ledger of a prompted call with four handlers, texts and inputs included
    cold_case_ms: int  # a fresh process that plays and prints one case
    python: str


def measure(rounds: int = 15) -> Figures:
    """Measure everything; takes some seconds."""
    tool = inert_tool("seed_note", "exec", InertExecutor(Stage(), "seed_note"))
    args = {"action": "publish"}
    policies = {"seed_note": "prompt"}

    def resolve_many() -> None:
        for _ in range(CALLS):
            resolve(tool, args, mode=ApprovalMode.WRITE, policies=policies)

    quiet = _case(observe=False, observeResult=False, lifecycle="none")
    heard = _case()
    size, events = _ledger_bytes(heard)
    return Figures(
        resolutions_per_s=round(CALLS / _best(resolve_many, rounds)),
        prompted_calls_per_s=round(CALLS / _best(lambda: Performance(quiet), rounds)),
        prompted_calls_with_four_handlers_per_s=round(CALLS / _best(lambda: Performance(heard), rounds)),
        events_per_call=events / CALLS,
        bytes_per_event=round(size / events),
        cold_case_ms=round(1000 * _best(_cold_case, min(rounds, COLD_ROUNDS))),
        python=sys.version.split()[0],
    )


def table(figures: Figures) -> str:
    """The figures as text, one a line."""
    return "\n".join(
        [
            f"resolutions                          {figures.resolutions_per_s:>10,} /s",
            f"prompted calls, no handlers          {figures.prompted_calls_per_s:>10,} /s",
            f"prompted calls, four handlers        {figures.prompted_calls_with_four_handlers_per_s:>10,} /s",
            f"events a call, whole ledger kept     {figures.events_per_call:>10.1f}",
            f"bytes an event                       {figures.bytes_per_event:>10,}",
            f"cold process, one case               {figures.cold_case_ms:>10,} ms",
            f"python                               {figures.python:>10}",
        ]
    )


def _case(**given: object) -> WrapperCase:
    case = parse_case(
        {
            "id": "bench",
            "scenario": "wrapper",
            "given": {
                "approval": "exec",
                "args": {"action": "publish"},
                "mode": "always-ask",
                "choices": ["Approve"] * CALLS,
                "repeat": CALLS,
                **given,
            },
        },
        "bench",
    )
    assert isinstance(case, WrapperCase)
    return case


def _best(what: Callable[[], object], rounds: int) -> float:
    """Seconds of the quickest round."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        what()
        times.append(time.perf_counter() - start)
    return min(times)


def _ledger_bytes(case: WrapperCase) -> tuple[int, int]:
    """Memory that the ledger of a played case adds, in bytes, and its number of events."""
    Performance(case)  # whatever is made once is not an event's
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    performance = Performance(case)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before, len(performance.stage.ledger)


def _cold_case() -> None:
    subprocess.run([sys.executable, "-m", "labsim", "case", COLD_CASE], check=True, stdout=subprocess.DEVNULL)
