"""A ledger as a film: one frame a row, with the step, the state so far, and what could still stop it from there.

Everything here is folded from the events up to that row and from nothing else: not from what the case was given,
and not from what came of it. So a frame says what a person who had stopped the clock there could know, and a
longer ledger never changes an earlier frame. The cost is linear in the ledger, for as many things as are under
way at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Protocol

from msgspec import Struct

from labsim.describe.ledger import describe_lines
from labsim.events.call import CallStarted, Execute, PolicyResolved
from labsim.events.dialogs import QuestionAnswered, QuestionAsked, RpcSelect, UiSelect
from labsim.events.event import Event
from labsim.fallback.events import PrimitiveAttempted
from labsim.gate import events as host
from labsim.places.steps import Place
from labsim.review.base import events as desk
from labsim.terms import APPROVAL_OPTIONS, DialogKind
from workbook.ledgers.played import PlacedEvent, Played, placed, report_of
from workbook.steppers.call import CallFollower, at_the_review_desk, dispatching, ordinary, through_the_loop
from workbook.steppers.step_lists import places_of
from workbook.steppers.stops import Danger
from workbook.steppers.wrapper import decision

RULES_SHOWN: Final = 5  # remembered rules named in one frame, the newest; a host can have many


class Follower(Protocol):
    """One thing under way: a call, a dialog, a permission, an operation.

    `over` says in a word how it ended, "" while it has not. `certain` is what has stopped it, `ended_by` the same
    once it is over; None where nothing did.
    """

    subject: str
    over: str
    ended_by: Danger | None

    @property
    def policy(self) -> str: ...

    @property
    def certain(self) -> Danger | None: ...

    def concerns(self, event: Event, *, mine: bool) -> bool:
        """Whether to be told of an event. `mine`: it is about this one's call, as far as anybody can tell."""
        ...

    def take(self, event: Event) -> None: ...

    def dangers(self) -> tuple[Danger, ...]: ...


class UnderWay(Struct, frozen=True, kw_only=True):
    """One thing under way at a row. `stops` are the ways in which it can still be stopped, in their order.

    `stopped`: the one in `stops` is certain. `over` and `ended_by` are there in the row in which it ends.
    """

    subject: str
    stops: tuple[Danger, ...]
    stopped: bool = False
    over: str = ""
    ended_by: Danger | None = None


class State(Struct, frozen=True, kw_only=True):
    """What is so after a row. Counters are over the whole case.

    `policy`: of the call that the row belongs to; "" where none was made. `grant`: the Review Desk's permission,
    `rules`: the second host's remembered rules, newest first and at most `RULES_SHOWN` of them; `rules_in_all`
    counts them. `note` is the desk's note as it was last recorded or shown, `posture` the second host's since it
    was switched. `open`: the ids of the open questions, oldest first.
    """

    prompts: int = 0
    effects: int = 0
    attempts: int = 0
    policy: str = ""
    open: tuple[str, ...] = ()
    grant: str = ""
    note: str = ""
    posture: str = ""
    rules: tuple[str, ...] = ()
    rules_in_all: int = 0


class Frame(Struct, frozen=True, kw_only=True):
    """One row of a ledger. `number` counts from 1, as in every other table of it."""

    number: int
    at_ms: int
    call: str
    kind: str
    says: str
    places: tuple[Place, ...]
    state: State
    under_way: tuple[UnderWay, ...]


def frames(played: Played) -> tuple[Frame, ...]:
    """The frames of what was played so far, one for each row of its ledger; () where that is empty.

    Raises: NotPlayed.
    """
    report = report_of(played)
    return frames_of(placed(report), report.case.scenario)


def frames_of(events: Sequence[PlacedEvent], scenario: str) -> tuple[Frame, ...]:
    """The same, of events in their order with the calls they belong to."""
    fold = _Fold(scenario)
    return tuple(fold.take(one, places) for one, places in zip(events, places_of(events, scenario), strict=True))


