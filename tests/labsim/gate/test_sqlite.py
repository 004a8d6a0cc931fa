"""Durable rules in a file: kept over a restart, a kill and a crowd, and refused when damaged (gate/R1 to gate/R7,
gate/R18).
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_kit import World, rule, use
from hypothesis import given, settings
from hypothesis import strategies as st

from labsim.gate.approvers import AllowAll
from labsim.gate.base.errors import NotDurable, ProjectIdRequired, RuleStoreFailed
from labsim.gate.rules.rules import RememberedRule, RuleAddress, RuleContext, RuleKey, RuleScope
from labsim.gate.rules.sqlite_store import SqliteRuleStore
from labsim.gate.rules.store import MemoryRuleStore, RuleStore

PROCESS, SESSION, PROJECT, GLOBAL = RuleScope
CONTEXT = RuleContext("a", "p")
DENY_FILES = rule("files", False, reason="no writes — é")

WRITER = """
import sys
from labsim.gate.rules.rules import RememberedRule, RuleContext, RuleKey, RuleScope
from labsim.gate.rules.sqlite_store import SqliteRuleStore

store = SqliteRuleStore(sys.argv[1])
for number in range(int(sys.argv[2]), int(sys.argv[3])):
    rule = RememberedRule(key=RuleKey(f"tool-{number:04}"), allow=True, scope=RuleScope.GLOBAL, reason="x" * 2_000)
    store.upsert(RuleContext("writer"), rule)
    print(number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rules.sqlite"


def stored(path: Path) -> SqliteRuleStore:
    """A file with three rules in it."""
    store = SqliteRuleStore(path)
    for found in (DENY_FILES, rule("files", True, SESSION), rule("publish", True, PROJECT, "*mac*")):
        store.upsert(CONTEXT, found)
    return store


def test_rules_are_there_after_a_restart(path: Path):
    """gate/R2: reasons included, in the order of gate/R19."""
    stored(path)

    assert SqliteRuleStore(path).load(CONTEXT) == (
        rule("files", True, SESSION),
        rule("publish", True, PROJECT, "*mac*"),
        DENY_FILES,
    )


def test_one_file_is_left_at_rest(path: Path):
    """gate/R2: no journal and no half-made file beside it."""
    stored(path)

    assert [entry.name for entry in path.parent.iterdir()] == ["rules.sqlite"]


def test_a_file_can_be_looked_into_as_a_whole(path: Path):
    """gate/R19, gate/R21: the rules of every agent and project, each namespace as listed."""
    store = stored(path)
    store.upsert(RuleContext("b", "q"), rule("look", False, PROJECT))

    assert store.by_namespace() == {
        "": (DENY_FILES,),
        "a": (rule("files", True, SESSION),),
        "p": (rule("publish", True, PROJECT, "*mac*"),),
        "q": (rule("look", False, PROJECT),),
    }


def test_a_file_is_called_in_its_errors_what_its_owner_calls_it(path: Path):
    """gate/R18: a model reads the failure's text, and has no business with the folders of a machine."""
    stored(path)
    damage(path, "UPDATE rules SET allow = 1")

    with pytest.raises(RuleStoreFailed) as failed:
        SqliteRuleStore(path, name="the rules of cedar")
    assert str(failed.value) == (
        "the remembered rules in the rules of cedar cannot be used (its rules are not those that were written); "
        "restore the file from a copy, or move it away to start without rules"
    )


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "revoke", "clear", "load"]),
        st.sampled_from(["a", "b"]),
        st.sampled_from([None, "", "p"]),
        st.sampled_from(RuleScope),
        st.sampled_from(["files", "publish"]),
        st.sampled_from([None, "*", "*é*"]),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(operations=OPERATIONS)
def test_the_file_behaves_as_the_store_in_memory(
    operations: list[tuple[str, str, str | None, RuleScope, str, str | None, bool]],
):
    """gate/R4, gate/R6, gate/R15, gate/R19, gate/R20: the same answers and the same refusals, whatever is asked in
    whatever order.
    """

    def outcome(store: RuleStore, number: int) -> object:
        kind, agent, project, scope, tool, pattern, allow = operations[number]
        context, found = RuleContext(agent, project), rule(tool, allow, scope, pattern)
        try:
            if kind == "upsert":
                return store.upsert(context, found)
            if kind == "revoke":
                return store.revoke(context, found.address)
            return store.clear(context, scope) if kind == "clear" else store.load(context)
        except (ProjectIdRequired, NotDurable) as error:
            return type(error)

    with tempfile.TemporaryDirectory() as folder:
        stores = (SqliteRuleStore(Path(folder) / "rules"), MemoryRuleStore())
        for number in range(len(operations)):
            outcomes = [outcome(store, number) for store in stores]
            assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("allow", [True, False])
def test_a_rule_at_the_same_address_is_overwritten_in_the_file(path: Path, allow: bool):
    """gate/R15: the last answer is the one that is kept, be it the milder."""
    store = SqliteRuleStore(path)
    store.upsert(CONTEXT, rule("files", not allow))
    store.upsert(CONTEXT, rule("files", allow))

    assert store.load(CONTEXT) == (rule("files", allow),)


