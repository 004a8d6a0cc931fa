"""One checkpoint put to a learner: choose, commit, and only then the reveal.

Above `checkpoints`, `reveal` and `progress`; below `chapters`. Whatever is asked of it, by a button, by code in a
cell or by the scripted learner, goes through the same three methods, and what is shown is worked out anew from the
store, so a restarted kernel or a second window cannot disagree with it. Before a commit nothing that it sends or
shows says which answer is right: the case is not even played.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct

from labsim.case import Case, find
from labsim.errors import LabsimError
from labsim.play import run
from labsim.report import Report
from labsim.show import visible
from workbook.checkpoint_file import Belief, Checkpoint, ChoiceCheckpoint, content
from workbook.checkpoints import Verdict, judge_options
from workbook.errors import WorkbookError
from workbook.learner import Learner
from workbook.page import Block, Fold, Heading, Items, Page, Paragraph, page
from workbook.progress import AlreadyCommitted, AnswerKind, Commit, Key, NotSaved, Progress
from workbook.reveal import reveal_choice, reveal_paper

if TYPE_CHECKING:
    from workbook.controls import CheckpointControl

HOW = {
    AnswerKind.CHOICE: "Choose an answer and commit it. The reveal comes after.",
    AnswerKind.TEXT: "Write your answer and commit it. The worked answer comes after.",
}


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


class NoAnswer(WorkbookError):
    """What was to be committed is no answer to this checkpoint; nothing was. Attribute: `found`."""

    def __init__(self, found: str, remedy: str) -> None:
        self.found = found
        super().__init__(f"{remedy} Nothing was committed.")


class AnsweredBySomebodyElse(WorkbookError):
    """The scripted learner met an answer that is not its own. Attribute: `commit`."""

    def __init__(self, commit: Commit) -> None:
        self.commit = commit
        super().__init__(
            f"{commit.key} is already answered with {commit.answer!r}, which is not the scripted answer. "
            "Give the scripted learner a folder of its own: set CEDAR_PROGRESS_DIR to an empty one."
        )


class CommitAnswer(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="commit"):
    """The Commit button: an option's id, or the text."""

    answer: str


class ShowHint(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="hint"):
    """The hint button."""


class ShowReveal(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="reveal"):
    """The reveal button."""


Message: TypeAlias = CommitAnswer | ShowHint | ShowReveal


