"""review-t01 to review-t20 once more, with a real process at the other end: the same ledgers, event for event
(cases review-t01 to review-t20).

A step of a case is a command of the process, in the same words; what a client does by itself (answer, go away,
start the process anew) is done here. What time it was is left out: the process has a real one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET, to_builtins
from msgspec.structs import replace
from places import TOP
from review_kit import plain

from labsim.case.model import ReviewCase
from labsim.case.review import DisconnectStep, KeysStep, ReplyStep, RestartStep, Step, WaitStep
from labsim.client.client import Client
from labsim.client.errors import NotAnswered
from labsim.play.performance import run
from labsim.reading.reading import parse_file
from labsim.review.branch.entries import to_line
from labsim.rpc.frames import DialogRequest
from labsim.server.commands import COMMANDS, Beside
from labsim.server.session_file import SessionFiles

FILE = TOP / "fixtures" / "review-desk.json"
CASES = [case for case in parse_file(FILE.read_bytes(), FILE.name).cases if isinstance(case, ReviewCase)]


def has(case: ReviewCase, *kinds: type[Step]) -> bool:
    return any(isinstance(step, kinds) for step in case.given.steps)


#: A panel is a terminal's, and in print and JSON mode there is no client. All others can be played over a pipe.
ELSEWHERE = [case for case in CASES if case.given.host_mode in ("print", "json") or has(case, KeysStep)]
OVER_A_PIPE = [case for case in CASES if case not in ELSEWHERE]


class Player:
    """Plays the steps of one case against processes, one after another where the case restarts."""

    def __init__(self, case: ReviewCase, folder: Path) -> None:
        self.case = case
        self.folder = folder
        self.files = SessionFiles(folder / "sessions")
        self.client: Client | None = None
        self.dialogs: list[DialogRequest] = []  # of all processes, in order: the first is q-1
        self.before = 0  # how many of them an earlier process asked
        self.calls = 0
        self.events: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}
        self.processes = 0

    def play(self) -> None:
        steps = list(self.case.given.steps)
        self._start()
        while steps:
            step = steps.pop(0)
            if isinstance(step, RestartStep):
                self._restart(torn=step.torn)
            elif steps and isinstance(steps[0], DisconnectStep):
                self._disconnect(step, steps[1:])
                return
            else:
                self._take(step)
                self._settle()
        self.events.extend(self._numbered(self._client.ledger()))
        self._client.close()

    @property
    def _client(self) -> Client:
        assert self.client is not None
        return self.client

    def _start(self, *more: str) -> None:
        given = self.case.given
        note = self.folder / "note.txt"
        if isinstance(given.note, str):
            note.write_bytes(given.note.encode())
        named = [] if given.note is UNSET else ["--note", str(note)]
        self.processes += 1
        ledger = self.folder / f"ledger-{self.processes}.jsonl"
        self.client = Client(
            "--approval-mode",
            given.mode.value,
            "--sessions",
            str(self.folder / "sessions"),
            "--ledger",
            str(ledger),
            *named,
            *more,
        )
        self.before = len(self.dialogs)
        self._settle()

    def _take(self, step: Step) -> None:
        """Take one step, without waiting for what it comes to."""
        if isinstance(step, ReplyStep):
            self._reply(step)
        elif not isinstance(step, WaitStep):  # time passes here by itself, and no dialog of the desk runs out of it
            self._send(step)

    def _send(self, step: Step, **more: Any) -> None:
        given = to_builtins(step)
        word = given.pop("do")
        if word == "call":
            self.calls += 1
            given["toolCallId"] = f"call-{self.calls}"
        self._client.send(word, **given, **more)

    def _reply(self, step: ReplyStep) -> None:
        if step.to is UNSET:
            (dialog,) = self._client.dialogs
        else:
            dialog = self.dialogs[int(step.to.removeprefix("q-")) - 1]
            assert (dialog in self._client.dialogs) is not step.late
        self._client.answer(dialog, step.value)

    def _settle(self) -> None:
        """Wait until the process has done all it can: it answers in the order in which it was asked."""
        self.state = self._client.call("get_state")
        with suppress(NotAnswered):  # every dialog so far has come before that answer
            while True:
                self.dialogs.append(self._client.next_dialog(0))

    def _restart(self, *, torn: bool) -> None:
        """Shut the process down, and have another one open what is stored."""
        current = self.state["sessionId"]
        self._client.call("shutdown")
        assert self._client.wait_closed() == 0
        self._client.close()
        self.events.extend(self._numbered(self._written()))
        stored = self.files.read(current).entries
        if torn and stored:
            line = to_line(stored[-1])
            with self.files.path(current).open("ab") as file:
                file.write(line[: len(line) // 2])
        self._start("--resume", current)

    def _disconnect(self, step: Step, rest: list[Step]) -> None:
        """Go away in the middle of a step. What comes after it has been sent before, and waits behind it."""
        assert issubclass(COMMANDS[to_builtins(step)["do"]], Beside)
        self._send(step, queued=True)
        for later in rest:
            self._send(later, queued=True)
        self._client.next_dialog()
        self._client.close_stdin()
        assert self._client.wait_closed() == 0
        self._client.close()
        self.events.extend(self._numbered(self._written()))
        # A case ends with its last step; a process that is left alone also ends its session.
        assert self.events[-1]["event"] == "step_taken"
        assert self.events.pop()["rule"] == "review/S15"

    def _written(self) -> list[dict[str, Any]]:
        path = self.folder / f"ledger-{self.processes}.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def _numbered(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The events without their times, questions numbered on from the process before; frames have no ids."""
        told = []
        for event in events:
            mapping = {key: value for key, value in event.items() if key != "atMs"}
            if "questionId" in mapping:
                number = int(mapping["questionId"].removeprefix("q-")) + self.before
                mapping["questionId"] = f"q-{number}"
            told.append(mapping)
        return told


