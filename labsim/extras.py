"""What an instructor adds to the engine, by name: approval rules, handlers, tools, kinds of scenario.

A chapter's `engine.py` has one function, `register(kit)`, and that is all of it that is called:

    def register(kit):
        kit.approval_rule("after-dusk", after_dusk)     # {"approval": {"fn": "my-desk/after-dusk"}}
        kit.handler("keeps-private", keeps_private)     # {"handlers": [{"fn": "my-desk/keeps-private"}]}
        kit.tool("label_printer", approval="write")     # {"tool": "my-desk/label_printer"}
        kit.scenario("queue", Queue, play_queue)        # {"scenario": "my-desk/queue"}

A case names; code registers; a case never brings code. Every name is the chapter's id and a name of its own, so no
chapter can change what another chapter's cases, or the built-in words, mean. There is one table in a process, as
there is one of codecs; what a chapter registers again takes the place of what it registered before.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET, Struct

from labsim.errors import LabsimError

#: Takes the arguments of a call; gives back a tier, a decision, or nothing, as a tool's own declaration would.
ApprovalRule: TypeAlias = Callable[[Any], Any]
#: Takes the event and its context, as `labsim.call.handlers` describes them; may be `async`.
Handler: TypeAlias = Callable[[Any, Any], Any]
#: Takes what is given and the host (`labsim.play.own_kind.Host`); gives back further observed fields, or None.
Play: TypeAlias = Callable[[Any, Any], Awaitable[dict[str, Any] | None]]

_NAME: Final = r"[a-z0-9]+([-_][a-z0-9]+)*"


class BadExtra(LabsimError):
    """Something cannot be registered. Attribute: `name`."""

    def __init__(self, name: str, problem: str, remedy: str) -> None:
        self.name = name
        super().__init__(f"{name}: {problem}. {remedy}")


class Given(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What a case of one's own kind is given: derive from it, and add fields. `choices` answer dialogs, in order.

    `ui` as in other cases: false where nobody can be asked, "rpc" where a client is.
    """

    ui: bool | Literal["rpc"] = True
    choices: list[Any] = []


class OwnTool(Struct, frozen=True, kw_only=True):
    """A tool that cases can name. The host knows it by `name`, without the chapter's id.

    `runs` takes a copy of the input and gives back the text of the result; None for an inert result.
    """

    name: str
    approval: Any = UNSET
    details: Callable[[Any], Any] | None = None
    runs: Callable[[Any], str] | None = None


class OwnScenario(Struct, frozen=True, kw_only=True):
    """A kind of scenario: the class of what its cases are given, and how they are played."""

    given: type[Given]
    play: Play


APPROVAL_RULES: Final[dict[str, ApprovalRule]] = {}
HANDLERS: Final[dict[str, Handler]] = {}
TOOLS: Final[dict[str, OwnTool]] = {}
SCENARIOS: Final[dict[str, OwnScenario]] = {}


class Kit:
    """What `register` is handed: registers under the chapter's id, each name once for each kind."""

    def __init__(self, chapter: str) -> None:
        """Forgets what the chapter registered before."""
        self.chapter = chapter
        for table in (APPROVAL_RULES, HANDLERS, TOOLS, SCENARIOS):
            for name in [name for name in table if name.startswith(f"{chapter}/")]:
                del table[name]

    def approval_rule(self, name: str, rule: ApprovalRule) -> None:
        """A function of a call's arguments, to stand as a tool's declaration. Raises: BadExtra."""
        self._add(APPROVAL_RULES, name, _callable(name, rule))

    def handler(self, name: str, handler: Handler) -> None:
        """A `tool_call` handler. Raises: BadExtra."""
        self._add(HANDLERS, name, _callable(name, handler))

    def tool(
        self,
        name: str,
        *,
        approval: Any = UNSET,
        details: Callable[[Any], Any] | None = None,
        runs: Callable[[Any], str] | None = None,
    ) -> None:
        """A tool with its declaration, for the scenario `wrapper`.

        A case may still give another `approval`. `details`: the lines of a prompt, by the arguments. `runs`: the
        text of the result, by the input; it has no effect outside, and neither has any tool here. Raises: BadExtra.
        """
        self._add(TOOLS, name, OwnTool(name=name, approval=approval, details=details, runs=runs))

    def scenario(self, name: str, given: type[Given], play: Play) -> None:
        """A kind of scenario. Raises: BadExtra."""
        if not (isinstance(given, type) and issubclass(given, Given)):
            raise BadExtra(name, f"{given!r} says nothing of a case", "Derive a class from labsim.api.Given.")
        self._add(SCENARIOS, name, OwnScenario(given=given, play=_callable(name, play)))

    def _add(self, table: dict[str, Any], name: str, value: object) -> None:
        if not re.fullmatch(_NAME, name):
            raise BadExtra(name, "this is no name", "Use small letters, digits, and single - or _.")
        full = f"{self.chapter}/{name}"
        if full in table:
            raise BadExtra(name, "it is registered twice", "Give each a name of its own.")
        table[full] = value


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise BadExtra(name, f"{value!r} cannot be called", "Give a function.")
    return value
