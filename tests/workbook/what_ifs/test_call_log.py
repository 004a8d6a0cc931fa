"""Call logs: three kinds of file and two of table that say the same, and the place of whatever is wrong in one."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import call_log_kit
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

import workbook
from labsim.terms import Tier
from workbook.learner import progress_bar
from workbook.learner.who import VARIABLE, Learner
from workbook.what_ifs.call_log import BadCallLog, as_log, call_log
from workbook.what_ifs.columns import NoDeclaration, declared

CALLS: list[dict[str, Any]] = [
    {"tool": "read", "declaration": "read", "args": {"path": "a, b.txt"}, "at": "08:00"},
    {
        "tool": "bash",
        "declaration": {"tier": "exec", "policy": "prompt"},
        "args": {"command": 'echo "é\n"'},
        "at": "9",
    },
    {"tool": "edit", "declaration": "write", "args": None, "legacyName": "edit_cards", "at": "10"},
    {"tool": "mcp__x", "declaration": None, "args": {}, "at": None},
    {"tool": "bash", "declaration": '"Read"', "args": {"command": "ls"}, "at": "11"},
]
COLUMNS = ("tool", "declaration", "args", "legacyName", "at")


def text(value: Any) -> str | None:
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)


def rows(log: pd.DataFrame) -> list[dict[str, Any]]:
    """The cells of a log as plain values; JSON is read, so that its blanks do not count."""
    read = []
    for row in log.astype(object).to_dict("records"):
        cells = {name: None if pd.isna(value) else value for name, value in row.items()}
        for name in ("declaration", "args"):
            if isinstance(cells.get(name), str) and cells[name].startswith("{"):
                cells[name] = json.loads(cells[name])
        read.append(cells)
    return read


WANTED = [{name: call.get(name) for name in COLUMNS} for call in CALLS]


def as_csv() -> bytes:
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(COLUMNS)
    writer.writerows([text(call.get(name)) for name in COLUMNS] for call in CALLS)
    return written.getvalue().encode()


def as_json_lines() -> bytes:
    """Some columns begin late, and an empty line says nothing."""
    return "\n\n".join(json.dumps(call, ensure_ascii=False) for call in CALLS).encode()


def frame() -> pd.DataFrame:
    return pd.DataFrame({name: [text(call.get(name)) for call in CALLS] for name in COLUMNS})


WRITERS: dict[str, Callable[[Path], object]] = {
    "calls.csv": lambda path: path.write_bytes(as_csv()),
    "CALLS.CSV": lambda path: path.write_bytes(b"\xef\xbb\xbf" + as_csv()),
    "calls.csv.gz": lambda path: path.write_bytes(gzip.compress(as_csv())),
    "calls.jsonl": lambda path: path.write_bytes(as_json_lines()),
    "calls.ndjson": lambda path: path.write_bytes(b"\xef\xbb\xbf" + as_json_lines() + b"\r\n"),
    "calls.jsonl.gz": lambda path: path.write_bytes(gzip.compress(as_json_lines())),
    "calls.parquet": lambda path: frame().to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_says_the_same(tmp_path: Path, name: str) -> None:
    """Issue 6: CSV, Parquet and JSON lines. Rows keep their order, missing cells stay missing, text stays text."""
    WRITERS[name](tmp_path / name)

    log = call_log(tmp_path / name)

    assert [{column: row[column] for column in COLUMNS} for row in rows(log)] == WANTED
    assert list(log.index) == [0, 1, 2, 3, 4]
    assert {name: str(kind) for name, kind in log.dtypes.items()} == {
        "tool": "category",
        "declaration": "category",
        "args": "string",
        "legacyName": "category",
        "at": "string",
    }


@pytest.mark.parametrize(
    "calls",
    [
        CALLS,
        (dict(call) for call in CALLS),
        frame(),
        frame().astype({"tool": "category", "declaration": "category", "legacyName": "category"}),
        pd.DataFrame(CALLS),
    ],
    ids=["mappings", "a generator", "text", "categories", "objects"],
)
def test_calls_in_memory_say_the_same(calls: Any) -> None:
    """A list of mappings and a DataFrame, of text, of categories, or of what tools declared as it is."""
    log = as_log(calls)

    assert [{column: row.get(column) for column in COLUMNS} for row in rows(log)] == WANTED
    assert [str(log[name].dtype) for name in ("tool", "declaration", "legacyName")] == ["category"] * 3


def test_a_log_keeps_its_index_and_is_not_worked_on_twice() -> None:
    """Rows are aligned with what was handed in; a log that is one already is taken as it is."""
    log = as_log(frame().set_index(pd.Index(list("vwxyz"))))

    again = as_log(log)

    assert list(log.index) == list("vwxyz")
    pd.testing.assert_frame_equal(again, log)
    assert np.shares_memory(again["tool"].array.codes, log["tool"].array.codes)


def test_a_tier_column_holds_tiers_or_nothing() -> None:
    """`tier` is the short form: a member of the enum, its word, or an empty cell."""
    log = as_log([{"tool": "a", "tier": Tier.READ}, {"tool": "b", "tier": "exec"}, {"tool": "c", "tier": ""}])

    assert rows(log) == [
        {"tool": "a", "declaration": "read"},
        {"tool": "b", "declaration": "exec"},
        {"tool": "c", "declaration": None},
    ]


@pytest.mark.parametrize(
    ("label", "value"),
    [
        (None, UNSET),
        ("read", "read"),
        ('{"tier":"Read","policy":" ALLOW "}', {"tier": "Read", "policy": " ALLOW "}),
        ('"Read"', "Read"),
        ('["read"]', ["read"]),
    ],
)
def test_a_declaration_reaches_the_engine_as_it_stands(label: str | None, value: Any) -> None:
    """What is malformed in a way that a host forgives is forgiven by the engine, not repaired here (approval/A-2 to
    approval/A-7).
    """
    assert declared(label) == value


@pytest.mark.parametrize(
    "label", ["Read", " read", "reed", "", "3", "true", "{", '{"tier":}', '{"tier":"read","Policy":1}']
)
def test_what_could_only_be_a_slip_is_no_declaration(label: str) -> None:
    """A host would take each of these for `exec` without a word (approval/A-2, approval/A-3), and nobody who wrote
    it meant that.
    """
    with pytest.raises(NoDeclaration):
        declared(label)


BAD: dict[str, tuple[str, str | bytes, str]] = {
    "a slip in a column": (
        "c.csv",
        "tool,teir\nbash,exec\n",
        "c.csv: there is a column 'teir'. Call it 'tier', or something that cannot be taken for that.",
    ),
    "another spelling of a column": (
        "c.csv",
        "tool,tier,legacy_name\nbash,exec,\n",
        "c.csv: there is a column 'legacy_name'. Call it 'legacyName', or something that cannot be taken for that.",
    ),
    "no tool": (
        "c.csv",
        "name,tier\nbash,exec\n",
        "c.csv: there is no column 'tool'. The columns are name, tier; one of them has to name the tool.",
    ),
    "nothing declared": (
        "c.csv",
        "tool,at\nbash,8\n",
        "c.csv: there is no column 'tier' and none called 'declaration'. The columns are tool, at; "
        "one of these two says what the tool declared, and its cells may be empty.",
    ),
    "both": (
        "c.csv",
        "tool,tier,declaration\nbash,exec,exec\n",
        "c.csv: there are a column 'tier' and a column 'declaration'. Keep the one that says more.",
    ),
    "a column twice": (
        "c.csv",
        "tool,tier,tool\nbash,exec,bash\n",
        "c.csv: the column 'tool' is there 2 times. Keep one of them.",
    ),
    "no such tier": (
        "c.csv",
        "tool,tier\nbash,exec\nread,Read\nread,Read\n",
        "c.csv: row 2, column tier: 'Read' is no tier. "
        "Use read, write or exec (did you mean 'read'?), or leave the cell empty.",
    ),
    "a key that no decision has": (
        "c.csv",
        'tool,declaration\nbash,\nbash,"{""tier"":""read"",""polcy"":""deny""}"\n',
        "c.csv: row 2, column declaration: a decision has no 'polcy'. "
        "Use tier, policy, override, policyKey or reason (did you mean 'policy'?).",
    ),
    "half a decision": (
        "c.jsonl",
        '{"tool":"bash","declaration":"{\\"tier\\""}\n',
        "c.jsonl: row 1, column declaration: '{\"tier\"' is not JSON (the cell: line 1, column 8: not JSON: "
        'the file ends in the middle of the JSON). A decision looks like {"tier":"read","policy":"prompt"}.',
    ),
    "a nameless call": (
        "c.csv",
        "tool,tier\nbash,exec\n,read\n",
        "c.csv: row 2, column tool: the cell is empty. Every call names its tool.",
    ),
    "a cell too many": (
        "c.csv",
        "tool,tier\nbash,exec\nread,read,x\n",
        "c.csv: row 2: 3 cells, and the header has 2. "
        "Quote a cell that has commas in it, and double the quotes inside.",
    ),
    "a quote that is never closed": (
        "c.csv",
        'tool,tier\nbash,"exec\nread,read\n',
        "c.csv: it cannot be read as CSV (…). Save it anew; text as UTF-8.",
    ),
    "arguments that are a list": (
        "c.csv",
        "tool,tier,args\nbash,exec,{}\nbash,exec,[1]\n",
        'c.csv: row 2, column args: \'[1]\' is no JSON object (…). Arguments look like {"path":"a.txt"}.',
    ),
    "an empty file": (
        "c.csv",
        "",
        "c.csv: it cannot be read as CSV (…). Save it anew; text as UTF-8.",
    ),
    "no calls at all": ("c.jsonl", "\n", "c.jsonl: the file is empty. Write one JSON object on each line."),
    "another encoding": (
        "c.csv",
        b"tool,tier\n\xe9,read\n",
        "c.csv: it cannot be read as CSV (…). Save it anew; text as UTF-8.",
    ),
    "a header in another encoding": (
        "c.csv",
        b"tool,tier,\xe9\n",
        "c.csv: it cannot be read as CSV (…). Save it anew; text as UTF-8.",
    ),
    "no Parquet": (
        "c.parquet",
        "tool,tier\n",
        "c.parquet: it cannot be read as Parquet (…). Save it anew; text as UTF-8.",
    ),
    "another format": (
        "c.xlsx",
        "",
        "c.xlsx: the name says of no format that can be read. "
        "Name it .csv, .csv.gz, .parquet, .jsonl or .jsonl.gz.",
    ),
    "a slip in one line": (
        "c.jsonl",
        '{"tool":"bash","tier":"exec"}\n\n{"tool":"read","teir":"read"}\n',
        "c.jsonl: row 2: there is a column 'teir'. Call it 'tier', or something that cannot be taken for that.",
    ),
    "a broken line": (
        "c.jsonl",
        '{"tool":"bash","tier":"exec"}\n{"tool":"read"\n',
        'c.jsonl: row 2: the line is no JSON object (…). Each line is one object: {"tool":"bash","tier":"exec"}.',
    ),
    "a line in another encoding": (
        "c.jsonl",
        b'{"tool":"a","tier":"read"}\n{"tool":"b","tier":"read","args":{"path":"\xe9"}}\n',
        'c.jsonl: row 2: the line is no JSON object (…). Each line is one object: {"tool":"bash","tier":"exec"}.',
    ),
    "a number for a tool": (
        "c.jsonl",
        '{"tool":3,"tier":"exec"}\n',
        "c.jsonl: row 1, column tool: 3 is no text. Write text, or leave the cell empty.",
    ),
    "half a gzip file": (
        "c.jsonl.gz",
        gzip.compress(b'{"tool":"bash","tier":"exec"}')[:-4],
        "c.jsonl.gz: it cannot be read as JSON lines (…). Save it anew; text as UTF-8.",
    ),
}


@pytest.mark.parametrize(("name", "content", "says"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused_with_the_place_what_was_found_and_what_would_do(
    tmp_path: Path, name: str, content: str | bytes, says: str
) -> None:
    """Design, errors: where, what was found, what would do. Nothing is guessed."""
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    with pytest.raises(BadCallLog) as caught:
        call_log(tmp_path / name)

    before, _, after = says.partition("…")  # what another package says in between varies with its version
    assert str(caught.value).startswith(before)
    assert str(caught.value).endswith(after)


#: Reads each file that it is given, as on a plain install: whoever asks for pyarrow is told that there is none.
WITHOUT_PYARROW = """
import sys

