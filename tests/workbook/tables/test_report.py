"""Tables of a played case: what they hold, what they look like, and that nothing in them is taken for markup."""

from __future__ import annotations

import pickle
import re
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from played_kit import (
    BATCH,
    CLASSIFIED,
    DENIED_WRITE,
    DIALOG,
    DISPATCHED,
    HANDLED,
    LOOPED,
    MARKUP,
    NO_UI,
    NO_UI_ERROR,
    OVER_RPC,
    RESOLVED,
    SILENT_DENY,
    TWICE,
    Markup,
    play,
    recorded_reports,
    wait,
)

from labsim.events.event import is_heard
from labsim.play.performance import start
from labsim.terms import Outcome
from workbook.ledgers.claims import BadPrediction
from workbook.ledgers.played import NoSuchCall, NothingHappened, NotPlayed
from workbook.show.frame import ROWS_SHOWN, Look, Table
from workbook.show.grid import WIDTH, Grid, as_text, body, columns_of, wrapped
from workbook.tables.policies import UnknownDeclaration, policy_cells, policy_matrix
from workbook.tables.report import expected, frames, ledger, lifecycle, outcomes, predicted

ALL = {
    "twice": TWICE,
    "no-ui": NO_UI,
    "over-rpc": OVER_RPC,
    "silent-deny": SILENT_DENY,
    "handled": HANDLED,
    "denied-write": DENIED_WRITE,
    "dialog": DIALOG,
    "resolved": RESOLVED,
    "dispatched": DISPATCHED,
    "looped": LOOPED,
}


def rows(table: Table) -> list[tuple[Any, ...]]:
    return list(table.itertuples(index=False, name=None))


# --------------------------------------------------------------------------------------------------- lifecycle


def test_a_lifecycle_has_one_row_per_heard_event_and_a_closing_row():
    """wrapper/W-81: tool_call, requested, select, resolved, executor, tool_result; the second call stops at the
    no.
    """
    see = 'handlers see {"action":"publish"}'
    ask = "approval of seed_note is requested, mode always-ask"

    table = lifecycle(TWICE)

    assert rows(table) == [
        ("call-1", 1, "tool_call", see),
        ("call-1", 2, "tool_approval_requested", ask),
        ("call-1", 3, "ui.select", "the answer is Approve (offered: Approve, Deny)"),
        ("call-1", 4, "tool_approval_resolved", "approved"),
        ("call-1", 5, "execute", 'the inert executor of seed_note is entered with {"action":"publish"}'),
        ("call-1", 6, "tool_result", "result: inert"),
        ("call-1", 7, "returned", "a result: inert"),
        ("call-2", 1, "tool_call", see),
        ("call-2", 2, "tool_approval_requested", ask),
        ("call-2", 3, "ui.select", "the answer is Deny (offered: Approve, Deny)"),
        ("call-2", 4, "tool_approval_resolved", "not approved: denied by user"),
        ("call-2", 5, "threw", "Tool call denied by user: seed_note"),
    ]
    assert table.caption == "Lifecycle of twice"


@pytest.mark.parametrize("call", [2, "call-2"])
def test_one_call_can_be_looked_at_alone(call: int | str):
    """By its number, counted from 1, or by its id."""
    assert rows(lifecycle(TWICE, call)) == rows(lifecycle(TWICE))[7:]


def test_a_deny_that_nobody_hears_of_leaves_only_the_closing_row():
    """wrapper/W-5: a policy deny on the original input emits nothing; the caller's error is all there is."""
    assert rows(lifecycle(SILENT_DENY)) == [
        (
            "call-1",
            1,
            "threw",
            'Tool "seed_note" is blocked by user policy.\n'
            'To allow: remove "tools.approval.seed_note: deny" from config.',
        )
    ]


def test_a_returned_error_is_told_from_a_result():
    """A failure that the tool returns is no exception, and no success either."""
    assert rows(lifecycle(play("failing", choices=["Approve"], executor="error-result")))[-1][2:] == (
        "returned",
        "an error result: inert failure",
    )


