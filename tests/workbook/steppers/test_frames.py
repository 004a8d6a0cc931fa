"""The frames of a ledger: what each says of its step and its state, and above all what could still stop the call.

Most of it is held against every ledger there is: all built-in cases, and thousands of questions that were put to
the real program. `stepping_kit` has the oracle, `stepping_films` the ledgers made by hand.
"""

from __future__ import annotations

import pytest
from msgspec import UNSET
from played_kit import play, wait
from stepping_films import Film, film, hand_made, runs
from stepping_kit import SETTLED, built_in, recorded, stopped

from labsim.case.model import Case
from labsim.events.call import Execute
from labsim.events.dialogs import QuestionAsked
from labsim.places.steps import ORDERS, Order
from labsim.play.performance import run
from labsim.play.report import Report
from labsim.review.base.states import Action, GrantEnd, Phase
from workbook.ledgers.played import NO_CALL
from workbook.steppers.frames import Frame, UnderWay, frames, frames_of
from workbook.steppers.review import ENDINGS, FRUITLESS, fruitless_from
from workbook.steppers.stops import STOPS, Danger, Stop
from workbook.tables.steps import steps

#: Ways of never getting anywhere: nothing is there that ends them, so no ledger has a row in which they end a call.
ENDLESS = {Stop.UNANSWERED, Stop.NEVER_CLOSED, Stop.NEVER_ANSWERED, Stop.NO_REPLY}


# ------------------------------------------------------------------------------------------------ what is played


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return built_in()


@pytest.fixture(scope="module")
def shipped(cases: list[Case]) -> list[Film]:
    """Every built-in case."""
    return [film(run(case)) for case in cases]


@pytest.fixture(scope="module")
def films(shipped: list[Film]) -> list[Film]:
    """The same, everything recorded that has a ledger, and what is made by hand."""
    asked = recorded("wrapper", "dispatch", "fallback", "rpc")
    return [*shipped, *(film(run(case)) for case in asked), *hand_made()]


# --------------------------------------------------------------------------------------- what can still stop it


@pytest.mark.slow
def test_whatever_stopped_something_was_listed_in_every_row_before(films: list[Film]):
    """The point of the list: nobody who reads it at any row is surprised later."""
    for shown in films:
        for rows in runs(shown):
            ended = rows[-1].ended_by
            if ended is not None:
                missing = [place for place, one in enumerate(rows[:-1]) if ended not in one.stops]
                assert not missing, f"{shown.name}: {rows[-1].subject} ended by {ended}, not listed in {missing}"


def test_what_stopped_a_call_is_what_its_case_and_its_error_say(films: list[Film]):
    """The stepper reads the ledger's events; the oracle reads settings, scripts and error texts. They agree."""
    compared = 0
    for shown in films:
        if shown.report is None or shown.scenario not in ("wrapper", "dispatch", "loop", "review"):
            continue
        ended = {rows[-1].subject: rows[-1].ended_by for rows in runs(shown) if rows[-1].over}
        for made in shown.report.calls:
            wanted = stopped(shown.report, made)
            found = ended.get(made.tool_call_id)
            if wanted:
                compared += 1
                assert (None if found is None else found.stop) in wanted, (shown.name, made.error, found)

    assert compared > 1900


def test_a_call_that_nothing_stopped_returned(films: list[Film]):
    """And the other way round: no cause without an error, but docs in place of a call, and repaired failures."""
    for shown in films:
        made = {} if shown.report is None else {call.tool_call_id: call for call in shown.report.calls}
        for rows in runs(shown):
            call = made.get(rows[-1].subject)
            if call is None or not rows[-1].over:
                continue
            stop = None if rows[-1].ended_by is None else rows[-1].ended_by.stop
            repaired = call.error is None and getattr(shown.report.case.given, "result_handlers", [])
            assert stop is None or call.error is not None or stop is Stop.ONLY_DOCS or repaired, shown.name


def test_who_settled_a_call_of_the_second_host_is_who_stopped_it(shipped: list[Film]):
    """gate/O1: the case's own claim of who decided, beside the stepper's cause."""
    compared = 0
    for shown in shipped:
        if shown.scenario != "gate" or shown.report is None:
            continue
        ended = [rows[-1].ended_by for rows in runs(shown) if rows[-1].over]
        told = zip(shown.report.observed["decisions"], shown.report.observed["decidedBy"], strict=True)
        refused = [by for verdict, by in told if verdict == "deny"]
        found = [one.stop for one in ended if one is not None and one.stop is not Stop.RUN_FAILS]
        compared += len(refused)
        assert len(found) == len(refused), shown.name
        assert all(stop in SETTLED[by] for stop, by in zip(found, refused, strict=True)), shown.name

    assert compared > 60


