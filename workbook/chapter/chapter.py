"""A chapter as a notebook uses it: its cases to play, its checkpoints to answer, one learner's progress.

A chapter is a set of data files (`ChapterFiles`), which `catalogue` finds; nothing else in the workbook has to
know where a chapter came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from labsim.case.model import Case, GateCase
from labsim.errors import did_you_mean
from labsim.js_values import stringify
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.reading.reading import find
from workbook.chapter.catalogue import UnknownChapter
from workbook.chapter.contents import read_contents
from workbook.chapter.engine import load_engine
from workbook.chapter.file import ChapterFiles
from workbook.checkpoint.file import Belief, Checkpoint, PaperCheckpoint, content
from workbook.checkpoint.prediction import Lesson, Prediction
from workbook.errors import WorkbookError
from workbook.exercise.file import Exercise
from workbook.learner.store import Key, Progress
from workbook.learner.who import Learner
from workbook.ledgers.grid import ledger_grid
from workbook.ledgers.played import placed
from workbook.ledgers.withheld import Withheld
from workbook.live.cells import Cells
from workbook.live.play import LivePlay
from workbook.show.grid import Grid
from workbook.show.page import Heading, Literal, Page, Paragraph, Table, page

if TYPE_CHECKING:
    # All three bring a whole host along, so they are loaded where something is done with them.
    from workbook.grading.grade import Graded
    from workbook.live.acp_play import AcpPlay
    from workbook.live.rule_file import RuleFile

CHECKPOINTS: Final = "checkpoints"
EXERCISES: Final = "exercises"
BELIEFS: Final = "beliefs.json"
_CELLS: Final = Cells()


class UnknownCheckpoint(WorkbookError):
    """The chapter has no checkpoint of that id. Attributes: `checkpoint_id`, `known`."""

    def __init__(self, chapter_id: str, checkpoint_id: str, known: tuple[str, ...]) -> None:
        self.checkpoint_id = checkpoint_id
        self.known = known
        hint = did_you_mean(checkpoint_id, known, f"There are: {', '.join(known) or 'none'}.")
        super().__init__(f"{chapter_id} has no checkpoint {checkpoint_id!r}. {hint}")


class UnknownExercise(WorkbookError):
    """The chapter has no exercise of that id. Attributes: `exercise_id`, `known`."""

    def __init__(self, chapter_id: str, exercise_id: str, known: tuple[str, ...]) -> None:
        self.exercise_id = exercise_id
        self.known = known
        hint = did_you_mean(exercise_id, known, f"There are: {', '.join(known) or 'none'}.")
        super().__init__(f"{chapter_id} has no exercise {exercise_id!r}. {hint}")


class NothingComesBack(WorkbookError):
    """The chapter was opened without the questions of others. Attribute: `chapter_id`."""

    def __init__(self, chapter_id: str) -> None:
        self.chapter_id = chapter_id
        super().__init__(
            f"{chapter_id} was opened by itself, so nothing comes back in it. Use wb.open({chapter_id!r})."
        )


class NotOfTheSecondHost(WorkbookError):
    """A case has no gate with remembered rules and an approver that could be a client. Attribute: `case_id`."""

    def __init__(self, case: Case) -> None:
        self.case_id = case.id
        super().__init__(
            f"{case.id} is of scenario {case.scenario}. Only a case of scenario gate can be played so."
        )


class Recalls(Protocol):
    """The questions of other chapters that come back in this one."""

    def ask(self, number: int) -> Prediction:
        """The one of that number, to be answered."""
        ...


class NoClaims(WorkbookError):
    """The chapter makes no claim that it does not run."""

    def __init__(self, chapter_id: str) -> None:
        super().__init__(f"{chapter_id} claims nothing that it does not run: its files have no sourceOnly entries.")


def chapter_files(folder: Path, chapter_id: str) -> ChapterFiles:
    """A chapter in a folder laid out as `fixtures/`, which needs no `chapter.toml`.

    `ID.json` and `ID-more.json` hold cases, `checkpoints/ID.json` checkpoints, `checkpoints/beliefs.json` beliefs,
    `exercises/ID.json` exercises. Raises: UnknownChapter.
    """
    cases = tuple(
        path for name in (chapter_id, f"{chapter_id}-more") if (path := folder / f"{name}.json").is_file()
    )
    if not cases:
        raise UnknownChapter(chapter_id, chapter_ids(folder))
    checkpoints, beliefs = folder / CHECKPOINTS / f"{chapter_id}.json", folder / CHECKPOINTS / BELIEFS
    exercises = folder / EXERCISES / f"{chapter_id}.json"
    return ChapterFiles(
        id=chapter_id,
        cases=cases,
        checkpoints=checkpoints if checkpoints.is_file() else None,
        beliefs=(beliefs,) if beliefs.is_file() else (),
        exercises=exercises if exercises.is_file() else None,
    )


def chapter_ids(folder: Path) -> tuple[str, ...]:
    """The ids of the chapters in a folder laid out as `fixtures/`, in the order of their names."""
    names = sorted(path.stem for path in folder.glob("*.json"))
    return tuple(name for name in names if not name.endswith("-more"))


class Chapter:
    """One chapter, open: what a notebook calls a desk."""

    def __init__(
        self,
        files: ChapterFiles,
        *,
        learner: Learner,
        progress: Progress,
        cells: Cells = _CELLS,
        recalls: Callable[[Lesson], Recalls] | None = None,
    ) -> None:
        """Runs the chapter's `engine.py`, if it has one, and reads all of its files.

        `recalls`: who knows which questions of other chapters come back here; without it none does.
        Raises: labsim.errors.CaseError, with the place; workbook.chapter.engine.EngineFailed.
        """
        self.id = files.id
        load_engine(files.id, files.engine)
        read = read_contents(files)
        self._given = read.given
        self._claims = read.claims
        self._lesson = Lesson(
            chapter=files.id, cases=read.cases, beliefs=read.beliefs, progress=progress, learner=learner
        )
        self._checkpoints = read.checkpoints
        self._exercises = read.exercises
        self._cells = cells
        self._recalls = None if recalls is None else recalls(self._lesson)

    # -- cases

    @property
    def cases(self) -> tuple[str, ...]:
        """The ids of its cases, in the order of the files."""
        return tuple(self._lesson.cases)

    @property
    def case_records(self) -> tuple[Case, ...]:
        """The cases themselves, with what they expect and why: for checks, not for a page."""
        return tuple(self._lesson.cases.values())

    def case(self, case_id: str) -> Page:
        """A case as it is given, without its title, what it expects, and why: any of them may give an answer away.

        Raises: labsim.errors.UnknownCase.
        """
        return self._as_given(f"Case {case_id}", case_id)

    def given(self, checkpoint_id: str) -> Page:
        """The case that a checkpoint asks about, as it is given and under no name of its own: many names tell.

        Raises: UnknownCheckpoint.
        """
        return self._as_given(f"The case of {checkpoint_id}", self._checkpoint(checkpoint_id).case)

    def _as_given(self, heading: str, case_id: str) -> Page:
        case = find(self._lesson.cases.values(), case_id)
        given = json.dumps(self._given[case_id], indent=2, ensure_ascii=False)
        return page(Heading(text=heading), Literal(label=f"Given, for the scenario {case.scenario}", text=given))

    def play(self, case_id: str, *, rules: RuleFile | None = None) -> PlayedReport | Withheld:
        """A case played to its end with its own answers; withheld while a checkpoint about it is not answered.

        `rules`: a file that a case of the second host remembers in, opened anew (`workbook.rule_file`); without one
        what is remembered is gone at the end. Raises: labsim.errors.UnknownCase; NotOfTheSecondHost.
        """
        case = find(self._lesson.cases.values(), case_id)
        if held := self._unanswered(case_id):
            return Withheld(held)
        if rules is None:
            report = run(case)
        else:
            from labsim.play.gate import play_against

            report = play_against(_of_the_second_host(case), rules.store())
        return PlayedReport(**{name: getattr(report, name) for name in report.__struct_fields__})

    def live(self, case_id: str) -> LivePlay | Withheld:
        """A case whose dialogs somebody answers, now or later; withheld as by `play`.

        Raises: labsim.errors.UnknownCase.
        """
        case = find(self._lesson.cases.values(), case_id)
        if held := self._unanswered(case_id):
            return Withheld(held)
        made = LivePlay(case, self._lesson.learner)
        self._cells.made(made)
        return made

    def play_over_acp(self, case_id: str, answers: Sequence[str], *, mode: str | None = None) -> AcpPlay | Withheld:
        """A case of the second host whose questions a client in a process of its own answers, over the Agent Client
        Protocol; withheld as by `play`.

        `answers` and `mode` are as in `workbook.live.acp_play.play_over_acp`.
        Raises: labsim.errors.UnknownCase; NotOfTheSecondHost; workbook.live.acp_play.ClientFailed.
        """
        case = _of_the_second_host(find(self._lesson.cases.values(), case_id))
        if held := self._unanswered(case_id):
            return Withheld(held)
        from workbook.live.acp_play import play_over_acp

        return play_over_acp(case, answers, mode=mode)

    def recorded(self, recorded_id: str) -> Any:
        """A recorded answer of the real program beside the engine's (`workbook.tables.fidelity.recorded`).

        Withheld while a checkpoint is not answered whose case shows the same. Raises: NotRecorded.
        """
        from workbook.tables.fidelity import recorded

        same = [case.id for case in self._lesson.cases.values() if recorded_id in case.recorded]
        if held := [name for case_id in same for name in self._unanswered(case_id)]:
            return Withheld(held)
        return recorded(recorded_id)

    def unanswered(self, case_ids: Iterable[str]) -> tuple[str, ...]:
        """The checkpoints about any of these cases, paper ones included, that the learner has not committed."""
        asked, committed = frozenset(case_ids), self._lesson.progress.committed
        return tuple(
            checkpoint.id
            for checkpoint in self._checkpoints.values()
            if checkpoint.case in asked and committed(Key.of(self.id, checkpoint.id, content(checkpoint))) is None
        )

    def _unanswered(self, case_id: str) -> list[str]:
        """The checkpoints that this case answers and the learner has not; a paper one is a recap."""
        found = self.unanswered((case_id,))
        return [name for name in found if not isinstance(self._checkpoints[name], PaperCheckpoint)]

    def rules_of_open_questions(self) -> frozenset[str]:
        """The rules that decide a case which a checkpoint asks about and the learner has not answered.

        Also those that an answered one has met, of which it has explained a part. A paper checkpoint is a recap,
        and turns on none.
        """
        cases = {each.id: each.case for each in self._checkpoints.values() if not isinstance(each, PaperCheckpoint)}
        still_open = [cases[name] for name in self.unanswered(cases.values()) if name in cases]
        return frozenset(rule for case_id in still_open for rule in self._lesson.cases[case_id].rules)

    def claims(self) -> Page:
        """What the host's source says and no case here runs, each with what was not executed.

        Raises: NoClaims, for a chapter that makes none.
        """
        if not self._claims:
            raise NoClaims(self.id)
        rows = tuple((claim.id, claim.claim, claim.not_executed, ", ".join(claim.rules)) for claim in self._claims)
        columns = ("claim", "what the source says", "not executed", "rules")
        return page(
            Paragraph(
                lead="Claims, not runs.", text="These were read in the host's source. No case here plays them."
            ),
            Table(grid=Grid(caption=f"Claims of {self.id}", columns=columns, rows=rows)),
        )

    # -- checkpoints

    @property
    def checkpoints(self) -> tuple[str, ...]:
        """The ids of its checkpoints, in the order in which they are met."""
        return tuple(self._checkpoints)

    @property
    def checkpoint_records(self) -> tuple[Checkpoint, ...]:
        """The checkpoints themselves, in the same order: for checks and for looking at answers, not for a page."""
        return tuple(self._checkpoints.values())

    @property
    def belief_records(self) -> tuple[Belief, ...]:
        """Every belief that its checkpoints may name, the built-in ones included: for checks, not for a page."""
        return tuple(self._lesson.beliefs.values())

    @property
    def lesson(self) -> Lesson:
        """What its checkpoints share: cases to play, beliefs, whose answers count."""
        return self._lesson

    def predict(self, checkpoint_id: str) -> Prediction:
        """The checkpoint, to be answered. Raises: UnknownCheckpoint."""
        return Prediction(self._lesson, self._checkpoint(checkpoint_id))

    def reveal(self, checkpoint_id: str) -> Page:
        """What really happens, and why, once an answer is committed. Raises: UnknownCheckpoint."""
        return self.predict(checkpoint_id).reveal()

    def vote_again(self, checkpoint_id: str, answer: object, confidence: str | None = None) -> Prediction:
        """Answer a second time, after talking it over and before the reveal; the first answer is what counts.

        Raises: UnknownCheckpoint; NotCommitted; RevealAlreadySeen; AlreadyCommitted; NoAnswer.
        """
        return self.predict(checkpoint_id).vote_again(answer, confidence)

    def which_row(self, checkpoint_id: str, row: int | str | None) -> Page:
        """Name the row of the ledger that differed from what was predicted, "none", or "never" if it never came.

        Raises: UnknownCheckpoint; NoSuchRow.
        """
        return self.predict(checkpoint_id).which_row(row)

    def self_check(self, checkpoint_id: str, points: Iterable[str]) -> Page:
        """Say which points of a worked answer one's own text had.

        Raises: UnknownCheckpoint; NoAnswer; NotRevealed.
        """
        return self.predict(checkpoint_id).self_check(points)

    def reset(self, checkpoint_id: str, why: str = "") -> Page:
        """Take a commit back, on the record. Raises: UnknownCheckpoint; NotSaved."""
        return self.predict(checkpoint_id).reset(why)

    def recall(self, number: int) -> Prediction:
        """A question of an earlier chapter that comes back here, number 1 or 2, to be answered.

        Raises: workbook.progress.recall.NothingToRecall; ForeignFile.
        """
        if self._recalls is None:
            raise NothingComesBack(self.id)
        return self._recalls.ask(number)

    def recall_reveal(self, number: int) -> Page:
        """What really happens there, and why, once its answer is committed. Raises: as `recall`."""
        return self.recall(number).reveal()

    def standing(self) -> Page:
        """How the learner stands with each checkpoint, in words."""
        rows = tuple((name, str(self.predict(name).verdict)) for name in self._checkpoints)
        grid = Grid(caption=f"Checkpoints of {self.id}", columns=("checkpoint", "how it stands"), rows=rows)
        return page(Table(grid=grid))

    # -- exercises

    @property
    def exercises(self) -> tuple[str, ...]:
        """The ids of its exercises, in the order in which they are met."""
        return tuple(self._exercises)

    def exercise(self, exercise_id: str) -> Page:
        """What is to be written, and how to hand it in. Raises: UnknownExercise."""
        from workbook.grading.grade import task

        return task(self._exercise(exercise_id))

    def grade(self, exercise_id: str, handed_in: object, *, keep: bool = True) -> Graded:
        """What a learner wrote, tried in the exercise's hidden situations; their code's failures are told, not
        raised. `keep`: whether how it did is kept, which is not wanted of an example that everybody is shown.

        Raises: UnknownExercise.
        """
        from workbook.grading.grade import graded_and_kept

        progress = self._lesson.progress if keep else None
        return graded_and_kept(self.id, self._exercise(exercise_id), handed_in, progress)

    def __repr__(self) -> str:
        return f"<Chapter {self.id}: {len(self.cases)} cases, {len(self.checkpoints)} checkpoints>"

    # -- inside

    def _checkpoint(self, checkpoint_id: str) -> Checkpoint:
        if checkpoint_id not in self._checkpoints:
            raise UnknownCheckpoint(self.id, checkpoint_id, self.checkpoints)
        return self._checkpoints[checkpoint_id]

    def _exercise(self, exercise_id: str) -> Exercise:
        if exercise_id not in self._exercises:
            raise UnknownExercise(self.id, exercise_id, self.exercises)
        return self._exercises[exercise_id]


def _of_the_second_host(case: Case) -> GateCase:
    if not isinstance(case, GateCase):
        raise NotOfTheSecondHost(case)
    return case


class PlayedReport(Report, frozen=True, kw_only=True):
    """A report that shows itself as the value of a cell: its ledger and what was observed, not what it expects."""

    def page(self) -> Page:
        ledger = ledger_grid(f"Ledger of {self.case.id}", placed(self))
        seen = [(name, value) for name, value in self.observed.items() if name != "promptTexts"]
        rows = tuple((name, value if isinstance(value, str) else stringify(value)) for name, value in seen)
        observed = Grid(caption=f"Observed in {self.case.id}", columns=("field", "observed"), rows=rows)
        return page(*(Table(grid=grid) for grid in (ledger, observed) if grid.rows))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self.page()._repr_mimebundle_()