def test_two_openings_of_one_file_see_each_other_at_once(path: Path):
    """gate/R7: nothing is cached between operations."""
    one, other = SqliteRuleStore(path), SqliteRuleStore(path)
    one.upsert(CONTEXT, DENY_FILES)
    assert other.load(CONTEXT) == (DENY_FILES,)

    other.revoke(CONTEXT, DENY_FILES.address)
    assert one.load(CONTEXT) == ()


# ----------------------------------------------------------------------------------------------------- older files


def old_file(path: Path, columns: str, rows: list[tuple[object, ...]]) -> None:
    """A file as an older version left it: no seal, and only these columns."""
    database = sqlite3.connect(path)
    database.execute(f"CREATE TABLE rules ({columns})")
    for row in rows:
        database.execute(f"INSERT INTO rules VALUES ({', '.join('?' * len(row))})", row)
    database.commit()
    database.close()


def test_data_without_a_column_for_reasons_loads_and_gains_one(path: Path):
    """The reason is absent, and the first change adds the column and the seal."""
    old_file(path, "scope, namespace, tool, pattern, allow", [("global", "", "files", None, 0)])
    store = SqliteRuleStore(path)
    assert store.load(CONTEXT) == (rule("files", False),)

    store.upsert(CONTEXT, rule("publish", False, reason="no"))

    assert SqliteRuleStore(path).load(CONTEXT) == (rule("files", False), rule("publish", False, reason="no"))


def test_several_rows_at_one_address_load_as_the_safest_and_go_together(path: Path):
    """gate/R21: a deny, then one with a reason, then the smallest reason."""
    rows: list[tuple[object, ...]] = [
        ("global", "", "files", None, allow, reason) for allow, reason in ((1, "a"), (0, None), (0, "z"), (0, "b"))
    ]
    old_file(path, "scope, namespace, tool, pattern, allow, reason", rows)
    store = SqliteRuleStore(path)
    assert store.load(CONTEXT) == (rule("files", False, reason="b"),)

    assert store.revoke(CONTEXT, RuleAddress(GLOBAL, RuleKey("files")))
    assert store.load(CONTEXT) == ()


# ---------------------------------------------------------------------------------------------------- fail closed


def damage(path: Path, how: str) -> None:
    """Spoil the file in one way."""
    if how == "garbage":
        path.write_bytes(b"these are not the rules you are looking for" * 50)
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "truncated":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif how == "gone":
        path.unlink()
    elif how == "a folder":
        path.unlink()
        path.mkdir()
    else:
        database = sqlite3.connect(path)
        database.execute(how)
        database.commit()
        database.close()


DAMAGES = {
    "garbage": "garbage",
    "empty": "empty",
    "truncated": "truncated",
    "gone": "gone",
    "a folder": "a folder",
    "a deny turned into an allow": "UPDATE rules SET allow = 1",
    "a lost row": "DELETE FROM rules WHERE tool = 'files' AND scope = 'global'",
    "a row too many": "INSERT INTO rules VALUES ('global', '', 'files', '*', 1, NULL)",
    "an unknown scope": "UPDATE rules SET scope = 'planet'",
    "an allow that is neither": "UPDATE rules SET allow = 2",
    "a name that is no text": "UPDATE rules SET tool = x'00ff'",
    "no seal": "DROP TABLE seal",
    "an empty seal": "DELETE FROM seal",
    "a seal too many": "INSERT INTO seal SELECT digest FROM seal",
    "no rules": "DROP TABLE rules",
    "a version of tomorrow": "PRAGMA user_version = 2",
    "a version of yesterday": "PRAGMA user_version = 0",
}