def test_a_waiting_call_ends_with_the_question_it_waits_for():
    """No answer is an answer: the table says that one is awaited, in its caption too."""
    table = lifecycle(wait("live", repeat=2))

    assert table.caption == "Lifecycle of live; waiting for an answer"
    assert rows(table)[1:] == [
        ("call-1", 2, "tool_approval_requested", "approval of seed_note is requested, mode always-ask"),
        ("call-1", 3, "waiting", 'select q-1 is open: Allow tool: seed_note\nInput: {"action":"publish"}'),
    ]


def test_an_answer_moves_a_live_lifecycle_on():
    """The same performance, read again after a reply, shows the next call waiting."""
    live = wait("live", repeat=2)
    live.reply("q-1", "Approve")

    assert [row[:3] for row in rows(lifecycle(live))][-4:] == [
        ("call-1", 7, "returned"),
        ("call-2", 1, "tool_call"),
        ("call-2", 2, "tool_approval_requested"),
        ("call-2", 3, "waiting"),
    ]


def test_a_case_without_calls_shows_its_own_events():
    """A file fallback, an RPC dialog and a bare resolution have a story too, though no tool is called."""
    assert rows(lifecycle(DENIED_WRITE)) == [
        ("no call", 1, "primitive_attempted", "write attempt 1 fails (EACCES, a permission denial)"),
        ("no call", 2, "target_resolved", "/tmp/fb/real/card really means /tmp/fb/real/card"),
        ("no call", 3, "handler_consulted", "write handler 1 declined: false"),
        ("no call", 4, "handler_consulted", "write handler 2 accepted: true"),
        ("no call", 5, "mutation_returned", "the write returns: a handler says it is done"),
    ]
    assert [row[2] for row in rows(lifecycle(DIALOG))] == ["frame_sent", "frame_received", "dialog_settled"]
    assert [row[2] for row in rows(lifecycle(RESOLVED))] == ["policy_resolved"]


def test_a_call_inside_another_names_its_tool_when_it_closes():
    """dispatch/D-16: both gates of a dispatch use one call id, so the lane and the inner ending say whose it is."""
    assert [(row[1], *row[3:]) for row in rows(lifecycle(DISPATCHED))][-5:] == [
        ("inner", "ui.select", "the answer is Deny (offered: Approve, Deny)"),
        ("inner", "tool_approval_resolved", "not approved: denied by user"),
        ("inner", "threw", "seed_slot: Tool call denied by user: seed_slot"),
        ("outer", "tool_result", "error: Tool call denied by user: seed_slot"),
        ("outer", "returned", "an error result: Tool call denied by user: seed_slot"),
    ]


def test_only_a_case_with_two_lanes_has_a_column_for_them():
    """A single lane needs no name; a dispatch has both, the outer one first and last."""
    assert list(lifecycle(TWICE).columns) == ["call", "step", "event", "says"]
    lanes = lifecycle(DISPATCHED)["lane"]

    assert list(lifecycle(DISPATCHED).columns) == ["call", "lane", "step", "event", "says"]
    assert (lanes.iloc[0], lanes.iloc[-1], set(lanes)) == ("outer", "outer", {"outer", "inner"})


def test_a_batch_shows_each_call_and_what_the_loop_made_of_it():
    """wrapper/W-66, wrapper/W-69, wrapper/W-74: handlers see the batch before the first call runs; a blocked call
    has a result too.
    """
    assert [row[:3] for row in rows(lifecycle(LOOPED))] == [
        ("call-1", 1, "tool_call"),
        ("call-2", 1, "tool_call"),
        ("call-1", 2, "tool_approval_requested"),
        ("call-1", 3, "ui.select"),
        ("call-1", 4, "tool_approval_resolved"),
        ("call-1", 5, "execute"),
        ("call-1", 6, "tool_result"),
        ("call-1", 7, "returned"),
        ("call-1", 8, "loop_result"),
        ("call-2", 2, "loop_result"),
        ("call-3", 1, "loop_result"),
    ]
    live = start(BATCH, lambda performance, question: None)
    assert rows(lifecycle(live))[-1][:3] == ("call-1", 3, "waiting")
    assert set(ledger(live)["call"]) == {"call-1", "call-2"}
    with pytest.raises(NoSuchCall, match=r"The calls of a batch are counted when it is over; leave `call` out"):
        lifecycle(live, 1)


