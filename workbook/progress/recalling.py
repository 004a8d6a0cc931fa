"""The questions that come back, as a learner meets them at the beginning of a chapter.

Above `recall`, which chooses them, `bank` and `prediction`; below `chapters`. A question that comes back is asked
as in its own chapter, judged by the same run and explained by the same reveal. Its answer is kept under a key of
its own, so neither of the two locks the other.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from workbook.checkpoint.kinds import Checkpoint
from workbook.checkpoint.prediction import Asked, Lesson, Prediction
from workbook.learner.who import Learner
from workbook.progress.installed import installed, lesson_of
from workbook.progress.questions import Bank, Item, recall_key
from workbook.progress.recall import NothingToRecall, recalled, scripted_records

LessonOf = Callable[[str], Lesson]  # what the checkpoints of the chapter of that id share


class Recalls:
    """What comes back in one open chapter, for whoever learns there."""

    def __init__(self, asking: Lesson, bank: Bank, lessons: LessonOf) -> None:
        """`asking`: of the chapter that asks. `bank`: the questions of all chapters. `lessons`: of the others."""
        self._asking = asking
        self._bank = bank
        self._lessons = lessons

    def ask(self, number: int) -> Prediction:
        """The question that comes back as number 1 or 2, to be answered.

        Raises: NothingToRecall; ForeignFile; what opening its chapter raises.
        """
        asking, scripted = self._asking, self._asking.learner is Learner.SCRIPTED
        records = scripted_records(self._bank, asking.chapter) if scripted else asking.progress.records()
        items = recalled(records, self._bank, asking.chapter)
        if number not in range(1, len(items) + 1):
            raise NothingToRecall(asking.chapter, number, len(items))
        item = items[number - 1]
        lesson = replace(self._lessons(item.key.chapter), progress=asking.progress, learner=asking.learner)
        return Prediction(lesson, _remembered(item), _asked(asking.chapter, item, number))


def recalls_in(asking: Lesson) -> Recalls:
    """What comes back in a chapter, of all that are installed where its learner's answers are kept."""
    here = asking.progress.folder
    return Recalls(asking, installed(here), lambda chapter_id: lesson_of(chapter_id, here))


def _asked(chapter: str, item: Item, number: int) -> Asked:
    return Asked(
        key=recall_key(chapter, item),
        title=f"Recall {number}: {item.key.checkpoint}, from {item.key.chapter}",
        predict=f"desk.recall({number})",
        reveal=f"desk.recall_reveal({number})",
        which_row=f"desk.recall({number}).which_row(1)",
    )


def _remembered(item: Item) -> Checkpoint:
    """The checkpoint with the right answer as the scripted learner's: it has seen the reveal, and remembers."""
    right = item.right_answer
    return item.checkpoint if right is None else replace(item.checkpoint, scripted=right)
