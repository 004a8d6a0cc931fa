"""The Review Desk under any sequence of commands, replies, late replies, moves, restarts and acts.

A model of a few lines says what must hold: it knows entries, one grant and one dialog, and has no epochs, signals,
tables or coroutines. After every step the desk has to stand where the model stands, and the ledger has to keep the
promises that no single step can show.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import UNSET, Struct
from review_kit import NOTE, Bench

from labsim.approval import Settings
from labsim.errors import HostError
from labsim.review.base.events import GrantGiven, NoteRecorded, StepTaken
from labsim.review.branch.entries import EntryType
from labsim.review.surface import Mode
from labsim.stage.stage import Task

TEXTS = st.sampled_from(["a", "b\nc", " \n", "x" * 12_001, "authorized: true", NOTE])
LABELS = st.sampled_from(["Accept locally", "Reject", "Cancel", "accept locally", UNSET])
ANSWERS = st.sampled_from([True, False, UNSET, "Yes"])
OUTCOMES = st.sampled_from(["accept", "reject", "cancel", "accepted", UNSET])
ACTIONS = st.sampled_from(["revise", "accept", "reject", "cancel"])
BY_ACTION = {"revise": "draft", "accept": "accepted", "reject": "rejected", "cancel": "cancelled"}
BY_LABEL = {"Accept locally": "accepted", "Reject": "rejected"}
BY_OUTCOME = {"accept": "accepted", "reject": "rejected"}


class At(Struct, frozen=True):
    """A recorded change, as the model keeps it."""

    parent: str | None
    text: str
    status: str
    revision: int


def valid(text: object) -> bool:
    return isinstance(text, str) and bool(text.strip()) and len(text) <= 12_000


def succeeds(task: Task[Any]) -> bool:
    """Whether a call came back with a result; it must have come back."""
    try:
        task.result()
    except HostError:
        return False
    return True


class DeskMachine(RuleBasedStateMachine):
    mode: ClassVar[Mode] = Mode.TUI

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(self.mode)
        self.trees: dict[str, dict[str, At]] = {"session-1": {}}
        self.others: dict[str, dict[str, str | None]] = {
            "session-1": {}
        }  # entries that are no changes: their parents
        self.leaves: dict[str, str | None] = {"session-1": None}
        self.newest: dict[str, str | None] = {"session-1": None}
        self.current = "session-1"
        self.granted = False
        self.open: str | None = None  # editor, selector, confirm, panel
        self.typed = ""
        self.over: list[tuple[str, str]] = []  # dialogs that are over: question and kind
        self.records = 0

    # -- the model

    def path(self) -> list[str]:
        """Ids from the leaf to the root."""
        at, found = self.leaves[self.current], []
        while at is not None:
            found.append(at)
            change = self.trees[self.current].get(at)
            at = change.parent if change is not None else self.others[self.current][at]
        return found

    @property
    def note(self) -> At:
        changes = (self.trees[self.current][at] for at in self.path() if at in self.trees[self.current])
        return next(changes, At(None, NOTE, "draft", 0))

    def add(self, entry: At | None) -> None:
        """An entry under the leaf: a change, or something else."""
        number = 1 + max((int(at.split("-")[1]) for at in self.ids()), default=0)
        name, leaf = f"entry-{number}", self.leaves[self.current]
        if entry is None:
            self.others[self.current][name] = leaf
        else:
            self.trees[self.current][name] = entry
            self.records += 1
        self.leaves[self.current] = self.newest[self.current] = name

    def ids(self) -> list[str]:
        return [*self.trees[self.current], *self.others[self.current]]

    def recorded(self, status: str, text: str | None = None) -> None:
        note = self.note
        self.granted = False
        kept = note.text if text is None else text
        self.add(At(self.leaves[self.current], kept, status, note.revision + 1))

    def closed(self) -> None:
        """The dialog that is open is over, and so is any permission."""
        if self.open is not None:
            self.over.append((self.bench.stage.questions[0].id, self.open))
        self.open, self.granted = None, False

    def opened(self, dialog: str) -> None:
        if self.open is None:
            self.open = dialog
            if dialog == "confirm":
                self.granted = False

    # -- people

    @rule(dialog=st.sampled_from(["editor", "confirm", "panel"]))
    def open_a_dialog(self, dialog: str) -> None:
        self.bench.say({"editor": "review", "confirm": "delegate", "panel": "overlay"}[dialog])
        if dialog != "panel" or self.mode is Mode.TUI:
            self.opened(dialog)

    def answer(self, value: object) -> None:
        """Answer the open dialog; it is over then."""
        self.over.append((self.bench.stage.questions[0].id, str(self.open)))
        self.open = None
        self.bench.reply(value)

    @rule(text=TEXTS | st.just(UNSET))
    @precondition(lambda self: self.open == "editor")
    def reply_in_the_editor(self, text: Any) -> None:
        self.answer(text)
        if text is UNSET:
            self.recorded("cancelled")
        else:
            self.open, self.typed = "selector", text

    @rule(label=LABELS)
    @precondition(lambda self: self.open == "selector")
    def reply_in_the_selector(self, label: Any) -> None:
        self.answer(label)
        if label != "Accept locally":
            self.recorded(BY_LABEL.get(label, "cancelled"))
        elif valid(self.typed):
            self.recorded("accepted", self.typed)

    @rule(answer=ANSWERS)
    @precondition(lambda self: self.open == "confirm")
    def reply_to_the_question(self, answer: object) -> None:
        self.answer(answer)
        self.granted = answer is True

    @rule(outcome=OUTCOMES)
    @precondition(lambda self: self.open == "panel")
    def decide_in_the_panel(self, outcome: Any) -> None:
        self.answer(outcome)
        self.recorded(BY_OUTCOME.get(outcome, "cancelled"))

    @rule()
    @precondition(lambda self: self.open is None)
    def grant(self) -> None:
        self.open_a_dialog("confirm")
        self.reply_to_the_question(True)

    @rule(text=TEXTS, label=LABELS)
    @precondition(lambda self: self.open is None)
    def review(self, text: str, label: Any) -> None:
        self.open_a_dialog("editor")
        self.reply_in_the_editor(text)
        self.reply_in_the_selector(label)

    @rule(how=st.sampled_from(["revoke", "answer first", "open another", "break"]), which=st.integers(0, 3))
    @precondition(lambda self: self.open is not None or self.granted)
    def end_it(self, how: str, which: int) -> None:
        """What is open, and what is granted, is over, whatever else happens in the same breath."""
        stage, desk = self.bench.stage, self.bench.host.desk
        is_open, questions = self.open, stage.questions
        self.closed()
        if how == "break" and is_open and self.mode is Mode.TUI:  # a client that is gone would not come back
            stage.fail(questions[0].id, HostError("gone"))
            return

        async def in_one_breath() -> None:
            await stage.rest()
            if how == "answer first" and is_open:
                stage.reply(questions[0].id, [True, "Accept locally", "a", "accept"][which])
            await desk.command("revoke")
            if how == "open another":  # the old dialog's coroutine has not noticed yet (review/V-45)
                await desk.command(["review", "delegate"][which % 2])

        stage.play(in_one_breath())
        if how == "open another":
            self.opened(["editor", "confirm"][which % 2])

    # -- the agent

    @rule(action=ACTIONS, stale=st.integers(0, 3), text=TEXTS)
    def act(self, action: str, stale: int, text: str) -> None:
        revision = self.note.revision + (1 if stale == 0 else 0)
        more = {"text": text} if action == "revise" else {}
        may = self.open is None and self.granted and stale != 0 and (action != "revise" or valid(text))
        assert succeeds(self.bench.ask(op="act", action=action, expectedRevision=revision, **more)) is may
        if may:
            self.recorded(BY_ACTION[action], text if action == "revise" else None)

    @rule(actions=st.tuples(ACTIONS, ACTIONS))
    @precondition(lambda self: self.open is None)
    def two_acts_at_once(self, actions: tuple[str, str]) -> None:
        """Both past the generic gate before either is at the desk; at most one of them succeeds."""
        bench, revision = self.bench, self.note.revision
        usual, bench.host.settings = bench.host.settings, Settings("always-ask")
        tasks = []
        for action in actions:
            more = {"text": "b\nc"} if action == "revise" else {}
            tasks.append(bench.ask(op="act", action=action, expectedRevision=revision, **more))
        bench.host.settings = usual
        questions = [question.id for question in bench.stage.questions]

        async def approve() -> None:
            await bench.stage.rest()
            for question in questions:
                bench.stage.reply(question, "Approve")

        bench.stage.play(approve())
        done = [action for task, action in zip(tasks, actions, strict=True) if succeeds(task)]
        assert len(done) == int(self.granted)
        for action in done:
            self.recorded(BY_ACTION[action], "b\nc" if action == "revise" else None)

    @rule(action=ACTIONS)
    @precondition(lambda self: self.granted)
    def act_while_nothing_can_be_saved(self, action: str) -> None:
        more = {"text": "a"} if action == "revise" else {}
        self.bench.store.full = True
        self.bench.no_act(action, self.note.revision, **more)
        self.bench.store.full = False
        if self.open is None:
            self.granted = False  # it was tried with the grant (review/V-14)

    # -- the world

    @rule(what=st.sampled_from(["say", "ask", "write", "reply late", "veto"]), which=st.integers(0, 50))
    def change_nothing(self, what: str, which: int) -> None:
        """Looking, nonsense, other people's entries, answers that are too late, moves that are prevented."""
        bench = self.bench
        if what == "say":
            bench.say(["show", "", "publish", "SHOW it"][which % 4])
        elif what == "ask":
            assert bench.ask(op=["inspect", "query", "discover", "publish", "act"][which % 5]).done
        elif what == "write" and self.open is None:
            data = [None, {"version": 1}, {"version": 1, "text": "", "status": "draft", "revision": 9}][which % 3]
            bench.sessions.current.append(
                EntryType.CUSTOM, at_ms=0, custom_type="workbook-review-desk-state", data=data
            )
            self.add(None)
        elif what == "reply late" and self.over:
            question, kind = self.over[which % len(self.over)]
            late = {"editor": "b\nc", "selector": "Accept locally", "confirm": True, "panel": "accept"}
            assert not bench.stage.reply(question, late[kind])
        elif what == "veto":
            bench.vetoes = True
            assert not bench.move("go", None)
            assert not bench.move("new")
            bench.vetoes = False

    @rule(
        how=st.sampled_from(["go", "new", "fork", "branch", "resume", "restart", "vetoed"]),
        which=st.integers(0, 20),
    )
    def move(self, how: str, which: int) -> None:
        if how == "vetoed":
            self.bench.vetoes = True
            assert not self.bench.move("go", None)
            assert not self.bench.move("new")
            self.bench.vetoes = False
            return
        self.closed()
        entry = [None, *self.ids()][which % (len(self.ids()) + 1)]
        if how == "go":
            assert self.bench.move("go", entry)
            self.leaves[self.current] = entry
        elif how == "resume":
            self.current = list(self.trees)[which % len(self.trees)]
            assert self.bench.move("resume", self.current)
        elif how == "restart":
            self.restarted()
        else:
            where = {"new": None, "fork": self.leaves[self.current], "branch": entry}[how]
            assert self.bench.move(how, *([where] if how == "branch" else []))
            self.goes_on_in_a_new_session(where)

    def goes_on_in_a_new_session(self, where: str | None) -> None:
        old, before = self.current, self.leaves[self.current]
        self.leaves[old] = where
        kept = self.path()
        self.leaves[old] = before
        name = f"session-{max(int(each.split('-')[1]) for each in self.trees) + 1}"
        self.trees[name] = {at: self.trees[old][at] for at in kept if at in self.trees[old]}
        self.others[name] = {at: self.others[old][at] for at in kept if at in self.others[old]}
        self.leaves[name] = self.newest[name] = where
        self.current = name

    def restarted(self) -> None:
        """A new process: sessions from what is stored, each at its newest entry."""
        self.bench.restart()
        self.leaves = dict(self.newest)
        for name in [name for name in self.trees if self.newest[name] is None and name != self.current]:
            for kept in (self.trees, self.others, self.leaves, self.newest):
                del kept[name]  # a session without an entry was never stored

    # -- what must hold

    @invariant()
    def the_desk_stands_where_the_model_stands(self) -> None:
        note = self.note
        busy = self.open is not None
        assert self.bench.stand == (note.text, note.status, note.revision, self.granted, busy)
        assert self.bench.sessions.current.id == self.current
        assert len(self.bench.stage.questions) == int(busy)

    @invariant()
    def nothing_is_recorded_that_the_model_did_not_allow(self) -> None:
        """No change without a live grant or a live dialog; none by a dialog that was revoked or left."""
        assert self.bench.entries == self.records

    @invariant()
    def a_grant_covers_at_most_one_change(self) -> None:
        budget = 0
        for event in self.bench.stage.ledger:
            if isinstance(event, GrantGiven):
                budget = 1
            elif isinstance(event, StepTaken) and event.rule in ("review/S10", "review/S11"):
                budget -= 1
                assert budget == 0

    @invariant()
    def every_record_adds_one_to_the_revision_below_it(self) -> None:
        for name, tree in self.bench.sessions.trees.items():
            assert {entry.id: entry.data["revision"] for entry in tree.entries if entry.id in self.trees[name]} == {
                at: change.revision for at, change in self.trees[name].items()
            }

    @invariant()
    def the_text_changes_only_through_S2_and_S10(self) -> None:  # noqa: N802 - the rows of the specification
        events = list(self.bench.stage.ledger)
        for event, step in pairwise(events):
            if isinstance(event, NoteRecorded):
                assert isinstance(step, StepTaken)
                assert not event.text_changed or step.rule in ("review/S2", "review/S10")


class DeskMachineOverRpc(DeskMachine):
    mode = Mode.RPC


def runs(examples: int) -> settings:
    return settings(
        derandomize=True,
        max_examples=examples,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


DeskMachine.TestCase.settings = runs(200)
DeskMachineOverRpc.TestCase.settings = runs(80)
TestTheDeskUnderAnySequence = DeskMachine.TestCase
TestTheDeskUnderAnySequenceOverRpc = DeskMachineOverRpc.TestCase
