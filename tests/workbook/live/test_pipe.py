"""A notebook as the host of a real process: what is answered, what is shown, and what is never left behind."""

from __future__ import annotations

import pytest

from labsim.client.errors import CallbackFailed
from workbook.live.pipe import NoAnswer, host, pipe

ACT = {"op": "act", "action": "accept", "expectedRevision": 0}


def test_a_grant_is_given_and_used_over_a_real_pipe_and_every_frame_is_shown() -> None:
    """rpc/R-5, rpc/R-20, rpc/R-50: ready comes first, each dialog is answered by its id, and the table has both
    directions.
    """
    with host({"confirm": True}, mode="yolo") as desk:
        desk.call("command", words="delegate")
        desk.call("call", args=ACT)
        state = desk.call("get_state")
    table = pipe(desk)

    assert (state["status"], state["revision"], state["authorized"]) == ("accepted", 1, False)
    assert list(table["n"]) == list(range(1, len(table) + 1))
    assert list(table["kind"])[:4] == ["ready", "command", "confirm", "extension_ui_response"]
    assert list(table["direction"])[:4] == ["to client", "from client", "to client", "from client"]
    asked, replied = table["id"].iloc[2], table["id"].iloc[3]
    assert asked == replied == "req-1"


def test_approve_over_the_pipe_is_not_a_grant() -> None:
    """The generic gate asks and is approved; the desk then refuses, for nobody granted a change."""
    with host({"select": "Approve"}) as desk:
        answer = desk.tell("call", args=ACT)
        state = desk.tell("get_state")["data"]

    assert (state["status"], state["revision"]) == ("draft", 0)
    assert "select" in list(pipe(desk)["kind"])
    assert answer == {
        "success": False,
        "error": "No human grant: ask the human to run /review-desk delegate.",
    }


def test_a_dialog_without_an_answer_says_which_one_is_missing() -> None:
    """A cell that forgot a kind of dialog is told so, and the process is gone all the same."""
    with pytest.raises(CallbackFailed) as caught, host({"select": "Approve"}) as desk:
        desk.tell("command", words="delegate")

    assert isinstance(caught.value.__cause__, NoAnswer)
    assert "A confirm dialog came, and there is no answer for it (only for: select)." in str(caught.value.__cause__)
    assert desk.wait_closed() is not None


@pytest.mark.slow
def test_two_runs_of_the_same_commands_show_the_same_table() -> None:
    """Nothing that differs from run to run is shown."""

    def played() -> list[tuple[object, ...]]:
        with host({"confirm": False}) as desk:
            desk.call("command", words="delegate")
        return [tuple(row) for row in pipe(desk).itertuples(index=False)]

    assert played() == played()
