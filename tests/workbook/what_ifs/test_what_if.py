"""What-if over many calls: the same answers as the engine gives one by one, counted, compared, quick and small."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from played_kit import play

import workbook as wb
from labsim.approval import Resolution, resolve
from labsim.bash import bash_tool
from labsim.call.inert import InertExecutor
from labsim.stage.stage import Stage
from labsim.terms import Policy, Rule, Source, Tier
from labsim.tool import Tool
from workbook.tables.bash_rules import BadRule
from workbook.what_ifs import decide
from workbook.what_ifs.bench import figures, made_up
from workbook.what_ifs.changes import NotTheSameCalls
from workbook.what_ifs.columns import BadCallLog
from workbook.what_ifs.what_if import BadSetting, WhatIf

Calls = list[dict[str, Any]]
PATTERNS = [("git status*", "allow"), ("rm *", "deny"), ("npm publish*", "prompt")]

decisions = st.fixed_dictionaries(
    {},
    optional={
        "tier": st.sampled_from(["read", "write", "exec", "Read", 3, None]),
        "policy": st.sampled_from(["allow", "deny", "prompt", " ALLOW ", "never", 1]),
        "override": st.sampled_from([True, False, 1, "true"]),
        "policyKey": st.sampled_from(["key", "bash", "", 0]),
        "reason": st.sampled_from(["because", ""]),
    },
)
calls = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["bash", "read", "edit", "key"]),
        "declaration": st.none() | st.sampled_from(["read", "write", "exec", '"Read"', "[]"]) | decisions,
        "args": st.none()
        | st.sampled_from(["git status", "rm -rf /", "cd a && rm x", "npm publish", "sudo rm x", "ls", "", 3]).map(
            lambda command: {"command": command}
        )
        | st.just({}),
    },
    optional={"legacyName": st.sampled_from(["old", "edit", "bash"])},
)
policies = st.dictionaries(st.sampled_from(["bash", "read", "edit", "key", "old"]), st.sampled_from(Policy))


def one_by_one(call: dict[str, Any], *, mode: str, policies: Any, bash: Any) -> Resolution:
    """What the engine makes of one call, asked for that call alone."""
    args = call.get("args")
    if call["tool"] == "bash" and bash is not None:
        rules = [{"match": match, "approval": word} for match, word in bash]
        tool = bash_tool(InertExecutor(Stage(), "bash"), rules)
        if "legacyName" in call:
            tool = Tool(name="bash", execute=tool.execute, approval=tool.approval, legacy_name=call["legacyName"])
    else:
        said = call["declaration"]
        if isinstance(said, str) and said not in ("read", "write", "exec"):
            said = json.loads(said)
        tool = Tool(
            name=call["tool"],
            execute=InertExecutor(Stage(), "tool"),
            approval=UNSET if said is None else said,
            legacy_name=call.get("legacyName", UNSET),
        )
    return resolve(tool, args, mode=mode, policies=policies)


def rows(asked: WhatIf) -> list[tuple[str, str, str, str]]:
    frame = asked.decisions[["policy", "source", "rule", "tier"]].astype(object)
    return [tuple(row) for row in frame.itertuples(index=False)]


def wanted(found: Resolution) -> tuple[str, str, str, str]:
    return (found.policy.value, found.source.value, found.rule.value, found.tier.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chunk", "table"), [(1 << 16, 1 << 20), (3, 1 << 20), (3, 0)], ids=["", "chunks", "hashed"]
)
def test_every_row_is_what_the_engine_says_of_that_call_alone(
    chunk: int, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: agreement with the one-call engine, in whatever pieces the rows are gone through."""
    monkeypatch.setattr(decide, "CHUNK", chunk)
    monkeypatch.setattr(decide, "_TABLE", table)

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(calls, min_size=1, max_size=12),
        st.sampled_from(["always-ask", "write", "yolo"]),
        policies,
        st.none() | st.lists(st.sampled_from(PATTERNS), max_size=3),
    )
    def agrees(log: Calls, mode: str, policies: Any, bash: Any) -> None:
        asked = wb.what_if(log, mode=mode, policies=policies, bash=bash)

        assert rows(asked) == [wanted(one_by_one(call, mode=mode, policies=policies, bash=bash)) for call in log]

    agrees()


