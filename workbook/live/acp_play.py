"""A gate case played with a client in a process of its own, over the Agent Client Protocol.

The case's own approver is left out: its questions go to the client. Nothing waits forever. A client that is silent
for `limit_s` real seconds has let the approver's thirty simulated minutes pass (gate/A22); one that is gone has
refused (gate/A21); one that never says what to do, or never ends, is an error.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import acp
import msgspec
from acp.exceptions import RequestError

from labsim.case.model import GateCase
from labsim.describe.ledger import visible
from labsim.gate.approvers import Approver
from labsim.gate.asking import THIRTY_MINUTES, shown_input
from labsim.gate.events import ToolFinished
from labsim.gate.policy import ModePicker
from labsim.gate.session.run import RunReport
from labsim.play.gate import GateUnderWay, live_policy
from labsim.play.report import Report
from labsim.stage.stage import AbortSignal, Stage
from labsim.stage.ui import InertUI
from workbook.errors import WorkbookError
from workbook.live.acp import AcpHost
from workbook.live.acp_client import Asked, Ended, NoOption, Opened, Read, Script, Seen, Sent
from workbook.show.frame import INTEGER, NOTHING, TEXT, Look, Table
from workbook.show.page import Page, page
from workbook.show.page import Table as TableBlock
from workbook.tables.decisions import decisions

LIMIT_S: Final = 30.0  # until the client tells something more
PROGRAM: Final = (sys.executable, "-m", "workbook.live.acp_client")
PROMPT: Final = "go on"  # a case has its calls already, so the words do not matter
_TO: Final = "to client"
_FROM: Final = "from client"
_ASKS: Final = "request_permission"
_METHODS: Final = {"prompt": "prompt", "mode": "set_mode"}
_LINE_BYTES: Final = 1 << 24  # of one line of the client; asyncio's own limit is shorter than some inputs
_COMPLAINTS: Final = 5  # lines of what a client said last before it broke


class ClientFailed(WorkbookError):
    """The client did not do its part, so there is no played case. Attribute: `case_id`."""

    def __init__(self, case_id: str, problem: str, said: Sequence[str]) -> None:
        self.case_id = case_id
        last = f" Its last words: {' / '.join(visible(line) for line in said)}" if said else ""
        super().__init__(f"{case_id}: {problem}.{last}")


class CaseConversation:
    """A session of the host that plays one case in its one turn."""

    def __init__(self, case: GateCase, stage: Stage) -> None:
        self.under_way: GateUnderWay | None = None
        self.over = asyncio.Event()
        self.error: Exception | None = None
        self._case = case
        self._stage = stage
        self._policy = live_policy(case, stage)
        self._modes = None if self._policy is None else ModePicker(self._policy)

    @property
    def modes(self) -> ModePicker | None:
        return self._modes

    async def turn(self, prompt: str, approver: Approver, cancelled: AbortSignal) -> RunReport:
        if self.under_way is not None:
            raise RequestError.invalid_params({"details": "this case has been played"})
        self.under_way = GateUnderWay(
            self._case, self._stage, InertUI(), approver=approver, policy=self._policy, signal=cancelled
        )
        try:
            await self.under_way.play()
        except Exception as error:
            self.error = error  # the protocol would tell it to the client, and nobody else
            raise
        finally:
            self.over.set()
        finished = tuple(event for event in self._stage.ledger if isinstance(event, ToolFinished))
        return RunReport(finished, cancelled.aborted)


class AcpPlay:
    """A case that was played over ACP. As the value of a cell it shows what the client saw, and the decisions."""

    def __init__(self, report: Report, seen: Sequence[Seen]) -> None:
        self.seen = tuple(seen)
        self._report = report

    def report(self) -> Report:
        """What the case showed, for every table and picture."""
        return self._report

    def client(self) -> Table:
        """What the client sent and got, as it told by itself.

        Columns: `n` int64, from 1; `direction` string, `to client` or `from client`; `method` string, the
        protocol's without `session/`; `call` string, `–` where it is about none; `says` string: what was asked or
        answered.
        """
        rows = list(_rows(self.seen))
        columns = {
            "n": range(1, len(rows) + 1),
            "direction": [row[0] for row in rows],
            "method": [row[1] for row in rows],
            "call": [visible(row[2]) for row in rows],
            "says": [visible(row[3]) for row in rows],
        }
        types = {"n": INTEGER} | dict.fromkeys(("direction", "method", "call", "says"), TEXT)
        ended = any(isinstance(one, Ended) and one.move == "prompt" for one in self.seen)
        caption = f"What the client of {self._report.case.id} saw{'' if ended else ' before it was gone'}"
        return Table(columns, types, Look(caption=caption, header="method"))

    def page(self) -> Page:
        return page(TableBlock(grid=self.client().grid), TableBlock(grid=decisions(self._report).grid))

    def __repr__(self) -> str:
        return str(self.page())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return self.page()._repr_mimebundle_()


def play_over_acp(
    case: GateCase,
    answers: Sequence[str],
    *,
    mode: str | None = None,
    limit_s: float = LIMIT_S,
    program: Sequence[str] = PROGRAM,
) -> AcpPlay:
    """Play a case whose questions a scripted client answers, in a process of its own.

    `answers`: of each permission request, an option's id (`allow-once`, `allow-always`, `reject-once`,
    `reject-always`), or what else a client may do (`workbook.live.acp_client.NoOption`). `mode`: the posture that
    the client chooses first, where the host has any. `limit_s`: how many real seconds to wait until the client
    tells something more. `program`: another client that tells of itself as this one does, and gets the script as
    its last argument.
    Raises: ClientFailed.
    """
    moves = ([] if mode is None else [("mode", mode)]) + [("prompt", PROMPT)]
    script = msgspec.json.encode(Script(answers=list(answers), moves=moves)).decode()
    played = _Play(case, limit_s)
    # A kernel has a loop of its own under way in this thread, so the connection lives in another one.
    thread = threading.Thread(target=played.hold, args=((*program, script),), name="acp", daemon=True)
    thread.start()
    thread.join()
    return played.result()


class _Play:
    """One play: the host on its stage, and what is heard of the client."""

    def __init__(self, case: GateCase, limit_s: float) -> None:
        self._case = case
        self._limit_s = limit_s
        self._stage = Stage()
        self._seen: list[Seen] = []
        self._complaints: list[str] = []
        self._report: Report | None = None
        self._error: BaseException | None = None

    def result(self) -> AcpPlay:
        if self._error is not None:
            raise self._error
        assert self._report is not None
        return AcpPlay(self._report, self._seen)

    def hold(self, command: Sequence[str]) -> None:
        """Have the conversation, in a thread and a loop of its own; `result` has what came of it."""
        try:
            with _quiet():
                asyncio.run(self._held(command))
        except BaseException as error:  # it belongs to whoever waits for this thread
            self._error = error

    async def _held(self, command: Sequence[str]) -> None:
        conversation = CaseConversation(self._case, self._stage)
        host: Any = AcpHost(self._stage, lambda session_id: conversation)
        started = acp.spawn_client_process(
            host, *command, env=dict(os.environ), transport_kwargs={"limit": _LINE_BYTES}
        )
        with suppress(ConnectionError):  # raised at the end, if the last message found nobody
            async with started as (_, process):
                assert process.stderr is not None
                await self._listen(process.stderr, conversation)
                await self._end(conversation)
        self._stage.close()

    async def _end(self, conversation: CaseConversation) -> None:
        """Wait for the end of the turn, which a client that is gone does not hold up."""
        if conversation.under_way is None:
            raise self._failed("the client left before it asked for anything")
        try:
            await asyncio.wait_for(conversation.over.wait(), self._limit_s)
        except TimeoutError:
            raise self._failed("the client left, and the turn did not end") from None
        if conversation.error is not None:
            raise conversation.error
        self._report = conversation.under_way.report()

    async def _listen(self, stderr: asyncio.StreamReader, conversation: CaseConversation) -> None:
        """Take down what the client tells until it is gone. Other lines of it are kept, and buy it no time."""
        clock = asyncio.get_running_loop().time
        until = clock() + self._limit_s
        while True:
            try:
                line = await asyncio.wait_for(stderr.readline(), until - clock())
            except TimeoutError:
                if conversation.over.is_set():
                    return  # it has its answer and does not leave; its process is ended
                self._go_on(conversation)
                until = clock() + self._limit_s
                continue
            if not line:
                return
            try:
                self._seen.append(msgspec.json.decode(line, type=Seen))
                until = clock() + self._limit_s
            except msgspec.DecodeError:
                self._complaints = [*self._complaints, line.decode(errors="replace").strip()][-_COMPLAINTS:]

    def _go_on(self, conversation: CaseConversation) -> None:
        """The client has been silent for long. Raises: ClientFailed, where it has asked for nothing yet."""
        if conversation.under_way is None:
            raise self._failed(f"the client told nothing for {self._limit_s:g} seconds")
        self._stage.advance(THIRTY_MINUTES.stage_ms)

    def _failed(self, problem: str) -> ClientFailed:
        return ClientFailed(self._case.id, problem, self._complaints)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the protocol's package logs, on the root logger, of a client that breaks: the report has it."""

    def of_others(record: logging.LogRecord) -> bool:
        return Path(acp.__file__).parent not in Path(record.pathname).parents

    root = logging.getLogger()
    root.addFilter(of_others)
    try:
        yield
    finally:
        root.removeFilter(of_others)


def _rows(seen: Sequence[Seen]) -> Iterator[tuple[str, str, str, str]]:
    """What a client saw, as messages of the protocol: direction, method, call, words. Options are told once."""
    told: Mapping[str, object] = {}
    for one in seen:
        match one:
            case Opened():
                modes = ", ".join(f"{mode} ({name})" for mode, name in one.modes)
                yield _TO, "new", NOTHING, f"modes: {modes}" if modes else "a session is open"
            case Sent():
                yield _FROM, _METHODS[one.move], NOTHING, one.text
            case Asked():
                options = "" if one.options == told else f"\noptions: {', '.join(one.options)}"
                told = one.options
                yield _TO, _ASKS, one.call, f"{one.title}\n{shown_input(one.input)}{options}"
                if one.answer == NoOption.CANCEL_TURN:
                    yield _FROM, "cancel", NOTHING, "the turn is given up"
                elif one.answer not in (NoOption.SILENT, NoOption.LEAVE):
                    yield _FROM, _ASKS, one.call, one.answer
            case Read():
                yield _TO, "update", NOTHING, one.text
            case Ended():
                yield _TO, _METHODS[one.move], NOTHING, f"refused: {one.how}" if one.refused else one.how
