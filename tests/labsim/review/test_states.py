"""The desk's one table: every pair of phase and action, against the specification written out by hand."""

from __future__ import annotations

import pytest

from labsim.review.base.states import (
    TRANSITIONS,
    Action,
    GrantEffect,
    GrantEnd,
    NoSuchStep,
    Pending,
    Phase,
    Step,
    allowed_in,
    status_edges,
    transition,
)
from labsim.terms import Status

ALWAYS = "idle editing choosing confirming panel closed"
OPEN = "idle editing choosing confirming panel"
DIALOGS = "editing choosing confirming panel"

# action, the phases it can happen in, the phase it leads to ("-": the same), the row it stands for,
# the status it records ("-": nothing), whose text, what becomes of the grant and why, whether dialogs are aborted.
SPECIFIED = """
READ            always                 -           review/S1          -          old  kept     -           no
OPEN_REVIEW     idle                   editing     review/command-review   -          old  kept     -           no
SUBMIT_TEXT     editing                choosing    review/command-review   -          old  kept     -           no
ACCEPT          choosing               idle        review/S2          accepted   new  dropped  REVIEWED    no
ACCEPT_INVALID  choosing               idle        review/S3          -          old  kept     -           no
REJECT          choosing               idle        review/S4          rejected   old  dropped  REVIEWED    no
ESCAPE          editing                idle        review/S5          cancelled  old  dropped  REVIEWED    no
CANCEL          choosing               idle        review/S6          cancelled  old  dropped  REVIEWED    no
OPEN_DELEGATE   idle                   confirming  review/command-delegate -          old  dropped  ASKED_AGAIN no
CONFIRM         confirming             idle        review/S7          -          old  given    -           no
DECLINE         confirming             idle        review/S8          -          old  dropped  ASKED_AGAIN no
OPEN_PANEL      idle                   panel       review/command-overlay  -          old  kept     -           no
PANEL_ACCEPT    panel                  idle        review/S13         accepted   old  dropped  REVIEWED    no
PANEL_REJECT    panel                  idle        review/S13         rejected   old  dropped  REVIEWED    no
PANEL_CANCEL    panel                  idle        review/S13         cancelled  old  dropped  REVIEWED    no
REFUSE_COMMAND  always                 -           review/V-20_to_review/V-23 -         old  kept     -           no
REVOKE          open                   idle        review/S9          -          old  dropped  REVOKED     yes
ACT_REVISE      idle                   idle        review/S10         draft      new  dropped  CONSUMED    no
ACT_ACCEPT      idle                   idle        review/S11         accepted   old  dropped  CONSUMED    no
ACT_REJECT      idle                   idle        review/S11         rejected   old  dropped  CONSUMED    no
ACT_CANCEL      idle                   idle        review/S11         cancelled  old  dropped  CONSUMED    no
ACT_REFUSED     always                 -           review/S12         -          old  kept     -           no
SWITCH          open                   idle        review/S14         -          old  dropped  SWITCHED    yes
BRANCH          open                   idle        review/S14         -          old  dropped  BRANCHED    yes
GO              open                   idle        review/S14         -          old  dropped  MOVED       yes
SHUT_DOWN       always                 closed      review/S15         -          old  dropped  SHUT_DOWN   yes
TOO_LATE        always                 -           review/S16         -          old  kept     -           no
DIALOG_BROKE    dialogs                idle        review/S17         -          old  dropped  FAILED      no
DISCARD         dialogs                idle        review/V-19        -          old  kept     -           no
APPEND_FAILED   idle+editing+choosing+panel  idle  review/V-14        -          old  dropped  FAILED      no
"""
PHASES = {phase.name.lower(): phase for phase in Phase}


def specified() -> dict[tuple[Phase, Action], tuple[object, ...]]:
    table: dict[tuple[Phase, Action], tuple[object, ...]] = {}
    groups = {"always": ALWAYS, "open": OPEN, "dialogs": DIALOGS}
    for line in SPECIFIED.strip().splitlines():
        action, where, to, rule, status, text, grant, end, aborts = line.split()
        for name in groups.get(where, where.replace("+", " ")).split():
            phase = PHASES[name]
            table[phase, Action[action]] = (
                phase if to == "-" else PHASES[to],
                rule.replace("_", " "),
                None if status == "-" else Status(status),
                text == "new",
                GrantEffect(grant),
                None if end == "-" else GrantEnd[end],
                aborts == "yes",
            )
    return table


WRITTEN = specified()


