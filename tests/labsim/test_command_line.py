"""`python -m labsim`: what each command prints, in text and in JSON, and how it exits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from engine_kit import ASKING, PROMPT, PUBLISH

from labsim.__main__ import main
from labsim.library import case_files, fixtures_dir
from labsim.proof.bench import Figures, table
from labsim.reading.reading import schema


def a_file(tmp_path: Path, *cases: dict[str, Any], name: str = "own.json") -> str:
    path = tmp_path / name
    path.write_text(json.dumps({"schemaVersion": 1, "id": "own", "cases": list(cases)}), encoding="utf-8")
    return str(path)


def a_case(case_id: str, expected: dict[str, Any], **given: Any) -> dict[str, Any]:
    return {"id": case_id, "scenario": "wrapper", "given": {**ASKING, **given}, "expected": expected}


RIGHT = a_case("right", {"outcome": "return", "effects": 1}, choices=["Approve"])
WRONG = a_case("wrong", {"outcome": "return", "prompts": 2}, choices=["Deny"])
SILENT = a_case("silent", {})

Captured = pytest.CaptureFixture[str]


# cases


def test_the_built_in_cases_all_match(capsys: Captured) -> None:
    """The first thing that CI and a new learner run: no arguments, exit 0."""
    count = sum(len(json.loads(path.read_bytes())["cases"]) for path in case_files())

    assert main(["cases"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1] == f"{count} cases, {count} match"
    assert (len(out.splitlines()), err) == (count + 1, "")


@pytest.mark.parametrize(
    ("cases", "code", "lines"),
    [
        ([RIGHT], 0, ["match     right", "1 cases, 1 match"]),
        ([RIGHT, SILENT], 0, ["match     right", "no claim  silent", "2 cases, 1 match"]),
        (
            [RIGHT, WRONG],
            1,
            [
                "match     right",
                "mismatch  wrong",
                "          outcome: expected 'return', observed 'throw'",
                "          prompts: expected 2, observed 1",
                "2 cases, 1 match",
            ],
        ),
        ([], 1, ["0 cases, 0 match"]),
    ],
)
def test_each_case_has_its_verdict_and_each_claim_that_fails_a_line(
    cases: list[dict[str, Any]], code: int, lines: list[str], tmp_path: Path, capsys: Captured
) -> None:
    """Exit 0 if nothing is wrong, 1 for a mismatch or nothing to play; claiming nothing is no mismatch."""
    assert main(["cases", a_file(tmp_path, *cases)]) == code
    assert capsys.readouterr() == ("\n".join(lines) + "\n", "")


def test_cases_as_json_are_one_object_a_line(tmp_path: Path, capsys: Captured) -> None:
    """Id, verdict, what was claimed and all that was observed."""
    assert main(["cases", "--json", a_file(tmp_path, RIGHT, WRONG)]) == 1
    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())

    assert first == {
        "id": "right",
        "verdict": "match",
        "expected": {"outcome": "return", "effects": 1},
        "observed": {
            "outcome": "return",
            "effects": 1,
            "prompts": 1,
            "promptTexts": [PROMPT],
            "toolCalls": 1,
            "input": PUBLISH,
            "successfulCalls": 1,
        },
    }
    assert (second["id"], second["verdict"]) == ("wrong", "mismatch")


def test_nothing_is_played_if_one_file_is_broken(tmp_path: Path, capsys: Captured) -> None:
    """Every file is read before the first case runs, so no half of a run looks like a whole one."""
    good = a_file(tmp_path, RIGHT)
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")

    assert main(["cases", good, str(tmp_path / "bad.json")]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)


# case


def test_one_case_shows_its_ledger_and_its_claims(tmp_path: Path, capsys: Captured) -> None:
    """Number, simulated time, kind, what it says; then each claim, and the verdict last."""
    assert main(["case", "right", "--file", a_file(tmp_path, RIGHT)]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[:3] == ["right", "", "call-1"]
    assert lines[-4:] == ["  outcome  return", "  effects  1", "", "match"]
    kinds = [line.split()[3] for line in lines[3:-5]]
    assert kinds == [
        "call_started",
        "policy_resolved",
        "tool_call",
        "policy_resolved",
        "prompt_decided",
        "tool_approval_requested",
        "question_asked",
        "ui.select",
        "tool_approval_resolved",
        "execute",
        "tool_result",
        "call_returned",
    ]


def test_a_case_that_does_not_match_exits_with_one(tmp_path: Path, capsys: Captured) -> None:
    """Expected and observed stand side by side."""
    path = a_file(tmp_path, RIGHT, WRONG)

    assert main(["case", "wrong", "--file", path]) == 1
    out = capsys.readouterr().out
    assert "  outcome  expected return, observed throw\n  prompts  expected 2, observed 1\n\nmismatch\n" in out


def test_a_case_as_json_has_its_ledger(tmp_path: Path, capsys: Captured) -> None:
    """The events with their wire names and times."""
    assert main(["case", "right", "--json", "--file", a_file(tmp_path, RIGHT)]) == 0
    shown = json.loads(capsys.readouterr().out)

    assert set(shown) == {"id", "verdict", "expected", "observed", "ledger"}
    assert shown["ledger"][0] == {
        "event": "call_started",
        "atMs": 0,
        "toolName": "seed_note",
        "toolCallId": "call-1",
        "input": PUBLISH,
    }


@pytest.mark.parametrize("arguments", [["--file"], []])
def test_an_unknown_id_names_those_that_look_alike(arguments: list[str], tmp_path: Path, capsys: Captured) -> None:
    """Exit 2, one line; among the built-in cases too."""
    mine = arguments == ["--file"]
    case_id = "rihgt" if mine else "boundary-aprove-one-call"
    files = [*arguments, a_file(tmp_path, RIGHT, WRONG)] if mine else []

    assert main(["case", case_id, *files]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(
        f"No case has the id '{case_id}'. Did you mean {'right' if mine else 'boundary-approve-one-call'}"
    )
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("case_id", ["", " ", "\udcff", chr(0xD800), "a\nb", "…", "--", '"', "id"])
def test_any_id_is_looked_for(case_id: str, tmp_path: Path, capsys: Captured) -> None:
    """A shell hands over any bytes; none of them is a traceback, and each message is one line."""
    assert main(["case", "--file", a_file(tmp_path, RIGHT), "--", case_id]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)


def test_several_files_can_be_searched(tmp_path: Path, capsys: Captured) -> None:
    """`--file` may be given more than once."""
    files = [a_file(tmp_path, RIGHT, name="a.json"), a_file(tmp_path, SILENT, name="b.json")]

    assert main(["case", "silent", "--file", files[0], "--file", files[1]]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "no claim"


def test_a_broken_file_does_not_stand_in_the_way_of_another_ones_case(tmp_path: Path, capsys: Captured) -> None:
    """Only the files that can hold the id are read; if none does, all are."""
    good, bad = a_file(tmp_path, RIGHT), tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")

    assert main(["case", "right", "--file", str(bad), "--file", good]) == 0
    capsys.readouterr()
    assert main(["case", "left", "--file", good, "--file", str(bad)]) == 2
    assert capsys.readouterr().err.startswith(f"{bad}: line 1")


# schema, bench


def test_the_schema_is_printed_as_it_stands_on_disk(capsys: Captured) -> None:
    """Byte for byte, so the file can be made by redirecting the command."""
    assert main(["schema"]) == 0
    out = capsys.readouterr().out

    assert out == (fixtures_dir() / "schema" / "case.schema.json").read_text(encoding="utf-8")
    assert json.loads(out) == schema()


@pytest.mark.slow
def test_the_benchmark_gives_figures_and_a_table(capsys: Captured) -> None:
    """Every figure is there; how large it is says something about the machine, and is not asserted."""
    assert main(["bench", "--json", "--rounds", "1"]) == 0
    shown = json.loads(capsys.readouterr().out)
    figures = msgspec.convert(shown, Figures)

    assert set(shown) == {
        "resolutionsPerS",
        "promptedCallsPerS",
        "promptedCallsWithFourHandlersPerS",
        "eventsPerCall",
        "bytesPerEvent",
        "coldCaseMs",
        "coldCaseInBareStarts",
        "python",
    }
    assert all(value > 0 for value in shown.values() if isinstance(value, int | float))
    assert shown["eventsPerCall"] == 12.0
    assert [line.rsplit(maxsplit=1)[-1] for line in table(figures).splitlines()] == [
        "/s", "/s", "/s", "12.0", str(figures.bytes_per_event), "ms",
        f"{figures.cold_case_in_bare_starts:.1f}", figures.python,
    ]  # fmt: skip


# Bad usage


@pytest.mark.parametrize(
    "arguments",
    [[], ["nope"], ["case"], ["cases", "--nope"], ["bench", "--rounds", "0"], ["bench", "--rounds", "x"]],
)
def test_bad_usage_exits_with_two(arguments: list[str], capsys: Captured) -> None:
    """The parser's own complaint, on standard error."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "labsim" in err