def test_recorded_cases_lose_no_heard_event_and_close_as_they_ended():
    """Over recorded cases of every shape: the lifecycle is the heard part of the ledger, closed by the outcome."""
    closing = {Outcome.THROW: "threw", Outcome.RETURN: "returned", Outcome.ERROR_RESULT: "returned"}
    for report in recorded_reports(every=31):
        found = lifecycle(report)
        for call in report.calls:
            heard = [event.kind_name() for event in list(report.ledger)[call.start : call.end] if is_heard(event)]
            assert call.outcome is not None
            events = found[found["call"] == call.tool_call_id]
            assert events["event"].tolist() == [*heard, closing[call.outcome]]
            assert events["step"].tolist() == list(range(1, len(heard) + 2))


# ------------------------------------------------------------------------------------------ ledger and frames


def test_a_ledger_has_every_event_with_its_number_and_kind():
    """Desk events explain silent steps and are marked as the simulator's own; heard ones are compared."""
    assert rows(ledger(SILENT_DENY)) == [
        ("call-1", 1, 0, "call_started", "desk", 'seed_note is called with {"action":"publish"}'),
        (
            "call-1",
            2,
            0,
            "policy_resolved",
            "desk",
            "deny on the original input, by user (approval/R2), tier exec, key seed_note",
        ),
        (
            "call-1",
            3,
            0,
            "call_threw",
            "desk",
            'throws: Tool "seed_note" is blocked by user policy.\n'
            'To allow: remove "tools.approval.seed_note: deny" from config.',
        ),
    ]
    assert ledger(HANDLED)["at_ms"].tolist() == [0, 0, 0, 0, 0, 0, 0, 500, 500, 500]
    assert ledger(TWICE).groupby("kind").size().to_dict() == {"desk": 12, "heard": 10}


@pytest.mark.parametrize("name", ALL)
def test_a_ledger_is_complete_and_in_order(name: str):
    """One row per event of the ledger, counted from 1, whatever the kind of case."""
    report = ALL[name]
    table = ledger(report)

    assert table["event"].tolist() == [event.kind_name() for event in report.ledger]
    assert table["n"].tolist() == list(range(1, len(report.ledger) + 1))
    assert set(table["call"]) <= {"no call", *(call.tool_call_id for call in report.calls)}


def test_frames_are_shown_as_they_travelled():
    """rpc/R-4: a frame is the JSON object on the wire; what the client sent is marked by whether it answered."""
    request = (
        '{"type":"extension_ui_request","id":"req-1","method":"select",'
        '"title":"Allow tool: seed_note\\nInput: {\\"action\\":\\"publish\\"}","options":["Approve","Deny"]}'
    )

    assert rows(frames(OVER_RPC)) == [
        (7, 0, "to client", "req-1", "–", request),
        (9, 0, "from client", "req-1", "yes", '{"type":"extension_ui_response","id":"req-1","value":"Approve"}'),
    ]
    stray = play("stray", "rpc", method="select", title="t", options=[], script=[{"frame": {"type": "x", "n": 1}}])
    assert rows(frames(stray))[-1][2:] == ("from client", "–", "no", '{"type":"x","n":1}')


# --------------------------------------------------------------------------------- comparisons and outcomes


def test_expected_and_observed_stand_side_by_side():
    """A report says for every claim whether the run agrees, in a word."""
    table = expected(TWICE)

    assert rows(table) == [
        ("outcome", "throw", "throw", "yes"),
        ("effects", "1", "1", "yes"),
        ("prompts", "2", "2", "yes"),
        ("errorIncludes", "denied by user", "Tool call denied by user: seed_note", "yes"),
    ]
    assert table.caption == "Expected and observed in twice; all agree"


