"""The vocabulary of cases: what is refused, in which words, and that nothing malformed gets through as a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from engine_kit import ASKING
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from msgspec import UNSET
from places import TOP

from labsim.__main__ import main
from labsim.case.given import CallGiven, WrapperGiven
from labsim.case.model import CASE_CLASSES, RecordedCase, WrapperCase
from labsim.errors import CaseError, LabsimError, UnknownCase
from labsim.library import case_files
from labsim.play.performance import run
from labsim.reading.reading import find, parse_case, parse_file, recorded_case, schema
from labsim.strict_json import parse

FIXTURES = TOP / "fixtures"
BROKEN = FIXTURES / "broken"
MESSAGES: dict[str, str] = json.loads((BROKEN / "messages.json").read_text(encoding="utf-8"))
DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=300)


def raw_case(**changes: Any) -> dict[str, Any]:
    return {"id": "test", "scenario": "wrapper", "given": dict(ASKING), **changes}


def raw_file(*cases: Any, **changes: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "id": "file", "cases": list(cases), **changes}


def refused(raw: Any, name: str = "f.json") -> str:
    with pytest.raises(CaseError) as raised:
        parse_file(json.dumps(raw).encode(), name)
    return str(raised.value)


# Broken files


def test_every_broken_file_has_its_message() -> None:
    """No file without a message, no message without a file, and no two the same."""
    files = {path.name for path in BROKEN.glob("*.json")} - {"messages.json"}

    assert files == set(MESSAGES)
    assert len(files) >= 24
    assert len({message.split(": ", 1)[1] for message in MESSAGES.values()}) >= len(files) - 1  # empty and blank


@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_file_earns_its_message(name: str) -> None:
    """Design habit 5: where, what was found, what would do; on one line."""
    with pytest.raises(CaseError) as raised:
        parse_file((BROKEN / name).read_bytes(), name)

    error = raised.value
    assert str(error) == MESSAGES[name]
    assert str(error) == f"{error.place}: {error.found}. {error.remedy}"
    assert error.place.startswith(name)
    assert error.remedy
    assert str(error).isprintable()


@pytest.mark.slow
@pytest.mark.parametrize("name", MESSAGES)
def test_a_broken_file_is_one_line_on_the_command_line(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, the message on standard error and nothing else; no case of the file is played."""
    monkeypatch.chdir(BROKEN)

    assert main(["cases", name]) == 2
    assert capsys.readouterr() == ("", f"{MESSAGES[name]}\n")


def test_broken_files_are_labelled_as_teaching_data() -> None:
    """Seed rule: whoever finds one of them must not take it for something to run; where the format has a place."""
    labelled = 0
    for path in sorted(BROKEN.glob("*.json")):
        try:
            raw = parse(path.read_bytes(), path.name)
        except CaseError:
            continue
        if isinstance(raw, dict) and "cases" in raw:
            assert "TEACHING DATA — DO NOT EXECUTE" in str(raw.get("label", raw.get("lable"))), path.name
            labelled += 1
    assert labelled >= 24


@pytest.mark.parametrize("kind", ["missing", "folder", "loop", "below a file"])
def test_a_path_that_cannot_be_read_is_one_line(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, the path and the system's own words."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("{}")
    paths = {
        "missing": (tmp_path / "no-such.json", "No such file or directory"),
        "folder": (tmp_path, "Is a directory"),
        "loop": (tmp_path / "loop", "Too many levels of symbolic links"),
        "below a file": (tmp_path / "file" / "x", "Not a directory"),
    }
    path, words = paths[kind]

    assert main(["cases", str(path)]) == 2
    assert capsys.readouterr() == ("", f"{path}: {words}\n")


# What a message says


def given_with(**given: Any) -> dict[str, Any]:
    return raw_case(given={**ASKING, **given})


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (given_with(choices=None), "given.choices: null is not allowed here. Use a list."),
        (
            given_with(loopEmitted=1.5),
            "given.loopEmitted: 1.5 is a number. Use true or false or a whole number or text.",
        ),
        (
            given_with(handlers=[{"revise": {}, "title": "x"}]),
            "given.handlers[0]: the key 'title' is not known here. It belongs one level up, beside 'given'.",
        ),
        (
            given_with(handlers=[{"mode": "yolo"}]),
            "given.handlers[0]: the key 'mode' is not known here. It belongs one level up, beside 'handlers'.",
        ),
        (
            given_with(zzz=1),
            "given: the key 'zzz' is not known here. fixtures/schema/case.schema.json lists the keys.",
        ),
        (raw_case(rules=[5]), "rules[0]: 5 is a whole number. Use text."),
        (
            raw_case(scenario=5),
            f"scenario: 5 is not allowed here. Use one of: {', '.join(sorted(CASE_CLASSES))}.",
        ),
    ],
)
def test_a_message_names_what_was_found_and_what_would_do(raw: Any, message: str) -> None:
    """Each case is named by its id, where it has one; a key in the wrong place is sent to the right one."""
    assert refused(raw_file(raw)) == f"f.json: cases[0] (test).{message}"