def test_once_the_tool_was_entered_only_what_comes_too_late_is_left(films: list[Film]):
    """wrapper/W-58: nothing that is listed after the effect could have prevented it."""
    for shown in films:
        for rows in runs(shown):
            assert rows  # a thing under way has a row
        entered = False
        for one, frame in zip(shown.events, shown.frames, strict=True):
            entered = isinstance(one.event, Execute) or (entered and frame.call == NO_CALL)
            if entered and frame.call != NO_CALL:
                mine = frame.under_way[0]
                early = [danger for danger in mine.stops if not danger.why.late]
                assert not early, (shown.name, frame.number, early)


def test_every_stop_that_is_listed_at_a_wrapper_is_one_that_really_happens_there(films: list[Film]):
    """No list is longer than the rules: for each stop in each list, some ledger went through it and ended so."""
    witnessed: dict[tuple[Danger, ...], set[Danger | None]] = {}
    for shown in films:
        if shown.scenario == "wrapper":
            for rows in runs(shown):
                for one in rows:
                    witnessed.setdefault(one.stops, set()).add(rows[-1].ended_by)
    for listed, ended in witnessed.items():
        assert {danger for danger in listed if danger.stop not in ENDLESS} <= ended

    assert len(witnessed) > 15


def test_every_stop_of_the_table_is_shown_by_some_ledger(films: list[Film]):
    """A row of the table that nothing can bring about would be a claim without a case."""
    ended = {rows[-1].ended_by.stop for shown in films for rows in runs(shown) if rows[-1].ended_by is not None}
    listed = {
        danger.stop for shown in films for frame in shown.frames for one in frame.under_way for danger in one.stops
    }

    assert set(Stop) - ended == ENDLESS
    assert listed >= ENDLESS
    assert set(STOPS) == set(Stop)


def test_whatever_waits_for_an_answer_may_never_get_one(shipped: list[Film]):
    """rpc/R-46, gate/X5, review/V-48: a thing that is under way when its case is over lists that it may stay so."""
    waiting = [rows[-1] for shown in shipped for rows in runs(shown) if not rows[-1].over]
    calls = [one for one in waiting if not one.subject.startswith("the permission")]

    assert {danger.stop for one in calls for danger in one.stops} >= {Stop.NEVER_ANSWERED, Stop.NEVER_CLOSED}
    assert all(ENDLESS & {danger.stop for danger in one.stops} for one in calls)


# ------------------------------------------------------------------------------------------------ one call, whole

LATE = ["the tool fails", "a result handler makes an error of it"]
ASKING = ["the dialog breaks", "any answer but Approve", "an answer that never comes", *LATE]
HANDLERS = ["a handler blocks", "a handler fails", "an abort during the handlers"]
SCREEN = ["an abort before it is on screen", "nobody to ask"]
AT_STEP_FOUR = [
    *("the approval rule fails", *HANDLERS, "a deny on the input that would run", *SCREEN, *ASKING),
]


def told(report: Report, subject: str = "call-1") -> list[tuple[str, list[str]]]:
    """Each row's event, with what could still stop `subject`, in a few words."""
    return [
        (frame.kind, [danger.short for danger in one.stops])
        for frame in frames(report)
        for one in frame.under_way
        if one.subject == subject
    ]


def test_an_approved_call_loses_one_danger_after_the_other():
    """wrapper/step-1 to wrapper/step-17, step by step: what is behind the call can stop it no more."""
    assert told(play("approved", choices=["Approve"])) == [
        ("call_started", ["the approval rule fails", "a deny on the input as it came", *AT_STEP_FOUR[1:]]),
        ("policy_resolved", AT_STEP_FOUR),
        ("tool_call", AT_STEP_FOUR),
        ("policy_resolved", [*SCREEN, *ASKING]),
        ("prompt_decided", [*SCREEN, *ASKING]),
        ("tool_approval_requested", ["nobody to ask", *ASKING]),
        ("question_asked", ASKING),
        ("ui.select", LATE),
        ("tool_approval_resolved", LATE),
        ("execute", LATE),
        ("tool_result", LATE[1:]),
        ("call_returned", []),
    ]


def test_a_call_that_is_sure_to_be_refused_says_so_before_it_is():
    """wrapper/step-14: the answer decides, the error comes two rows later."""
    by_row = {frame.kind: frame.under_way[0] for frame in frames(play("declined", choices=["Deny"]))}
    no = Danger(Stop.NOT_APPROVED)

    assert by_row["question_asked"].stopped is False
    assert by_row["ui.select"] == by_row["tool_approval_resolved"]
    assert by_row["ui.select"] == UnderWay(subject="call-1", stops=(no,), stopped=True)
    assert by_row["call_threw"] == UnderWay(subject="call-1", stops=(), over="threw", ended_by=no)


