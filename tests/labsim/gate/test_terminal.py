"""Asking a person: at a terminal, and through a client's dialog (gate/A13 to gate/A18, gate/A19 to gate/A24)."""

from __future__ import annotations

from typing import Any

import pytest
from gate_kit import World, request, said_by, use
from msgspec import UNSET

from labsim.errors import HostError
from labsim.gate.asking import (
    OPTION_NAMES,
    Cancelled,
    ClientApprover,
    ClientUnreachable,
    ClientUnreadable,
    DialogClient,
    Option,
    QuestionNotPut,
    Selected,
    TerminalApprover,
    answer_to,
    input_summary,
    question_text,
)
from labsim.gate.base.request import ApprovalAnswer, ApprovalDecision, ApprovalRequest
from labsim.gate.base.terms import Duration
from labsim.stage.stage import AbortSignal, Future, Stage
from labsim.stage.ui import Fails, InertUI, QuestionUI, Says, ScriptedUI

ALLOW, DENY = ApprovalDecision.ALLOW, ApprovalDecision.DENY
FOR_SESSION, NO_MORE = ApprovalDecision.ALLOW_FOR_SESSION, ApprovalDecision.DENY_FOR_SESSION
HALF_AN_HOUR = 30 * 60_000

# ----------------------------------------------------------------------------------------------------- the terminal


def test_without_a_terminal_nothing_is_printed_and_the_call_is_denied():
    """gate/A13, gate/A2, gate/W13: it fails visibly instead of granting whatever comes up."""
    assert said_by(TerminalApprover(InertUI()).approve(request("files"))) == ApprovalAnswer(
        DENY, "files needs approval and there is no terminal to ask at, so this run cannot allow it"
    )


class BrokenTerminal(InertUI):
    """A terminal that is there and does not work."""

    def __init__(self, error: HostError) -> None:
        self.error = error

    @property
    def has_ui(self) -> bool:  # type: ignore[override]
        return True

    async def input(self, title: str, placeholder: str = "", *, signal: AbortSignal | None = None) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (HostError("stdin is closed"), "the terminal could not be read"),
        (QuestionNotPut("stderr is closed"), "the question could not be put to the terminal"),
    ],
)
def test_a_terminal_that_breaks_is_no_consent(error: HostError, why: str):
    """gate/A2, gate/W13: the refusal says which failure it was."""
    said = said_by(TerminalApprover(BrokenTerminal(error)).approve(request("files")))

    assert said == ApprovalAnswer(DENY, f"files needs approval and {why}, so this run cannot allow it")


def test_the_question_is_spelled_as_the_binary_spells_it():
    """gate/A14: a blank line, who, why, what, and the prompt with its space; the answer is typed right behind
    it.
    """
    assert question_text(request("shell", given={"command": "cargo test"})) == (
        "\n  basis: shell wants to run\n       d\n       cargo test\n"
        "       allow? [y]es / [n]o / [a]lways / neve[r]: "
    )
    assert question_text(request("shell", given={})) == (
        "\n  basis: shell wants to run\n       d\n       allow? [y]es / [n]o / [a]lways / neve[r]: "
    )


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("y", ApprovalAnswer(ALLOW)),
        (" YES \n", ApprovalAnswer(ALLOW)),
        ("a", ApprovalAnswer(FOR_SESSION)),
        ("Always", ApprovalAnswer(FOR_SESSION)),
        ("r", ApprovalAnswer(NO_MORE, "files was refused at the prompt, for the rest of this session")),
        ("NEVER", ApprovalAnswer(NO_MORE, "files was refused at the prompt, for the rest of this session")),
        *(
            (line, ApprovalAnswer(DENY, "files was refused at the prompt"))
            for line in ("n", "no", "", "   ", "ye", "yes please", "1", None, UNSET, True)
        ),
    ],
)
def test_only_a_clear_yes_is_one(line: Any, answer: ApprovalAnswer):
    """gate/A15, gate/W14: anything else, the empty line and the end of input included, is a no."""
    assert answer_to(line, "files") == answer


@pytest.mark.parametrize(
    ("given", "summary"),
    [
        pytest.param({"command": "cargo test --all"}, "cargo test --all", id="gate/A17-a-command-as-it-is"),
        pytest.param({"path": "x", "content": "y"}, "path, content", id="gate/A17-keys-joined"),
        pytest.param({"command": 7, "path": "x"}, "command, path", id="gate/A17-a-command-that-is-no-text"),
        pytest.param({}, None, id="gate/A17-nothing-to-say"),
        pytest.param("text", None, id="gate/A17-no-object"),
        pytest.param([1], None, id="gate/A17-a-list"),
        pytest.param({"command": "  "}, None, id="gate/A17-a-blank-command"),
        pytest.param({"command": "x" * 160}, "x" * 160, id="gate/A17-160-fit"),
        pytest.param({"command": " " + "é" * 161}, "é" * 160 + "…", id="gate/A17-161-are-cut"),
    ],
)
def test_an_input_is_summed_up_in_one_short_line(given: Any, summary: str | None):
    """gate/A17."""
    assert input_summary(given) == summary


