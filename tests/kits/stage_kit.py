"""What the tests of the stage share: a diary of what happened when, and coroutines that write into it."""

from __future__ import annotations

from typing import Any

from labsim.stage.stage import Question, Stage
from labsim.terms import DialogKind


def a_question(stage: Stage, title: str = "Sure?") -> Question:
    return Question(id=stage.next_question_id(), kind=DialogKind.SELECT, title=title, options=("Approve", "Deny"))


class Diary:
    """What happened on a stage, with its time; coroutines write into it."""

    def __init__(self) -> None:
        self.stage = Stage()
        self.entries: list[tuple[int, str]] = []

    def note(self, text: str) -> None:
        self.entries.append((self.stage.now_ms, text))

    async def sleeper(self, name: str, *naps: int) -> str:
        for nap in naps:
            await self.stage.sleep(nap)
            self.note(name)
        return name

    async def asker(self, name: str) -> Any:
        answer = await self.stage.ask(a_question(self.stage, name))
        self.note(f"{name}: {answer}")
        return answer
