"""A gate case played with a real client: what it saw, what was decided, and that nothing waits for it forever."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import acp
import pytest
from msgspec.structs import replace

from labsim.case.gate import GateStep
from labsim.case.model import GateCase
from labsim.gate.approvers import AllowAll
from labsim.gate.policy import ApprovalPolicy
from labsim.gate.session.run import RunReport
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.reading.reading import parse_file
from labsim.stage.stage import AbortSignal, Stage
from workbook.live.acp_play import AcpPlay, CaseConversation, ClientFailed, play_over_acp
from workbook.tables.decisions import decisions

FILES = [
    parse_file((fixtures_dir() / name).read_bytes(), name) for name in ("gate-desk.json", "gate-desk-more.json")
]
CASES = {case.id: case for file in FILES for case in file.cases if isinstance(case, GateCase)}
TWO = CASES["gate-two-of-one-session"]
SWITCHABLE = CASES["gate-policy-repeats-a-refusal"]

ASKS = "request_permission"
OPTIONS = "options: allow-once, allow-always, reject-once, reject-always"
EDITS = 'edit_catalog wants to run and can change state outside this process\n{"bed":3,"note":"beans"}'
PUBLISHES = 'publish_list wants to run and can change state outside this process\n{"list":"spring"}'
REFUSED = "Tool execution denied: publish_list was refused by the client, for the rest of this session"
AGAIN = f"{REFUSED} — remembered from an earlier refusal, so asking again will not change it"


def rows(played: AcpPlay) -> list[tuple[object, ...]]:
    """The client's table without its numbers."""
    table = played.client()
    assert list(table["n"]) == list(range(1, len(table) + 1))
    return list(table.drop(columns="n").itertuples(index=False, name=None))


def reads(played: AcpPlay) -> list[str]:
    """What the model read of each call."""
    return list(decisions(played)["the model reads"])


@pytest.mark.slow
def test_a_client_in_a_process_of_its_own_answers_the_cases_requests() -> None:
    """gate/A19, gate/A20, gate/A3: four options, two answers for the session, and rules for later calls."""
    played = play_over_acp(TWO, ["allow-always", "reject-always"])

    assert rows(played) == [
        ("to client", "new", "–", "a session is open"),
        ("from client", "prompt", "–", "go on"),
        ("to client", ASKS, "call-1", f"{EDITS}\n{OPTIONS}"),
        ("from client", ASKS, "call-1", "allow-always"),
        ("to client", ASKS, "call-2", PUBLISHES),
        ("from client", ASKS, "call-2", "reject-always"),
        ("to client", "update", "–", "inert"),
        ("to client", "update", "–", REFUSED),
        ("to client", "update", "–", "inert"),
        ("to client", "update", "–", AGAIN),
        ("to client", "prompt", "–", "end_turn"),
    ]
    assert played.client().caption == "What the client of gate-two-of-one-session saw"
    assert reads(played) == ["inert", REFUSED, "inert", AGAIN]
    report = played.report()
    assert (report.finished, report.observed["rulesLeft"]) == (True, ["process", "process"])


@pytest.mark.slow
def test_the_client_decides_as_the_dialogs_of_the_case_do() -> None:
    """gate/A20: whoever carries the question, the decisions are the same, and so is what the model reads."""
    assert decisions(play_over_acp(TWO, ["allow-always", "reject-always"])).equals(decisions(run(TWO)))


@pytest.mark.slow
def test_two_plays_with_the_same_answers_show_the_same() -> None:
    """Nothing that differs from run to run is shown: no time, no id of a process, no path."""
    first, second = (str(play_over_acp(TWO, ["cancelled", "reject-once"]).page()) for _ in range(2))

    assert first == second


UNREACHABLE = "needs approval and the client could not be reached"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "read"),
    [
        pytest.param(
            ["cancelled", "leave"],
            [
                "edit_catalog needs approval and the request was cancelled",
                f"publish_list {UNREACHABLE}",
                f"edit_catalog {UNREACHABLE}",
                f"publish_list {UNREACHABLE}",
            ],
            id="a-client-that-dies",
        ),
        pytest.param(
            ["garbage", "error", "perhaps"],
            [
                "edit_catalog needs approval and the client's answer could not be read",
                f"publish_list {UNREACHABLE}",
                "edit_catalog needs approval and the client's answer could not be read",
                "publish_list needs approval and the request was cancelled",  # the script was over
            ],
            id="a-client-that-makes-no-sense",
        ),
    ],
)
def test_a_client_that_fails_has_refused_and_the_run_goes_on(answers: list[str], read: list[str]) -> None:
    """gate/A21, gate/W15: each failure is a no that says which it was."""
    played = play_over_acp(TWO, answers)

    assert reads(played) == [f"Tool execution denied: {text}" for text in read]
    assert (played.report().finished, played.report().observed["effects"]) == (True, 0)


@pytest.mark.slow
def test_what_a_client_saw_before_it_was_gone_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    """It told of itself as it went; and a cell that plays with it prints nothing beside."""
    played = play_over_acp(TWO, ["leave"])

    assert rows(played) == [
        ("to client", "new", "–", "a session is open"),
        ("from client", "prompt", "–", "go on"),
        ("to client", ASKS, "call-1", f"{EDITS}\n{OPTIONS}"),
    ]
    assert played.client().caption == "What the client of gate-two-of-one-session saw before it was gone"
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_silent_client_lets_the_approvers_thirty_minutes_pass() -> None:
    """gate/A22, gate/X9: a few real seconds stand for them, and the next question is put."""
    played = play_over_acp(TWO, ["silent", "allow-once", "allow-once", "allow-once"], limit_s=5)

    assert reads(played) == [
        "Tool execution denied: edit_catalog needs approval and the client did not answer within 30 minutes",
        "inert",
        "inert",
        "inert",
    ]
    assert [event.at_ms for event in played.report().ledger][-1] == 30 * 60_000