def test_an_entry_of_a_map_is_named_as_one() -> None:
    """The decoder does not say which entry it was."""
    assert (
        refused(raw_file(raw_case(), sources={"a": 5}))
        == "f.json: sources: a value in it is a whole number. Use text."
    )


def test_a_long_value_is_cut_in_a_message() -> None:
    """One line stays one."""
    message = refused(raw_file(raw_case(given={**ASKING, "mode": "x" * 500})))

    assert len(message) < 300
    assert "…" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": "x', 'line 1, column 7: not JSON: the text that begins here is never closed. Close it with ".'),
        ('{"a": 1,}', "line 1, column 8: not JSON: a comma stands before the end. Remove the comma."),
        ('{"a": [1,\n]}', "line 1, column 9: not JSON: a comma stands before the end. Remove the comma."),
        ('{"a" 1}', "line 1, column 6: not JSON: '1' is not expected here. Is a colon missing before it?"),
        (
            '{"a": "\\q"}',
            "line 1, column 8: not JSON: a backslash begins something that JSON does not know. "
            r"Write a backslash as \\.",
        ),
        ('{"a": ' + "9" * 5000 + "}", "a number has thousands of digits. Use a smaller number, or text."),
        ('{"a": 1e400}', "a: the number is too large to be exact. Stay within 2^53, or use text."),
        ('{"a": {"b": NaN}}', "a.b: NaN is not a JSON number. Use a number, text or null."),
        ('{"a": [{"b": 1, "b": 2}]}', "a[0]: the key 'b' stands twice in one object. Keep one of the two."),
        ("[" * 100_000, "the JSON is nested too deeply. Keep it under 200 levels."),
        ('{"\\ud800": 1}', "the text holds half of a surrogate pair. Write the whole character."),
    ],
)
def test_what_is_not_json_is_said_in_our_own_words(text: str, message: str) -> None:
    """The same under every Python: its decoder's words and columns change."""
    with pytest.raises(CaseError) as raised:
        parse(text.encode(), "f.json")

    assert str(raised.value) == f"f.json: {message}"


def test_numbers_up_to_two_to_the_53_are_exact() -> None:
    """The host counts in doubles; what it could not show is refused, the rest is kept."""
    assert parse(b"[9007199254740992, -9007199254740992, 0.1]", "f") == [2**53, -(2**53), 0.1]


# What a case may and may not say


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("given.mode", "yollo"),
        ("given.mode", None),
        ("given.userPolicies", ["seed_note"]),
        ("given.userPolicies.seed_note", "perhaps"),
        ("given.approval", "READ"),
        ("given.approval.tier", "READ"),
        ("given.approval.override", 1),
        ("given.approval.policy", "perhaps"),
        ("given.approval.extra", 1),
        ("given.autoApprove", "yes"),
        ("given.xdevApproved", 1),
        ("given.legacyName", 5),
        ("given.toolCallTimeoutMs", 0),
        ("given.toolCallTimeoutMs", True),
        ("given.sessionSettings.mode", "WRITE"),
        ("given.sessionSettings.userPolicies.seed_note", 5),
    ],
)
def test_an_odd_value_has_to_be_meant(path: str, value: object) -> None:
    """The host tolerates it in silence, so a teaching case says that it is no typing mistake."""
    raw = raw_case()
    spot: Any = raw
    *steps, last = path.split(".")
    for step in steps:
        if not isinstance(spot.get(step), dict):
            spot[step] = {}
        spot = spot[step]
    spot[last] = value

    with pytest.raises(CaseError) as raised:
        parse_case(raw, "test")
    assert raised.value.place == f"test.{path}"
    assert raised.value.remedy.endswith(f'; or, if it is meant, add "{path}" to "unusual".')
    assert run(parse_case({**raw, "unusual": [path]}, "test")).finished


def test_a_recorded_answer_may_hold_odd_values_but_no_unknown_word() -> None:
    """Two strictnesses: the real program answered odd values; words that the engine lacks cannot be played."""
    row = RecordedCase(id="r", scenario="wrapper", given={**ASKING, "mode": "YOLO", "choices": [5]}, observed={})
    case = recorded_case(row, "f: line 1 (r)")
    assert isinstance(case, WrapperCase)
    assert case.given.mode == "YOLO"

    unknown: list[tuple[dict[str, Any], str]] = [
        ({"approval": {"fn": "nobody"}}, "given.approval.fn"),
        ({"executor": 5}, "given.executor"),
        ({"choices": [{"disconnect": "x"}]}, "given.choices[0]"),
        ({"lifecycle": "all"}, "given.lifecycle"),
        ({"unknown": 1}, "given"),
    ]
    for given_, place in unknown:
        odd = RecordedCase(id="r", scenario="wrapper", given=given_, observed={})
        with pytest.raises(CaseError) as raised:
            recorded_case(odd, "f: line 1 (r)")
        assert raised.value.place == f"f: line 1 (r).{place}"
    with pytest.raises(CaseError, match=r"^f: line 1 \(r\)\.scenario: 'nope' is not allowed here"):
        recorded_case(RecordedCase(id="r", scenario="nope", given={}, observed={}), "f: line 1 (r)")


