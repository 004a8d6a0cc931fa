"""Recorded answers against the engine: all of them agree, and what does not is found, named and never hidden."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from labsim.__main__ import main
from labsim.case.model import RecordedCase
from labsim.errors import CaseError, ReplayError
from labsim.library import declared_differences, recorded_files
from labsim.proof.recordings import read_lines
from labsim.proof.replay import (
    Declared,
    Difference,
    first_difference,
    parse_declared,
    replay,
    replay_one,
    rules_for,
)

#: How many answers of the real program ship, by file.
SHIPPED = {
    "dispatch.jsonl.gz": 855,
    "fallback.jsonl.gz": 156,
    "resolve.jsonl.gz": 3593,
    "rpc.jsonl.gz": 123,
    "wrapper.jsonl.gz": 2049,
}
FILES = {path.name: path for path in recorded_files()}


@cache
def recorded(name: str) -> tuple[bytes, ...]:
    return tuple(line for line in read_lines(FILES[name]) if line.strip())


def row(name: str, number: int = 0) -> dict[str, Any]:
    """One recorded line, decoded anew."""
    found: dict[str, Any] = json.loads(recorded(name)[number])
    return found


def approved_once() -> dict[str, Any]:
    """The first recorded call that always-ask put to a person, who approved, and that then ran."""
    kinds = ["tool_call", "tool_approval_requested", "ui.select", "tool_approval_resolved", "execute"]
    for line in recorded("wrapper.jsonl.gz"):
        raw: dict[str, Any] = json.loads(line)
        first, *others = raw["observed"]["calls"]
        plain = raw["given"].get("args") == {"action": "publish"} and raw["given"].get("mode") == "always-ask"
        if plain and not others and [event["event"] for event in first["events"]] == [*kinds, "tool_result"]:
            return raw
    raise AssertionError("no such case was recorded")


def answered(raw: dict[str, Any], declared: Declared | None = None) -> Any:
    return replay_one(msgspec.convert(raw, RecordedCase), "f: line 1", declared)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "count"), SHIPPED.items())
def test_the_engine_agrees_with_every_recorded_answer(name: str, count: int) -> None:
    """Field by field and event by event, and nothing is declared as different."""
    tally = replay(read_lines(FILES[name]), name)

    assert (tally.cases, tally.match, tally.declared, tally.problems) == (count, count, 0, [])


def test_no_other_file_ships_and_no_difference_is_declared() -> None:
    """What the counts above do not cover is not there."""
    assert set(FILES) == set(SHIPPED)
    assert parse_declared(declared_differences().read_bytes(), "declared") == {}


# An altered answer is found

ALTERED: list[tuple[str, Any, Any, str, str]] = [
    # path to alter, new value, what the engine says, path reported, a rule to look at
    ("observed.outcome", "throw", "return", "outcome", ""),
    ("observed.effects", 2, 1, "effects", "wrapper/W-5"),
    ("observed.prompts", 0, 1, "prompts", "wrapper/W-20"),
    ("observed.input.action", "inspect", "publish", "input.action", "wrapper/W-17"),
    (
        "observed.promptTexts.0",
        "Allow?",
        'Allow tool: seed_note\nInput: {"action":"publish"}',
        "promptTexts[0]",
        "approval/A-35",
    ),
    (
        "observed.calls.0.events.1.approvalMode",
        "yolo",
        "always-ask",
        "calls[0].events[1].approvalMode",
        "wrapper/W-32",
    ),
    ("observed.calls.0.events.2.choice", "Deny", "Approve", "calls[0].events[2].choice", "wrapper/W-40"),
    ("observed.calls.0.events.3.approved", False, True, "calls[0].events[3].approved", "wrapper/W-33"),
    ("observed.calls.0.events.5.content", "other", "inert", "calls[0].events[5].content", "wrapper/W-57"),
    ("observed.calls.0.result.content", "other", "inert", "calls[0].result.content", "wrapper/W-53"),
    ("observed.extra", 1, UNSET, "extra", ""),
]


@pytest.mark.parametrize(("path", "value", "engine", "reported", "rule"), ALTERED, ids=[row[0] for row in ALTERED])
def test_an_altered_answer_is_found_with_both_values_and_rules(
    path: str, value: Any, engine: Any, reported: str, rule: str
) -> None:
    """The first place that differs, in the recording's order, and where in the specification to look."""
    raw = approved_once()
    spot: Any = raw
    *steps, last = path.split(".")
    for step in steps:
        spot = spot[int(step)] if step.isdigit() else spot[step]
    if last.isdigit():
        spot[int(last)] = value
    else:
        spot[last] = value

    found = answered(raw).difference
    assert (found.path, found.recorded, found.engine) == (reported, value, engine)
    assert rule in found.rules or not rule


