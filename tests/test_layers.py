"""The walls of the engine: what may import what, what it never loads, and that a played case touches nothing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]

#: From the bottom up. An import at the top of a module goes to a lower layer, or stays in its own package. A name
#: ending in `.*` is what is left of a package; a module of it that others need earlier is named where it belongs.
LAYERS: dict[str, tuple[str, ...]] = {
    "words, errors, and the host's view of a value": ("labsim", "errors", "terms", "hostvalues", "lazy"),
    "what stands by itself": ("tool", "strictjson", "library", "recordings", "extras", "lanes", "steps"),
    "the parts of a case that packages describe": ("case_gate", "review.states", "review.script"),
    "what each scenario is given": ("case_given",),
    "the vocabulary of cases, and who decides a policy": ("case", "approval"),
    "what happened": ("events", "safety", "case_problems"),
    "what the rules say": ("rules",),
    "when it happens": ("stage", "loop_events", "nesting", "case_values", "case_extra"),
    "who answers, what is inert, what a run showed": ("ui", "inert", "report"),
    "protocols and hosts that know no wrapper": ("rpc.*", "bash.*", "fallback.*", "gate.*"),
    "what extensions register": ("handlers",),
    "who calls their handlers": ("extensions",),
    "one call, and what a case scripts of it": ("wrapper", "scripted"),
    "what is built around calls": ("dispatch.*", "review.*", "loop"),
    "the desk at the end of a pipe": ("rpc.actions", "rpc.server", "rpc.host", "rpc.__main__"),
    "a case's calls": ("scenario_call", "scenario_resolve", "scenario_host", "scenario_gate", "scenario_review"),
    "a case's writes": ("scenario_dispatch",),
    "a case's batches": ("scenario_loop", "scenario_extra"),
    "plays any case": ("play",),
    "compares, shows, measures": ("replay", "show", "bench", "kinds"),
    "what authors import": ("api",),
    "the command line": ("__main__",),
}
#: Imports inside a function that point upwards, each with its reason. There are no others.
UPWARDS = {
    ("case", "case_extra"): "it makes classes like those of `case`, once a chapter has registered a kind",
    ("case", "case_problems"): "it explains a refusal from the classes of `case`",
    ("case", "case_values"): "it looks at values of the classes of `case`; reading has one door",
    ("case_values", "dispatch.schema"): "a package reads its own words",
    ("case_values", "fallback.given"): "as above",
    ("case_values", "gate.given"): "as above",
    ("case_values", "rpc.script"): "as above",
}


def modules() -> dict[str, Path]:
    """Every module of the engine by its name, without the leading `labsim.`."""
    found = {}
    for path in sorted((TOP / "labsim").rglob("*.py")):
        parts = path.relative_to(TOP).with_suffix("").parts
        name = ".".join(parts[1:-1] if parts[-1] == "__init__" else parts[1:])
        found[name or "labsim"] = path
    return found


MODULES = modules()


def layer_of(name: str) -> int:
    """The number of a module's layer; its own name comes before its package's."""
    for wanted in (name, f"{name.split('.', maxsplit=1)[0]}.*"):
        for number, layer in enumerate(LAYERS.values()):
            if wanted in layer:
                return number
    raise AssertionError(f"labsim.{name} is in no layer. Put it into LAYERS, where its docstring says it sits.")


def imports(name: str) -> Iterator[tuple[str, bool]]:
    """What a module imports of the engine, and whether it does so only inside a function or for type checking."""

    def visit(node: ast.AST, *, late: bool) -> Iterator[tuple[str, bool]]:
        for child in ast.iter_child_nodes(node):
            inner = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                inner = True
            if isinstance(child, ast.ImportFrom) and (child.module or "").split(".")[0] == "labsim":
                assert child.level == 0
                for alias in child.names:
                    full = f"{child.module}.{alias.name}".removeprefix("labsim.")
                    yield (full if full in MODULES else (child.module or "").removeprefix("labsim.")), late
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    if alias.name.split(".")[0] == "labsim":
                        yield alias.name.removeprefix("labsim."), late
            yield from visit(child, late=inner)

    yield from visit(ast.parse(MODULES[name].read_text(encoding="utf-8")), late=False)


def package(name: str) -> str:
    return name.split(".")[0]


def test_every_layer_names_modules_that_exist() -> None:
    """The list is documentation, so it must not describe what is gone."""
    named = [name for layer in LAYERS.values() for name in layer]

    assert len(named) == len(set(named))
    for name in named:
        assert name in MODULES or name.removesuffix(".*") in MODULES, name


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports_only_from_below(name: str) -> None:
    """Design, layers: an import may only point downwards; what is loaded later is held to the same, or listed."""
    for imported, late in imports(name):
        if package(imported) == package(name):
            continue
        if late and (name, imported) in UPWARDS:
            continue
        assert layer_of(imported) < layer_of(name), f"labsim.{name} imports labsim.{imported}"


def test_every_exception_is_still_needed() -> None:
    """A wall is not left open for nobody."""
    late = {(name, imported) for name in MODULES for imported, is_late in imports(name) if is_late}

    assert set(UPWARDS) <= late


def test_nothing_imports_in_a_circle() -> None:
    """Inside the packages, too."""
    graph = {name: {imported for imported, late in imports(name) if not late} for name in MODULES}

    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


def python(program: str, *arguments: str) -> str:
    """What a fresh interpreter prints for a program."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