@contextmanager
def played(case: ReviewCase, folder: Path) -> Iterator[Player]:
    """A case, played; whatever happens, no process is left."""
    player = Player(case, folder)
    try:
        player.play()
        yield player
    finally:
        if player.client is not None:
            player.client.close()


def without_frame_ids(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For a case that restarts: a new process numbers its frames anew."""

    def cut(event: dict[str, Any]) -> dict[str, Any]:
        if isinstance(event.get("frame"), dict):
            event = {**event, "frame": {k: v for k, v in event["frame"].items() if k not in ("id", "targetId")}}
        return {key: value for key, value in event.items() if key != "dialogId"}

    return [cut(event) for event in events]


@pytest.mark.slow
@pytest.mark.parametrize("case", OVER_A_PIPE, ids=lambda case: case.id)
def test_a_real_process_keeps_the_same_ledger_as_the_scripted_client(case: ReviewCase, tmp_path: Path) -> None:
    """review-t01 to review-t20: every event of the desk, the gate and the wire, in order; and the note that the
    case claims.
    """
    given = replace(case.given, host_mode="rpc")
    report = run(replace(case, given=given))
    scripted = json.loads(json.dumps(plain(report.ledger)))
    with played(case, tmp_path) as player:
        real = player.events
        state = player.state
    if has(case, RestartStep):
        scripted, real = without_frame_ids(scripted), without_frame_ids(real)

    assert real == scripted
    if not has(case, DisconnectStep):
        claimed = to_builtins(case.expected)
        fields = ("text", "status", "revision", "authorized", "busy")
        assert {name: state.get(name, UNSET) for name in fields if name in claimed} == {
            name: claimed[name] for name in fields if name in claimed
        }


def test_every_scenario_that_applies_is_played_over_a_pipe() -> None:
    """cases review-t01 to review-t20: all but review-t14 (no client) and review-t16 (the panel's keys)."""
    numbers = {int(found[1]) for case in OVER_A_PIPE if (found := re.match(r"review-t(\d\d)-", case.id))}

    assert numbers == set(range(1, 21)) - {14, 16}