def test_a_wrong_prediction_is_told_in_words_row_by_row_and_in_the_caption():
    """A difference is never shown by colour alone."""
    table = predicted({"prompts": 1, "tier": "exec", "events": {"execute": 1}}, TWICE)

    assert rows(table) == [
        ("prompts", "1", "2", "no"),
        ("tier", "exec", "nothing of the kind", "no"),
        ("events.execute", "1", "1", "yes"),
    ]
    assert table.caption == "Predicted and observed in twice; 2 of 3 differ: prompts, tier"
    marked = [attrs.get("class") for tag, attrs, _ in Markup(table._repr_html_()).elements if tag == "tr"]
    assert marked == [None, "cedar-differs", "cedar-differs", None]


def test_a_waiting_case_has_neither_agreed_nor_differed():
    """What is open can still change: nothing is called wrong yet."""
    table = predicted({"effects": 0, "prompts": 2}, wait("live"))

    assert [row[0::3] for row in rows(table)] == [("effects", "so far"), ("prompts", "not yet")]
    assert table.caption == "Predicted and observed in live; waiting for an answer"
    assert "cedar-differs" not in table._repr_html_().partition("</style>")[2]


def test_alternatives_are_compared_case_by_case():
    """Approve, deny, dismiss and no UI differ in outcome, prompts and effects; an error is cut to one line."""
    deny, dismiss = play("deny", choices=["Deny"]), play("dismiss", choices=[None])
    approve = play("approve", choices=["Approve"])

    table = outcomes([approve, deny, dismiss, NO_UI, DENIED_WRITE, DIALOG, wait("live")])

    denied = "Tool call denied by user: seed_note"
    assert table.astype(object).where(table.notna(), None).to_numpy().tolist() == [
        ["approve", "return", 1, 1, 1, "–"],
        ["deny", "throw", 1, 1, 0, denied],
        ["dismiss", "throw", 1, 1, 0, denied],
        ["no-ui", "throw", 0, 1, 0, NO_UI_ERROR.split("\n")[0]],
        ["denied-write", "return", None, None, 1, "–"],
        ["dialog", "resolve", None, None, None, "–"],
        ["live", "waiting for an answer", 1, 1, 0, "–"],
    ]
    assert "  –  " in repr(table)
    assert "<NA>" not in repr(table)


# --------------------------------------------------------------------------------------------------- policies

# The worked table of approval/R1 to approval/R9: declaration, user policy, then always-ask, write, yolo.
WORKED = """
none                          no entry | prompt mode approval/R9 | prompt mode approval/R9 | allow mode approval/R4b
exec                          no entry | prompt mode approval/R9 | prompt mode approval/R9 | allow mode approval/R4b
write                         no entry | prompt mode approval/R9 | allow mode approval/R8 | allow mode approval/R4b
read                          no entry | allow mode approval/R8 | allow mode approval/R8 | allow mode approval/R4b
exec                          allow | allow user approval/R7 | allow user approval/R7 | allow user approval/R4a
read                          prompt | prompt user approval/R7 | prompt user approval/R7 | prompt user approval/R4a
write                         deny | deny user approval/R2 | deny user approval/R2 | deny user approval/R2
read, policy deny             deny | deny tool approval/R1 | deny tool approval/R1 | deny tool approval/R1
exec, policy allow            prompt | allow tool approval/R6 | allow tool approval/R6 | allow tool approval/R3
read, policy prompt           allow | prompt tool approval/R6 | prompt tool approval/R6 | prompt tool approval/R3
read, override                allow | prompt tool approval/R5 | prompt tool approval/R5 | allow user approval/R4a
read, override                no entry | prompt tool approval/R5 | prompt tool approval/R5 | allow mode approval/R4b
read, override, policy allow  prompt | allow tool approval/R5 | allow tool approval/R5 | allow tool approval/R3
read, override, policy prompt allow | prompt tool approval/R5 | prompt tool approval/R5 | prompt tool approval/R3
read, policy deny             allow | deny tool approval/R1 | deny tool approval/R1 | deny tool approval/R1
"""


