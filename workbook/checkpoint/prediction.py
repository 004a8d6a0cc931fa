"""One checkpoint put to a learner: choose, commit, and only then the reveal.

Whatever is asked of it, by a button, by code in a cell or by the scripted learner, goes through the same methods,
and what is shown is worked out anew from the store, so a restarted kernel or a second window cannot disagree with
it. Before a commit nothing that it sends or shows says which answer is right: the case is not even played.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from labsim.case.model import Case
from labsim.errors import LabsimError
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import find
from workbook.checkpoint.answer_forms import (
    HOW,
    NoAnswer,
    answer_blocks,
    checked,
    checked_confidence,
    checked_points,
    in_code,
    levels,
    said,
    sure_blocks,
)
from workbook.checkpoint.judging import is_right
from workbook.checkpoint.kinds import Belief, Checkpoint, PaperCheckpoint, Verdict, content, scripted_answer
from workbook.checkpoint.messages import (
    CommitAnswer,
    Message,
    NameRow,
    ShowHint,
    ShowReveal,
    SkipRow,
    TickPoints,
    View,
    VoteAgain,
    control_state,
)
from workbook.checkpoint.outcome import Outcome, outcome_of
from workbook.errors import WorkbookError
from workbook.learner.records import Revote
from workbook.learner.store import AlreadyCommitted, Commit, Key, NotSaved, Progress
from workbook.learner.who import Learner
from workbook.show.page import Fold, Heading, Page, Paragraph, page

if TYPE_CHECKING:
    from workbook.checkpoint.control import CheckpointControl


class Lesson(Struct, frozen=True, kw_only=True):
    """What the checkpoints of one chapter share."""

    chapter: str
    cases: Mapping[str, Case]
    beliefs: Mapping[str, Belief]
    progress: Progress
    learner: Learner

    def play(self, case_id: str) -> Report:
        """A case played to its end with its own answers. Raises: labsim.errors.UnknownCase."""
        return run(find(self.cases.values(), case_id))


class AnsweredBySomebodyElse(WorkbookError):
    """The scripted learner met an answer that is not its own. Attribute: `commit`."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        super().__init__(
            f"{commit.key} is already answered with {commit.answer!r}, which is not the scripted answer. "
            "Give the scripted learner a folder of its own: set CEDAR_PROGRESS_DIR to an empty one."
        )


class Asked(Struct, frozen=True, kw_only=True):
    """How a checkpoint is asked: under which key, and by which code. A later chapter may ask it again."""

    key: Key
    title: str
    predict: str  # code for a cell that shows it
    reveal: str  # code that shows its reveal
    which_row: str  # code that names row 1 as the one that differed


