"""What the gate's tests share: a small world on a stage of its own, scripted approvers, gates and sinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from labsim.events.call import Execute
from labsim.gate.approvers import pause
from labsim.gate.base.request import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalRequest,
    AuthorizationDecision,
    AuthorizationPreview,
    AuthorizationRequest,
    Classification,
)
from labsim.gate.base.terms import Duration, SideEffectLevel
from labsim.gate.events import (
    AnswerRefused,
    ApproverAsked,
    CallDecided,
    GateEvent,
    Notice,
    PermissionRequested,
    PermissionResolved,
    ToolFinished,
)
from labsim.gate.gates import ApprovalGate, Authorizer
from labsim.gate.rules.rules import RememberedRule, RuleKey, RuleScope
from labsim.gate.rules.store import RuleStore
from labsim.gate.session.run import Run, RunReport, Sink
from labsim.gate.session.runtime import Runtime
from labsim.gate.session.session import Session
from labsim.gate.tools import GateTool, Hook, ToolUse, mcp_tool, spawn_tool
from labsim.stage.stage import Future, Stage, Task

EventType = TypeVar("EventType")
LEVELS = tuple(SideEffectLevel)
CONSEQUENTIAL = (SideEffectLevel.LOCAL_STATE, SideEffectLevel.PROCESS, SideEffectLevel.EXTERNAL)
W1_FILES = "files wants to run and can change state outside this process"
W2_FILES = "files changes state outside this process, which this run does not allow"


#: The gate of a world that says nothing else.
ASKS = ApprovalGate()


class World:
    """A stage, a runtime with a few teaching tools, and what became of things.

    Tools: `files` (LocalState), `shell` (Process), `publish` (External), `spawn` (by its input), `look` (a read),
    `mystery` (level unknown). `shelf` holds what their executors were given.
    """

    def __init__(
        self,
        *,
        gate: Authorizer | None = ASKS,
        store: RuleStore | None = None,
        hooks: Sequence[Hook] = (),
        classifies: bool = True,
        tools: Iterable[GateTool] = (),
    ) -> None:
        self.stage = Stage()
        self.shelf: list[tuple[str, Any]] = []
        own = (
            self.tool("files", SideEffectLevel.LOCAL_STATE),
            self.tool("shell", SideEffectLevel.PROCESS),
            self.tool("look", SideEffectLevel.NONE),
            self.tool("mystery", None),
            mcp_tool("publish"),
            spawn_tool(),
            *tools,
        )
        self.runtime = Runtime(self.stage, tools=own, hooks=hooks, gate=gate, store=store, classifies=classifies)

    def tool(self, name: str, level: SideEffectLevel | None) -> GateTool:
        """A tool that puts its input on the shelf."""

        def run(given: Any) -> str:
            self.shelf.append((name, given))
            return f"{name} done"

        return GateTool(name=name, level=level, run=run)

    def begin(
        self,
        session: Session,
        *rounds: Sequence[ToolUse],
        approver: Any = None,
        sink: Sink | None = None,
        **more: Any,
    ) -> Task[RunReport]:
        """Start a run and let it go as far as it can without time passing."""
        run = Run(session, approver, sink, **more)
        task = self.stage.spawn(run.play(rounds))
        self.stage.drain()
        return task

    def play(
        self,
        session: Session,
        *rounds: Sequence[ToolUse],
        approver: Any = None,
        sink: Sink | None = None,
        **more: Any,
    ) -> tuple[str, ...]:
        """Play a run to its end. Returns what the model read of each call."""
        task = self.stage.play(Run(session, approver, sink, **more).play(rounds))
        return tuple(finished.content for finished in task.result().results)

    def seen(self, kind: type[EventType]) -> list[EventType]:
        """The events of one kind, in order."""
        return [event for event in self.stage.ledger if isinstance(event, kind)]

    def kinds(self, *kinds: type[Any]) -> list[str]:
        """The names of the events of some kinds, in order."""
        return [type(event).__name__ for event in self.stage.ledger if isinstance(event, kinds)]

    @property
    def executed(self) -> list[str]:
        return [event.tool for event in self.seen(Execute)]

    @property
    def asked(self) -> int:
        return len(self.seen(ApproverAsked))

    @property
    def requested(self) -> list[PermissionRequested]:
        return self.seen(PermissionRequested)

    @property
    def resolved(self) -> list[PermissionResolved]:
        return self.seen(PermissionResolved)

    @property
    def decided(self) -> list[tuple[bool, str]]:
        """Of each call: whether it was let through, and who settled it."""
        return [(event.allowed, event.by.value) for event in self.seen(CallDecided)]

    @property
    def read(self) -> list[str]:
        """What the model read, in order."""
        return [event.content for event in self.seen(ToolFinished)]

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.seen(Notice)]

    @property
    def refused_answers(self) -> list[str]:
        return [event.error for event in self.seen(AnswerRefused)]


def use(tool: str, given: Any = None, call_id: str = "c1", agent: str = "") -> ToolUse:
    return ToolUse(call_id=call_id, tool=tool, input={} if given is None else given, agent=agent)


def rule(
    tool: str,
    allow: bool,
    scope: RuleScope = RuleScope.GLOBAL,
    pattern: str | None = None,
    reason: str | None = None,
) -> RememberedRule:
    return RememberedRule(key=RuleKey(tool, pattern), allow=allow, scope=scope, reason=reason)


def request(
    tool: str = "shell", level: SideEffectLevel | None = SideEffectLevel.PROCESS, given: Any = None
) -> ApprovalRequest:
    """A request as a host's own tests would make one."""
    return ApprovalRequest(
        request_id="r",
        tool_call_id="t",
        tool_name=tool,
        description="d",
        input={} if given is None else given,
        side_effect_level=level,
    )