class Plain:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Plain())
import workbook
from workbook.what_ifs.call_log import BadCallLog, call_log
for path in sys.argv[1:]:
    try:
        print([[*map(str, row)] for row in call_log(path).astype(object).to_numpy().tolist()])
    except BadCallLog as refused:
        print(refused)
workbook.what_if(call_log(), mode="write")
assert "pyarrow" not in sys.modules
"""


def without_pyarrow(*paths: Path) -> list[str]:
    """What is said of each file where pyarrow is not installed."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_PYARROW, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_only_a_parquet_file_needs_the_extra(tmp_path: Path) -> None:
    """Issue 11, lighter: without pyarrow a Parquet file is refused with the remedy, and everything else is read."""
    for name, write in WRITERS.items():
        write(tmp_path / name)
    others = sorted(tmp_path.glob("*[!t]"))
    assert len(others) == len(WRITERS) - 1

    refused, *read = without_pyarrow(tmp_path / "calls.parquet", *others)

    assert refused == (
        "calls.parquet: it is a Parquet file, and pyarrow, which reads those, is not installed. "
        "Run  pip install 'cedar-workbook[parquet]'  or save the log as .csv or .jsonl."
    )
    assert read == [
        str([[*map(str, row)] for row in call_log(path).astype(object).to_numpy().tolist()]) for path in others
    ]


