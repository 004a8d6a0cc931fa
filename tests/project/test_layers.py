"""The walls of the house: which room may import which, what the engine never loads, what a played case never
touches."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import pytest
from places import TOP

#: From the bottom up. A room is a folder; a module beside the rooms is a room by itself. What is imported stands in
#: the same room or in one further up in this list, whether it is imported at once, inside a function or for types
#: only.
ROOMS = (
    "labsim",
    "labsim.lazy",
    "labsim.errors",
    "labsim.terms",
    "labsim.js_values",
    "labsim.strict_json",
    "labsim.tool",
    "labsim.library",
    "labsim.extras",
    "labsim.places",
    "labsim.approval",
    "labsim.events",
    "labsim.stage",
    "labsim.case",
    "labsim.fallback",
    "labsim.rpc",
    "labsim.review.base",
    "labsim.gate.base",
    "labsim.gate.rules",
    "labsim.gate",
    "labsim.gate.session",
    "labsim.call",
    "labsim.bash",
    "labsim.dispatch",
    "labsim.reading",
    "labsim.rules",
    "labsim.review.branch",
    "labsim.review.panel",
    "labsim.review",
    "labsim.play",
    "labsim.describe",
    "labsim.proof",
    "labsim.server",
    "labsim.client",
    "labsim.api",
    "labsim.__main__",
    "workbook.errors",
    "workbook.atomic",
    "workbook.learner",
    "workbook.show",
    "workbook.exercise",
    "workbook.submission",
    "workbook.ledgers",
    "workbook.tables",
    "workbook.live",
    "workbook.pictures",
    "workbook.checkpoint",
    "workbook.explorers",
    "workbook.steppers",
    "workbook.what_ifs",
    "workbook.grading",
    "workbook.chapter",
    "workbook.notebook",
    "workbook.progress",
    "workbook.paper",
    "workbook.desk",
    "workbook.classroom",
    "workbook.check_chapter",
    "workbook.author",
    "workbook.cli",
    "workbook",
)
#: The entry of `python -m labsim.rpc` stands where it is called from; what it starts is above `labsim.rpc`.
ENTRIES = {"labsim.rpc.__main__": "labsim.__main__"}
MOST = 12


def modules() -> dict[str, str]:
    """Every module of both packages by its full name: its source."""
    found = {}
    for path in sorted([*(TOP / "labsim").rglob("*.py"), *(TOP / "workbook").rglob("*.py")]):
        parts = path.relative_to(TOP).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = path.read_text(encoding="utf-8")
    return found


MODULES = modules()
TREES = {name: ast.parse(source) for name, source in MODULES.items()}
ENGINE = [name.removeprefix("labsim.") for name in MODULES if name.startswith("labsim.")]


def room_of(name: str) -> str:
    """The room a module stands in; a package's own `__init__` stands in the package."""
    name = ENTRIES.get(name, name)
    folder = name if (TOP / name.replace(".", "/")).is_dir() else name.rpartition(".")[0]
    return name if folder in ("labsim", "workbook") else folder


def imports(name: str) -> Iterator[str]:
    """The modules that a module imports of the two packages, wherever in it."""
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("labsim", "workbook"):
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.split(".")[0] in ("labsim", "workbook"))


ARROWS = {(name, imported) for name in MODULES for imported in imports(name) if imported != name}


def circle(arrows: set[tuple[str, str]]) -> list[str]:
    """One circle of arrows; empty if there is none."""
    graph: dict[str, set[str]] = {}
    for start, end in arrows:
        graph.setdefault(start, set()).add(end)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def runs_up(start: str, end: str) -> bool:
    return ROOMS.index(room_of(start)) < ROOMS.index(room_of(end))


def test_every_module_stands_in_a_room_of_the_list() -> None:
    """The list is documentation, so it describes what is there: all of it, and nothing else."""
    assert len(ROOMS) == len(set(ROOMS))
    assert {room_of(name) for name in MODULES} == set(ROOMS)


