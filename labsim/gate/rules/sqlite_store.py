"""Durable rules in an SQLite file that the caller names. Nothing here opens a file by itself, and no case opens
one.

Crash-safe: each change is one transaction with a rollback journal, so a writer that is killed leaves the file as
it was or as it should be. Concurrent: each operation opens the file for itself, so threads and processes read
side by side, and see each other's changes at their next call (gate/R7); only the moment of a commit is exclusive.

Fail closed: what cannot be read is an error and never fewer rules, since a lost deny would be a silent yes
(gate/R18). SQLite notices most damage by itself. The rest, a flipped bit in a text or a row that fell off a page,
is noticed by the *seal*: a digest of all rows that is written with every change and checked with every reading.
Files of older versions have no seal, no column for reasons, and perhaps several rows at one address; they are read
as they are (gate/R21) and sealed by the first change.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from labsim.gate.base.errors import RuleStoreFailed
from labsim.gate.rules.rules import (
    DURABLE_SCOPES,
    RememberedRule,
    RuleAddress,
    RuleContext,
    RuleKey,
    RuleScope,
    deduplicated,
    listed,
)

_VERSION: Final = 1
_CREATE: Final = (
    "CREATE TABLE rules (scope TEXT NOT NULL, namespace TEXT NOT NULL, tool TEXT NOT NULL, pattern TEXT, "
    "allow INTEGER NOT NULL, reason TEXT)"
)
_SEAL: Final = "CREATE TABLE seal (digest TEXT NOT NULL)"
_COLUMNS: Final = ("scope", "namespace", "tool", "pattern", "allow", "reason")


class SqliteRuleStore:
    """Rules in one file. Made at once where there is none; a file that vanishes later is an error, not an empty
    store. `busy_ms` is how long SQLite itself waits for another's commit before it gives up. `name` is what the
    file is called in errors, which a model may read; its path, unless told otherwise.

    Every method raises RuleStoreFailed, with the file and what would do, where the file cannot be read or written.
    """

    def __init__(self, path: Path | str, *, busy_ms: int = 5_000, name: str = "") -> None:
        self.path = Path(path)
        self._name = name or str(self.path)
        self._busy_ms = busy_ms
        try:
            if not self.path.exists():
                self._make()
        except OSError as error:
            raise self._failed(str(error)) from error
        with self._read() as database:
            self._rows(database)

    def load(self, context: RuleContext) -> tuple[RememberedRule, ...]:
        spaces = {(scope.value, context.namespace(scope)) for scope in context.durable_scopes()}
        with self._read() as database:
            rows = self._rows(database)
        return listed(deduplicated(_rule(row) for row in rows if (row[0], row[1]) in spaces))

    def by_namespace(self) -> dict[str, tuple[RememberedRule, ...]]:
        """Every rule of the file, whoever it applies to: for somebody who looks into it. Each as listed
        (gate/R19).
        """
        with self._read() as database:
            rows = self._rows(database)
        return {
            space: listed(deduplicated(_rule(row) for row in rows if row[1] == space))
            for space in sorted({row[1] for row in rows})
        }

    def upsert(self, context: RuleContext, rule: RememberedRule) -> None:
        space = context.namespace(rule.scope)
        with self._changed() as database:
            _delete(database, rule.scope, space, rule.key)  # gate/R15
            database.execute(
                "INSERT INTO rules (scope, namespace, tool, pattern, allow, reason) VALUES (?, ?, ?, ?, ?, ?)",
                (rule.scope.value, space, rule.key.tool_name, rule.key.pattern, int(rule.allow), rule.reason),
            )

    def revoke(self, context: RuleContext, address: RuleAddress) -> bool:
        space = context.namespace(address.scope)
        with self._changed() as database:
            return _delete(database, address.scope, space, address.key) > 0

    def clear(self, context: RuleContext, scope: RuleScope) -> int:
        space = context.namespace(scope)
        with self._changed() as database:
            addresses = database.execute(
                "SELECT DISTINCT tool, pattern FROM rules WHERE scope = ? AND namespace = ?", (scope.value, space)
            ).fetchall()
            database.execute("DELETE FROM rules WHERE scope = ? AND namespace = ?", (scope.value, space))
        return len(addresses)

    def _make(self) -> None:
        """Put an empty store at the path, complete from the moment it is there, unless another process was
        quicker.
        """
        made = self.path.with_name(f"{self.path.name}.{os.getpid()}-{threading.get_ident()}.new")
        try:
            with self._opened(made, mode="rwc") as database, _transaction(database):
                database.execute(_CREATE)
                _seal(database)
            with suppress(FileExistsError):
                os.link(made, self.path)
        finally:
            made.unlink(missing_ok=True)

    @contextmanager
    def _opened(self, path: Path | None = None, mode: str = "rw") -> Iterator[sqlite3.Connection]:
        """A connection of its own, in `mode`. Raises: RuleStoreFailed, for whatever SQLite says within."""
        try:
            connection = sqlite3.connect(
                f"{(path or self.path).absolute().as_uri()}?mode={mode}",
                uri=True,
                isolation_level=None,
                timeout=self._busy_ms / 1000,
            )
            with closing(connection):
                connection.execute("PRAGMA synchronous = FULL")
                yield connection
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise self._failed(str(error)) from error

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        """One snapshot: what is read within was written by the same change."""
        with self._opened() as database, _transaction(database, kind="DEFERRED"):
            yield database

    @contextmanager
    def _changed(self) -> Iterator[sqlite3.Connection]:
        """A change as a whole: checked before, sealed after, or not made at all."""
        with self._opened() as database, _transaction(database):
            self._rows(database)
            if "reason" not in _columns(database):
                database.execute("ALTER TABLE rules ADD COLUMN reason TEXT")
            yield database
            _seal(database)

    def _rows(self, database: sqlite3.Connection) -> Sequence[tuple[Any, ...]]:
        """Every row, in the order of `_COLUMNS`. Raises: RuleStoreFailed, for a row that cannot be what was
        written; none is left out (gate/R18).
        """
        version = database.execute("PRAGMA user_version").fetchone()[0]
        tables = _tables(database)
        if "rules" not in tables or version not in (0, _VERSION) or (version == 0) != ("seal" not in tables):
            raise self._failed("it holds no rules of this program")
        rows = _all(database)
        for row in rows:
            if not _plausible(row):
                raise self._failed(f"the row {row!r} is no rule")
        if version and database.execute("SELECT digest FROM seal").fetchall() != [(_digest(rows),)]:
            raise self._failed("its rules are not those that were written")
        return rows

    def _failed(self, why: str) -> RuleStoreFailed:
        return RuleStoreFailed(
            f"the remembered rules in {self._name} cannot be used ({why}); "
            "restore the file from a copy, or move it away to start without rules"
        )


@contextmanager
def _transaction(database: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """All or nothing. An immediate one takes the write lock at once, so what it reads is what it will change."""
    database.execute(f"BEGIN {kind}")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _delete(database: sqlite3.Connection, scope: RuleScope, space: str, key: RuleKey) -> int:
    """Remove all rows at one address, duplicates included (gate/R21)."""
    return database.execute(
        "DELETE FROM rules WHERE scope = ? AND namespace = ? AND tool = ? AND pattern IS ?",
        (scope.value, space, key.tool_name, key.pattern),
    ).rowcount


def _seal(database: sqlite3.Connection) -> None:
    if "seal" not in _tables(database):
        database.execute(_SEAL)
        database.execute(f"PRAGMA user_version = {_VERSION}")
    database.execute("DELETE FROM seal")
    database.execute("INSERT INTO seal (digest) VALUES (?)", (_digest(_all(database)),))


def _all(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
    reason = "reason" if "reason" in _columns(database) else "NULL"
    return database.execute(f"SELECT scope, namespace, tool, pattern, allow, {reason} FROM rules").fetchall()


def _digest(rows: Sequence[tuple[Any, ...]]) -> str:
    """A digest of all rows, whatever order they lie in."""
    return hashlib.sha256("\n".join(sorted(map(json.dumps, rows))).encode()).hexdigest()


def _tables(database: sqlite3.Connection) -> set[str]:
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _columns(database: sqlite3.Connection) -> set[str]:
    return {row[1] for row in database.execute("PRAGMA table_info(rules)")}


def _plausible(row: tuple[Any, ...]) -> bool:
    scope, space, tool, pattern, allow, reason = row
    return (
        scope in tuple(DURABLE_SCOPES)  # gate/R6
        and isinstance(space, str)
        and isinstance(tool, str)
        and isinstance(pattern, str | None)
        and allow in (0, 1)
        and isinstance(reason, str | None)
    )


def _rule(row: tuple[Any, ...]) -> RememberedRule:
    scope, _, tool, pattern, allow, reason = row
    return RememberedRule(key=RuleKey(tool, pattern), allow=bool(allow), scope=RuleScope(scope), reason=reason)