@pytest.mark.parametrize("how", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_an_error_that_names_the_file_and_what_would_do(path: Path, how: str):
    """gate/R18: for reading and for changing alike; it is never read as fewer rules."""
    store = stored(path)
    damage(path, how)

    for attempt in (
        lambda: store.load(CONTEXT),
        lambda: store.upsert(CONTEXT, rule("files", True)),
        lambda: store.revoke(CONTEXT, DENY_FILES.address),
        lambda: store.clear(CONTEXT, GLOBAL),
    ):
        with pytest.raises(
            RuleStoreFailed, match=r"the remembered rules in .*rules\.sqlite cannot be used \(.+\); restore"
        ):
            attempt()


@pytest.mark.parametrize("how", [how for name, how in DAMAGES.items() if name != "gone"])
def test_a_damaged_file_cannot_be_opened_anew_either(path: Path, how: str):
    """gate/R18: a restart does not make it good. (A file that is gone starts a new store: that is what its owner
    does.)
    """
    stored(path)
    damage(path, how)

    with pytest.raises(RuleStoreFailed):
        SqliteRuleStore(path)


def test_a_damaged_file_denies_the_call_and_asks_nobody(path: Path):
    """gate/R18: a lost deny would be a silent yes."""
    store = stored(path)
    world = World(store=store)
    damage(path, "UPDATE rules SET allow = 1")

    read = world.play(world.runtime.attach("b"), [use("files")], [use("look", call_id="c2")], approver=AllowAll())

    assert read[0].startswith("Tool execution denied: the remembered rules in ")
    assert (world.requested, world.decided) == ([], [(False, "error"), (True, "gate")])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(where=st.floats(0, 1, exclude_max=True), bits=st.integers(1, 255))
def test_no_single_byte_can_turn_a_refusal_into_a_yes(where: float, bits: int):
    """gate/R18: wherever the file is damaged, it says what it said before, or it refuses to say anything."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.sqlite"
        store = stored(path)
        told = store.load(CONTEXT)
        data = bytearray(path.read_bytes())
        data[int(where * len(data))] ^= bits
        path.write_bytes(bytes(data))

        try:
            found: object = store.load(CONTEXT)
        except RuleStoreFailed:
            return
        assert found == told


def test_a_file_that_cannot_be_written_can_still_be_read(path: Path):
    """gate/F4: the failure is the change's, and what was remembered goes on answering."""
    store = stored(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert len(store.load(CONTEXT)) == 3
        impatient = SqliteRuleStore(path, busy_ms=1)
        with pytest.raises(RuleStoreFailed, match="database is locked"):
            impatient.upsert(CONTEXT, rule("files", True))
    finally:
        other.close()
    assert len(store.load(CONTEXT)) == 3


def test_text_that_no_file_can_hold_is_refused(path: Path):
    """gate/R18: half a surrogate pair; nothing is written."""
    store = stored(path)

    with pytest.raises(RuleStoreFailed):
        store.upsert(CONTEXT, rule("\ud800", True))
    assert len(store.load(CONTEXT)) == 3


# ------------------------------------------------------------------------------------------------- kills and crowds


def writer(path: Path, first: int, last: int) -> subprocess.Popen[str]:
    """Another process that writes rules first…last-1, and says each number once it is written."""
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(first), str(last)], stdout=subprocess.PIPE, text=True
    )


def lines(child: subprocess.Popen[str]) -> Iterator[int]:
    assert child.stdout is not None
    for line in child.stdout:
        yield int(line)


@pytest.mark.slow
@pytest.mark.parametrize("acknowledged", [1, 2, 5, 9, 14])
def test_a_writer_that_is_killed_leaves_what_it_acknowledged(path: Path, acknowledged: int):
    """gate/R2, crash safety: every change that was reported is there, none is there by half, and the file is
    usable.
    """
    SqliteRuleStore(path)
    with writer(path, 0, 10_000) as child:
        for number in lines(child):
            if number + 1 == acknowledged:
                os.kill(child.pid, signal.SIGKILL)
                break
        later = list(lines(child))
        child.wait()

    store = SqliteRuleStore(path)
    names = [found.key.tool_name for found in store.load(RuleContext("x"))]
    reported = acknowledged + len(later)
    assert names == [f"tool-{number:04}" for number in range(len(names))]
    assert reported <= len(names) <= reported + 1
    store.upsert(RuleContext("x"), rule("after", True))
    assert len(store.load(RuleContext("x"))) == len(names) + 1


@pytest.mark.slow
def test_readers_see_whole_changes_while_another_process_writes(path: Path):
    """gate/R7: each reading is one change's worth of rules, never fewer than the one before."""
    store = SqliteRuleStore(path)
    seen: dict[int, list[int]] = {}
    over = threading.Event()

    def read(number: int) -> None:
        counts = seen.setdefault(number, [])
        while not over.is_set():
            names = [found.key.tool_name for found in store.load(RuleContext("x"))]
            assert names == [f"tool-{n:04}" for n in range(len(names))]
            counts.append(len(names))

    readers = [threading.Thread(target=read, args=(number,)) for number in range(3)]
    with writer(path, 0, 40) as child:
        for reader in readers:
            reader.start()
        assert list(lines(child)) == list(range(40))
        child.wait()
    over.set()
    for reader in readers:
        reader.join()

    assert len(store.load(RuleContext("x"))) == 40
    assert all(counts == sorted(counts) and counts for counts in seen.values())


def test_several_processes_write_into_one_file(path: Path):
    """gate/R7, crash safety: nothing is lost, and the one that creates the file does not spoil it for the other."""
    children = [writer(path, first, first + 15) for first in (0, 15)]
    for child in children:
        with child:
            assert len(list(lines(child))) == 15

    names = {found.key.tool_name for found in SqliteRuleStore(path).load(RuleContext("x"))}
    assert names == {f"tool-{number:04}" for number in range(30)}


def test_a_store_is_handed_its_path_as_text_too(path: Path):
    """A caller's choice, even with a name that SQLite would read otherwise."""
    odd = path.with_name("rules?mode=ro#é.sqlite")
    store = SqliteRuleStore(str(odd))
    found: RememberedRule = rule("files", True)
    store.upsert(CONTEXT, found)

    assert (odd.exists(), store.load(CONTEXT)) == (True, (found,))


def test_a_folder_that_is_not_there_is_an_error(path: Path):
    """gate/R18: the store makes a file, and no folders."""
    with pytest.raises(RuleStoreFailed, match="unable to open database file"):
        SqliteRuleStore(path.parent / "missing" / "rules.sqlite")