@pytest.mark.slow
def test_a_sample_of_a_long_log_agrees_too() -> None:
    """Two hundred thousand calls, every hundredth asked one by one; the index is the caller's own."""
    log = made_up(200_000)
    log.index = pd.RangeIndex(5, 5 + 2 * len(log), 2)
    said = {"tool_3": "deny", "tool_5": "prompt", "seed_slot": "allow"}

    asked = wb.what_if(log, mode="write", policies=said, bash=PATTERNS)

    sample = asked.decisions.iloc[::100]
    assert sample.index.equals(log.index[::100])
    for place, got in zip(range(0, len(log), 100), sample.itertuples(index=False), strict=True):
        cells = log.iloc[place]
        said_so = None if pd.isna(cells["declaration"]) else cells["declaration"]
        call = {"tool": cells["tool"], "declaration": said_so, "args": json.loads(cells["args"])}
        one = one_by_one(call, mode="write", policies=said, bash=PATTERNS)
        assert (got.policy, got.source, got.rule, got.tier) == wanted(one)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["always-ask", "write", "yolo"])
@pytest.mark.parametrize("user", [None, "allow", "prompt", "deny"])
@pytest.mark.parametrize(
    "declaration",
    ["read", "write", "exec", {"tier": "read", "policy": "prompt"}, {"tier": "read", "override": True}],
)
def test_a_prompt_that_is_counted_is_one_that_the_wrapper_shows(declaration: Any, user: Any, mode: str) -> None:
    """Not only the resolution: the whole call, played with somebody who approves, shows as many prompts."""
    said = {} if user is None else {"seed_note": user}
    report = play("one", approval=declaration, mode=mode, userPolicies=said, choices=["Approve"])

    asked = wb.what_if([{"tool": "seed_note", "declaration": declaration}], mode=mode, policies=said)

    assert asked.prompts == report.observed["prompts"]
    refused = asked.ends["is refused"]
    assert refused == (0 if report.observed["effects"] else 1)


# ------------------------------------------------------------------------------------------------ what is shown

DAY: Calls = [
    {"tool": "read", "declaration": "read"},
    {"tool": "edit", "declaration": "write", "legacyName": "edit_cards"},
    {"tool": "bash", "declaration": "exec", "args": {"command": "git status"}},
    {"tool": "bash", "declaration": "exec", "args": {"command": "rm x"}},
    {"tool": "bash", "declaration": "exec", "args": {"command": "git status"}},
    {"tool": "purge", "declaration": {"tier": "exec", "policy": "deny"}},
]


def test_the_decisions_are_small_and_lie_beside_the_calls() -> None:
    """One row for each call, with its index; words as categories over eight bits, and prompts to add up."""
    log = pd.DataFrame({"tool": ["read", "edit"], "tier": ["read", "write"]}, index=["x", "y"])

    got = wb.what_if(log).decisions

    pd.testing.assert_frame_equal(
        pd.DataFrame(got).astype({name: object for name in got.columns if name != "prompts"}),
        pd.DataFrame(
            {
                "tool": ["read", "edit"],
                "declaration": ["read", "write"],
                "policy": ["allow", "prompt"],
                "source": ["mode", "mode"],
                "rule": ["approval/R8", "approval/R9"],
                "tier": ["read", "write"],
                "prompts": np.array([0, 1], dtype=np.int8),
                "ends": ["runs unasked", "asks a person"],
            },
            index=["x", "y"],
        ),
        check_column_type=False,
        check_dtype=False,
    )
    for name, words in {"policy": Policy, "source": Source, "rule": Rule, "tier": Tier}.items():
        assert list(got[name].cat.categories) == [word.value for word in words]
        assert got[name].cat.codes.dtype == np.int8
    assert got["prompts"].dtype == np.int8
    assert got.caption == "Decisions in mode always-ask"