def test_a_key_that_is_absent_is_not_null() -> None:
    """wrapper/W-45: absent means not there at all."""
    case = parse_case({"id": "a", "scenario": "wrapper", "given": {"acpApprovedArgs": None}}, "test")

    assert isinstance(case, WrapperCase)
    assert (case.given.acp_approved_args, case.given.args, case.given.mode) == (None, UNSET, UNSET)
    assert case.given == WrapperGiven(acp_approved_args=None)
    assert isinstance(case.given, CallGiven)


def test_a_case_is_found_by_its_id_or_its_neighbours_are_named() -> None:
    """An unknown id is an error that helps."""
    cases = [parse_case(raw_case(id=name), "test") for name in ("approve-one-call", "deny-one-call", "no-ui")]

    assert find(cases, "no-ui") is cases[2]
    with pytest.raises(UnknownCase) as raised:
        find(cases, "aprove-one-call")
    assert raised.value.close[0] == "approve-one-call"
    assert str(raised.value).startswith("No case has the id 'aprove-one-call'. Did you mean approve-one-call")
    with pytest.raises(UnknownCase, match=r"`python -m labsim cases` lists them\.$"):
        find(cases, "zzzzz")


# The schema


def test_the_schema_on_disk_is_the_one_that_the_classes_give() -> None:
    """Editors read the file; `labsim schema` prints it, byte for byte."""
    assert json.loads((FIXTURES / "schema" / "case.schema.json").read_bytes()) == schema()


@pytest.mark.slow
def test_the_schema_accepts_the_built_in_cases() -> None:
    """What ships has no line under it in an editor."""
    validator = Draft202012Validator(schema())
    for path in case_files():
        assert [error.message for error in validator.iter_errors(json.loads(path.read_bytes()))] == [], path.name


SHAPES = ("unknown-key", "no-id", "no-given", "no-s", "no-cases", "cases-by", "repeat-is", "given-is", "effects-is")


@pytest.mark.parametrize("name", [name for name in MESSAGES if name.startswith(SHAPES)])
def test_the_schema_refuses_what_has_the_wrong_shape(name: str) -> None:
    """So an author sees it while typing; odd values and contradictions only the engine's own check finds."""
    raw = json.loads((BROKEN / name).read_bytes())

    assert not Draft202012Validator(schema()).is_valid(raw)


# Whatever comes in

KEYS = st.sampled_from(["fn", "throw", "disconnect", "tier", "x", "message"]) | st.text(max_size=3)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**54), 2**54)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "exec", "fn", "rpc", "throws", "yolo", "xd://seed_slot", "\n", "…"])
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
WHOLE: list[dict[str, Any]] = [
    case for path in case_files() for case in json.loads(path.read_bytes())["cases"]
]  # every scenario that ships, with all that it uses


def spots(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield way
    if isinstance(value, dict):
        for key in value:
            yield from spots(value[key], (*way, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from spots(value[index], (*way, index))


@st.composite
def spoiled(draw: st.DrawFn) -> dict[str, Any]:
    """A case of ours with one value replaced, added or taken out."""
    raw: dict[str, Any] = json.loads(json.dumps(draw(st.sampled_from(WHOLE))))
    way = draw(st.sampled_from([way for way in spots(raw) if way]))
    spot: Any = raw
    for step in way[:-1]:
        spot = spot[step]
    if draw(st.integers(0, 4)) == 0 and isinstance(spot, dict):
        del spot[way[-1]]
    else:
        spot[way[-1]] = draw(JSON)
    if draw(st.booleans()):
        given_ = raw.setdefault("given", {})
        if isinstance(given_, dict):
            given_[draw(st.sampled_from(CallGiven.__struct_encode_fields__))] = draw(JSON)
    return raw


def complaint(data: bytes) -> str | None:
    """What is said of a file and of what it plays; None if all came to an end. Anything else is a crash."""
    try:
        for case in parse_file(data, "f.json").cases:
            if getattr(case.given, "repeat", 1) <= 20:
                assert run(case).finished
    except LabsimError as error:
        return str(error)
    return None


@pytest.mark.slow
@DETERMINISTIC
@given(spoiled())
def test_a_spoiled_case_is_refused_or_played_and_never_a_crash(raw: dict[str, Any]) -> None:
    """Only our own errors, on one line: of the file, or of a step that its script cannot take."""
    said = complaint(json.dumps(raw_file(raw)).encode())

    if said is not None:
        assert said.startswith(("f.json", str(raw.get("id"))))
        assert said.isprintable()


ALMOST_JSON = st.text(alphabet='{}[]",:0123456789eEtrufalsn\\ \n\ud83c', max_size=40)


@pytest.mark.slow
@DETERMINISTIC
@given(st.binary(max_size=60) | ALMOST_JSON.map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """No traceback, whatever somebody drops here."""
    said = complaint(data)

    assert said is not None
    assert said.startswith("f.json")
