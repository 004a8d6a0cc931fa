"""The desk's words: one place, equal to the packaged data, and the very strings that the specification has."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError
from msgspec import json as msgjson
from places import TOP
from review_kit import Bench

from labsim.describe.kinds import event_classes
from labsim.describe.ledger import describe
from labsim.review.base import events
from labsim.review.base.events import Discarded
from labsim.review.base.pack import source
from labsim.review.base.packed import COPY_JSON, RELEASE_NOTE
from labsim.review.base.states import Action, GrantEnd, Pending, Phase
from labsim.review.base.words import Copy
from labsim.review.branch.note import LONGEST, PACKAGED_NOTE, valid_text
from labsim.review.desk import Command
from labsim.review.tool import AgentAction, Op
from labsim.rpc.frames import NotifyType
from labsim.terms import Status

FOLDER = TOP / "fixtures" / "review-desk"


def test_the_packed_words_are_those_of_the_data_files():
    """A case can open no file, so what it needs is in the package; edit the files and pack them again."""
    assert (FOLDER / "copy.json").read_text(encoding="utf-8") == COPY_JSON
    assert (FOLDER / "release-note.txt").read_bytes() == PACKAGED_NOTE == RELEASE_NOTE.encode()
    made: dict[str, Any] = {}
    exec(source(FOLDER), made)
    assert (made["COPY_JSON"], made["RELEASE_NOTE"]) == (COPY_JSON, RELEASE_NOTE)


#: The interface strings, written out.
SPECIFIED = {
    "entry": "workbook-review-desk-state",
    "note": "release-note.txt",
    "tool.name": "review_desk",
    "tool.transport": "local-only",
    "command.name": "review-desk",
    "editor.title": "Edit the release note",
    "selector.title": "Record the review",
    "selector.accept": "Accept locally",
    "selector.reject": "Reject",
    "selector.cancel": "Cancel",
    "confirm.title": "Permit one agent change?",
    "confirm.message": "Revision {revision}, this session, one change.",
    "notices.unknown_command": "Unknown command. Use: show, review, delegate, revoke, overlay.",
    "notices.busy": "Review dialog open. Finish it or run /review-desk revoke.",
    "notices.no_ui": "Interactive review needs a UI. State is unchanged; use inspect or query.",
    "notices.needs_terminal": "The overlay needs the terminal UI. Use /review-desk review.",
    "notices.granted": "One change permitted at revision {revision}.",
    "notices.declined": "No permission given.",
    "notices.revoked": "Permission removed.",
    "notices.nothing_to_revoke": "No permission to remove.",
    "notices.closed": "Review dialog closed; nothing recorded.",
    "errors.unknown_op": "Unknown op: use discover, inspect, query, or act.",
    "errors.missing_action": "Missing action: use revise, accept, reject, or cancel.",
    "errors.unknown_action": "Unknown action: {action}.",
    "errors.missing_revision": "Missing expectedRevision: pass the inspected revision.",
    "errors.missing_text": "Missing text: revise requires text.",
    "errors.unexpected_text": "Unexpected text: only revise takes text.",
    "errors.invalid_text": "Blank or over-12000-character draft.",
    "errors.busy": "Review dialog open: wait for the human to finish.",
    "errors.no_grant": "No human grant: ask the human to run /review-desk delegate.",
    "errors.mismatch": "Revision mismatch: expected {expected}, current {current}.",
    "errors.no_fixture": "Fixture unavailable: {name}",
    "status.key": "review-desk",
    "status.plain": "{status} r{revision}",
    "status.granted": "{status} r{revision} · one change permitted",
    "widget.key": "review-desk",
    "widget.title": "Review desk: {status}, revision {revision}",
    "widget.permission": "Permission: {permission}",
    "widget.none": "none",
    "widget.one_change": "one change at revision {revision}",
    "widget.note": "Note: {line}",
    "panel.position": "Lines {first}-{last} of {total}",
    "panel.hint": "Up/Down scroll  a accept  r reject  Esc cancel",
}


def strings(words: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in words.items():
        if isinstance(value, dict):
            yield from strings(value, f"{path}{key}.")
        else:
            yield f"{path}{key}", value


WORDS = dict(strings(json.loads(COPY_JSON)))


@pytest.mark.parametrize("name", SPECIFIED)
def test_a_specified_string_is_spelled_as_specified(name: str):
    """review/V-4, review/V-7, review/V-20 to review/V-29, review/V-52, review/check-1 to review/check-10."""
    assert WORDS[name] == SPECIFIED[name]


def test_no_string_of_the_desk_is_written_anywhere_else():
    """All strings of the desk are in one place: none of them appears in the code that says them."""
    code = {
        path.name: path.read_text(encoding="utf-8")
        for path in (TOP / "labsim" / "review").glob("*.py")
        if path.name not in ("pack.py", "packed.py")
    }
    long_enough = [text for text in WORDS.values() if len(text) > 12 and not text.startswith("{")]
    found = [(name, text) for text in long_enough for name, lines in code.items() if f'"{text}' in lines]

    assert found == []


def test_words_that_are_missing_or_unknown_are_refused():
    """The file is typed: a misspelt key does not silently lose a string."""
    raw = json.loads(COPY_JSON)
    with pytest.raises(ValidationError, match="unknown field `extra`"):
        msgjson.decode(json.dumps({**raw, "extra": ""}), type=Copy)
    del raw["notices"]["busy"]
    with pytest.raises(ValidationError, match="missing required field `busy`"):
        msgjson.decode(json.dumps(raw), type=Copy)


def test_the_packaged_note_is_a_valid_draft_with_enough_to_scroll():
    """review/V-2, review/V-4, review/V-51: real text, with a final newline, longer than the panel's eight lines."""
    text = PACKAGED_NOTE.decode()

    assert valid_text(text)
    assert len(text) < LONGEST
    assert text.endswith(".\n")
    assert text.count("\n") > 8
    assert "Cedar Seed Library" in text