# As a process


def labsim(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "labsim", *arguments], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.slow
def test_the_exit_code_reaches_the_shell_and_no_traceback_does(tmp_path: Path) -> None:
    """0 right, 1 a mismatch, 2 bad input."""
    ran = [
        labsim("cases", a_file(tmp_path, RIGHT, name="a.json")),
        labsim("cases", a_file(tmp_path, WRONG, name="b.json")),
        labsim("cases", str(tmp_path / "no-such.json")),
    ]

    assert [each.returncode for each in ran] == [0, 1, 2]
    assert [each.stderr for each in ran] == ["", "", f"{tmp_path / 'no-such.json'}: No such file or directory\n"]


def test_a_terminal_that_cannot_show_a_character_shows_its_escape(tmp_path: Path) -> None:
    """A case may hold any text, and a console of another time knows few."""
    case = a_case("words", {}, args={"seed": "→ 🌱"}, choices=["Approve"])
    ran = labsim("case", "words", "--file", a_file(tmp_path, case), env={**os.environ, "PYTHONIOENCODING": "ascii"})

    assert ran.returncode == 0
    assert r"\u2192 \U0001f331" in ran.stdout


def test_a_reader_who_leaves_early_is_no_error() -> None:
    """`labsim cases | head -1`: nothing on standard error, also not at exit."""
    program = f"{sys.executable} -m labsim schema | head -c 1"
    ran = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)

    assert (ran.stdout, ran.stderr) == ("{", "")
