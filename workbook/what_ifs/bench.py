"""How fast, and in how much memory, a log is read and decided: `python -m workbook.what_ifs.bench [CALLS]`.

The log is made up, the same every time: forty tools and `bash`, eight declarations, and arguments with one of a
thousand commands. Times are of the processor, one core; memory is what Python and numpy allocate beyond the frame,
at the worst moment, and the process's own peak.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import pandas as pd

from labsim.terms import ApprovalMode, Policy
from workbook.tables.bash_rules import parsed_rules
from workbook.what_ifs.call_log import call_log
from workbook.what_ifs.columns import DECLARATION, from_codes
from workbook.what_ifs.decide import Settings, decide, kinds_of

CALLS: Final = 1_000_000
_PIECE: Final = 100_000  # rows written at a time
_TOOLS: Final = (*(f"tool_{number}" for number in range(40)), "bash")
_DECLARED: Final = (
    "read",
    "write",
    "exec",
    '{"tier":"read","policy":"prompt"}',
    '{"tier":"exec","policy":"deny"}',
    '{"tier":"read","override":true}',
    '{"tier":"write","policyKey":"seed_slot"}',
)
_RULES: Final = (("git status*", "allow"), ("npm publish*", "prompt"), ("rm *", "deny"))
_POLICIES: Final = {"tool_3": Policy.DENY, "tool_5": Policy.PROMPT, "seed_slot": Policy.ALLOW}


def made_up(calls: int) -> pd.DataFrame:
    """A log of so many calls: `tool`, `declaration` category; `args` string."""
    numbers = np.arange(calls, dtype=np.int64)
    mixed = (numbers * 2_654_435_761) % 4_294_967_291  # as good as chance here, and the same on every machine
    commands = [f'{{"command":"git status shelf/{number}"}}' for number in range(1_000)]
    return pd.DataFrame(
        {
            "tool": from_codes((mixed % len(_TOOLS)).astype(np.int8), _TOOLS),
            DECLARATION: from_codes((mixed // 64 % (len(_DECLARED) + 1) - 1).astype(np.int8), _DECLARED),
            "args": pd.Series(np.array(commands, dtype=object)[mixed // 1024 % 1_000], dtype="string"),
        }
    )


def figures(calls: int) -> Iterator[str]:
    """One line for each measure, as soon as it is known."""
    log = made_up(calls)
    yield f"{calls:,} calls, {len(_TOOLS)} tools, {len(_DECLARED) + 1} declarations; peak {_peak()}"
    settings = Settings(mode=ApprovalMode.WRITE, policies=_POLICIES)
    sorting, kinds = _best(lambda: kinds_of(log, commands=False))
    deciding, _ = _best(lambda: decide(kinds, settings))
    yield f"sort into {len(kinds.kinds):,} kinds: {calls / sorting / 1e6:,.1f} million rows a second"
    yield f"decide: {calls / deciding / 1e6:,.1f} million rows a second"
    yield f"both: {calls / (sorting + deciding) / 1e6:,.1f} million rows a second"
    by_command, kinds = _best(lambda: kinds_of(log, commands=True), times=1)
    rules = Settings(mode=ApprovalMode.WRITE, policies=_POLICIES, bash=parsed_rules(list(_RULES)))
    deciding, _ = _best(lambda: decide(kinds, rules), times=1)
    rate = calls / (by_command + deciding) / 1e6
    yield f"with rules for bash, {len(kinds.kinds):,} kinds: {rate:,.1f} million rows a second"
    beyond = _beyond(lambda: decide(kinds_of(log, commands=False), settings))
    yield f"memory beyond the frame: {beyond:,.1f} bytes a row"
    with TemporaryDirectory() as folder:
        for name, write in _files(log):
            path = Path(folder, name)
            write(path)
            seconds, read = _best(partial(call_log, path), times=1)
            assert len(read) == calls
            yield (
                f"read {name}, {path.stat().st_size / 1e6:,.0f} MB: {seconds:,.2f} s, "
                f"{calls / seconds / 1e6:,.2f} million rows a second, peak {_peak()}"
            )
            path.unlink()
            del read


def _best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """The shortest of several runs, in seconds, and what the last one returned."""
    seconds, made = [], None
    for _ in range(times):
        start = time.process_time()
        made = work()
        seconds.append(time.process_time() - start)
    return min(seconds), made


def _beyond(work: Callable[[], Any]) -> float:
    """Bytes allocated at the worst moment, for each row of what is returned."""
    tracemalloc.start()
    try:
        made = work()
        return tracemalloc.get_traced_memory()[1] / max(len(made.policy), 1)
    finally:
        tracemalloc.stop()


def _peak() -> str:
    """The most memory that this process has held so far."""
    if sys.platform == "win32":
        return "unknown here"
    import resource

    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return f"{kilobytes / (1024**2 if sys.platform == 'darwin' else 1024):,.0f} MB"


def _files(log: pd.DataFrame) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Names, and how to write the log under each; text a piece at a time, so that the peak is not the writer's."""

    def table(path: Path) -> None:
        for start in range(0, len(log), _PIECE):
            log[start : start + _PIECE].to_csv(path, index=False, mode="a", header=start == 0)

    def lines(path: Path) -> None:
        for start in range(0, len(log), _PIECE):
            log[start : start + _PIECE].to_json(path, orient="records", lines=True, mode="a")

    if find_spec("pyarrow"):  # the extra `parquet`
        yield "calls.parquet", lambda path: log.to_parquet(path, index=False)
    yield "calls.csv", table
    yield "calls.jsonl", lines


if __name__ == "__main__":
    for line in figures(int(float(sys.argv[1])) if len(sys.argv) > 1 else CALLS):
        print(line, flush=True)