class _Fold:
    """Everything under way, and the state, after the events so far."""

    def __init__(self, scenario: str) -> None:
        self._begin = _BEGINNINGS.get(scenario, _nothing)()
        self._counts_as_prompt = _PROMPTS.get(scenario, _is_select)
        self._active: list[Follower] = []
        self._last_call: Follower | None = None
        self._prompts = self._effects = self._attempts = 0
        self._grant = self._note = self._posture = ""
        self._open: dict[str, QuestionAsked] = {}
        self._rules = _Rules()

    def take(self, row: PlacedEvent, places: tuple[Place, ...]) -> Frame:
        event = row.event
        self._active += self._begin(event, self._active)
        owner = self._owner(row)
        for follower in self._active:
            if follower.concerns(event, mine=follower is owner):
                follower.take(event)
        self._count(event)
        under_way = tuple(map(_shown, sorted(self._active, key=lambda found: found is not owner)))
        self._active = [found for found in self._active if not found.over]
        return Frame(
            number=row.number,
            at_ms=event.at_ms,
            call=row.call,
            kind=event.kind_name(),
            says=describe_lines(event),
            places=places,
            state=self._state(_policy(event, owner)),
            under_way=under_way,
        )

    def _owner(self, row: PlacedEvent) -> Follower | None:
        """The call that an event is about: the one it names, the one that expects it, or the one named last."""
        named = row.event.names_call()
        if named:
            self._last_call = next((found for found in reversed(self._active) if found.subject == named), None)
            return self._last_call
        waiting = [found for found in self._active if isinstance(found, CallFollower) and found.expects(row.event)]
        if len(waiting) == 1:
            return waiting[0]
        return self._last_call if self._last_call in self._active else None

    def _count(self, event: Event) -> None:
        match event:
            case QuestionAsked(question_id=question):
                self._prompts += self._counts_as_prompt(event)
                self._open[question] = event
            case UiSelect(options=options) | RpcSelect(options=options):
                asked = [key for key, found in self._open.items() if found.options == options]
                self._open.pop(asked[0] if asked else "", None)
            case QuestionAnswered(question_id=question):
                self._open.pop(question, None)
            case Execute():
                self._effects += 1
            case PrimitiveAttempted():
                self._attempts += 1
            case host.PolicySwitched(policy=policy):
                self._posture = policy
            case _:
                self._at_the_desk(event)
                self._rules.take(event)

    def _at_the_desk(self, event: Event) -> None:
        match event:
            case desk.GrantGiven(session_id=session, revision=revision):
                self._grant = f"one change, at revision {revision} in {session}"
            case desk.GrantEnded():
                self._grant = ""
            case desk.NoteRecorded(status=status, revision=revision):
                self._note = f"{status} r{revision}"
            case desk.StatusShown(text=text):
                self._note = text.split(" · ")[0]
            case desk.SessionMoved() | desk.SessionReopened():
                self._note = ""  # it is read afresh, and nothing has said yet what it is there

    def _state(self, policy: str) -> State:
        return State(
            prompts=self._prompts,
            effects=self._effects,
            attempts=self._attempts,
            policy=policy,
            open=tuple(self._open),
            grant=self._grant,
            note=self._note,
            posture=self._posture,
            rules=self._rules.newest(),
            rules_in_all=len(self._rules),
        )


class _Rules:
    """The rules that the second host remembers, by their address."""

    def __init__(self) -> None:
        self._at: dict[tuple[str, str, str | None], str] = {}

    def __len__(self) -> int:
        return len(self._at)

    def newest(self) -> tuple[str, ...]:
        return tuple(islice(reversed(self._at.values()), RULES_SHOWN))

    def take(self, event: Event) -> None:
        match event:
            case host.RuleRemembered(scope=scope, tool_name=tool, pattern=pattern, allow=allow):
                self._at.pop((scope, tool, pattern), None)  # written over, so it is the newest now
                matching = "" if pattern is None else f" matching {pattern}"
                self._at[scope, tool, pattern] = f"{scope}: {'allow' if allow else 'deny'} {tool}{matching}"
            case host.RuleRevoked(scope=scope, tool_name=tool, pattern=pattern):
                self._at.pop((scope, tool, pattern), None)
            case host.ScopeCleared(scope=scope):
                self._drop(scope)
            case host.SessionOpened(resumed=True):
                self._drop("process", "session")  # approval/R1, approval/R3

    def _drop(self, *scopes: str) -> None:
        self._at = {address: text for address, text in self._at.items() if address[0] not in scopes}