def test_a_bad_cell_is_found_far_into_a_file(tmp_path: Path) -> None:
    """Files are read in pieces; rows are counted over all of them."""
    path = tmp_path / "long.jsonl"
    good = '{"tool":"read","tier":"read","args":{"path":"' + "x" * 200 + '"}}\n'
    path.write_text(good * 30_000 + '{"tool":"read","tier":"raed"}\n' + good)

    with pytest.raises(BadCallLog) as caught:
        call_log(path)

    assert (caught.value.row, caught.value.column) == (30_001, "tier")


@pytest.mark.parametrize(
    ("calls", "says"),
    [
        ([3], 'calls: row 1: a call is of type int. Write {"tool": "bash", "tier": "exec"}.'),
        (
            [{"tool": "a", "tier": "read"}, {"tool": 3, "tier": "read"}],
            "calls: row 2, column tool: the cell is of type int. Write text, or leave the cell empty.",
        ),
        (
            [{"tool": "a", "declaration": print}],
            "calls: row 1, column declaration: the cell is of type builtin_function_or_method. "
            "Write a tier, a decision as a mapping or as JSON, or leave the cell empty.",
        ),
        (
            [{"tool": "a", "tier": "read"}, {"tool": "a", "teir": "read"}],
            "calls: row 2: there is a column 'teir'. Call it 'tier', or something that cannot be taken for that.",
        ),
        (
            [{"tool": None, "tier": "read"}],
            "calls: row 1, column tool: the cell is empty. Every call names its tool.",
        ),
    ],
)
def test_bad_calls_in_memory_are_refused_alike(calls: Any, says: str) -> None:
    """As in files; a function is not called, whatever it would say."""
    with pytest.raises(BadCallLog) as caught:
        as_log(calls)

    assert str(caught.value) == says