@pytest.mark.parametrize("line", WORKED.strip().splitlines())
def test_the_matrix_shows_the_worked_table_of_the_specification(line: str):
    """approval/R1 to approval/R9: each cell says the policy, who decided it and by which rule."""
    head, *cells = (part.strip() for part in line.split("|"))
    declaration, user = head[:30].strip(), head[30:].strip()

    matrix = policy_matrix()

    [row] = matrix[(matrix["declaration"] == declaration) & (matrix["user"] == user)].to_dict("records")
    said = ["{} ({}, {})".format(*cell.split()) for cell in cells]
    assert row == {
        "declaration": declaration,
        "user": user,
        **dict(zip(("always-ask", "write", "yolo"), said, strict=True)),
    }


def test_the_matrix_is_complete_and_agrees_with_its_long_form():
    """Ten declarations, four user policies, three modes: each combination is resolved once."""
    cells, matrix = policy_cells(), policy_matrix()

    assert len(cells) == 10 * 4 * 3
    wide = cells.assign(cell=cells["policy"] + " (" + cells["source"] + ", " + cells["rule"] + ")").pivot(
        index=["declaration", "user"], columns="mode", values="cell"
    )
    assert len(matrix) == 10 * 4
    for row in matrix.to_dict("records"):
        name = row.pop("declaration"), row.pop("user")
        assert wide.loc[name].to_dict() == row


def test_a_learner_chooses_declarations_user_policies_and_modes():
    """approval/A-8, approval/A-11, approval/A-14: a function sees the arguments, a policy word may be untidy, a
    mode may not.
    """
    cells = policy_cells(
        {"mine": {"fn": "seed-slot"}, "broken": {"fn": "throws"}},
        user=[None, " ALLOW "],
        modes=["write", "Write"],
        args={"action": "reserve"},
    )

    assert rows(cells) == [
        ("mine", "no entry", "write", "allow", "mode", "approval/R8", "write"),
        ("mine", "no entry", "Write", "prompt", "mode", "approval/R9", "write"),
        ("mine", '" ALLOW "', "write", "allow", "user", "approval/R7", "write"),
        ("mine", '" ALLOW "', "Write", "allow", "user", "approval/R7", "write"),
        ("broken", "no entry", "write", "throws", "approval rule failed", "–", "–"),
        ("broken", "no entry", "Write", "throws", "approval rule failed", "–", "–"),
        ("broken", '" ALLOW "', "write", "throws", "approval rule failed", "–", "–"),
        ("broken", '" ALLOW "', "Write", "throws", "approval rule failed", "–", "–"),
    ]
    assert rows(policy_matrix("read", user="deny", modes=["yolo", "yolo"])) == [
        ("read", "deny", "deny (user, approval/R2)")
    ]
    assert rows(policy_matrix({"broken": {"fn": "throws"}}, user="deny", modes="yolo")) == [
        ("broken", "deny", "throws (approval rule failed)")
    ]
    assert rows(policy_cells({"mine": UNSET}, user="allow", modes="yolo"))[0][3:] == (
        "allow",
        "user",
        "approval/R4a",
        "exec",
    )


def test_an_unknown_declaration_is_refused_with_those_there_are():
    """A typo is no declaration; a declaration of one's own is a mapping."""
    with pytest.raises(
        UnknownDeclaration, match=r"No declaration is called 'raed'\. Use one of: none; read; write;"
    ):
        policy_matrix(["raed"])


# ----------------------------------------------------------------------------------------- refusals and forms