def test_a_summary_counts_ends_and_names_who_decided() -> None:
    """Shown as text and as HTML: how many calls end how, and which rule decided, most first."""
    asked = wb.what_if(DAY, mode="write", policies={"edit_cards": "Prompt ", "bsah": "deny"})

    assert asked.ends == {"asks a person": 4, "runs unasked": 1, "is refused": 1}
    assert asked.prompts == asked.decisions["prompts"].sum() == 4
    assert asked.name == "mode write, edit_cards: prompt, bsah: deny"
    assert asked.unused == ("bsah",)
    assert [tuple(row) for row in asked.rules.itertuples(index=False)] == [
        ("asks a person", "mode", "approval/R9", 3, "50.0%"),
        ("asks a person", "user", "approval/R7", 1, "16.7%"),
        ("is refused", "tool", "approval/R1", 1, "16.7%"),
        ("runs unasked", "mode", "approval/R8", 1, "16.7%"),
    ]
    assert repr(asked).split("\n\n")[0].replace("\n", " ") == (
        "What if. 6 calls in mode write, edit_cards: prompt, bsah: deny: 4 ask a person; 1 runs unasked; "
        "1 is refused. No call of this log looks at bsah."
    )
    assert "<table" in asked._repr_mimebundle_()["text/html"]


def test_tools_are_listed_by_how_often_they_ask() -> None:
    """Who tires a person most comes first."""
    asked = wb.what_if(DAY, mode="always-ask")

    assert [tuple(row) for row in asked.tools.itertuples(index=False)] == [
        ("bash", 3, 3, 0, 0),
        ("edit", 1, 1, 0, 0),
        ("purge", 1, 0, 0, 1),
        ("read", 1, 0, 1, 0),
    ]
    assert list(asked.tools.columns) == ["tool", "calls", "asks a person", "runs unasked", "is refused"]


def test_calls_of_bash_are_judged_by_their_command_once_there_are_rules() -> None:
    """Each distinct command is classified once; without rules a declaration is left alone (approval/A-43 to
    approval/A-61).
    """
    before, after = wb.what_if(DAY), wb.what_if(DAY, bash=PATTERNS)

    assert [row[0] for row in rows(before)][2:5] == ["prompt", "prompt", "prompt"]
    assert rows(after)[2:5] == [
        ("allow", "tool", "approval/R6", "write"),
        ("deny", "tool", "approval/R1", "exec"),
        ("allow", "tool", "approval/R6", "write"),
    ]
    assert [kind.command for kind in after.kinds.kinds if kind.tool == "bash"] == ["git status", "rm x"]
    assert after.name == "mode always-ask, 3 rules for bash"


def test_what_changes_is_listed_call_by_call_and_counted() -> None:
    """The calls whose policy is another one, with what decided before and after."""
    before, after = wb.what_if(DAY, mode="write"), wb.what_if(DAY, mode="write", bash=PATTERNS)

    changed = before.changed(after)

    assert len(changed) == 3
    assert list(changed.rows.index) == [2, 3, 4]
    assert changed.rows[["tool", "before", "rule before", "after", "rule after"]].astype(
        object
    ).to_numpy().tolist() == [
        ["bash", "prompt", "approval/R9", "allow", "approval/R6"],
        ["bash", "prompt", "approval/R9", "deny", "approval/R1"],
        ["bash", "prompt", "approval/R9", "allow", "approval/R6"],
    ]
    assert changed.kinds.to_dict("records") == [
        {
            "tool": "bash",
            "declaration": "exec",
            "command": "git status",
            "before": "prompt (mode, approval/R9)",
            "after": "allow (tool, approval/R6)",
            "first": "2",
            "calls": 2,
        },
        {
            "tool": "bash",
            "declaration": "exec",
            "command": "rm x",
            "before": "prompt (mode, approval/R9)",
            "after": "deny (tool, approval/R1)",
            "first": "3",
            "calls": 1,
        },
    ]
    assert repr(changed).startswith("3 of 6 calls change from mode write to mode write, 3 rules for bash")
    assert len(after.changed(before)) == 3
    assert len(before.changed(before)) == 0
    assert "command" not in before.changed(wb.what_if(DAY, mode="yolo")).kinds