def test_a_missing_event_is_found_at_its_place() -> None:
    """UNSET stands for what one side does not have."""
    raw = approved_once()
    del raw["observed"]["calls"][0]["events"][-1]

    found = answered(raw).difference
    assert (found.path, found.recorded) == ("calls[0].events[5]", UNSET)
    assert found.engine["event"] == "tool_result"
    assert "wrapper/W-57" in found.rules


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, count in SHIPPED.items() for number in (0, count // 2, count - 1)]
)
def test_every_field_of_every_scenario_is_really_compared(name: str, number: int) -> None:
    """One taken out of the recording is missed, and so is one that is added."""
    fields = list(row(name, number)["observed"])
    assert fields
    for field in fields:
        raw = row(name, number)
        del raw["observed"][field]
        found = answered(raw)
        assert (found.ok, found.difference.path, found.difference.recorded) == (False, field, UNSET)
    raw = row(name, number)
    raw["observed"]["added"] = None
    assert answered(raw).difference == Difference(path="added", recorded=None, engine=UNSET, rules=())


@pytest.mark.parametrize(
    ("recorded", "engine", "path"),
    [
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": True}, {"a": 1}, "a"),
        ({"a": None}, {}, "a"),
        ({}, {"a": None}, "a"),
        ([1, 2], [1], "[1]"),
        ([1], [1, 2], "[1]"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "a[0].b"),
        ({"a": {}}, {"a": []}, "a"),
        ({"b": 1, "a": 2}, {"a": 3, "b": 4}, "b"),
        ("x", "x", None),
        ("x", "y", ""),
    ],
)
def test_the_first_difference_has_a_path(recorded: Any, engine: Any, path: str | None) -> None:
    """As JSON values: true is not 1, null is not absent, the order of keys does not count."""
    found = first_difference(recorded, engine)

    assert (found.path if found else None) == path


def test_rules_are_named_by_event_or_by_field() -> None:
    """An event's own rules come before those of a field in it."""
    assert rules_for("calls[0].events[2].input", "execute") == ("wrapper/W-17", "wrapper/W-18", "wrapper/W-47")
    assert rules_for("resolved.policyKey") == rules_for("resolved")
    assert rules_for("nothing.known") == ()


# Declared differences


def a_declaration(case_id: str, **changes: str) -> Declared:
    return Declared(
        **{"id": case_id, "path": "effects", "reason": "we count otherwise", "date": "2026-11-30", **changes}
    )


def test_a_declared_difference_is_legal_and_counted() -> None:
    """It is neither a match nor a problem."""
    raw = approved_once()
    raw["observed"]["effects"] = 7
    declared = {raw["id"]: a_declaration(raw["id"])}
    tally = replay([json.dumps(raw).encode()], "f", declared)

    assert (tally.cases, tally.match, tally.declared, tally.problems, tally.ok) == (1, 0, 1, [], True)
    assert tally.met == [raw["id"]]


@pytest.mark.parametrize("why", ["it agrees", "it differs elsewhere"])
def test_a_stale_declaration_is_a_problem(why: str) -> None:
    """What no longer differs, or differs in another place, must not stay excused."""
    raw = approved_once()
    if why == "it differs elsewhere":
        raw["observed"]["prompts"] = 7
    tally = replay([json.dumps(raw).encode()], "f", {raw["id"]: a_declaration(raw["id"])})

    assert (tally.ok, tally.declared) == (False, 0)
    assert [problem.stale for problem in tally.problems] == [True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reason": " "}, "f.json: x: a declared difference needs a reason and a date (YYYY-MM-DD)."),
        ({"date": "yesterday"}, "f.json: x: a declared difference needs a reason and a date (YYYY-MM-DD)."),
        ({"date": "2026-11-3"}, "f.json: x: a declared difference needs a reason and a date (YYYY-MM-DD)."),
    ],
)
def test_a_declaration_needs_a_reason_and_a_date(changes: dict[str, str], message: str) -> None:
    """A difference that nobody can explain is a mistake."""
    data = msgspec.json.encode([a_declaration("x", **changes)])

    with pytest.raises(ReplayError) as raised:
        parse_declared(data, "f.json")
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{}", "not a list of declared differences"),
        (b'[{"id": "x"}]', "not a list of declared differences"),
        (b'[{"id":"x","path":"a","reason":"r","date":"2026-01-01","more":1}]', "unknown field"),
        (b"\xff", "not a list of declared differences"),
        (b"[" * 100_000, "not a list of declared differences"),
        (msgspec.json.encode([a_declaration("x"), a_declaration("x")]), "a case is declared twice"),
    ],
)
def test_a_list_that_is_none_is_refused(data: bytes, message: str) -> None:
    """By name, with what is wrong."""
    with pytest.raises(ReplayError, match=rf"^f\.json: .*{message}"):
        parse_declared(data, "f.json")


# Damaged files