def test_the_story_has_five_chapters_of_words_that_the_desk_knows():
    """The seed's story: names, commands and operations carry over; every one of them exists."""
    story = json.loads((FOLDER / "story.json").read_text(encoding="utf-8"))

    assert [chapter["name"] for chapter in story["chapters"]] == [
        "1. Inspect without changing anything",
        "2. Edit and accept locally",
        "3. Reject or cancel distinctly",
        "4. Authorize exactly one agent action",
        "5. Optional native overlay",
    ]
    assert (story["id"], story["title"]) == ("review-desk", "Review a release note before sharing")
    for chapter in story["chapters"]:
        assert set(chapter) == {"name", "human", "machine", "actions", "alternatives", "outcome"}
        assert chapter["human"] in tuple(Command)
        for call in chapter["machine"]:
            assert call["op"] in tuple(Op)
            assert call.get("action", "revise") in tuple(AgentAction)


def test_the_story_can_be_followed_word_for_word():
    """Chapters 1 and 4 on one desk: looking changes nothing, and the one call that the story names goes through."""
    story = json.loads((FOLDER / "story.json").read_text(encoding="utf-8"))
    bench = Bench(note=PACKAGED_NOTE)
    for call in story["chapters"][0]["machine"]:
        bench.told(**call)
    assert bench.sessions.current.entries == ()

    bench.grant()
    results = [bench.told(**call) for call in story["chapters"][3]["machine"]]
    assert results[1]["revision"] == 1
    assert bench.stand == ("A shorter local release note.", "draft", 1, False, False)


# ----------------------------------------------------------------------------------------------- the ledger's words