def test_a_file_is_a_log_like_any_other(tmp_path: Path) -> None:
    """A path, as text or as a path, in place of the calls; other columns come along to what changed."""
    path = tmp_path / "calls.csv"
    path.write_text("at,tool,tier\n08:00,read,read\n09:00,edit,write\n")

    changed = wb.what_if(path).changed(wb.what_if(str(path), mode="write"))

    assert changed.rows.astype(object).to_dict("records") == [
        {
            "at": "09:00",
            "tool": "edit",
            "declaration": "write",
            "before": "prompt",
            "rule before": "approval/R9",
            "after": "allow",
            "rule after": "approval/R8",
        }
    ]


def test_what_ifs_about_different_logs_are_not_compared() -> None:
    """No call of one is a call of the other, even where there are as many."""
    one = wb.what_if(DAY)

    for other in (DAY[:2], [{**call, "tool": "x"} for call in DAY]):
        with pytest.raises(NotTheSameCalls, match="Ask both what-ifs about one log"):
            one.changed(wb.what_if(other))


def test_a_log_without_calls_has_nothing_to_count() -> None:
    """An empty day is a day."""
    asked = wb.what_if([])

    assert (asked.prompts, len(asked.decisions), len(asked.rules)) == (0, 0, 0)
    assert repr(asked).startswith("What if. 0 calls in mode always-ask: 0 ask a person;")
    assert len(asked.changed(asked)) == 0


def test_prompts_are_compared_in_a_plot_whose_words_and_table_say_it_too() -> None:
    """Prompt fatigue: a mode, a mode with policies, with rules, or a what-if, under names of one's own."""
    plot = wb.prompts(
        DAY,
        {
            "ask": "always-ask",
            "$usual$": ("write", {"bash": "allow"}),
            "rules": ("write", None, PATTERNS),
            "made": wb.what_if(DAY, mode="yolo"),
        },
    )

    assert plot.table.columns == ("settings", "asks a person", "runs unasked", "is refused")
    assert plot.table.rows == (
        ("ask", "4", "1", "1"),
        ("$usual$", "0", "5", "1"),
        ("rules", "0", "4", "2"),
        ("made", "0", "5", "1"),
    )
    assert plot.alt == (
        "Bars for 4 settings. Of 6 calls, a person is asked about 4 under “ask”, 0 under “$usual$”, "
        "0 under “rules”, 0 under “made”."
    )
    assert plot.svg.startswith("<svg ")


# ------------------------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"mode": "yollo"},
            "mode: 'yollo' is no mode. Use one of: always-ask, write, yolo. "
            "A host would take it for yolo, and say nothing (approval/A-18).",
        ),
        (
            {"policies": {"bash": "dney"}},
            "policies, bash: 'dney' is no policy. Use one of: allow, deny, prompt. "
            "A host would ignore it, and say nothing (approval/A-11).",
        ),
        (
            {"policies": ["bash"]},
            'policies: policies are of type list. Write a mapping: {"bash": "prompt"}.',
        ),
    ],
)
def test_a_setting_that_a_host_would_pass_over_is_refused(given: Any, says: str) -> None:
    """A slip in a mode opens everything, and one in a policy is dropped: a learner hears of both."""
    with pytest.raises(BadSetting) as caught:
        wb.what_if(DAY, **given)

    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({}, 'settings: there is none. Name one: {"as it is": ("write", {"bash": "prompt"})}.'),
        (
            {"a": ["write"]},
            'settings, a: a setting is of type list. Write a mode, or ("write", {"bash": "prompt"}), '
            "and rules for bash after that.",
        ),
    ],
)
def test_settings_to_compare_are_modes_tuples_or_what_ifs(setting: Any, says: str) -> None:
    """Anything else is named, with what would do."""
    with pytest.raises(BadSetting) as caught:
        wb.prompts(DAY, setting)

    assert str(caught.value) == says