@pytest.mark.parametrize("table", [lifecycle, ledger, frames])
def test_an_empty_ledger_is_no_table(table: Any):
    """Classification calls nothing: an empty table would look like a result."""
    with pytest.raises(NothingHappened) as error:
        table(CLASSIFIED)
    assert str(error.value) == (
        "classified: a classify-error case calls nothing, so its ledger is empty. "
        "expected(report) shows what it observed."
    )


def test_what_a_case_does_not_have_is_said_with_what_would_do():
    """No frame, no claim, no such call: each has its own sentence."""
    with pytest.raises(NothingHappened, match="twice: no RPC frame was sent in this case"):
        frames(TWICE)
    with pytest.raises(NothingHappened, match=r"no-ui: the case claims nothing\. outcomes\(\[report\]\) shows"):
        expected(NO_UI)
    with pytest.raises(NoSuchCall, match=r"twice: there is no call 3\. Use 1 to 2, or an id: call-1, call-2\."):
        lifecycle(TWICE, 3)
    with pytest.raises(NoSuchCall, match=r"there is no call True\."):
        lifecycle(TWICE, True)
    with pytest.raises(NoSuchCall, match=r"A fallback case makes no calls; leave `call` out\."):
        lifecycle(DENIED_WRITE, 1)
    assert rows(expected(CLASSIFIED)) == [("permissionDenied", "true", "true", "yes")]


def test_outcomes_can_show_further_observed_fields() -> None:
    """`also` adds a column for each field, spelled as in every other table; a field nobody can show is refused."""
    table = outcomes([TWICE], also=["input", "tier"])

    assert list(table.columns) == ["case", "outcome", "prompts", "tool_calls", "effects", "input", "tier", "error"]
    assert list(table["tier"]) == ["nothing of the kind"]
    with pytest.raises(BadPrediction, match="inptu"):
        outcomes([TWICE], also=["inptu"])


@pytest.mark.parametrize("found", [TWICE, None, "twice"])
def test_outcomes_take_several_cases(found: Any):
    """A single report is not a list of them; the message says so instead of listing letters."""
    with pytest.raises(NotPlayed, match="A played case is needed here"):
        outcomes(found)


def test_columns_have_the_documented_types():
    """Text is `string`, numbers are integers, and nothing is missing but a number that a case never shows."""
    text, number = pd.StringDtype(), "int64"
    compared = {"observed": text, "agrees": text}

    assert lifecycle(TWICE).dtypes.to_dict() == {"call": text, "step": number, "event": text, "says": text}
    assert ledger(TWICE).dtypes.to_dict() == {
        "call": text,
        "n": number,
        "at_ms": number,
        "event": text,
        "kind": text,
        "says": text,
    }
    assert expected(TWICE).dtypes.to_dict() == {"field": text, "expected": text, **compared}
    assert predicted({}, TWICE).dtypes.to_dict() == {"field": text, "predicted": text, **compared}
    assert outcomes([TWICE]).dtypes.to_dict() == {
        "case": text,
        "outcome": text,
        "prompts": "Int64",
        "tool_calls": "Int64",
        "effects": "Int64",
        "error": text,
    }
    assert set(policy_cells().dtypes) == set(policy_matrix().dtypes) == {text}


def test_what_is_made_from_a_table_is_a_plain_dataframe():
    """A caption true of the whole need not be true of a part, so it is not carried over."""
    table = lifecycle(TWICE)

    for made in (table[table["event"] == "execute"], table.head(2), table.sort_values("event"), table.copy()):
        assert type(made) is pd.DataFrame
    assert type(pd.concat([table, table])) is pd.DataFrame
    assert table.groupby("call").size().to_dict() == {"call-1": 7, "call-2": 5}


def test_a_table_survives_pickling_and_changes_in_place():
    """It is a DataFrame: a learner may drop or add a column, and it is still shown."""
    table = pickle.loads(pickle.dumps(lifecycle(TWICE)))
    assert repr(table) == repr(lifecycle(TWICE))

    del table["call"], table["event"]
    table["mine"] = 1.5
    assert repr(table).splitlines()[2].split() == ["step", "says", "mine"]
    assert Markup(table._repr_html_()).texts("th", scope="col") == ["step", "says", "mine"]