def authorization(
    tool: str = "shell", level: SideEffectLevel | None = SideEffectLevel.PROCESS
) -> AuthorizationRequest:
    """What a gate sees of one call."""
    return AuthorizationRequest(
        agent_id="a1",
        agent_name="test",
        model="m",
        history_len=1,
        tool_call_id="tc-1",
        tool_name=tool,
        preview=AuthorizationPreview(
            classification=Classification(
                side_effect_level=level, capabilities=("FilesystemWrite",), durability="Ephemeral"
            ),
            raw_input={},
            structured_input={},
            working_directory="/repo",
        ),
    )


def said_by(made: Any) -> Any:
    """What an approver or a gate says that answers at once."""
    return Stage().play(made).result()


class Scripted:
    """Answers in order, each after so many simulated ms; the last one over and over. Keeps what it was asked."""

    def __init__(self, *answers: Any, after_ms: int = 0) -> None:
        self.answers = list(answers) or [ApprovalDecision.DENY]
        self.after_ms = after_ms
        self.requests: list[ApprovalRequest] = []
        self.in_flight = self.most_in_flight = 0

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer | ApprovalDecision:
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        if self.after_ms:
            await pause(self.after_ms)
        self.in_flight -= 1
        answer: Any = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer


class Silent:
    """Never answers: waits for something that nobody settles."""

    def __init__(self, stage: Stage) -> None:
        self.never: Future[ApprovalAnswer] = Future(stage)

    async def approve(self, request: ApprovalRequest) -> ApprovalAnswer:
        return await self.never


class CountingGate:
    """Answers as told, and counts how often it was asked."""

    def __init__(
        self, says: Callable[[AuthorizationRequest], AuthorizationDecision], *, bound: Duration | None = None
    ) -> None:
        self.says = says
        self.bound = bound
        self.requests: list[AuthorizationRequest] = []

    def timeout(self) -> Duration | None:
        return self.bound

    async def authorize(self, request: AuthorizationRequest) -> AuthorizationDecision:
        self.requests.append(request)
        return self.says(request)


def always(decision: AuthorizationDecision) -> Callable[[AuthorizationRequest], AuthorizationDecision]:
    return lambda request: decision


ALLOWS = AuthorizationDecision.allow()
PROMPTS = AuthorizationDecision.prompt("because")
DENIES = AuthorizationDecision.deny("no")


class ListSink:
    """Keeps what it was given, in order."""

    def __init__(self) -> None:
        self.events: list[GateEvent] = []
        self.closed = False

    async def write(self, event: GateEvent) -> None:
        self.events.append(event)

    async def close(self) -> None:
        self.closed = True


class BrokenSink:
    """Raises at its nth event, and counts how often it was written to."""

    def __init__(self, breaks_at: int) -> None:
        self.breaks_at = breaks_at
        self.written: list[GateEvent] = []

    async def write(self, event: GateEvent) -> None:
        self.written.append(event)
        if len(self.written) == self.breaks_at:
            raise OSError("the pipe is closed")

    async def close(self) -> None:
        return None


class SlowSink:
    """Takes its time over every event."""

    def __init__(self, ms: int) -> None:
        self.ms = ms
        self.written: list[str] = []
        self.closed_after: int | None = None

    async def write(self, event: GateEvent) -> None:
        await pause(self.ms)
        self.written.append(type(event).__name__)

    async def close(self) -> None:
        self.closed_after = len(self.written)
