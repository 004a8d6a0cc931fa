"""What learners hand in for the desk of their own: submissions known to be right, and known to be wrong, each with
the situation in which it shows.

Written as learners write: plain functions and dictionaries. `test_own_desk` tries every one of them.
"""

from __future__ import annotations

from typing import Any, Final

# ------------------------------------------------------------------------------------------------------- settings

MODE, POLICIES = "tools.approvalMode", "tools.approval"
GOOD: Final = {"mail_list": "deny", "mcp__almanac__look": "allow", "clear_bed": "prompt"}


def settings(mode: Any = "write", **policies: Any) -> dict[str, Any]:
    """The right ones, with some policies changed; None takes one out."""
    return {
        MODE: mode,
        POLICIES: {name: policy for name, policy in (GOOD | policies).items() if policy is not None},
    }


GOOD_SETTINGS: Final[dict[str, Any]] = {
    "as the owner wants": settings(),
    "in capitals and with blanks, as the host tolerates it": settings(mail_list=" DENY ", clear_bed="Prompt"),
    "a deny under the new name as well": settings(post_list="deny"),
    "an allow for looking that changes nothing": settings(shelf_list="allow"),
    "a word for a tool that is nowhere": settings(old_plugin="no"),
}

#: By what is wrong with them: the settings, and the first situation or sweep that does not hold.
BAD_SETTINGS: Final[dict[str, tuple[Any, str]]] = {
    "ask about everything": (settings("always-ask"), "settings-putting-aside"),
    "ask about nothing": (settings("yolo"), "settings-reaches-further"),
    "a mode with a typing mistake opens everything": (settings("wirte"), "settings-reaches-further"),
    "a mode in capitals is none": (settings("WRITE"), "settings-reaches-further"),
    "no mode is yolo": ({POLICIES: GOOD}, "settings-reaches-further"),
    "no policies": ({MODE: "write"}, "settings-almanac"),
    "policies in a list are none": ({MODE: "write", POLICIES: ["mail_list"]}, "settings-almanac"),
    "the almanac is asked about": (settings(mcp__almanac__look=None), "settings-almanac"),
    "a policy for the beginning of a name": (
        settings(mcp__almanac__look=None, mcp__almanac="allow"),
        "settings-almanac",
    ),
    "every tool of the weather server is let through": (
        settings(mcp__weather__look="allow"),
        "settings-connected-later",
    ),
    "the list is asked about": (settings(mail_list="prompt"), "settings-list"),
    "a word that is no policy is passed over": (settings(mail_list="never"), "settings-list"),
    "the bed is left to its override": (settings(clear_bed=None), "settings-bed-auto"),
    "the bed is denied": (settings(clear_bed="deny"), "settings-bed"),
    "the new name is allowed before the old one's deny is found": (settings(post_list="allow"), "settings-renamed"),
    "another tool of the almanac is let through, which no written situation asks": (
        settings(mcp__almanac__write="allow"),
        "settings-every-answer",
    ),
}

# -------------------------------------------------------------------------------------------------------- handlers

MONDAY: Final = "nothing is published before Monday"


def handler(event, context):  # type: ignore[no-untyped-def]  # as a learner writes it
    given = event.input
    if event.tool_name != "seed_note" or not isinstance(given, dict):
        return None
    if given.get("action") == "publish":
        return {"block": True, "reason": MONDAY}
    count = given.get("count")
    if given.get("action") == "reserve" and isinstance(count, int | float) and count > 3:
        return {"input": {**given, "count": 3}}
    return None


async def handler_async(event, context):  # type: ignore[no-untyped-def]
    await context.sleep(29_000)  # it may think, as long as its budget lasts
    return handler(event, context)


def handler_with_a_default(event, context=None):  # type: ignore[no-untyped-def]
    return handler(event, context)


def keeps_copies(event, context):  # type: ignore[no-untyped-def]
    """It changes a copy in place and returns that."""
    given = dict(event.input) if isinstance(event.input, dict) else {}
    answer = handler(event, context)
    given["count"] = 3
    return {"input": given} if answer and "input" in answer else answer


def publishes(event, context):  # type: ignore[no-untyped-def]
    answer = handler(event, context)
    return None if answer and "block" in answer else answer


def blocks_in_silence(event, context):  # type: ignore[no-untyped-def]
    answer = handler(event, context)
    return {"block": True} if answer and "block" in answer else answer