def facts(step: Step) -> tuple[object, ...]:
    return (step.to, step.rule, step.status, step.takes_text, step.grant, step.end, step.aborts)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("action", Action)
def test_every_pair_is_in_the_table_exactly_where_the_specification_has_it(phase: Phase, action: Action):
    """review/S1 to review/S17, review/V-14, review/V-19 and review/end-1 to review/end-9: all pairs are walked, the
    impossible ones too.
    """
    if (phase, action) in WRITTEN:
        assert facts(transition(phase, action)) == WRITTEN[phase, action]
        return

    with pytest.raises(NoSuchStep) as error:
        transition(phase, action)
    assert error.value.phase is phase
    assert error.value.action is action
    assert error.value.allowed == tuple(each for each in Action if (phase, each) in WRITTEN)
    assert str(error.value).startswith(f"{action} cannot happen while the desk is {phase}. Possible now: read, ")


def test_no_action_is_left_out():
    """Each action can happen somewhere, and each phase can be reached and left, but for the last one."""
    assert {action for _, action in TRANSITIONS} == set(Action)
    assert {step.to for step in TRANSITIONS.values()} == set(Phase)
    assert {phase for phase, _ in TRANSITIONS} == set(Phase)
    assert {step.to for (phase, _), step in TRANSITIONS.items() if phase is Phase.CLOSED} == {Phase.CLOSED}


def test_what_is_recorded_always_ends_the_grant():
    """review/S1 to review/S17: every row that records drops the grant, Cancel included (review/end-1,
    review/end-2).
    """
    recording = [step for step in TRANSITIONS.values() if step.records]

    assert {step.grant for step in recording} == {GrantEffect.DROPPED}
    assert {step.end for step in recording} == {GrantEnd.CONSUMED, GrantEnd.REVIEWED}


def test_only_one_step_gives_a_grant_and_only_two_take_a_new_text():
    """review/S7; review/S2 and review/S10."""
    giving = {action for (_, action), step in TRANSITIONS.items() if step.grant is GrantEffect.GIVEN}
    taking = {action for (_, action), step in TRANSITIONS.items() if step.takes_text}

    assert giving == {Action.CONFIRM}
    assert taking == {Action.ACCEPT, Action.ACT_REVISE}


def test_every_end_of_a_grant_has_a_step():
    """review/end-1 to review/end-9: nine rows, and no grant that a step drops ends for no reason."""
    assert {step.end for step in TRANSITIONS.values() if step.end} == set(GrantEnd)
    assert len(GrantEnd) == 9
    for step in TRANSITIONS.values():
        assert (step.end is not None) == (step.grant is GrantEffect.DROPPED)


def test_no_status_forbids_anything():
    """review/V-5: the phase alone decides what can happen, so an accepted note can be revised, rejected and so
    on.
    """
    assert {(edge.action, edge.to) for edge in status_edges()} == {
        (action, row[2]) for (_, action), row in WRITTEN.items() if row[2] is not None
    }


def test_a_guard_is_named_where_the_specification_has_one():
    """The guards of review/S1 to review/S17."""
    guarded = {action.name: step.guard for (_, action), step in TRANSITIONS.items() if step.guard}

    assert guarded == {
        "ACCEPT": "the text is valid",
        "CONFIRM": "same session, revision and epoch",
        "OPEN_PANEL": "terminal mode",
        "ACT_REVISE": "granted, and the revision matches, and the text is valid",
        "ACT_ACCEPT": "granted, and the revision matches",
        "ACT_REJECT": "granted, and the revision matches",
        "ACT_CANCEL": "granted, and the revision matches",
    }


def test_a_phase_says_what_is_pending():
    """review/V-1 to review/V-5: at most one of review, delegate and overlay."""
    assert {phase.name: phase.pending for phase in Phase} == {
        "IDLE": Pending.NONE,
        "EDITING": Pending.REVIEW,
        "CHOOSING": Pending.REVIEW,
        "CONFIRMING": Pending.DELEGATE,
        "PANEL": Pending.OVERLAY,
        "CLOSED": Pending.NONE,
    }


def test_a_second_dialog_is_never_possible_while_one_is_open():
    """review/V-20: opening is possible when the desk is idle, and not otherwise."""
    opening = {Action.OPEN_REVIEW, Action.OPEN_DELEGATE, Action.OPEN_PANEL}

    assert {phase for phase in Phase if opening & set(allowed_in(phase))} == {Phase.IDLE}