def test_a_person_at_the_terminal_answers_for_the_session():
    """gate/A14, gate/A15: through the dialogs that everything else asks with."""
    world = World()
    approver = TerminalApprover(ScriptedUI(world.stage, [Says("a")]))

    world.play(world.runtime.attach("a"), [use("files")], [use("files", call_id="c2")], approver=approver)

    assert world.decided == [(True, "approver"), (True, "rule")]


def test_nothing_else_waits_while_the_person_thinks():
    """gate/A16: the question is open, and the clock of everything else goes on."""
    world = World()
    beats: list[int] = []

    def beat() -> None:
        beats.append(world.stage.now_ms)
        world.stage.call_at(world.stage.now_ms + 1_000, beat)

    beat()
    task = world.begin(
        world.runtime.attach("a"), [use("files")], approver=TerminalApprover(QuestionUI(world.stage))
    )
    world.stage.advance(5_000)
    assert (beats, task.done) == ([0, 1_000, 2_000, 3_000, 4_000, 5_000], False)

    world.stage.reply("q-1", "y")
    assert task.result().results[0].content == "files done"


# ------------------------------------------------------------------------------------------------------- the client


class ScriptedClient:
    """Gives one outcome, or raises it; keeps what it was asked and whether it was told to forget it."""

    def __init__(self, outcome: Any, *, stage: Stage | None = None, after_ms: int = 0) -> None:
        self.outcome = outcome
        self.stage = stage
        self.after_ms = after_ms
        self.withdrawn: AbortSignal | None = None

    async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> Any:
        self.withdrawn = withdrawn
        if self.stage is not None:
            await self.stage.sleep(self.after_ms)
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


def answered(outcome: Any) -> ApprovalAnswer:
    """What the approver makes of a client's outcome."""
    stage = Stage()
    answer: ApprovalAnswer = stage.play(
        ClientApprover(stage, ScriptedClient(outcome)).approve(request("files"))
    ).result()
    return answer


REFUSED = "files was refused by the client"
DECISIONS = {
    Option.ALLOW_ONCE: ApprovalAnswer(ALLOW),
    Option.ALLOW_ALWAYS: ApprovalAnswer(FOR_SESSION),
    Option.REJECT_ONCE: ApprovalAnswer(DENY, REFUSED),
    Option.REJECT_ALWAYS: ApprovalAnswer(NO_MORE, f"{REFUSED}, for the rest of this session"),
}


@pytest.mark.parametrize(("option", "answer"), DECISIONS.items(), ids=DECISIONS)
def test_each_option_is_a_decision(option: Option, answer: ApprovalAnswer):
    """gate/A20, gate/W16: an allow has no reason, a reject has one."""
    assert answered(Selected(option.value)) == answer


def test_what_is_offered_is_what_is_understood():
    """gate/A19: four options, in this order, with these names."""
    assert {option.value: name for option, name in OPTION_NAMES.items()} == {
        "allow-once": "Allow",
        "allow-always": "Allow for this session",
        "reject-once": "Deny",
        "reject-always": "Deny for this session",
    }
    assert set(OPTION_NAMES) == set(DECISIONS) == set(Option)


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        pytest.param(Cancelled(), "the request was cancelled", id="gate/A21-51"),
        pytest.param(Selected("allow"), "the client's answer could not be read", id="gate/A21-52"),
        pytest.param(Selected("ALLOW-ONCE"), "the client's answer could not be read", id="gate/A21-case"),
        pytest.param(ClientUnreadable("not json"), "the client's answer could not be read", id="unreadable"),
        pytest.param(ClientUnreachable("broken pipe"), "the client could not be reached", id="unreachable"),
        pytest.param(None, "the client's answer could not be read", id="nothing"),
        pytest.param(HostError("anything"), "the client could not be reached", id="anything-else"),
    ],
)
def test_a_client_that_gives_no_decision_has_refused_this_once(outcome: Any, why: str):
    """gate/A21, gate/A2, gate/W15: none of these is a denial for the session."""
    assert answered(outcome) == ApprovalAnswer(DENY, f"files needs approval and {why}")


def test_a_client_has_thirty_minutes_and_no_more():
    """gate/A21, gate/A22, gate/X9: the approver's own bound, whatever the gate's is; the question is taken back."""
    stage = Stage()
    client = ScriptedClient(Selected("allow-once"), stage=stage, after_ms=2 * HALF_AN_HOUR)
    task = stage.spawn(ClientApprover(stage, client).approve(request("files")))

    stage.advance(HALF_AN_HOUR - 1)
    assert not task.done

    stage.advance(1)
    assert task.result() == ApprovalAnswer(
        DENY, "files needs approval and the client did not answer within 30 minutes"
    )
    assert client.withdrawn is not None
    assert client.withdrawn.aborted