def loses_the_note(event, context):  # type: ignore[no-untyped-def]
    answer = handler(event, context)
    return {"input": {"action": "reserve", "count": 3}} if answer and "input" in answer else answer


def cuts_looks_too(event, context):  # type: ignore[no-untyped-def]
    given = event.input
    if event.tool_name == "seed_note" and isinstance(given, dict) and given.get("action") == "inspect":
        return {"input": {**given, "count": min(given.get("count") or 0, 3)}}
    return handler(event, context)


def every_tool(event, context):  # type: ignore[no-untyped-def]
    if isinstance(event.input, dict) and event.input.get("action") == "publish":
        return {"block": True, "reason": MONDAY}
    return handler(event, context)


def blocks_what_is_odd(event, context):  # type: ignore[no-untyped-def]
    if not isinstance(event.input, dict):
        return {"block": True, "reason": "odd"}
    return handler(event, context)


def from_three_on(event, context):  # type: ignore[no-untyped-def]
    given = event.input
    if isinstance(given, dict) and given.get("count") == 3 and event.tool_name == "seed_note":
        return {"block": True, "reason": "too many"}
    return handler(event, context)


def publishes_in_capitals(event, context):  # type: ignore[no-untyped-def]
    """No written situation asks for it: a Publish is another action, and passes as it is."""
    given = event.input
    if event.tool_name == "seed_note" and isinstance(given, dict) and str(given.get("action")).lower() == "publish":
        return {"block": True, "reason": MONDAY}
    return handler(event, context)


def does_as_it_likes_with_nothing(event, context):  # type: ignore[no-untyped-def]
    """Nor for this: a count of nothing is made to be none."""
    if event.tool_name == "seed_note" and isinstance(event.input, dict) and event.input.get("count", 1) is None:
        return {"input": {}}
    return handler(event, context)


GOOD_HANDLERS: Final = (handler, handler_async, handler_with_a_default, keeps_copies)
BAD_HANDLERS: Final[dict[Any, str]] = {
    publishes: "handler-publish",
    blocks_in_silence: "handler-publish",
    loses_the_note: "handler-note-kept",
    cuts_looks_too: "handler-inspect",
    every_tool: "handler-other-tool",
    blocks_what_is_odd: "handler-no-object",
    from_three_on: "handler-three",
    publishes_in_capitals: "handler-every-input",
    does_as_it_likes_with_nothing: "handler-every-input",
}


def in_place(event, context):  # type: ignore[no-untyped-def]
    if isinstance(event.input, dict) and event.input.get("count") == 5:
        event.input["count"] = 3


def puts_another_in_its_place(event, context):  # type: ignore[no-untyped-def]
    event.input = {"action": "reserve", "count": 3}


def breaks_on_words(event, context):  # type: ignore[no-untyped-def]
    if event.tool_name == "seed_note" and event.input.get("action") == "publish":
        return {"block": True, "reason": MONDAY}
    if (
        event.tool_name == "seed_note"
        and event.input.get("action") == "reserve"
        and event.input.get("count", 0) > 3
    ):
        return {"input": {**event.input, "count": 3}}
    return None


def spins(event, context):  # type: ignore[no-untyped-def]
    while True:
        pass


async def waits_outside(event, context):  # type: ignore[no-untyped-def]
    import asyncio

    await asyncio.sleep(1)


def leaves(event, context):  # type: ignore[no-untyped-def]
    raise SystemExit


