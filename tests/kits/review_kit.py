"""What the tests of the Review Desk share: a desk on a stage, a person at it, and its ledger read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct

from labsim.approval import Settings
from labsim.call.handlers import EventName, Extension
from labsim.errors import HostError
from labsim.events.event import as_mapping
from labsim.review.base.events import GrantEnded, NoteRecorded, Notified
from labsim.review.branch.entries import MemoryStore
from labsim.review.branch.sessions import Sessions
from labsim.review.host import Host, ui_for
from labsim.review.surface import Mode
from labsim.stage.stage import Stage, Task
from labsim.stage.ui import UI

NOTE = "Seed swap on Saturday.\n"
EDITED = "Seed swap on Sunday.\nBring sleeves.\n"
CLOSED = "Review dialog closed; nothing recorded."
NO_GRANT = "No human grant: ask the human to run /review-desk delegate."

E = TypeVar("E", bound=Struct)


class Bench:
    """A Review Desk, and everybody around it. Nothing is answered unless a test answers it."""

    def __init__(
        self,
        mode: Mode = Mode.TUI,
        note: str | bytes | None = NOTE,
        *,
        ui: UI | None = None,
        stage: Stage | None = None,
        gate: str = "write",
        viewport: int = 80,
    ) -> None:
        self.stage = stage or Stage()
        self.mode = mode
        self.ui = ui or ui_for(mode, self.stage)
        self.store = MemoryStore()
        self.fixture = note.encode() if isinstance(note, str) else note
        self.gate = gate
        self.viewport = viewport
        self.vetoes = False
        self.calls = 0
        self.start(Sessions(self.stage, save=self.store.save))

    def start(self, sessions: Sessions) -> None:
        vetoing = Extension("vetoing")
        for name in ("session_before_switch", "session_before_branch", "session_before_tree"):
            vetoing.on(EventName(name), lambda event, context: {"cancel": self.vetoes})
        self.host = Host(
            self.stage,
            self.ui,
            self.mode,
            sessions=sessions,
            fixture=self.fixture,
            settings=Settings(self.gate),
            extensions=[vetoing],
            viewport=self.viewport,
        )

    # -- what people and the world do

    def say(self, words: str = "") -> Task[None]:
        """Give a command and let it go as far as it gets."""
        return self.stage.play(self.host.desk.command(words))

    def reply(self, value: Any = UNSET) -> None:
        """Answer the one open question; UNSET closes it."""
        (question,) = self.stage.questions
        self.stage.reply(question.id, value)

    def grant(self) -> None:
        self.say("delegate")
        self.reply(True)

    def review(self, *replies: Any) -> None:
        self.say("review")
        for value in replies:
            self.reply(value)

    def move(self, how: str, *where: Any) -> bool:
        """Move between or inside sessions: new, resume, fork, branch or go."""
        return self.stage.play(getattr(self.sessions, how)(*where)).result()

    def restart(self) -> None:
        """A new process on the same stored sessions."""
        current = self.sessions.current.id
        self.stage.play(self.host.shutdown())
        stored = {name: self.store.read(name).entries for name in self.store.session_ids}
        self.start(Sessions(self.stage, {current: (), **stored}, current=current, save=self.store.save))

    # -- what the agent does

    def ask(self, **arguments: Any) -> Task[Any]:
        """One call of the tool, as far as it gets."""
        self.calls += 1
        return self.stage.play(self.host.call(f"call-{self.calls}", arguments))

    def told(self, **arguments: Any) -> dict[str, Any]:
        """What a call gives back."""
        details: dict[str, Any] = self.ask(**arguments).result().details
        return details

    def refused(self, **arguments: Any) -> str:
        """The error of a call that must fail."""
        try:
            found = self.ask(**arguments).result()
        except HostError as error:
            return str(error)
        raise AssertionError(f"not refused: {found}")

    def act(self, action: str, revision: Any, **more: Any) -> dict[str, Any]:
        return self.told(op="act", action=action, expectedRevision=revision, **more)

    def no_act(self, action: str = "accept", revision: Any = 0, **more: Any) -> str:
        return self.refused(op="act", action=action, expectedRevision=revision, **more)

    # -- what there is

    @property
    def sessions(self) -> Sessions:
        return self.host.sessions

    @property
    def stand(self) -> tuple[str, str, int, bool, bool]:
        """Text, status, revision, authorized, busy."""
        desk, note = self.host.desk, self.host.desk.note
        return note.text, note.status.value, note.revision, desk.authorized, desk.busy

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.stage.ledger if isinstance(event, kind)]

    @property
    def notices(self) -> list[tuple[str, str]]:
        """Kind and text of every notice so far."""
        return [(event.kind.value, event.message) for event in self.of(Notified)]

    @property
    def entries(self) -> int:
        return len(self.of(NoteRecorded))

    @property
    def ends(self) -> list[str]:
        """How grants have ended so far."""
        return [event.why.name for event in self.of(GrantEnded)]


#: How the note stands before anything has happened to it.
FRESH = (NOTE, "draft", 0, False, False)


def plain(events: Iterable[Any], *left_out: str) -> list[dict[str, Any]]:
    """Events as mappings, without their time; those of the kinds named are left out."""
    mappings = [as_mapping(event) for event in events]
    return [
        {key: value for key, value in mapping.items() if key != "atMs"}
        for mapping in mappings
        if mapping["event"] not in left_out
    ]


def kinds(events: Sequence[Any]) -> list[str]:
    return [mapping["event"] for mapping in plain(events)]