def test_a_category_that_no_call_has_does_no_harm() -> None:
    """A part of a table keeps the categories of the whole."""
    whole = pd.DataFrame({"tool": ["a", "b"], "tier": pd.Categorical(["read", "Read"])})

    assert rows(as_log(whole[:1])) == [{"tool": "a", "declaration": "read"}]


def test_a_cell_may_be_as_long_as_a_file(tmp_path: Path) -> None:
    """Arguments hold whole files; the csv module's own limit is neither met nor moved."""
    args = json.dumps({"content": "x" * 200_000})
    (tmp_path / "c.csv").write_text('tool,tier,args\nedit,write,"' + args.replace('"', '""') + '"\n')
    limit = csv.field_size_limit()

    log = call_log(tmp_path / "c.csv")

    assert log["args"].tolist() == [args]
    assert csv.field_size_limit() == limit


def test_a_header_alone_is_a_log_of_no_calls(tmp_path: Path) -> None:
    """Nothing happened; that is no mistake."""
    path = tmp_path / "quiet.csv"
    path.write_text("tool,tier,at\n")

    log = call_log(path)

    assert (len(log), list(log.columns)) == (0, ["tool", "declaration", "at"])
    assert log.caption == "Call log quiet.csv: 0 calls"


@settings(max_examples=40, deadline=None)
@given(
    st.binary(max_size=60) | st.text(max_size=40).map(str.encode), st.sampled_from([".csv", ".jsonl", ".parquet"])
)
def test_whatever_is_in_a_file_the_answer_is_a_log_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str
) -> None:
    """No other error escapes, whatever bytes somebody saved under the name."""
    path = tmp_path_factory.mktemp("any") / f"any{suffix}"
    path.write_bytes(content)

    said = ""
    try:
        said = call_log(path).caption
    except BadCallLog as refused:
        said = str(refused)

    assert path.name in said