class NoWords(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raises_what_has_no_words(event, context):  # type: ignore[no-untyped-def]
    raise NoWords


#: By what is wrong: the handler, and what its author is told.
FAILING_HANDLERS: Final[dict[str, tuple[Any, str]]] = {
    "changes the event's input": (
        in_place,
        "It changed event.input itself, asked about seed_note with {'action': 'reserve', 'count': 3}: it was "
        "{'action': 'reserve', 'count': 5}, and is {'action': 'reserve', 'count': 3}. Leave the event alone",
    ),
    "puts another input into the event": (puts_another_in_its_place, "It changed event.input itself, asked about"),
    "raises on a word": (breaks_on_words, "It raised TypeError: '>' not supported between instances of 'str'"),
    "loops": (
        spins,
        "It never came to an answer, asked about seed_note with {'action': 'reserve', 'count': 5}: it was still",
    ),
    "waits outside": (waits_outside, "It waited for something outside the simulated host, asked about seed_note"),
    "exits": (leaves, "It raised SystemExit, at line "),
    "raises what has no words": (raises_what_has_no_words, "It raised NoWords, at line "),
    "returns a text": (lambda event, context: "block", "It returned 'block' about seed_note with"),
    "returns true": (lambda event, context: True, "It returned True about seed_note with"),
    "answers with a key of its own": (
        lambda event, context: {"blok": True},
        "It answered seed_note with {'action': 'reserve', 'count': 5} with a key 'blok'. Did you mean 'block'?",
    ),
    "returns what is no JSON": (
        lambda event, context: {"input": {"action": {1, 2}}},
        "It returned what JSON cannot hold, asked about seed_note with {'action': 'reserve', 'count': 5}: "
        "input.action: {1, 2} is nothing that JSON can hold.",
    ),
    "takes one argument": (lambda event: None, "Hand in a function of the event and its context; <lambda> takes 1"),
    "takes three arguments": (
        lambda event, context, more: None,
        "Hand in a function of the event and its context; <lambda> takes 3 arguments.",
    ),
    "is no function": (7, "Hand in a function of the event and its context; this is 7."),
}

# ------------------------------------------------------------------------------------------------------- approvers

EXACT: Final = 'Allow tool: seed_note\nInput: {"action":"reserve"}'
BUTTONS: Final = ("Approve", "Deny")


async def night_desk(question):  # type: ignore[no-untyped-def]
    if question.options != BUTTONS:
        return None
    if question.text == EXACT:
        return "Approve"
    if "Provider safety checks:" in question.text:
        return "Deny"
    reply = await question.person()
    return "Approve" if reply.says == "Approve" and reply.after_ms <= 60_000 else "Deny"


class NightDesk:
    """Made anew for each situation."""

    def __init__(self) -> None:
        self.asked = 0

    async def answer(self, question):  # type: ignore[no-untyped-def]
        self.asked += 1
        assert self.asked <= 2, "it was asked in another situation before"
        return await night_desk(question)


async def closes_instead(question):  # type: ignore[no-untyped-def]
    """To close a dialog is as good as Deny: nothing is no yes."""
    answer = await night_desk(question)
    return answer if answer == "Approve" else None


def never_wakes_anybody(question):  # type: ignore[no-untyped-def]
    return "Approve" if question.text == EXACT else "Deny"


def instead(change: Any) -> Any:
    """The right one, but where `change` has an answer of its own; it gets the question, and the reply or None."""

    async def answer(question):  # type: ignore[no-untyped-def]
        early = change(question, None)
        if early is not ...:
            return early
        if question.options != BUTTONS:
            return None
        if question.text == EXACT:
            return "Approve"
        if "Provider safety checks:" in question.text:
            return "Deny"
        reply = await question.person()
        late = change(question, reply)
        if late is not ...:
            return late
        return "Approve" if reply.says == "Approve" and reply.after_ms <= 60_000 else "Deny"

    return answer


class Remembering:
    def __init__(self) -> None:
        self.approved: set[str] = set()

    async def answer(self, question):  # type: ignore[no-untyped-def]
        if question.text in self.approved:
            return "Approve"
        answer = await night_desk(question)
        if answer == "Approve":
            self.approved.add(question.text)
        return answer


async def asks_until_it_is_a_yes(question):  # type: ignore[no-untyped-def]
    if question.options != BUTTONS or question.text == EXACT or "Provider" in question.text:
        return await night_desk(question)
    for _ in range(3):
        reply = await question.person()
        if reply.says == "Approve" and reply.after_ms <= 60_000:
            return "Approve"
    return "Deny"


def yes_if(test: Any) -> Any:
    return lambda question, reply: "Approve" if reply is not None and test(reply) else ...


GOOD_APPROVERS: Final = (night_desk, NightDesk, closes_instead)
#: By what is wrong: the approver, and the first situation or sweep that does not hold.
BAD_APPROVERS: Final[dict[str, tuple[Any, str]]] = {
    "says yes to everything": (lambda question: "Approve", "answers-five-hundred"),
    "says no to everything": (lambda question: "Deny", "answers-one-packet"),
    "wakes nobody": (never_wakes_anybody, "answers-in-time"),
    "compares a beginning": (
        instead(lambda question, reply: "Approve" if question.text.startswith(EXACT[:-1]) else ...),
        "answers-five-hundred",
    ),
    "looks for a part": (
        instead(lambda question, reply: "Approve" if EXACT in question.text else ...),
        "answers-words-of-a-tool",
    ),
    "compares an end": (
        instead(lambda question, reply: "Approve" if question.text.endswith(EXACT.splitlines()[1]) else ...),
        "answers-same-input",
    ),
    "passes a late yes on": (instead(yes_if(lambda reply: reply.says == "Approve")), "answers-late"),
    "puts the spelling right": (
        instead(yes_if(lambda reply: str(reply.says).lower() == "approve" and reply.after_ms <= 60_000)),
        "answers-spelling",
    ),
    "takes anything for a yes": (
        instead(yes_if(lambda reply: reply.says and reply.says != "Deny" and reply.after_ms <= 60_000)),
        "answers-spelling",
    ),
    "takes true for a yes": (
        instead(yes_if(lambda reply: reply.says is True)),
        "answers-true",
    ),
    "takes nothing for a yes": (instead(yes_if(lambda reply: reply.says is None)), "answers-closed"),
    "remembers": (Remembering, "answers-twice"),
    "asks until it is a yes": (asks_until_it_is_a_yes, "answers-asked-again"),
    "wakes somebody for a check, and passes the yes on": (
        instead(lambda question, reply: "Approve" if "Provider" in question.text else ...),
        "answers-checks",
    ),
    "answers whatever is asked": (
        instead(lambda question, reply: True if question.kind == "confirm" else ...),
        "answers-extension",
    ),
    "trims what is sent, which no written situation asks": (
        instead(
            yes_if(
                lambda reply: (
                    isinstance(reply.says, str) and reply.says.strip() == "Approve" and reply.after_ms <= 60_000
                )
            )
        ),
        "answers-every-reply",
    ),
    "is a millisecond too patient": (
        instead(yes_if(lambda reply: reply.says == "Approve" and reply.after_ms <= 60_001)),
        "answers-every-reply",
    ),
}


async def spins_for_ever(question):  # type: ignore[no-untyped-def]
    while True:
        await question.person()


class CannotBeMade:
    def __init__(self) -> None:
        raise ValueError("no beds")


class HasNoAnswer:
    pass


async def forgets_to_await(question):  # type: ignore[no-untyped-def]
    return question.person() if question.text != EXACT else "Approve"


async def uses_the_reply_at_once(question):  # type: ignore[no-untyped-def]
    return "Approve" if question.text == EXACT else question.person().says


#: By what is wrong: the approver, and what its author is told.
FAILING_APPROVERS: Final[dict[str, tuple[Any, str]]] = {
    "returns true": (
        lambda question: True,
        'It returned True to “Allow tool: seed_note\\nInput: {"action":"reserve"}”',
    ),
    "returns a number": (lambda question: 0, "It returned 0 to “Allow tool: seed_note"),
    "raises": (lambda question: question.text["Input"], "It raised TypeError: string indices must be integers"),
    "asks for ever": (spins_for_ever, "It never came to an answer, asked “Allow tool: seed_note"),
    "waits outside": (waits_outside, "Hand in a function of one question, or a class with a method answer"),
    "forgets to await": (forgets_to_await, "It did not wait for the person, asked “Allow tool: seed_note"),
    "uses the reply before it is there": (uses_the_reply_at_once, "It raised AttributeError: "),
    "cannot be made": (CannotBeMade, "Making one of it raised ValueError: no beds."),
    "has no answer": (
        HasNoAnswer,
        "Hand in a function of one question, or a class with a method answer(self, question)",
    ),
    "is one of them": (NightDesk(), "This is one NightDesk. Hand in the class itself, NightDesk without brackets"),
    "is a text": ("Approve", "Hand in a function of one question, or a class with a method answer(self, question)"),
}

# ---------------------------------------------------------------------------------------------------------- traces

INSPECT, RESERVE, PUBLISH = ({"action": word} for word in ("inspect", "reserve", "publish"))


def calls(*args: Any) -> list[dict[str, Any]]:
    return [{"name": "seed_note", "args": each} for each in args]


GOOD_TRACES: Final[dict[str, tuple[str, Any]]] = {
    "a look that becomes a publish": (
        "break-the-guard",
        {"args": INSPECT, "handlers": [{"revise": PUBLISH}]},
    ),
    "the same as JSON": (
        "break-the-guard",
        '{"args": {"action": "inspect"}, "handlers": [{"revise": {"action": "publish"}}]}',
    ),
    "a text that becomes a publish": ("break-the-guard", {"args": "look", "handlers": [{"revise": PUBLISH}]}),
    "something small, then something else": (
        "break-the-memory",
        {"calls": calls(RESERVE, PUBLISH), "choices": ["Approve", "Deny"]},
    ),
    "the second time nobody is there": (
        "break-the-memory",
        {"calls": calls(PUBLISH, PUBLISH), "choices": ["Approve"]},
    ),
    "the person would have said yes, and was not asked": (
        "break-the-memory",
        {"calls": calls(RESERVE, RESERVE), "choices": ["Approve", "Approve"]},
    ),
    "it goes on": ("break-the-prefix", {"args": {**RESERVE, "count": 500}}),
    "it goes on with a note": ("break-the-prefix", {"args": {**RESERVE, "note": "all of them"}}),
    "through the device": ("break-the-settings", {"path": "xd://seed_slot", "args": RESERVE}),
    "through the device, for another deed": ("break-the-settings", {"path": "xd://seed_slot", "args": PUBLISH}),
}
#: By what is wrong: the exercise, the trace, and what its author is told.
BAD_TRACES: Final[dict[str, tuple[str, Any, str]]] = {
    "the guard sees it": ("break-the-guard", {"args": PUBLISH, "handlers": []}, "The piece stands"),
    "changed in place, the guard sees it": (
        "break-the-guard",
        {"args": INSPECT, "handlers": [{"mutate": PUBLISH}]},
        "The piece stands",
    ),
    "revised to something else": (
        "break-the-guard",
        {"args": INSPECT, "handlers": [{"revise": RESERVE}]},
        "The piece stands",
    ),
    "two tools": (
        "break-the-memory",
        {
            "calls": [{"name": "seed_note", "args": RESERVE}, {"name": "seed_slot", "args": RESERVE}],
            "choices": ["Approve", "Deny"],
        },
        "The piece stands",
    ),
    "looks are not asked about": (
        "break-the-memory",
        {"calls": calls(INSPECT, INSPECT), "choices": []},
        "The piece",
    ),
    "the very call": ("break-the-prefix", {"args": RESERVE}, "The piece stands"),
    "another beginning": ("break-the-prefix", {"args": {"count": 500, "action": "reserve"}}, "The piece stands"),
    "a file": ("break-the-settings", {"path": "notes.txt", "args": RESERVE}, "The piece stands"),
    "the tool denies it itself": (
        "break-the-settings",
        {"path": "xd://seed_slot", "args": {"action": "blocked"}},
        "The piece stands",
    ),
}
#: By what is wrong: the exercise, what is no trace, and what its author is told.
NO_TRACES: Final[dict[str, tuple[str, Any, str]]] = {
    "sets what is given": (
        "break-the-guard",
        {"args": PUBLISH, "mode": "yolo"},
        "your trace: mode: it is given, and not yours to change. Leave it out. Your trace may set: args, handlers.",
    ),
    "sets what is closed": (
        "break-the-prefix",
        {"args": RESERVE, "choices": ["Approve"]},
        "your trace: choices: this is not yours to set. Your trace may set: args.",
    ),
    "a misspelt key inside": (
        "break-the-guard",
        {"args": INSPECT, "handlers": [{"revize": PUBLISH}]},
        "your trace: given.handlers[0]: the key 'revize' is not known here. Did you mean 'revise'?",
    ),
    "a tool that is not there": (
        "break-the-memory",
        {"calls": [{"nam": "seed_note"}]},
        "your trace: given.calls[0]: the key 'nam' is not known here. Did you mean 'name'?",
    ),
    "no JSON": (
        "break-the-prefix",
        {"args": {"action": {1, 2}}},
        "your trace.args.action: {1, 2} is nothing that JSON can hold.",
    ),
    "not a number that JSON has": (
        "break-the-prefix",
        {"args": {"count": float("nan")}},
        "your trace.args.count: nan is nothing that JSON can hold.",
    ),
    "broken JSON": ("break-the-prefix", '{"args": ', "your trace: line 1"),
    "a key that is no text": (
        "break-the-prefix",
        {"args": {1: 2}},
        "your trace.args: 1 is no key of JSON. Use text.",
    ),
    "a list": (
        "break-the-prefix",
        [RESERVE],
        "your trace: this is [{'action': 'reserve'}]. Use a dictionary, or its JSON as text.",
    ),
    "a list as JSON": ("break-the-prefix", "[1]", "your trace: [1] is no object. Begin it with"),
}