def test_a_room_has_at_most_a_dozen_files() -> None:
    """What is in a room can be seen at a glance; its `__init__` and the entry `__main__` do not count."""
    folders = Counter(
        name.rpartition(".")[0]
        for name in MODULES
        if not (TOP / name.replace(".", "/")).is_dir() and not name.endswith(".__main__")
    )

    assert {folder: count for folder, count in folders.items() if count > MOST} == {}


def test_an_import_only_goes_down() -> None:
    """Within a room, or to a room below."""
    assert {arrow for arrow in ARROWS if runs_up(*arrow)} == set()


def test_no_two_rooms_import_each_other() -> None:
    """Nor in a longer circle."""
    between = {(room_of(start), room_of(end)) for start, end in ARROWS}

    assert circle({(start, end) for start, end in between if start != end}) == []


def test_no_two_files_import_each_other() -> None:
    """Inside a room, too, and not through a third."""
    assert circle(ARROWS) == []


def python(program: str, *arguments: str) -> str:
    """What a fresh interpreter prints for a program."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


LOADED = "import sys; before = set(sys.modules); import {0}; print(*sorted(set(sys.modules) - before))"


@pytest.mark.slow
def test_the_engine_loads_msgspec_and_the_standard_library_and_nothing_else() -> None:
    """No Jupyter, no pandas, nothing of the workbook: in all of its modules together."""
    every = ", ".join(f"labsim.{name}" for name in ENGINE if name != "__main__")
    loaded = {name.split(".")[0] for name in python(LOADED.format(f"{every}, labsim.__main__")).split()}

    # msgspec itself looks whether typing_extensions happens to be installed.
    assert loaded - sys.stdlib_module_names - {"labsim", "msgspec", "typing_extensions"} == set()


def test_importing_the_package_loads_nothing() -> None:
    """`import labsim` is free; each part is loaded by whoever needs it."""
    assert python(LOADED.format("labsim")).split() == ["labsim"]


#: `inspect` and `dataclasses` cost as much, but msgspec's own look at typing_extensions may bring `inspect` in.
HEAVY = {
    "argparse",
    "asyncio",
    "concurrent",
    "dataclasses",
    "difflib",
    "gzip",
    "http",
    "json",
    "logging",
    "multiprocessing",
    "random",
    "shutil",
    "socket",
    "sqlite3",
    "ssl",
    "subprocess",
    "tempfile",
    "tracemalloc",
    "unittest",
    "urllib",
}


def test_playing_a_case_loads_nothing_heavy() -> None:
    """A cold start stays under 100 ms only if nobody imports what he does not use."""
    program = (
        "import sys\n"
        "from labsim.reading.reading import parse_case\n"
        "from labsim.play.performance import run\n"
        "given = {'approval': 'exec', 'args': {}, 'mode': 'always-ask', 'choices': ['Approve']}\n"
        "assert run(parse_case({'id': 'a', 'scenario': 'wrapper', 'given': given}, 'a')).finished\n"
        "print(*sorted(sys.modules))"
    )

    assert HEAVY & set(python(program).split()) == set()


#: What playing another kind of case needs, or a case that goes wrong, or another command.
NOT_FOR_A_CALL = (
    "bash",
    "proof.bench",
    "reading.own_kinds",
    "reading.refusals",
    "dispatch",
    "fallback",
    "gate",
    "call.loop",
    "recordings",
    "proof.replay",
    "review.machine",
    "review.base.states",
    "rpc",
    "play.dispatch",
    "play.own_kind",
    "play.gate",
    "play.fallback_and_rpc",
    "play.loop",
    "play.resolve",
    "play.review",
)


def test_a_cold_case_loads_its_own_scenario_and_no_more() -> None:
    """Issue 11, lighter: a cold `labsim case ID` is at most 6 bare starts; `labsim bench` has the time."""
    program = (
        "import runpy, sys\n"
        "sys.argv[1:] = ['case', 'boundary-approve-one-call']\n"
        "try:\n"
        "    runpy.run_module('labsim', run_name='__main__', alter_sys=True)\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "print(*sorted(sys.modules))"
    )

    loaded = set(python(program).splitlines()[-1].split())

    ours = {name.removeprefix("labsim.") for name in loaded if name.startswith("labsim.")}
    others = {name for name in ours if any(f"{name}.".startswith(f"{wall}.") for wall in NOT_FOR_A_CALL)}
    assert {"call.wrapper", "play.wrapper", "describe.ledger"} <= ours
    assert others == set()
    assert loaded & ({*HEAVY, "gettext", "locale", "pathlib"} - {"json"}) == set()


def test_a_word_of_the_command_line_is_read_alike_with_and_without_argparse() -> None:
    """The short way of `case ID` knows nothing that the parser does not know, and nothing else."""
    from labsim.__main__ import _parser, _plain

    for words in (["case", "an-id"], ["case", ""], ["case", "a b"]):
        assert vars(_plain(words)) == vars(_parser().parse_args(words))
    for words in (
        [],
        ["case"],
        ["case", "-h"],
        ["case", "--json"],
        ["case", "a", "--json"],
        ["cases", "a"],
    ):
        assert _plain(words) is None


#: The benchmark, and the two ends of a pipe: what has real time, or a process, around the pure core.
SHELLS = {"proof.bench", "server.process", "client.client"}


@pytest.mark.slow
def test_only_the_shells_know_the_time_and_processes_and_nobody_knows_chance() -> None:
    """Design, pure core: time and chance are arguments. What would bring them in is found by its name."""
    for name in ENGINE:
        nodes = list(ast.walk(TREES[f"labsim.{name}"]))
        roots = {alias.name.split(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        roots |= {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
        asked = {node.attr for node in nodes if isinstance(node, ast.Attribute)}

        if name not in SHELLS:
            assert roots & {"time", "subprocess", "select", "signal", "queue", "pty"} == set(), name
        assert roots & {"random", "secrets", "uuid", "asyncio", "socket", "ssl", "http", "urllib"} == set(), name
        assert asked & {"today", "utcnow"} == set(), name
        assert "datetime" not in roots or "now" not in asked, name


AUDIT = """
import importlib, json, os, sys
work = json.load(sys.stdin)
for name in work["modules"]:
    importlib.import_module(name)