def _policy(event: Event, owner: Follower | None) -> str:
    """The policy in force: of the call that a row is about, or the row's own where there is only a decision."""
    if owner is not None:
        return owner.policy
    return decision(event) if isinstance(event, PolicyResolved) else ""


def _shown(follower: Follower) -> UnderWay:
    return UnderWay(
        subject=follower.subject,
        stops=follower.dangers(),
        stopped=not follower.over and follower.certain is not None,
        over=follower.over,
        ended_by=follower.ended_by if follower.over else None,
    )


# ------------------------------------------------------------------------------------ what begins with an event

Begin = Callable[[Event, Sequence[Follower]], Iterator[Follower]]


def _nothing() -> Begin:
    """Nothing is ever under way: a decision alone."""
    return lambda event, active: iter(())


def _calls(make: Callable[[str], CallFollower]) -> Callable[[], Begin]:
    """Each call, when it is started; one that is started inside another under the same id is a part of that."""

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        if isinstance(event, CallStarted) and all(found.subject != event.tool_call_id for found in active):
            yield make(event.tool_call_id)

    return lambda: begin


def _batch() -> Begin:
    """Each call of a batch, when the loop first names it."""
    known: set[str] = set()

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        named = event.names_call()
        if named and named not in known:
            known.add(named)
            yield through_the_loop(named)

    return begin


def _desk() -> Begin:
    """Calls of the desk's tool, the dialogs of the desk, and its permissions."""
    from labsim.review.base.states import Phase
    from workbook.steppers.review import DialogFollower, GrantFollower

    calls = _calls(at_the_review_desk)()

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        yield from calls(event, active)
        match event:
            case desk.StepTaken(phase=Phase.IDLE, to=to) if to not in (Phase.IDLE, Phase.CLOSED):
                yield DialogFollower(event)
            case desk.GrantGiven():
                yield GrantFollower(event)

    return begin


def _second_host() -> Begin:
    """Each call of the second host, in the round that it is made in."""
    from workbook.steppers.gate import GateCallFollower, Round

    around = Round(1)

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        nonlocal around
        match event:
            case host.RoundStarted(calls=calls):
                around = Round(calls)
            case host.CallMade():
                yield GateCallFollower(event, around)

    return begin


def _operation() -> Begin:
    """The one write or delete of a fallback case."""
    from workbook.steppers.files_and_rpc import OperationFollower

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        if isinstance(event, PrimitiveAttempted) and event.attempt == 1:
            yield OperationFollower(event.seam)

    return begin


def _rpc_dialog() -> Begin:
    """The one dialog of an rpc case, from the first event on."""
    from workbook.steppers.files_and_rpc import RpcDialogFollower

    begun = False

    def begin(event: Event, active: Sequence[Follower]) -> Iterator[Follower]:
        nonlocal begun
        if not begun:
            begun = True
            yield RpcDialogFollower()

    return begin


_BEGINNINGS: Final[dict[str, Callable[[], Begin]]] = {
    "wrapper": _calls(ordinary),
    "dispatch": _calls(dispatching),
    "loop": _batch,
    "review": _desk,
    "gate": _second_host,
    "fallback": _operation,
    "rpc": _rpc_dialog,
}


def _is_select(event: QuestionAsked) -> bool:
    return event.kind is DialogKind.SELECT


#: Which dialogs count as prompts, where it is not every select: as the cases count them.
_PROMPTS: Final[dict[str, Callable[[QuestionAsked], bool]]] = {
    "review": lambda event: event.options == APPROVAL_OPTIONS,
    "gate": lambda event: True,
}
