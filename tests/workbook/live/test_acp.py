"""Asking a real client over ACP: a process of its own at the other end of a pipe (gate/A19 to gate/A24, gate/M1 to
gate/M9).
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import acp
import pytest
from gate_kit import World, request, use

from labsim.gate.approvers import Approver
from labsim.gate.asking import THIRTY_MINUTES, ClientApprover
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision
from labsim.gate.events import CallMade
from labsim.gate.policy import ApprovalPolicy, LivePolicy, ModePicker, PolicyApprover, PolicyGate
from labsim.gate.session.run import Run, RunReport
from labsim.gate.tools import GateTool, ToolUse
from labsim.stage.stage import AbortSignal, Stage
from workbook.live.acp import AcpClient, AcpHost

CLIENT = ("-m", "workbook.live.acp_client")
PATIENCE_S = 30  # real seconds, for a process that hangs; no test waits for as long
ONE_CALL: Sequence[tuple[str, str]] = (("prompt", "files"),)
Rounds = Callable[[str], list[list[ToolUse]]]
DENY = ApprovalDecision.DENY


class Prompted:
    """A session of a world whose gate and approver read one live policy; a prompt says what the model calls."""

    def __init__(self, world: World, session_id: str, rounds: Rounds, policy: ApprovalPolicy) -> None:
        self._session = world.runtime.attach(session_id)
        self._rounds = rounds
        self._policy = LivePolicy(policy)
        self.modes = ModePicker(self._policy)
        self._session.install_gate(PolicyGate(self._policy))

    async def turn(self, prompt: str, approver: Approver, cancelled: AbortSignal) -> RunReport:
        run = Run(self._session, PolicyApprover(self._policy, approver), signal=cancelled)
        return await run.play(self._rounds(prompt))


def host_of(world: World, rounds: Rounds, policy: ApprovalPolicy = ApprovalPolicy.PROMPT) -> AcpHost:
    return AcpHost(world.stage, lambda session_id: Prompted(world, session_id, rounds, policy))


class Conversation:
    """A host on a stage, a client process, and what each of them saw."""

    def __init__(self, policy: ApprovalPolicy = ApprovalPolicy.PROMPT) -> None:
        self.world = World()
        self.host = host_of(self.world, self.rounds, policy)
        self.asked: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {"ended": [], "heard": []}

    def rounds(self, text: str) -> list[list[ToolUse]]:
        """A prompt names the tools to call, one a round."""
        made = len(self.world.seen(CallMade))
        return [
            [use(tool, {"note": "é"}, f"c{number}")] for number, tool in enumerate(text.split(), start=made + 1)
        ]

    def hold(
        self, answers: Sequence[str], moves: Sequence[tuple[str, str]] = ONE_CALL, *, after_asked_ms: int = 0
    ) -> Conversation:
        """Have the whole conversation. `after_asked_ms` of simulated time pass once the client was asked."""
        asyncio.run(asyncio.wait_for(self._held(answers, moves, after_asked_ms), PATIENCE_S))
        return self

    async def _held(self, answers: Sequence[str], moves: Sequence[tuple[str, str]], after_asked_ms: int) -> None:
        script = json.dumps({"answers": list(answers), "moves": list(moves)})
        async with started(self.host, script) as (_, process):
            async for line in process.stderr:
                self._take_down(json.loads(line))
                if after_asked_ms and b'"asked"' in line:
                    self.world.stage.advance(after_asked_ms)

    def _take_down(self, seen: dict[str, Any]) -> None:
        """What the client tells of itself, in the words of these tests."""
        kind = seen.pop("type")
        if kind == "opened":
            self.told |= seen
        elif kind == "asked":
            del seen["answer"]
            self.asked.append(seen)
        elif kind == "read":
            self.told["heard"].append(seen["text"])
        elif kind == "ended":
            self.told["ended"].append({"details": seen["how"]} if seen["refused"] else seen["how"])


def started(host: Any, script: str) -> Any:
    """A scripted client as a process, connected to a host."""
    return acp.spawn_client_process(host, sys.executable, *CLIENT, script, env=dict(os.environ))


@pytest.mark.slow
def test_a_request_reaches_the_client_with_four_options_and_no_deadlock():
    """gate/A19, gate/A24: while the turn waits, the connection reads on."""
    held = Conversation().hold(["allow-once"])

    assert held.asked == [
        {
            "session": "session-1",
            "call": "c1",
            "title": "files wants to run and can change state outside this process",
            "input": {"note": "é"},
            "options": {
                "allow-once": ["Allow", "allow_once"],
                "allow-always": ["Allow for this session", "allow_always"],
                "reject-once": ["Deny", "reject_once"],
                "reject-always": ["Deny for this session", "reject_always"],
            },
        }
    ]
    assert (held.told["ended"], held.told["heard"]) == (["end_turn"], ["files done"])
    assert held.world.shelf == [("files", {"note": "é"})]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "heard", "asked"),
    [
        pytest.param(["allow-once", "allow-once"], ["files done", "files done"], 2, id="allow-once"),
        pytest.param(["allow-always"], ["files done", "files done"], 1, id="allow-always"),
        pytest.param(
            ["reject-once", "allow-once"],
            ["Tool execution denied: files was refused by the client", "files done"],
            2,
            id="reject-once",
        ),
        pytest.param(
            ["reject-always"],
            [
                "Tool execution denied: files was refused by the client, for the rest of this session",
                "Tool execution denied: files was refused earlier in this session, and that answer still stands",
            ],
            1,
            id="reject-always",
        ),
        pytest.param(
            ["cancelled", "allow-once"],
            ["Tool execution denied: files needs approval and the request was cancelled", "files done"],
            2,
            id="cancelled",
        ),
        pytest.param(
            ["perhaps", "allow-once"],
            ["Tool execution denied: files needs approval and the client's answer could not be read", "files done"],
            2,
            id="an-option-that-was-not-offered",
        ),
        pytest.param(
            ["garbage", "allow-once"],
            ["Tool execution denied: files needs approval and the client's answer could not be read", "files done"],
            2,
            id="garbage",
        ),
        pytest.param(
            ["error", "allow-once"],
            ["Tool execution denied: files needs approval and the client could not be reached", "files done"],
            2,
            id="an-error-of-the-client",
        ),
    ],
)
def test_each_answer_of_a_client_is_a_decision(answers: list[str], heard: list[str], asked: int):
    """gate/A20, gate/A21, gate/M4: no failure is a denial for the session, and a refused turn ends as any other."""
    held = Conversation().hold(answers, [("prompt", "files files")])

    assert (held.told["heard"], held.told["ended"]) == (heard, ["end_turn"])
    assert len(held.asked) == asked
    assert held.world.runtime.attach("session-1").permissions.rules() == ()


@pytest.mark.slow
def test_a_client_that_does_not_answer_has_thirty_minutes_of_the_stage():
    """gate/A21, gate/A22, gate/X9: the approver's own bound ends the wait; the turn and the run end, and the client
    hears why.
    """
    held = Conversation().hold(["silent"], after_asked_ms=THIRTY_MINUTES.stage_ms)

    assert held.told["ended"] == ["end_turn"]
    assert held.told["heard"] == [
        "Tool execution denied: files needs approval and the client did not answer within 30 minutes"
    ]
    assert held.world.shelf == []


@pytest.mark.slow
def test_a_client_that_cancels_the_turn_ends_it():
    """gate/A23, gate/X9: the question is withdrawn, and nothing runs."""
    held = Conversation().hold(["cancel-turn"], [("prompt", "files look")])

    assert (held.told["ended"], held.told["heard"]) == (["cancelled"], [])
    assert (held.world.shelf, held.world.decided) == ([], [(False, "cancelled")])


@pytest.mark.slow
def test_a_session_opened_to_ask_offers_three_modes_and_follows_them():
    """gate/M1, gate/M3, gate/M8: always is not asked, never is refused unasked, and both at once."""
    held = Conversation().hold(
        [],
        [("mode", "always"), ("prompt", "files"), ("mode", "never"), ("prompt", "files look")],
    )

    assert held.told["modes"] == [["always", "Always allow"], ["prompt", "Ask each time"], ["never", "Read only"]]
    assert held.told["current"] == "prompt"
    assert held.told["heard"] == [
        "files done",
        "Tool execution denied: files changes state outside this process, and this session is set to refuse that",
        "look done",
    ]
    assert held.asked == []


@pytest.mark.slow
def test_a_session_opened_read_only_offers_that_and_keeps_it():
    """gate/M7: what is not offered, and what is unknown, is refused."""
    held = Conversation(ApprovalPolicy.NEVER).hold(
        [], [("mode", "always"), ("mode", "quietly"), ("prompt", "files")]
    )

    assert (held.told["modes"], held.told["current"]) == ([["never", "Read only"]], "never")
    assert held.told["ended"] == [
        {"details": "this session was opened read-only and cannot change mode"},
        {"details": "unknown mode"},
        "end_turn",
    ]
    assert held.told["heard"][0].endswith("and this session is set to refuse that")


# ------------------------------------------------------------------------------- a client that is no good company


def approved(client: str) -> ApprovalAnswer:
    """What the approver makes of a process that runs `client`, asked directly."""
    return asyncio.run(asyncio.wait_for(_approved(client), PATIENCE_S))


async def _approved(client: str) -> ApprovalAnswer:
    stage = Stage()
    host = host_of(World(), lambda text: [])
    async with acp.spawn_client_process(host, sys.executable, "-c", client) as (connection, process):
        approver = ClientApprover(stage, AcpClient(stage, connection, "session-1", asyncio.get_running_loop()))
        task = stage.spawn(approver.approve(request("files")))
        over = asyncio.Event()
        task.when_done(over.set)

        async def listen() -> None:
            async for line in process.stderr:
                assert line == b"half an hour\n"
                stage.advance(THIRTY_MINUTES.stage_ms)

        listening = asyncio.create_task(listen())
        await over.wait()
        listening.cancel()
        answer: ApprovalAnswer = task.result()
        return answer


RAW = """
import json, sys
asked = json.loads(sys.stdin.readline())
{}
"""


@pytest.mark.parametrize(
    ("does", "why"),
    [
        pytest.param("pass", "the client could not be reached", id="leaves"),
        pytest.param("print('[]', flush=True)", "the client could not be reached", id="says-what-is-no-message"),
        pytest.param(
            "print('no json at all', flush=True); print('half an hour', file=sys.stderr, flush=True); "
            "sys.stdin.read()",
            "the client did not answer within 30 minutes",
            id="talks-nonsense-and-stays",
        ),
        *(
            pytest.param(
                f"print(json.dumps({{'jsonrpc': '2.0', 'id': asked['id'], 'result': {result!r}}}), flush=True); "
                "sys.stdin.read()",
                "the client's answer could not be read",
                id=name,
            )
            for name, result in (
                ("answers-nothing", None),
                ("answers-a-word", "allow-once"),
                ("answers-an-empty-object", {}),
                ("answers-an-outcome-of-its-own", {"outcome": {"outcome": "granted", "optionId": "allow-once"}}),
                ("selects-nothing", {"outcome": {"outcome": "selected"}}),
                ("selects-a-number", {"outcome": {"outcome": "selected", "optionId": 1}}),
            )
        ),
    ],
)
def test_a_client_that_makes_no_sense_has_refused(does: str, why: str, caplog: pytest.LogCaptureFixture):
    """gate/A21, gate/A2, gate/W15: a lost client, garbage, and silence are no consent, and each says which it
    was.
    """
    with caplog.at_level(
        logging.CRITICAL
    ):  # the protocol's package logs what it cannot read; that is not the matter
        assert approved(RAW.format(does)) == ApprovalAnswer(DENY, f"files needs approval and {why}")


@pytest.mark.slow
def test_a_client_that_leaves_while_it_is_asked_ends_the_wait():
    """gate/A21: the round trip failed; the process was real, and is gone."""
    over = asyncio.Event()

    def ring(given: Any) -> str:
        over.set()
        return "rung"

    world = World(tools=[GateTool(name="bell", run=ring)])
    host = host_of(world, lambda text: [[use("files")], [use("bell", call_id="c2")]])

    async def held() -> None:
        script = json.dumps({"answers": ["leave"], "moves": list(ONE_CALL)})
        async with started(host, script):
            await over.wait()

    asyncio.run(asyncio.wait_for(held(), PATIENCE_S))

    assert world.read == [
        "Tool execution denied: files needs approval and the client could not be reached",
        "rung",
    ]


def test_a_withdrawn_question_is_dropped_at_the_protocol_too():
    """gate/A23: its late answer finds nobody, on the stage and on the connection."""
    stage = Stage()
    cancelled = AbortSignal(stage)

    class Connection:
        def __init__(self) -> None:
            self.asked = asyncio.Event()
            self.answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        async def request_permission(self, **asked: Any) -> Any:
            self.asked.set()
            return await self.answer

    async def held() -> tuple[ApprovalAnswer, bool]:
        connection: Any = Connection()
        client = AcpClient(stage, connection, "s", asyncio.get_running_loop())
        task = stage.spawn(ClientApprover(stage, client, cancelled=cancelled).approve(request("files")))
        await connection.asked.wait()
        cancelled.abort()
        await asyncio.wait([connection.answer])
        return task.result(), connection.answer.cancelled()

    assert asyncio.run(asyncio.wait_for(held(), PATIENCE_S)) == (
        ApprovalAnswer(DENY, "files needs approval and the turn was cancelled"),
        True,
    )


def test_a_host_that_no_client_is_connected_to_cannot_be_prompted():
    """gate/A24: and one that is asked about a session it does not have says so."""
    host = host_of(World(), lambda text: [])

    async def prompted(session_id: str) -> None:
        opened = await host.new_session(cwd="/desk")
        await host.prompt(session_id or opened.session_id, [])

    for session_id, message in (("", "not connected to a client"), ("nobody", "no session has the id 'nobody'")):
        with pytest.raises(acp.RequestError) as refused:
            asyncio.run(prompted(session_id))
        assert message in str(refused.value.data)