LOADED = "import sys; before = set(sys.modules); import {0}; print(*sorted(set(sys.modules) - before))"


def test_the_engine_loads_msgspec_and_the_standard_library_and_nothing_else() -> None:
    """No Jupyter, no pandas, nothing of the workbook: in all of its modules together."""
    every = ", ".join(f"labsim.{name}" for name in MODULES if name not in ("labsim", "__main__"))
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
        "from labsim.case import parse_case\n"
        "from labsim.play import run\n"
        "given = {'approval': 'exec', 'args': {}, 'mode': 'always-ask', 'choices': ['Approve']}\n"
        "assert run(parse_case({'id': 'a', 'scenario': 'wrapper', 'given': given}, 'a')).finished\n"
        "print(*sorted(sys.modules))"
    )

    assert HEAVY & set(python(program).split()) == set()


#: What playing another kind of case needs, or a case that goes wrong, or another command.
NOT_FOR_A_CALL = (
    "bash",
    "bench",
    "case_extra",
    "case_problems",
    "dispatch",
    "fallback",
    "gate",
    "loop",
    "recordings",
    "replay",
    "review.machine",
    "review.states",
    "rpc",
    "scenario_dispatch",
    "scenario_extra",
    "scenario_gate",
    "scenario_host",
    "scenario_loop",
    "scenario_resolve",
    "scenario_review",
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
    assert {"wrapper", "scenario_call", "show"} <= ours
    assert others == set()
    assert loaded & ({*HEAVY, "gettext", "locale", "pathlib"} - {"json"}) == set()


def test_a_word_of_the_command_line_is_read_alike_with_and_without_argparse() -> None:
    """The short way of `case ID` knows nothing that the parser does not know, and nothing else."""
    from labsim.__main__ import _parser, _plain

    for words in (["case", "an-id"], ["case", ""], ["case", "a b"]):
        assert vars(_plain(words)) == vars(_parser().parse_args(words))
    for words in ([], ["case"], ["case", "-h"], ["case", "--json"], ["case", "a", "--json"], ["cases", "a"]):
        assert _plain(words) is None


#: The benchmark, and the two ends of a pipe: what has real time, or a process, around the pure core.
SHELLS = {"bench", "rpc.host", "rpc.client"}


def test_only_the_shells_know_the_time_and_processes_and_nobody_knows_chance() -> None:
    """Design, pure core: time and chance are arguments. What would bring them in is found by its name."""
    for name, path in MODULES.items():
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
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
from labsim.case import RecordedCase, parse_file
from labsim.play import run
from labsim.replay import replay

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


def test_a_played_case_opens_nothing_and_starts_nothing() -> None:
    """Decision 6: data is inert. Every case that ships, and every tenth recorded answer, under an audit hook."""
    from labsim.library import case_files, recorded_files
    from labsim.recordings import read_lines

    files = [path.read_text(encoding="utf-8") for path in case_files()]
    recorded = [[line.decode() for line in read_lines(path) if line.strip()] for path in recorded_files()]
    lines = [line for file in recorded for line in file[::10]]
    work = {"modules": [f"labsim.{name}" for name in MODULES if name != "labsim"], "files": files, "lines": lines}
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