def test_a_table_reads_as_aligned_text():
    """The plain form stands on its own, in a terminal and on a code host."""
    assert repr(expected(TWICE)) == (
        "Expected and observed in twice; all agree\n"
        "\n"
        "field          expected        observed                             agrees\n"
        "-------------  --------------  -----------------------------------  ------\n"
        "outcome        throw           throw                                yes\n"
        "effects        1               1                                    yes\n"
        "prompts        2               2                                    yes\n"
        "errorIncludes  denied by user  Tool call denied by user: seed_note  yes"
    )
    assert repr(lifecycle(wait("live"))) == (
        "Lifecycle of live; waiting for an answer\n"
        "\n"
        "call    step  event                    says\n"
        "------  ----  -----------------------  ---------------------------------------------------\n"
        'call-1     1  tool_call                handlers see {"action":"publish"}\n'
        "           2  tool_approval_requested  approval of seed_note is requested, mode always-ask\n"
        "           3  waiting                  select q-1 is open: Allow tool: seed_note\n"
        '                                       Input: {"action":"publish"}'
    )


def test_html_has_a_caption_and_scoped_headers_and_no_empty_one():
    """A screen reader can name the table, each column, each row and each call; no corner cell is empty."""
    html = Markup(lifecycle(TWICE)._repr_html_())

    assert html.texts("caption") == ["Lifecycle of twice"]
    assert html.texts("th", scope="col") == ["call", "step", "event", "says"]
    assert html.texts("th", scope="rowgroup", rowspan="7") == ["call-1"]
    assert html.texts("th", scope="rowgroup", rowspan="5") == ["call-2"]
    assert html.texts("th", scope="row") == lifecycle(TWICE)["event"].tolist()
    assert all(attrs.get("scope") for tag, attrs, _ in html.elements if tag == "th")
    assert all(text.strip() for text in html.texts("th"))


def test_cells_say_their_side_themselves():
    """JupyterLab aligns to the right, and takes the style away where it does not trust it; an attribute stays."""
    cells = [attrs for tag, attrs, _ in Markup(lifecycle(TWICE)._repr_html_()).elements if tag in ("th", "td")]
    sides = [re.match(r"text-align:(left|right);vertical-align:top", attrs["style"] or "") for attrs in cells]

    assert [side and side[1] for side in sides[:8]] == ["left", "right", "left", "left"] * 2
    assert all(sides)


def test_line_breaks_of_a_prompt_stay_line_breaks_where_no_style_is_left():
    """A code host takes the style away; `<br>` stays."""
    assert rows(lifecycle(NO_UI))[-1] == ("call-1", 4, "threw", NO_UI_ERROR)
    assert NO_UI_ERROR in Markup(lifecycle(NO_UI)._repr_html_()).texts("td")


def test_no_text_of_a_case_becomes_markup_or_a_control_sequence():
    """Fixture and learner text is untrusted: shown as text, controls made visible, in every form of every table."""
    report = play(
        MARKUP.partition("\x1b")[0],
        args={MARKUP: MARKUP},
        details="list",
        ui="rpc",
        choices=[MARKUP],
        expected={"errorIncludes": MARKUP},
    )
    assert r"&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;amp;\x1b[31m\u202e" in ledger(report)._repr_html_()
    shown = {
        "lifecycle": lifecycle(report),
        "ledger": ledger(report),
        "expected": expected(report),
        "predicted": predicted({"promptIncludes": MARKUP}, report),
        "outcomes": outcomes([report]),
        "frames": frames(report),
        "matrix": policy_matrix({MARKUP: MARKUP}, user=[MARKUP], modes=[MARKUP]),
    }
    for name, table in shown.items():
        html, text = table._repr_html_(), repr(table)
        assert {tag for tag, _, _ in Markup(html).elements} <= {
            *("div", "style", "table", "caption", "thead", "tbody", "tr", "th", "td", "br"),
            *("details", "summary", "ul", "li", "p"),
        }, name
        for form in (html, text, table.caption, *(str(cell) for row in rows(table) for cell in row)):
            assert not any(sign in form for sign in ("\x1b", "\u202e")), name
        assert "&lt;img src=x onerror=" in html, name