@pytest.mark.slow
def test_a_client_that_cancels_the_turn_ends_it() -> None:
    """gate/A23: the question is withdrawn, and no later call is made."""
    played = play_over_acp(TWO, ["cancel-turn"])

    assert rows(played)[-2:] == [
        ("from client", "cancel", "–", "the turn is given up"),
        ("to client", "prompt", "–", "cancelled"),
    ]
    assert (played.report().finished, played.report().observed["decidedBy"]) == (True, ["cancelled"])


@pytest.mark.slow
def test_a_client_chooses_the_posture_of_a_host_that_has_one() -> None:
    """gate/M1, gate/M8, gate/W3: the three modes are offered, and under Read only nobody is asked."""
    played = play_over_acp(SWITCHABLE, [], mode="never")

    refused = (
        "Tool execution denied: edit_catalog changes state outside this process, and this session is set to "
        "refuse that"
    )
    assert rows(played) == [
        ("to client", "new", "–", "modes: always (Always allow), prompt (Ask each time), never (Read only)"),
        ("from client", "set_mode", "–", "never"),
        ("to client", "set_mode", "–", "never"),
        ("from client", "prompt", "–", "go on"),
        ("to client", "update", "–", refused),
        ("to client", "update", "–", refused),
        ("to client", "prompt", "–", "end_turn"),
    ]
    assert next(event.kind_name() for event in played.report().ledger) == "policy_switched"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "mode", "says"),
    [
        (TWO, "never", "refused: this session has no modes"),
        (SWITCHABLE, "quietly", "refused: unknown mode"),
        (
            replace(SWITCHABLE, given=replace(SWITCHABLE.given, policy=ApprovalPolicy.NEVER.value)),
            "always",
            "refused: this session was opened read-only and cannot change mode",
        ),
    ],
    ids=["no-modes", "no-such-mode", "read-only"],
)
def test_a_mode_that_is_not_offered_is_refused_and_the_turn_is_played(case: GateCase, mode: str, says: str) -> None:
    """gate/M7: a refused switch leaves the posture as it was."""
    played = play_over_acp(case, ["allow-once", "allow-once"], mode=mode)

    assert ("to client", "set_mode", "–", says) in rows(played)
    assert played.report().finished


# ------------------------------------------------------------------------------------------ no client to speak of


def test_a_client_that_never_asks_for_anything_is_an_error_with_its_last_words() -> None:
    """There is no played case to show, and what went wrong is said."""
    program = (sys.executable, "-c", "import sys; sys.exit('no desk here')")

    with pytest.raises(ClientFailed) as failed:
        play_over_acp(TWO, ["allow-once"], program=program)

    assert str(failed.value) == (
        "gate-two-of-one-session: the client left before it asked for anything. Its last words: no desk here"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hangs", "says"),
    [
        pytest.param("time.sleep(600)", "the client told nothing for 2 seconds.", id="silent"),
        pytest.param(
            "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
            "the client told nothing for 2 seconds.",
            id="silent-and-stubborn",
        ),
        pytest.param(
            "[(print('hm', file=sys.stderr, flush=True), time.sleep(0.1)) for turn in range(6000)]",
            "the client told nothing for 2 seconds. Its last words: hm / hm / hm / hm / hm",
            id="talks-of-something-else",
        ),
    ],
)
def test_a_client_that_hangs_is_ended_within_the_limit(tmp_path: Path, hangs: str, says: str) -> None:
    """Nobody waits for it, and its process is not left behind."""
    number = tmp_path / "pid"
    code = f"import os, signal, sys, time; open({str(number)!r}, 'w').write(str(os.getpid())); {hangs}"

    with pytest.raises(ClientFailed) as failed:
        play_over_acp(TWO, ["allow-once"], limit_s=2, program=(sys.executable, "-c", code))

    assert str(failed.value) == f"gate-two-of-one-session: {says}"
    with pytest.raises(ProcessLookupError):
        os.kill(int(number.read_text()), 0)


@pytest.mark.slow
def test_a_client_that_does_not_leave_is_ended_and_its_case_is_shown() -> None:
    """The turn is over; what the client does with its time is its own business."""
    stays = "import sys, time; from workbook.live.acp_client import *; {}; time.sleep(600)"
    follows = "asyncio.run(follow(msgspec.json.decode(sys.argv[1], type=Script)))"

    played = play_over_acp(
        TWO, ["allow-always", "reject-always"], limit_s=5, program=(sys.executable, "-c", stays.format(follows))
    )

    assert reads(played) == ["inert", REFUSED, "inert", AGAIN]


@pytest.mark.slow
def test_what_the_engine_gets_wrong_is_raised_here_and_not_told_to_the_client_alone() -> None:
    """A step of no kind is refused by whoever reads a case; here nobody has read it."""
    broken = replace(TWO, given=replace(TWO.given, steps=[GateStep()]))

    with pytest.raises(RuntimeError, match="StopIteration"):
        play_over_acp(broken, [])


def test_a_case_has_one_turn() -> None:
    """A second prompt is refused, and nothing is played twice."""
    stage = Stage()
    conversation = CaseConversation(CASES["gate-approved-call"], stage)

    def prompted() -> RunReport:
        return stage.play(conversation.turn("go on", AllowAll(), AbortSignal(stage))).result()

    assert [finished.content for finished in prompted().results] == ["inert"]
    before = len(stage.ledger)
    with pytest.raises(acp.RequestError) as refused:
        prompted()
    assert (refused.value.data, len(stage.ledger)) == ({"details": "this case has been played"}, before)