def test_rules_for_bash_need_commands_to_look_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without arguments there is no command; with arguments that are no object, neither; a bad rule is named."""
    monkeypatch.setattr(decide, "CHUNK", 1)
    with pytest.raises(BadCallLog, match="there is no column 'args'"):
        wb.what_if([{"tool": "bash", "tier": "exec"}], bash=PATTERNS)
    with pytest.raises(BadCallLog, match="calls: row 2, column args: the arguments are no JSON object"):
        wb.what_if([{**DAY[0], "args": "[]"}, {**DAY[2], "args": "git status"}], bash=PATTERNS)
    with pytest.raises(BadRule):
        wb.what_if(DAY, bash=[("rm *", "never")])


AUDIT = """
import sys, workbook as wb
log = wb.call_log()
wb.what_if(log.iloc[:1], bash=[("ls", "allow")]).changed(wb.what_if(log.iloc[:1]))
bad = ("subprocess.", "os.", "socket.", "exec", "compile", "open", "shutil.", "ctypes.", "import", "pty.")
seen = []
sys.addaudithook(lambda event, args: seen.append((event, repr(args)[:80])) if event.startswith(bad) else None)
asked = wb.what_if(log, mode="yolo", bash=[("git *", "allow"), ("rm *", "deny")])
changed = asked.changed(wb.what_if(log))
found = list(seen)
open("/dev/null").close()
print(found, len(seen) > len(found), asked.prompts, len(changed))
"""


@pytest.mark.slow
def test_a_log_full_of_commands_runs_none_of_them() -> None:
    """approval/A-50: bash strings are data. Nothing is opened, started or evaluated while a log is decided."""
    ran = subprocess.run([sys.executable, "-c", AUDIT], capture_output=True, text=True, check=True)

    assert ran.stdout.startswith("[] True ")


# ------------------------------------------------------------------------------------------------- speed and memory


@pytest.mark.slow
def test_five_million_calls_a_second_on_one_core() -> None:
    """Issue 6, for sorting the calls into kinds and deciding them together; measured, it is several times that.

    Processor time, so that a machine with other work to do says the same.
    """
    log = made_up(1_000_000)
    setting = decide.Settings(mode=decide.ApprovalMode.WRITE, policies={"tool_3": Policy.DENY})

    seconds = []
    for _ in range(4):
        start = time.process_time()
        decide.decide(decide.kinds_of(log, commands=False), setting)
        seconds.append(time.process_time() - start)

    assert len(log) / min(seconds) > 5_000_000


def test_memory_beyond_the_frame_is_a_few_bytes_a_call() -> None:
    """Four bytes for the kind of a call and four for the answer, and a chunk's worth that does not grow."""
    log = made_up(1_000_000)
    tracemalloc.start()
    try:
        asked = wb.what_if(log, mode="write")
        assert len(asked.decisions) == len(log)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 16 * len(log)


def test_the_bench_says_what_it_measured() -> None:
    """`python -m workbook.what_ifs.bench`: one line for each measure."""
    lines = list(figures(2_000))

    assert [line.split(":")[0].split(",")[0] for line in lines] == [
        "2",
        "sort into 328 kinds",
        "decide",
        "both",
        "with rules for bash",
        "memory beyond the frame",
        "read calls.parquet",
        "read calls.csv",
        "read calls.jsonl",
    ]