def test_the_same_report_gives_the_same_output():
    """nbval compares text and HTML as they are: no ids, no addresses, no random part."""
    one, other = (play("again", choices=["Approve"]) for _ in range(2))

    for table in (lifecycle, ledger):
        assert table(one)._repr_mimebundle_() == table(other)._repr_mimebundle_()
        assert set(table(one)._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_a_very_long_table_is_shown_in_part_and_says_so():
    """A thousand calls are all in the table; a page shows the beginning of them."""
    table = lifecycle(play("many", choices=["Approve"] * 1000, repeat=1000))

    assert len(table) == 7000
    assert repr(table).endswith("\n\n… and 6,800 more rows, not shown here; the table has them.")
    html = Markup(table._repr_html_())
    assert len(html.texts("td")) == ROWS_SHOWN * 2
    assert html.texts("p") == ["… and 6,800 more rows, not shown here; the table has them."]


# ------------------------------------------------------------------------------------------------- plain text


@pytest.mark.parametrize("name", ALL)
def test_plain_tables_keep_to_the_width(name: str):
    """No line is longer than a terminal or a code host shows, and none ends in blanks."""
    for line in repr(ledger(ALL[name])).splitlines():
        assert columns_of(line) <= WIDTH
        assert line == line.rstrip()


@given(st.lists(st.text("ab {},\n種é", max_size=60), min_size=1, max_size=6), st.integers(20, 60))
def test_wrapping_loses_nothing_but_blanks(cells: list[str], width: int):
    """Whatever is in a cell is still there when it is wrapped, within the width, in the same order."""
    grid = Grid(caption="c", columns=("n", "text"), rows=tuple((str(n), cell) for n, cell in enumerate(cells)))

    text = as_text(grid, width)

    assert max(map(columns_of, text.splitlines())) <= width
    for cell in cells:
        lines = list(wrapped(cell, width))
        assert "".join("".join(lines).split()) == "".join(cell.split())


def test_wide_characters_take_two_columns():
    """Columns stay aligned where a script is set twice as wide, and where an accent is a character of its own."""
    grid = Grid(caption="c", columns=("a", "b"), rows=(("種", "x"), ("e\u0301", "x"), ("ab", "x")))

    assert as_text(grid).splitlines()[2:] == ["a   b", "--  -", "種  x", "e\u0301   x", "ab  x"]


def test_an_indent_is_kept_when_a_line_is_wrapped():
    """The numbered options of an error stay a list."""
    assert list(wrapped("  1. one two three\nnext", 10)) == ["  1. one", "  two", "  three", "next"]
    assert list(wrapped('{"action":"publish","note":"x"}', 22)) == ['{"action":"publish",', '"note":"x"}']


def test_a_table_without_rows_or_columns_is_still_a_table():
    """Nothing to show is no reason to fail."""
    empty = Table({"a": []}, {"a": "string"}, Look(caption="Nothing", header="a"))

    assert repr(empty) == "Nothing\n\na\n-"
    assert body(Grid(caption="c", columns=(), rows=())).count("<td") == 0


def test_html_is_not_wider_than_it_has_to_be() -> None:
    """A long caption is wrapped; names stay in one piece, unless all of them side by side are too wide."""
    names = tuple(f"column {number}" for number in range(9))
    fits = Grid(caption="c" * 90, columns=names[:3], rows=(("a b",) * 3,))
    wide = Grid(caption="c" * 91, columns=names, rows=(("a name of some length",) * 9,), header=1)

    assert body(fits).count("white-space:nowrap") == 6
    assert body(wide).count("white-space:nowrap") == 2
    assert '<caption style="text-align:left">' in body(fits)
    assert '<caption style="text-align:left;max-width:' in body(wide)