@pytest.mark.slow
@pytest.mark.parametrize("name", ["calls.parquet", "calls.jsonl.gz", "calls.csv.gz", "calls.jsonl", "calls.csv"])
def test_a_file_with_a_byte_changed_is_a_log_or_refused(tmp_path: Path, name: str) -> None:
    """A disk, or a hasty edit: one byte is another one. The program goes on, and no error but ours is seen."""
    WRITERS[name](tmp_path / name)
    good = (tmp_path / name).read_bytes()

    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, len(good) - 1), st.integers(1, 255), st.booleans())
    def survives(place: int, change: int, cut: bool) -> None:
        changed = good[:place] + (b"" if cut else bytes([good[place] ^ change]) + good[place + 1 :])
        (tmp_path / name).write_bytes(changed)
        said = ""
        try:
            said = call_log(tmp_path / name).caption
        except BadCallLog as refused:
            said = str(refused)

        assert name in said

    survives()


# ------------------------------------------------------------------------------------------- the day that ships


def test_the_day_at_the_library_is_what_its_maker_makes() -> None:
    """The file is made, not edited; its bytes may vary with the compressor, its text may not."""
    assert gzip.decompress(call_log_kit.LOG.read_bytes()).decode() == call_log_kit.text()
    assert call_log_kit.LOG.stat().st_size < 60_000


def test_the_day_at_the_library_comes_with_the_workbook() -> None:
    """`wb.call_log()` needs no path."""
    log = workbook.call_log()

    assert log.caption == "A day at the Cedar Seed Library: 1,500 calls"
    assert list(log.columns) == ["at", "tool", "declaration", "args", "legacyName"]
    assert log["tool"].nunique() == 10
    assert log._repr_html_().count("<tr>") == 11  # a header, and ten rows
    assert "… and 1,490 more rows" in repr(log)


# ----------------------------------------------------------------------------------------------- the progress bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("learner", "stream", "shows"),
    [(Learner.LIVE, Terminal, True), (Learner.LIVE, io.StringIO, False), (Learner.SCRIPTED, Terminal, False)],
    ids=["a person at a terminal", "a file", "the scripted learner"],
)
def test_a_bar_is_for_a_person_who_waits(
    monkeypatch: pytest.MonkeyPatch, learner: Learner, stream: type[io.StringIO], shows: bool
) -> None:
    """On stderr, and only where somebody looks; what the scripted learner shows depends on no machine's speed."""
    monkeypatch.setenv(VARIABLE, learner)
    monkeypatch.setattr(progress_bar, "SECONDS_BEFORE", 0)
    monkeypatch.setattr("sys.stderr", stream())

    with progress_bar.progress("Reading", 10, "calls") as advance:
        advance(5)
        import sys

        written = sys.stderr.getvalue()  # type: ignore[attr-defined]

    assert ("Reading" in written) is shows


def test_short_work_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    """It appears after a second; what takes less leaves no trace."""
    monkeypatch.setenv(VARIABLE, Learner.LIVE)
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)

    with progress_bar.progress("Reading", 10, "calls") as advance:
        advance(10)

    assert stream.getvalue() == ""