class Prediction:
    """A checkpoint as one learner meets it. As the value of a cell it shows itself."""

    def __init__(self, lesson: Lesson, checkpoint: Checkpoint) -> None:
        """The scripted learner commits at once. Raises: AnsweredBySomebodyElse, ForeignFile, NotSaved."""
        self.lesson = lesson
        self.checkpoint = checkpoint
        self.kind = AnswerKind.CHOICE if isinstance(checkpoint, ChoiceCheckpoint) else AnswerKind.TEXT
        self.key = Key.of(lesson.chapter, checkpoint.id, content(checkpoint))
        self._lock = threading.RLock()  # buttons may be handled on another thread
        self._hints = 0
        self._said = ""
        self._revealed: Page | None = None
        self._control: CheckpointControl | None = None
        if lesson.learner is Learner.SCRIPTED:
            self._commit_as_scripted()

    # -- what a learner can do

    def commit(self, answer: str) -> Prediction:
        """Commit an option by its id, or a text, and lock it.

        Raises: NoAnswer; AlreadyCommitted; NotSaved or ForeignFile, if it cannot be kept.
        """
        with self._lock:
            self.lesson.progress.commit(self.key, self._checked(answer), kind=self.kind)
            self._said = ""
            self._publish()
        return self

    def hint(self) -> str:
        """The next hint; "" when there is none left."""
        with self._lock:
            hints = self.checkpoint.hints
            shown = hints[self._hints : self._hints + 1]
            self._hints += len(shown)
            self._publish()
        return "".join(shown)

    def reveal(self) -> Page:
        """What really happens, and why; without a commit only that one is needed. Raises: ForeignFile."""
        with self._lock:
            commit = self.committed
            if commit is None:
                return page(
                    Heading(text=f"Checkpoint {self.checkpoint.id}: {Verdict.NOT_ATTEMPTED}"),
                    Paragraph(
                        text="Nothing is shown before you have committed an answer. Commit first, then run "
                        "this cell again."
                    ),
                )
            shown = self._reveal_of(commit)
            try:
                self.lesson.progress.see_reveal(self.key)
            except NotSaved as error:  # the answer is safe, so nobody should have to wait for a full disk
                shown = page(*shown.blocks, Paragraph(lead="Not recorded:", text=str(error)))
            return shown

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
            self._revealed = None
            self._publish()
        return page(Paragraph(lead=f"Checkpoint {self.checkpoint.id}:", text=text))

    # -- how it stands

    @property
    def committed(self) -> Commit | None:
        """The commit that stands, read from the store. Raises: ForeignFile."""
        return self.lesson.progress.committed(self.key)

    @property
    def verdict(self) -> Verdict:
        """How the learner stands; right or not yet only once the reveal was seen, and never for a paper answer."""
        commit = self.committed
        if commit is None:
            return Verdict.NOT_ATTEMPTED
        if isinstance(self.checkpoint, ChoiceCheckpoint) and self.lesson.progress.revealed(self.key):
            return Verdict.RIGHT if self._is_right(self.checkpoint, commit) else Verdict.NOT_YET
        return Verdict.COMMITTED

    # -- what is shown

    def page(self) -> Page:
        """The checkpoint without any control: what can be read anywhere, and what the scripted learner shows."""
        commit = self.committed
        verdict = Verdict.COMMITTED if commit else Verdict.NOT_ATTEMPTED
        return page(
            Heading(text=f"Checkpoint {self.checkpoint.id}: {verdict}"),
            Paragraph(text=self.checkpoint.prompt),
            *self._answers(commit),
            *(
                Fold(title=f"Hint {number} of {len(self.checkpoint.hints)}", blocks=(Paragraph(text=hint),))
                for number, hint in enumerate(self.checkpoint.hints, start=1)
            ),
            Paragraph(text=self._how_to_go_on(commit)),
        )

    def receive(self, message: object) -> None:
        """What a button sent. Whatever goes wrong is said in the status; nothing is printed."""
        with self._lock:
            self._said = ""
            try:
                match msgspec.convert(message, Message):
                    case CommitAnswer(answer=answer):
                        self.commit(answer)
                    case ShowHint():
                        self.hint()
                    case ShowReveal():
                        self._revealed = self.reveal() if self.committed else None
            except AlreadyCommitted:
                self._said = "Already answered, here or in another window; that answer is locked."
            except (WorkbookError, LabsimError) as error:
                self._said = str(error)
            except msgspec.ValidationError:
                self._said = "The button sent something that cannot be understood. Nothing was changed."
            self._publish()

    def state(self) -> dict[str, Any]:
        """Everything that a control is told, by name; the leakage tests read this."""
        commit = self.committed
        choices = self.checkpoint.options if isinstance(self.checkpoint, ChoiceCheckpoint) else ()
        return {
            "title": f"Checkpoint {self.checkpoint.id}",
            "kind": str(self.kind),
            "prompt": visible(self.checkpoint.prompt),
            "options": [{"id": option.id, "text": visible(option.text)} for option in choices],
            "locked": commit is not None,
            "answer": "" if commit is None else commit.answer,
            "hints": list(map(visible, self.checkpoint.hints[: self._hints])),
            "hints_left": len(self.checkpoint.hints) - self._hints,
            "status": self._status(commit),
            "reveal": [] if self._revealed is None or commit is None else self._revealed.data(),
        }

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        static = self.page()._repr_mimebundle_()
        if self.lesson.learner is Learner.SCRIPTED:
            return static
        return {**self.widget.view(), **static}

    @property
    def widget(self) -> CheckpointControl:
        """The control of this checkpoint, an ipywidget."""
        from workbook.controls import CheckpointControl

        with self._lock:
            if self._control is None:
                self._control = CheckpointControl(self.receive, **self.state())
            return self._control

    # -- inside

    def _publish(self) -> None:
        if self._control is None:
            return
        try:
            self._control.update(self.state())
        except WorkbookError as error:  # the store cannot be read any more; raised here it would go nowhere
            self._control.update({"status": str(error)})

    def _checked(self, answer: str) -> str:
        if isinstance(self.checkpoint, ChoiceCheckpoint):
            if not answer:
                raise NoAnswer(answer, "Choose an answer first.")
            if self.checkpoint.option(answer) is None:
                ids = ", ".join(option.id for option in self.checkpoint.options)
                raise NoAnswer(answer, f"{answer!r} is no answer to this; use one of: {ids}.")
        elif not answer.strip():
            raise NoAnswer(answer, "Write your answer first.")
        return answer

    def _commit_as_scripted(self) -> None:
        commit = self.committed
        if commit is None:
            self.commit(self.checkpoint.scripted)
        elif commit.answer != self.checkpoint.scripted:
            raise AnsweredBySomebodyElse(commit)

    def _reveal_of(self, commit: Commit) -> Page:
        answer, lesson = str(commit.answer), self.lesson
        if isinstance(self.checkpoint, ChoiceCheckpoint):
            return reveal_choice(self.checkpoint, answer, lesson.play, lesson.beliefs)
        return reveal_paper(self.checkpoint, answer, lesson.play)

    def _is_right(self, checkpoint: ChoiceCheckpoint, commit: Commit) -> bool:
        judged = judge_options(checkpoint, self.lesson.play(checkpoint.case))
        return any(one.matches for one in judged if one.option.id == commit.answer)

    def _status(self, commit: Commit | None) -> str:
        if self._said:
            return self._said
        if commit is None:
            return f"Not attempted. {HOW[self.kind]}"
        if self._revealed is None:
            return "Committed. Your answer is locked."
        if isinstance(self.checkpoint, ChoiceCheckpoint):
            verdict = "Right." if self._is_right(self.checkpoint, commit) else "Not yet."
            return f"{verdict} The explanation of every answer is below."
        return "The worked answer is below, beside yours."

    def _answers(self, commit: Commit | None) -> tuple[Block, ...]:
        whose = "the scripted learner's answer" if self.lesson.learner is Learner.SCRIPTED else "your answer"
        if not isinstance(self.checkpoint, ChoiceCheckpoint):
            if commit is None:
                return (Paragraph(text="(no answer yet)"),)
            return (Paragraph(lead=f"{whose[0].upper()}{whose[1:]}, locked:", text=str(commit.answer)),)
        chosen = None if commit is None else commit.answer
        return (
            Items(
                items=tuple(
                    f"(x) {option.text} [{whose}, locked]" if option.id == chosen else f"( ) {option.text}"
                    for option in self.checkpoint.options
                )
            ),
        )

    def _how_to_go_on(self, commit: Commit | None) -> str:
        if commit is not None:
            return f"Next: desk.reveal({self.checkpoint.id!r})"
        if isinstance(self.checkpoint, ChoiceCheckpoint):
            answer = " or ".join(repr(option.id) for option in self.checkpoint.options)
        else:
            answer = "'your text'"
        return f"{HOW[self.kind]} Where there are no buttons: desk.predict({self.checkpoint.id!r}).commit({answer})"