@pytest.mark.parametrize("damage", ["cut", "altered", "not gzip at all", "empty"])
def test_a_damaged_archive_says_so(damage: str, tmp_path: Path) -> None:
    """And what to do; half of the answers would pass for all of them."""
    whole = FILES["rpc.jsonl.gz"].read_bytes()
    data = {
        "cut": whole[:-40],
        "altered": whole[:300] + bytes([whole[300] ^ 255]) + whole[301:],
        "not gzip at all": b"{}",
        "empty": b"",
    }
    path = tmp_path / "damaged.jsonl.gz"
    path.write_bytes(data[damage])

    if damage == "empty":
        assert replay(read_lines(path), path.name).ok is False
        return
    with pytest.raises(ReplayError, match=r"^damaged\.jsonl\.gz: not a whole gzip file \(.*\)\. Copy it again\.$"):
        read_lines(path)


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"id": "x"}', b"\xff\xfe", b"nonsense", b"[" * 100_000])
def test_a_bad_line_is_named_by_its_number(line: bytes) -> None:
    """Blank lines are skipped, and counted."""
    good = json.dumps(row("rpc.jsonl.gz")).encode()

    with pytest.raises(ReplayError, match=r"^f: line 3: not a recorded answer \("):
        replay([good, b" ", line, good], "f")


def test_a_line_that_the_engine_cannot_play_is_named_by_number_and_id() -> None:
    """An instructor's own recording may hold a word that the engine lacks."""
    raw = approved_once()
    raw["given"]["lifecycle"] = "all"

    with pytest.raises(CaseError) as raised:
        replay([json.dumps(raw).encode()], "f")
    assert raised.value.place == f"f: line 1 ({raw['id']}).given.lifecycle"


def test_a_file_without_answers_proves_nothing() -> None:
    """Zero of zero is no agreement."""
    assert replay([b"", b"\n"], "f").ok is False


# The command


def write(path: Path, *rows: dict[str, Any]) -> str:
    data = "".join(f"{json.dumps(each)}\n" for each in rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return str(path)


def test_the_command_agrees_and_exits_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Plain or compressed; one line a file."""
    rows = [row("rpc.jsonl.gz", number) for number in range(3)]
    plain, packed = write(tmp_path / "a.jsonl", *rows), write(tmp_path / "b.jsonl.gz", rows[0])

    assert main(["replay", plain, packed]) == 0
    assert capsys.readouterr() == (
        "a.jsonl: 3 cases, 3 match, 0 declared\nb.jsonl.gz: 1 cases, 1 match, 0 declared\n",
        "",
    )


def test_the_command_shows_a_difference_and_exits_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both values and the rules, each on a line."""
    raw = approved_once()
    raw["observed"]["effects"] = 7
    path = write(tmp_path / "a.jsonl", raw)

    assert main(["replay", path]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{raw['id']}: effects",
        "  recorded  7",
        "  engine    1",
        "  look at   wrapper/W-5, wrapper/W-10, wrapper/W-57",
        "a.jsonl: 1 cases, 0 match, 0 declared",
    ]
    assert main(["replay", path, "--json"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["difference"] == {
        "path": "effects",
        "recorded": 7,
        "engine": 1,
        "rules": ["wrapper/W-5", "wrapper/W-10", "wrapper/W-57"],
    }


@pytest.mark.parametrize(
    ("declared", "code", "said"),
    [
        ([{"path": "effects"}], 0, "a.jsonl: 1 cases, 0 match, 1 declared\n"),
        ([{"path": "prompts"}], 1, "declared as different and is not; remove the declaration\n"),
    ],
)
def test_the_command_reads_what_is_declared(
    declared: list[dict[str, str]], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--declared FILE` in place of the built-in list."""
    raw = approved_once()
    raw["observed"]["effects"] = 7
    listed = tmp_path / "declared.json"
    listed.write_bytes(msgspec.json.encode([a_declaration(raw["id"], **each) for each in declared]))

    assert main(["replay", write(tmp_path / "a.jsonl", raw), "--declared", str(listed)]) == code
    assert said in capsys.readouterr().out


@pytest.mark.slow
def test_a_declaration_that_no_recording_knows_fails_the_whole_replay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only where all recordings are replayed; one file says nothing about the others."""
    listed = tmp_path / "declared.json"
    listed.write_bytes(msgspec.json.encode([a_declaration("nobody-0001")]))
    one = write(tmp_path / "a.jsonl", row("rpc.jsonl.gz"))

    assert main(["replay", one, "--declared", str(listed)]) == 0
    assert main(["replay", "--declared", str(listed)]) == 1
    assert capsys.readouterr().err == (
        "declared.json: nobody-0001: no recorded answer has this id. Remove the declaration.\n"
    )


@pytest.mark.parametrize("bad", ["no-such.jsonl", "cut.jsonl.gz", "line.jsonl", "declared.json"])
def test_what_cannot_be_read_exits_with_two(bad: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error, no traceback."""
    (tmp_path / "cut.jsonl.gz").write_bytes(b"\x1f\x8bnot much")
    (tmp_path / "line.jsonl").write_bytes(b"{\n")
    (tmp_path / "declared.json").write_bytes(b"{}")
    good = write(tmp_path / "good.jsonl", row("rpc.jsonl.gz"))
    path = str(tmp_path / bad)
    arguments = [good, "--declared", path] if bad == "declared.json" else [path]

    assert main(["replay", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert bad in err


def test_a_difference_is_a_record() -> None:
    """What a reader of `--json` gets."""
    found = first_difference({"event": "execute", "input": 1}, {"event": "execute", "input": 2})

    assert found == Difference(
        path="input", recorded=1, engine=2, rules=("wrapper/W-17", "wrapper/W-18", "wrapper/W-47")
    )