def test_an_abort_is_no_danger_once_approve_was_said():
    """wrapper/W-47: the dialog does not hear the signal, and Approve after an abort still runs the tool."""
    aborted = play("aborted", signal="aborted", choices=["Approve"], observe=False)

    assert [found for kind, found in told(aborted) if kind == "ui.select"] == [LATE]
    assert aborted.observed["effects"] == 1


def test_safety_checks_can_ask_where_the_policy_would_not():
    """wrapper/W-20: an allow leaves the dangers of asking, until it is decided that nobody is asked."""
    allowed = told(play("allowed", autoApprove=True))

    assert allowed[3] == ("policy_resolved", [*SCREEN, *ASKING])
    assert allowed[4] == ("prompt_decided", LATE)


def test_a_dispatch_lists_the_devices_own_gate_behind_its_own():
    """dispatch/step-6: outer approval is not the end of it."""
    dispatched = play("d", "dispatch", args={"action": "reserve"}, mode="always-ask", choices=["Approve"])
    asked = dict(told(dispatched))
    at_the_device = [danger for danger in asked["content_read"] if danger.startswith("at the device: ")]

    assert asked["content_read"] == [*at_the_device, "a result handler makes an error of it"]
    assert "at the device: a deny on the input as it came" in at_the_device
    assert "at the device: an abort before it is on screen" not in at_the_device  # wrapper/W-27
    assert asked["address_read"][:4] == [
        "no address of a device",
        "no such device",
        "the docs in its place",
        "content that does not fit",
    ]
    assert asked["dispatch_ended"] == ["a result handler makes an error of it"]


def test_the_gates_of_the_second_host_are_known_by_name():
    """gate/G2, gate/G3, gate/O17: what a gate of the host's own cannot say is never listed."""

    def at_first(gate: str) -> set[Stop]:
        """What could stop a call of consequence at its first row."""
        tools = [{"name": "dig", "level": "External"}]
        policy = {"policy": "prompt"} if gate == "policy" else {}
        played = play("g", "gate", tools=tools, gate=gate, steps=[{"call": "dig"}], **policy)
        (row,) = [frame for frame in frames(played) if frame.kind == "call_made"]
        return {danger.stop for danger in row.under_way[0].stops}

    judged = {Stop.GATE_FAILS, Stop.GATE_DENIES, Stop.RULE_DENIES, Stop.APPROVER_DENIES, Stop.TIMED_OUT}
    assert {gate: at_first(gate) & judged for gate in ("approval", "deny-all", "policy", "allow", "none")} == {
        "approval": judged - {Stop.GATE_FAILS, Stop.GATE_DENIES},
        "deny-all": {Stop.GATE_DENIES},
        "policy": judged - {Stop.GATE_FAILS},
        "allow": set(),
        "none": set(),
    }


def test_what_ends_a_dialog_of_the_desk_is_read_off_its_table():
    """Whatever can close a dialog without an outcome has its words, and so has every end of a permission."""
    assert set(ENDINGS) == set(GrantEnd)
    assert fruitless_from(Phase.EDITING) == (
        *(Stop.REVOKED, Stop.MOVED, Stop.SHUT_DOWN, Stop.DIALOG_BROKE, Stop.OVERTAKEN),
        *(Stop.INVALID_TEXT, Stop.NOT_SAVED),
    )
    assert fruitless_from(Phase.CONFIRMING)[-1] is Stop.DECLINED
    assert {FRUITLESS[action] for action in Action if action in FRUITLESS} == {
        stop for phase in Phase if phase.pending != "none" for stop in fruitless_from(phase)
    }


# ------------------------------------------------------------------------------------------------ steps and state


def test_there_is_one_frame_for_each_row_and_no_other(shipped: list[Film]):
    """All desks, every row; a case that calls nothing has no frame."""
    for shown in shipped:
        assert [(frame.number, frame.kind, frame.call) for frame in shown.frames] == [
            (one.number, one.event.kind_name(), one.call) for one in shown.events
        ]
    empty = {shown.scenario for shown in shipped if not shown.frames}

    assert len(shipped) >= 231
    assert empty == {"classify-error"}