def test_a_client_that_bounds_itself_does_not_hang_the_run():
    """gate/X9: the cure for a run that would wait for ever."""
    world = World()
    never: Future[Any] = Future(world.stage)

    class NoAnswer:
        async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> Any:
            return await never

    read = world.play(world.runtime.attach("a"), [use("files")], approver=ClientApprover(world.stage, NoAnswer()))

    assert read == ("Tool execution denied: files needs approval and the client did not answer within 30 minutes",)
    assert world.stage.now_ms == HALF_AN_HOUR


def test_a_cancelled_turn_wakes_the_approver_and_withdraws_the_question():
    """gate/A23, gate/X9, gate/W15: the run ends, and nothing runs."""
    world = World()
    signal = AbortSignal(world.stage)
    ui = QuestionUI(world.stage)
    approver = ClientApprover(world.stage, DialogClient(ui), cancelled=signal)
    task = world.begin(world.runtime.attach("a"), [use("files")], approver=approver, signal=signal)
    assert len(world.stage.questions) == 1

    signal.abort()

    assert (task.result().cancelled, world.stage.questions, world.executed) == (True, (), [])
    assert not world.stage.reply("q-1", "Allow")


def test_a_turn_that_was_cancelled_already_is_not_waited_for():
    """gate/A23."""
    stage = Stage()
    approver = ClientApprover(
        stage,
        ScriptedClient(Selected("allow-once"), stage=stage, after_ms=5),
        cancelled=AbortSignal(stage, aborted=True),
    )

    assert stage.play(approver.approve(request("files"))).result() == ApprovalAnswer(
        DENY, "files needs approval and the turn was cancelled"
    )
    assert stage.now_ms == 0


def test_an_answer_that_is_there_is_preferred_to_a_cancel_in_the_same_moment():
    """gate/A23: both are ready; the answer is used."""
    stage = Stage()
    signal = AbortSignal(stage)
    answer: Future[Any] = Future(stage)

    class Waits:
        async def request_permission(self, request: ApprovalRequest, withdrawn: AbortSignal) -> Any:
            return await answer

    task = stage.spawn(ClientApprover(stage, Waits(), cancelled=signal).approve(request("files")))
    signal.trip()
    answer.set_result(Selected("allow-once"))
    stage.drain()

    assert task.result() == ApprovalAnswer(ALLOW)


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        *((OPTION_NAMES[option], answer) for option, answer in DECISIONS.items()),
        (UNSET, ApprovalAnswer(DENY, "files needs approval and the request was cancelled")),
        ("Approve", ApprovalAnswer(DENY, "files needs approval and the client's answer could not be read")),
        ("allow-once", ApprovalAnswer(DENY, "files needs approval and the client's answer could not be read")),
    ],
)
def test_a_dialog_is_a_client_too(label: Any, answer: ApprovalAnswer):
    """gate/A19 to gate/A21: a label that was not offered is none; closing the dialog cancels the request."""
    stage = Stage()
    approver = ClientApprover(stage, DialogClient(ScriptedUI(stage, [Says(label)])))

    assert stage.play(approver.approve(request("files"))).result() == answer


def test_a_dialog_shows_what_is_asked_and_the_input_as_text():
    """gate/A19: untrusted, so it is one text and no markup."""
    stage = Stage()
    stage.spawn(
        ClientApprover(stage, DialogClient(QuestionUI(stage))).approve(request("files", given={"b": 1, "a": "<x>"}))
    )

    question = stage.questions[0]
    assert question.shown == 'd\n{"a":"<x>","b":1}'
    assert question.options == ("Allow", "Allow for this session", "Deny", "Deny for this session")


@pytest.mark.parametrize("ui", [InertUI(), ScriptedUI(Stage(), [Fails("the window is gone")])])
def test_a_dialog_that_cannot_open_is_an_unreachable_client(ui: Any):
    """gate/A21, gate/once: nobody to ask."""
    stage = Stage()

    assert stage.play(ClientApprover(stage, DialogClient(ui)).approve(request("files"))).result() == ApprovalAnswer(
        DENY, "files needs approval and the client could not be reached"
    )


def test_a_text_that_was_no_json_is_shown_as_it_is():
    """gate/A8: the raw preview."""
    stage = Stage()
    stage.spawn(ClientApprover(stage, DialogClient(QuestionUI(stage))).approve(request("files", given="{oops")))

    assert stage.questions[0].shown == "d\n{oops"


def test_a_shorter_bound_can_be_asked_for():
    """gate/A22: the bound is the approver's, so its owner sets it."""
    stage = Stage()
    client = ScriptedClient(Selected("allow-once"), stage=stage, after_ms=10)

    said = stage.play(ClientApprover(stage, client, bound=Duration.ms(5)).approve(request("files"))).result()

    assert (said.decision, stage.now_ms) == (DENY, 5)