import difflib, msgspec.structs
from labsim.case.model import RecordedCase
from labsim.reading.reading import parse_file
from labsim.play.performance import run
from labsim.proof.replay import replay

files = [parse_file(text.encode(), "f") for text in work["files"]]
lines = [line.encode() for line in work["lines"]]
replay(lines[:1], "warm")  # the shape of a recorded line is evaluated once
"".encode("utf-16-le")  # and a codec is looked up
forbidden = ("open", "exec", "compile", "import", "os.", "socket.", "subprocess.", "shutil.", "tempfile.",
             "glob.", "pathlib.", "sqlite3.", "ctypes.", "urllib.", "http.", "pty.", "mmap.", "syslog.")
seen = []
sys.addaudithook(lambda event, args: seen.append((event, repr(args))) if event.startswith(forbidden) else None)
played = sum(run(case).finished for file in files for case in file.cases)
tally = replay(lines, "sample")
before = list(seen)
open(os.devnull).close()
print(json.dumps({"seen": before, "works": len(seen) > len(before), "played": played, "match": tally.match}))
"""


@pytest.mark.slow
def test_a_played_case_opens_nothing_and_starts_nothing() -> None:
    """Decision 6: data is inert. Every case that ships, and every tenth recorded answer, under an audit hook."""
    from labsim.library import case_files, recorded_files
    from labsim.proof.recordings import read_lines

    files = [path.read_text(encoding="utf-8") for path in case_files()]
    recorded = [[line.decode() for line in read_lines(path) if line.strip()] for path in recorded_files()]
    lines = [line for file in recorded for line in file[::10]]
    work = {"modules": [f"labsim.{name}" for name in ENGINE], "files": files, "lines": lines}
    ran = subprocess.run(
        [sys.executable, "-c", AUDIT],
        input=json.dumps(work),
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

    assert json.loads(ran.stdout) == {
        "seen": [],
        "works": True,
        "played": sum(len(json.loads(text)["cases"]) for text in files),
        "match": len(lines),
    }