@pytest.mark.slow
def test_a_longer_ledger_changes_no_earlier_frame(shipped: list[Film]):
    """A frame knows nothing of what comes after it."""
    for shown in shipped:
        for length in {1, len(shown.events) // 3, len(shown.events) // 2, len(shown.events) - 1} - {0, -1}:
            assert frames_of(shown.events[:length], shown.scenario) == shown.frames[:length], shown.name


def test_the_last_frame_has_what_the_report_counts(films: list[Film]):
    """Prompts, effects, attempts, open questions, permission, note and rules: folded, they come out as observed."""
    for shown in films:
        if not shown.frames or shown.report is None:
            continue
        state, seen = shown.frames[-1].state, shown.report.observed
        wanted = {
            "prompts": state.prompts,
            "effects": state.effects,
            "primitiveAttempts": state.attempts,
            "rulesLeft": len(state.rules) if state.rules_in_all <= 5 else UNSET,
        }
        if shown.scenario in ("wrapper", "dispatch", "loop", "gate", "review"):
            assert (state.prompts, state.effects) == (seen["prompts"], seen["effects"]), shown.name
        if shown.scenario == "fallback":
            assert wanted["primitiveAttempts"] == seen["primitiveAttempts"], shown.name
        if "rulesLeft" in seen:
            assert state.rules_in_all == len(seen["rulesLeft"]), shown.name
        if "authorized" in seen:
            assert bool(state.grant) >= seen["authorized"], shown.name
            assert state.note in ("", f"{seen['status']} r{seen['revision']}"), shown.name
        assert set(state.open) == {question.id for question in shown.report.questions}, shown.name


def test_open_questions_come_and_go_in_the_rows_of_their_dialogs(shipped: list[Film]):
    """A question is open from its own row on, and at no row before it was asked."""
    for shown in shipped:
        asked: set[str] = set()
        for one, frame in zip(shown.events, shown.frames, strict=True):
            if isinstance(one.event, QuestionAsked):
                asked.add(one.event.question_id)
                assert one.event.question_id in frame.state.open
            assert set(frame.state.open) <= asked


@pytest.mark.slow
def test_the_steps_of_a_call_are_those_of_the_table_of_steps(shipped: list[Film]):
    """Where a row stands is where `wb.steps` puts it; the desk's own rows inside a call aside."""
    for shown in shipped:
        if shown.report is None or shown.scenario not in ("wrapper", "dispatch", "gate"):
            continue
        order = Order.HOST_CALL if shown.scenario == "gate" else Order.CALL
        for made in shown.report.calls:
            walked = steps(shown.report, made.tool_call_id)["happened"]
            mine = [frame for frame in shown.frames if frame.call == made.tool_call_id]
            for index, happened in enumerate(walked):
                here = [frame for frame in mine if any(place == (order, index) for place in _plain(frame))]
                heads = [line for line in happened.split("\n") if line[:1].isdigit()]
                assert [f"{frame.number} {frame.kind}" for frame in here] == [line.split(":")[0] for line in heads]


def _plain(frame: Frame) -> list[tuple[Order, int]]:
    return [(place.order, int(place.index)) for place in frame.places]


def test_a_row_inside_a_dispatch_stands_on_three_lists():
    """The outer call's wrapper/step-16 is the dispatch, whose last step is the device's own gate."""
    shown = frames(play("d", "dispatch", args={"action": "inspect"}, mode="yolo"))
    inner = next(frame for frame in shown if frame.kind == "inner_tier_reported")

    assert [(place.order, place.numbers) for place in inner.places] == [
        (Order.CALL, "16"),
        (Order.DISPATCH, "4.6"),
        (Order.DEVICE, "5-7"),
    ]
    assert all(place.does == ORDERS[place.order][place.index][1] for frame in shown for place in frame.places)


def test_every_row_of_a_desk_stands_somewhere(films: list[Film]):
    """Only what happens around the calls of the second host is no step of anything."""
    around = {"session_opened", "model_round", "turn_ended", "run_ended", "rule_remembered", "rule_revoked"}
    around |= {"scope_cleared", "gate_installed", "child_spawned", "policy_switched", "step_refused"}
    around |= {"forwarded", "sink_failed", "notice"}
    for shown in films:
        for frame in shown.frames:
            assert frame.places or frame.kind in around, (shown.name, frame.number, frame.kind)


def test_a_live_play_can_be_stepped_as_far_as_it_is():
    """What waits is under way, and its question open."""
    last = frames(wait("live"))[-1]

    assert last.kind == "question_asked"
    assert last.state.open == ("q-1",)
    assert last.state.policy == "prompt by mode (approval/R9), on the effective input"
    assert [danger.short for danger in last.under_way[0].stops] == ASKING


def test_a_decision_alone_has_a_row_and_nothing_under_way():
    """A resolve case decides and calls nothing; a context case has not even a ledger."""
    (only,) = frames(play("resolved", "resolve", approval="exec", mode="write"))

    assert (only.kind, only.under_way) == ("policy_resolved", ())
    assert frames(play("read", "context", mode="write")) == ()