S = "session-1"
SAID: list[tuple[Any, str]] = [
    (events.CommandGiven(at_ms=0, word="review"), "a person says /review-desk review"),
    (
        events.StepTaken(at_ms=0, action=Action.REVOKE, rule="review/S9", phase=Phase.CONFIRMING, to=Phase.IDLE),
        "revoke (review/S9): the desk was confirming and is idle",
    ),
    (
        events.StepTaken(at_ms=0, action=Action.READ, rule="review/S1", phase=Phase.IDLE, to=Phase.IDLE),
        "read (review/S1): the desk stays idle",
    ),
    *(
        (
            events.DialogOver(at_ms=0, pending=Pending.REVIEW, why=why),
            f"what the review dialog brings does not count: it was {words}",
        )
        for why, words in [
            (Discarded.ABORTED, "aborted"),
            (Discarded.BROKE, "broken off"),
            (Discarded.OVERTAKEN, "overtaken by a change of the note or of the session"),
        ]
    ),
    (
        events.NoteRecorded(
            at_ms=0,
            session_id=S,
            entry_id="entry-1",
            parent_id=None,
            status=Status.ACCEPTED,
            revision=1,
            text_changed=True,
        ),
        "entry-1 of session-1 records accepted r1, with a new text",
    ),
    (
        events.GrantGiven(at_ms=0, session_id=S, revision=0),
        "the agent may make one change, in session-1 at revision 0",
    ),
    (
        events.GrantEnded(at_ms=0, session_id=S, revision=0, why=GrantEnd.REVOKED),
        "the grant for revision 0 is gone: revoked",
    ),
    (events.ActRefused(at_ms=0, check=9, text="No."), "check 9 of 10 fails: No."),
    (events.Notified(at_ms=0, kind=NotifyType.WARNING, message="m"), "warning: m"),
    (events.StatusShown(at_ms=0, text="draft r0"), "the status line says: draft r0"),
    (events.WidgetShown(at_ms=0, lines=("a", "b")), "the widget says: a / b"),
    (
        events.MessagePosted(at_ms=0, summary="s", text="t"),
        "the conversation gets a message: s, and unfolds to the whole note",
    ),
    (events.MessagePosted(at_ms=0, summary="s"), "the conversation gets a message: s"),
    (events.PanelShown(at_ms=0, question_id="q-1"), "the panel of q-1 takes the focus"),
    (events.PanelHidden(at_ms=0, question_id="q-1"), "the panel of q-1 is gone, and the focus is back"),
    (events.PanelNeverShown(at_ms=0), "a panel that is ready too late is thrown away unseen"),
    (
        events.SessionMoved(at_ms=0, by="session_tree", session_id=S, leaf_id=None),
        "session_tree: now in session-1, before the first entry",
    ),
    (
        events.SessionMoved(at_ms=0, by="session_switch", session_id=S, leaf_id="entry-2"),
        "session_switch: now in session-1, at entry-2",
    ),
    (
        events.MovePrevented(at_ms=0, by="session_before_tree"),
        "an extension cancels the move (session_before_tree); nothing has moved",
    ),
    (
        events.SessionReopened(at_ms=0, session_id=S, entries=1, remarks=("Torn.",)),
        "a new process opens session-1 with 1 entry, and without any grant. Torn.",
    ),
    (
        events.SessionReopened(at_ms=0, session_id=S, entries=2),
        "a new process opens session-1 with 2 entries, and without any grant.",
    ),
    (
        events.EntryArrived(at_ms=0, session_id=S, entry_id="entry-3", type="message"),
        "entry-3 of session-1 is written by somebody else: message",
    ),
]


@pytest.mark.parametrize(("event", "words"), SAID, ids=lambda value: type(value).__name__)
def test_each_event_has_its_line(event: Any, words: str):
    """Whatever the desk notes can be read in one line."""
    assert describe(event) == words


def test_no_event_is_without_words():
    assert {type(event) for event, _ in SAID} == {
        kind for kind in event_classes() if kind.__module__ == events.__name__
    }
    assert {why for event, _ in SAID if (why := getattr(event, "why", None)) in tuple(Discarded)} == set(Discarded)


def test_hostile_words_stay_one_line():
    """What a person or an agent wrote is quoted, and acts on nothing."""
    line = describe(events.CommandGiven(at_ms=0, word="\x1b[31m\u202e\n"))

    assert line == "a person says /review-desk \\x1b[31m\\u202e\\n"


# ---------------------------------------------------------------------------------------------------- all the rules


def test_every_rule_of_the_specification_is_named_by_a_test():
    """Each of the rules V and the rows S, one by one, in the other files of these tests."""
    here = Path(__file__)
    others = [path for path in (TOP / "tests" / "labsim").rglob("test_*.py") if path != here]
    text = "\n".join(path.read_text(encoding="utf-8") for path in others)
    named = set(re.findall(r"\b(?:V-\d+|S\d+)\b", text))

    assert {f"V-{number}" for number in range(1, 64)} - named == set()
    assert {f"S{number}" for number in range(1, 18)} - named == set()
