"""Figures of the engine on this machine: resolutions, whole calls, bytes of an event, a cold start.

The one module with a wall clock, and nothing else uses it: timing is a fact about a machine, so it is
measured by hand and never asserted in a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable

from msgspec import Struct

from labsim.approval import resolve
from labsim.call.inert import InertExecutor, inert_tool
from labsim.case.model import WrapperCase
from labsim.play.performance import Performance
from labsim.reading.reading import parse_case
from labsim.stage.stage import Stage
from labsim.terms import ApprovalMode

CALLS = 1000  # a case repeats its call this often
COLD_ROUNDS = 20  # two whole processes each
COLD_CASE = "boundary-approve-one-call"


class Figures(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was measured. Rates are the best of several rounds: the least disturbed one says what the code costs."""

    resolutions_per_s: int
    prompted_calls_per_s: int  # approved by a scripted answer, nobody listening
    prompted_calls_with_four_handlers_per_s: int  # tool_call, both approval events and tool_result are heard
    events_per_call: float
    bytes_per_event: int  # the whole ledger of a prompted call with four handlers, texts and inputs included
    cold_case_ms: int  # a fresh process that plays and prints one case: user and system time of the processor
    cold_case_in_bare_starts: float  # the same, in fresh processes that do nothing
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
    cold, bare = _cold(min(rounds, COLD_ROUNDS))
    return Figures(
        resolutions_per_s=round(CALLS / _best(resolve_many, rounds)),
        prompted_calls_per_s=round(CALLS / _best(lambda: Performance(quiet), rounds)),
        prompted_calls_with_four_handlers_per_s=round(CALLS / _best(lambda: Performance(heard), rounds)),
        events_per_call=events / CALLS,
        bytes_per_event=round(size / events),
        cold_case_ms=round(1000 * cold),
        cold_case_in_bare_starts=round(cold / bare, 1),
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
            f"  in bare starts of Python           {figures.cold_case_in_bare_starts:>10.1f}",
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


def _cold(rounds: int) -> tuple[float, float]:
    """Seconds of the processor for a cold case and for a bare start; the best of each, taken in turn.

    With compiled modules, as pip leaves them: where a setting would keep Python from writing any, it is left out.
    """
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    programs = (["-m", "labsim", "case", COLD_CASE], ["-c", "pass"])
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for program, found in zip(programs, times, strict=True):
            before = _children()
            subprocess.run([sys.executable, *program], check=True, stdout=subprocess.DEVNULL, env=env)
            found.append(_children() - before)
    return min(times[0]), min(times[1])


def _children() -> float:
    """Seconds that this process's children have had of the processor; on Windows, the clock's."""
    if sys.platform == "win32":
        return time.perf_counter()
    import resource  # its times are finer than those of `os.times`

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