class Prediction:
    """A checkpoint as one learner meets it. As the value of a cell it shows itself."""

    def __init__(self, lesson: Lesson, checkpoint: Checkpoint, again: Asked | None = None) -> None:
        """`again`: if another chapter asks it. The scripted learner commits at once.

        Raises: AnsweredBySomebodyElse, ForeignFile, NotSaved.
        """
        asked = again or _asked_by_its_chapter(lesson, checkpoint)
        self.lesson = lesson
        self.checkpoint = checkpoint
        self.kind = checkpoint.answer_kind
        self.key = asked.key
        self._asked = asked
        self._lock = threading.RLock()  # buttons may be handled on another thread
        self._view = View()
        self._control: CheckpointControl | None = None
        if lesson.learner is Learner.SCRIPTED:
            self._commit_as_scripted()

    # -- what a learner can do

    def commit(self, answer: object, confidence: str | None = None) -> Prediction:
        """Commit an answer and lock it: an option's id, a text, a value for each field, or the steps in order.

        `confidence`: one of the four levels, or None for not saying. Raises: NoAnswer; AlreadyCommitted; NotSaved
        or ForeignFile, if it cannot be kept.
        """
        with self._lock:
            sure = checked_confidence(self.checkpoint, confidence)
            given = checked(self.checkpoint, answer)
            self.lesson.progress.commit(self.key, given, kind=self.kind, confidence=sure)
            self._view = View(hints=self._view.hints)
            self._publish()
        return self

    def vote_again(self, answer: object, confidence: str | None = None) -> Prediction:
        """Answer once more, between commit and reveal; kept beside the commit, which stays what counts.

        Raises: NotCommitted; RevealAlreadySeen; AlreadyCommitted, if it was done before; and as `commit`.
        """
        with self._lock:
            if isinstance(self.checkpoint, PaperCheckpoint):
                raise NoAnswer(answer, "A text is compared and not voted on, so there is no second vote.")
            sure = checked_confidence(self.checkpoint, confidence)
            given = checked(self.checkpoint, answer)
            self.lesson.progress.vote_again(self.key, given, kind=self.kind, confidence=sure)
            self._view = View(hints=self._view.hints)
            self._publish()
        return self

    def hint(self) -> str:
        """The next hint; "" when there is none left."""
        with self._lock:
            hints = self.checkpoint.hints
            shown = hints[self._view.hints : self._view.hints + 1]
            self._view = msgspec.structs.replace(self._view, hints=self._view.hints + len(shown))
            self._publish()
        return "".join(shown)

    def reveal(self) -> Page:
        """What really happens, and why; without a commit only that one is needed. Raises: ForeignFile."""
        with self._lock:
            if self.committed is None:
                return page(
                    Heading(text=f"{self._asked.title}: {Verdict.NOT_ATTEMPTED}"),
                    Paragraph(
                        text="Nothing is shown before you have committed an answer. Commit first, then run "
                        "this cell again."
                    ),
                )
            return self._see().page()

    def which_row(self, row: int | str | None) -> Page:
        """Name the row that differed from the prediction: its number, "none", or "never" if it never came.

        Checked against the ledger and kept; before the reveal it only says that the reveal comes first.
        Raises: NoSuchRow; NotSaved, ForeignFile.
        """
        with self._lock:
            heading = Heading(text=f"{self._asked.title}: which row differed?")
            outcome = self._outcome()
            if outcome is None or outcome.standing.reveal is None:
                return page(heading, Paragraph(text="Commit an answer and see its reveal first."))
            if outcome.question is None:
                return page(heading, Paragraph(text="No row of a ledger can tell here."))
            named = outcome.question.row(row)
            self.lesson.progress.name_row(self.key, named, held=outcome.question.held(named))
            self._publish()
            return page(heading, Paragraph(text=outcome.question.answer(named)))

    def self_check(self, points: Iterable[str]) -> Page:
        """Say which points of the worked answer one's own text had, by their ids; kept.

        Raises: NoAnswer; NotRevealed, before the reveal; NotSaved, ForeignFile.
        """
        with self._lock:
            ticked = checked_points(self.checkpoint, points)
            self.lesson.progress.self_check(self.key, ticked)
            self._publish()
            outcome = self._outcome()
        return page(*(() if outcome is None else outcome.points_said()))

    def reset(self, why: str = "") -> Page:
        """Hide the commit, so that another can be made; the store keeps both. Raises: NotSaved, ForeignFile."""
        with self._lock:
            if self.committed is None:
                text = "There is no commit to reset."
            else:
                self.lesson.progress.reset(self.key, why)
                text = (
                    "Your answer no longer counts. Run the cell with the checkpoint again to give another. The "
                    "reset is recorded, and the earlier answer stays in the file."
                )
            self._view = View(hints=self._view.hints)
            self._publish()
        return page(Paragraph(lead=f"{self._asked.title}:", text=text))

    # -- how it stands

    @property
    def committed(self) -> Commit | None:
        """The commit that stands, read from the store. Raises: ForeignFile."""
        return self.lesson.progress.committed(self.key)

    @property
    def verdict(self) -> Verdict:
        """How the learner stands; right or not yet only once the reveal was seen, and never for a paper answer."""
        stands = self.lesson.progress.standing(self.key)
        if stands.commit is None:
            return Verdict.NOT_ATTEMPTED
        if stands.reveal is None or isinstance(self.checkpoint, PaperCheckpoint):
            return Verdict.COMMITTED
        right = is_right(self.checkpoint, stands.commit.answer, self.lesson.play(self.checkpoint.case))
        return Verdict.RIGHT if right else Verdict.NOT_YET

    # -- what is shown

    def page(self) -> Page:
        """The checkpoint without any control: what can be read anywhere, and what the scripted learner shows."""
        stands = self.lesson.progress.standing(self.key)
        commit, revote = stands.commit, stands.revote
        verdict = Verdict.COMMITTED if commit else Verdict.NOT_ATTEMPTED
        return page(
            Heading(text=f"{self._asked.title}: {verdict}"),
            Paragraph(text=self.checkpoint.prompt),
            *answer_blocks(self.checkpoint, commit.answer if commit else None, self._whose),
            *sure_blocks(self.checkpoint, commit is not None, commit.confidence if commit else None),
            *self._second_vote(revote),
            *(
                Fold(title=f"Hint {number} of {len(self.checkpoint.hints)}", blocks=(Paragraph(text=hint),))
                for number, hint in enumerate(self.checkpoint.hints, start=1)
            ),
            Paragraph(text=self._how_to_go_on(commit)),
        )

    def receive(self, message: object) -> None:
        """What a button sent. Whatever goes wrong is said in the status; nothing is printed."""
        with self._lock:
            self._say("")
            try:
                self._answer_to(msgspec.convert(message, Message))
            except AlreadyCommitted:
                self._say("Already answered, here or in another window; that answer is locked.")
            except (WorkbookError, LabsimError) as error:
                self._say(str(error))
            except msgspec.ValidationError:
                self._say("The button sent something that cannot be understood. Nothing was changed.")
            self._publish()

    def state(self) -> dict[str, Any]:
        """Everything that a control is told, by name; the leakage tests read this."""
        stands = self.lesson.progress.standing(self.key)
        outcome = self._outcome() if self._view.revealed and stands.commit is not None else None
        return control_state(self.checkpoint, stands, outcome, self._view) | {"title": self._asked.title}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        static = self.page()._repr_mimebundle_()
        if self.lesson.learner is Learner.SCRIPTED:
            return static
        return {**self.widget.view(), **static}

    @property
    def widget(self) -> CheckpointControl:
        """The control of this checkpoint, an ipywidget."""
        from workbook.checkpoint.control import CheckpointControl

        with self._lock:
            if self._control is None:
                self._control = CheckpointControl(self.receive, **self.state())
            return self._control

    # -- inside

    def _answer_to(self, message: Message) -> None:
        replace = msgspec.structs.replace
        match message:
            case CommitAnswer(answer=answer, confidence=confidence):
                give = self.vote_again if self._view.voting else self.commit
                given = checked(self.checkpoint, answer)
                if levels(self.checkpoint) and not confidence:
                    raise NoAnswer(confidence, "Say how sure you are first.")
                give(given, confidence or None)
            case VoteAgain():
                open_ = self.committed is not None and not self._view.revealed
                self._view = replace(self._view, voting=open_)
            case ShowHint():
                self.hint()
            case ShowReveal():
                if self.committed is not None:
                    note = self._see().not_recorded
                    self._view = replace(self._view, voting=False, revealed=True, said=note)
            case NameRow(row=row):
                self.which_row(row)
            case SkipRow():
                self._view = replace(self._view, skipped=True)
            case TickPoints(points=points):
                self.self_check(points)

    def _say(self, said: str) -> None:
        self._view = msgspec.structs.replace(self._view, said=said)

    def _publish(self) -> None:
        if self._control is None:
            return
        try:
            self._control.update(self.state())
        except (WorkbookError, LabsimError) as error:  # raised here it would go nowhere
            self._control.update({"status": str(error)})

    def _outcome(self) -> Outcome | None:
        """What the case shows of the answer that stands; None while there is none."""
        stands = self.lesson.progress.standing(self.key)
        if stands.commit is None:
            return None
        lesson = self.lesson
        return outcome_of(
            self.checkpoint,
            stands,
            lesson.play,
            lesson.beliefs,
            private=lesson.learner is Learner.LIVE,
            in_code=self._asked.which_row,
        )

    def _see(self) -> Outcome:
        """The reveal, recorded as seen; for an answer that stands."""
        note = ""
        try:
            self.lesson.progress.see_reveal(self.key)
        except NotSaved as error:  # the answer is safe, so nobody should have to wait for a full disk
            note = str(error)
        outcome = self._outcome()
        if outcome is None:
            raise NoAnswer(None, "Another window took the answer back.")
        return msgspec.structs.replace(outcome, not_recorded=note)

    def _commit_as_scripted(self) -> None:
        commit, scripted = self.committed, scripted_answer(self.checkpoint)
        if commit is None:
            self.commit(scripted, self.checkpoint.scripted_confidence)
        elif commit.answer != scripted:
            raise AnsweredBySomebodyElse(commit)

    @property
    def _whose(self) -> str:
        return "the scripted learner's answer" if self.lesson.learner is Learner.SCRIPTED else "your answer"

    def _second_vote(self, revote: Revote | None) -> tuple[Paragraph, ...]:
        return (
            () if revote is None else (Paragraph(lead="Voted again:", text=said(self.checkpoint, revote.answer)),)
        )

    def _how_to_go_on(self, commit: Commit | None) -> str:
        if commit is not None:
            return f"Next: {self._asked.reveal}"
        code = f"{self._asked.predict}.commit({in_code(self.checkpoint)})"
        return f"{HOW[self.kind]} Where there are no buttons: {code}"


def _asked_by_its_chapter(lesson: Lesson, checkpoint: Checkpoint) -> Asked:
    name = repr(checkpoint.id)
    return Asked(
        key=Key.of(lesson.chapter, checkpoint.id, content(checkpoint)),
        title=f"Checkpoint {checkpoint.id}",
        predict=f"desk.predict({name})",
        reveal=f"desk.reveal({name})",
        which_row=f"desk.which_row({name}, 1)",
    )
