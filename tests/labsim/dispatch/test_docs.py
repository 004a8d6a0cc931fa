"""What devices say of themselves, and the devices that are no tools: dispatch/D-42 to dispatch/D-49."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dispatch_kit import (
    FOOTER,
    LISTING,
    NO_PLAN,
    NOTHING_TO_APPLY,
    PROPOSE_INSTEAD,
    SLOT_DOCS,
    Desk,
    no_such_tool,
    played,
    slot_tool,
)
from msgspec import UNSET

from labsim.dispatch.devices import Device, listing, read_device, summary, type_text
from labsim.dispatch.events import (
    ReportKept,
    StagedSought,
)
from labsim.dispatch.resolution import Staged, StagedAction, ToolReport
from labsim.errors import AbortError, HostError, ToolError
from labsim.tool import ToolResult, text_content, visible_text

# dispatch/D-42 to dispatch/D-46


def test_the_listing_counts_and_pads_the_mounted_names():
    """dispatch/D-42: in the order of mounting, and without a plural."""
    tools = [slot_tool(), slot_tool("a_rather_long_device", summary="Waters a bed.")]
    both, one = Desk(tools).session.devices, Desk(tools, mounted=["seed_slot"], active=["a_rather_long_device"])

    assert both is not None
    assert listing(both) == (
        "xd:// 2 mounted tool devices.\n"
        "xd://seed_slot      Moves a fictional seed slot.\n"
        "xd://a_rather_long_device Waters a bed.\n"
        f"\n{FOOTER}"
    )
    assert read_device(one.session.devices, None) == LISTING


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ({"summary": "Moves seeds.", "description": "Long."}, "Moves seeds."),
        ({"summary": "\n Moves\nseeds."}, "Moves"),
        ({"description": "\n  \nMoves seeds.\nAnd more."}, "Moves seeds."),
        ({"description": "", "label": "Slot"}, "Slot"),
        ({"description": "", "label": None}, "seed_slot"),
        ({"description": "a\t\u0007b\u2028c"}, "a b c"),
        ({"description": "\u0001"}, "seed_slot"),
        ({"description": "é" * 120}, "é" * 98 + "…"),
        ({"description": "é" * 100}, "é" * 100),
        ({"description": "a" * 196 + " b" * 20}, "a" * 196 + "…"),
    ],
)
def test_a_summary_is_one_line_of_at_most_200_bytes(words: dict[str, Any], line: str):
    """dispatch/D-43: cut on a character's boundary, blanks before the ellipsis left off."""
    shown = summary(Device(tool=slot_tool(**words)))

    assert shown == line
    assert len(shown.encode()) <= 200


def test_the_summary_of_a_built_in_device_is_not_cut():
    """dispatch/D-43."""
    assert summary(Device(tool=slot_tool(description="a" * 300), built_in=True)) == "a" * 300


def test_docs_have_a_label_or_no_dash():
    """dispatch/D-44."""
    assert read_device(Desk([slot_tool()]).session.devices, "seed_slot") == SLOT_DOCS
    bare = Desk([slot_tool(label=None)]).session.devices
    assert read_device(bare, "seed_slot") == SLOT_DOCS.replace("# seed_slot — Seed slot", "# seed_slot", 1)


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (
            {
                "type": "object",
                "properties": {"action": {"type": "string"}, "note": {"type": "string"}},
                "required": ["action"],
            },
            "{\n  action: string;\n  note?: string;\n}",
        ),
        ({"properties": {"a-b": {"type": "boolean"}}}, '{\n  "a-b"?: boolean;\n}'),
        ({"type": ["integer", "null"]}, "number | null"),
        ({"type": "array", "items": {"enum": ["a", 1]}}, '("a" | 1)[]'),
        ({"type": "array"}, "unknown[]"),
        ({"anyOf": [{"type": "string"}, {"const": 5}]}, "string | 5"),
        ({"allOf": [{"type": "object"}, {}]}, "Record<string, unknown> & unknown"),
        (
            {"properties": {"row": {"properties": {"at": {"type": "number"}}, "required": ["at"]}}},
            "{\n  row?: {\n    at: number;\n  };\n}",
        ),
        ({}, "unknown"),
    ],
)
def test_a_schema_is_written_as_a_type(schema: dict[str, Any], text: str):
    """dispatch/D-45."""
    assert type_text(schema) == text


def test_reading_an_unknown_device_raises_and_a_special_one_gives_its_usage():
    """dispatch/D-46."""
    state = Desk([slot_tool()]).session.devices

    with pytest.raises(ToolError) as caught:
        read_device(state, "nope")
    assert str(caught.value) == no_such_tool("nope")
    for name in ("resolve", "reject", "propose", "report_issue"):
        assert read_device(None, name).startswith("Write ")
        assert "\n" not in read_device(None, name)


# dispatch/D-47 to dispatch/D-48


def applied(reason: str) -> ToolResult:
    return ToolResult(content=text_content(f"Planted. {reason}"), details={"planted": True})


def failing(error: Exception) -> Callable[[str], ToolResult]:
    def apply(reason: str) -> ToolResult:
        raise error

    return apply


def test_nothing_pending():
    """dispatch/D-47 to dispatch/D-48, and dispatch/D-25: resolve and propose raise, reject succeeds; the body is
    the trimmed content (dispatch/D-47).
    """
    desk = Desk([slot_tool()])

    assert desk.raised("xd://resolve", "go") == NOTHING_TO_APPLY
    assert desk.raised("xd://propose", "Beds") == NO_PLAN
    result = desk.result("xd://reject", "  too early\n")
    assert visible_text(result.content) == "Nothing to reject; no pending action remains."
    assert result.is_error is UNSET
    assert result.details == {
        "xdev": {
            "tool": "reject",
            "mode": "execute",
            "args": {"reason": "too early"},
            "inner": {"action": "discard", "reason": "too early"},
        }
    }
    assert [(event.device, event.label) for event in desk.seen(StagedSought)] == [
        ("resolve", None),
        ("propose", None),
        ("reject", None),
    ]


def test_where_a_plan_can_be_proposed_both_texts_say_so():
    """dispatch/D-48."""
    desk = Desk([slot_tool()], staged=Staged(propose=applied))

    assert desk.raised("xd://resolve", "go") == NOTHING_TO_APPLY + PROPOSE_INSTEAD
    assert visible_text(desk.result("xd://reject", "no").content) == (
        "Nothing to reject; no pending action remains." + PROPOSE_INSTEAD
    )


def test_a_staged_preview_is_applied_once_with_the_reason():
    """dispatch/D-47 to dispatch/D-48: newest first, and gone afterwards."""
    staged = Staged()
    staged.stage(StagedAction(label="older", apply=applied))
    staged.stage(StagedAction(label="newer", apply=applied))
    desk = Desk([slot_tool()], staged=staged)

    result = desk.result("xd://resolve", " looks right ")
    assert visible_text(result.content) == "Planted. looks right"
    assert result.details == {
        "xdev": {
            "tool": "resolve",
            "mode": "execute",
            "args": {"reason": "looks right"},
            "inner": {"planted": True},
        }
    }
    assert staged.head is not None
    assert staged.head.label == "older"
    desk.result("xd://resolve", "again")
    assert desk.raised("xd://resolve", "again") == NOTHING_TO_APPLY


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (HostError("bed is full"), "Apply failed: bed is full"),
        (ValueError("bed is full"), "Apply failed: bed is full"),
        (ToolError("bed is full"), "bed is full"),
        (AbortError("stopped"), "stopped"),
    ],
)
def test_a_failed_apply_leaves_the_preview_pending(error: Exception, message: str):
    """dispatch/D-47 to dispatch/D-48: a tool's own error passes unchanged; it can be rejected afterwards."""
    staged = Staged()
    staged.stage(StagedAction(label="beds", apply=failing(error)))
    desk = Desk([slot_tool()], staged=staged)

    assert desk.raised("xd://resolve", "go") == message
    result = desk.result("xd://reject", "full")
    assert visible_text(result.content) == "Discarded: beds. Reason: full"
    assert result.details["xdev"]["inner"] == {"action": "discard", "reason": "full", "label": "beds"}
    assert staged.head is None


def test_a_preview_can_say_itself_how_it_is_discarded():
    """dispatch/D-47 to dispatch/D-48: the stock text is only the default."""
    staged = Staged()
    staged.stage(
        StagedAction(label="beds", apply=applied, reject=lambda reason: ToolResult(content=text_content("Gone.")))
    )
    desk = Desk([slot_tool()], staged=staged)

    assert visible_text(desk.result("xd://reject", "no").content) == "Gone."


def test_a_title_goes_to_plan_mode():
    """dispatch/D-47 to dispatch/D-48 and dispatch/D-47: `propose` records the title, and looks at no staged
    preview.
    """
    staged = Staged(propose=applied)
    staged.stage(StagedAction(label="beds", apply=failing(ValueError())))
    record = Desk([slot_tool()], staged=staged).result("xd://propose", " Beds \n").details["xdev"]

    assert record == {
        "tool": "propose",
        "mode": "execute",
        "args": {"title": "Beds"},
        "inner": {"planted": True},
    }


def test_the_scenario_stages_and_resolves():
    """The same through a case: what waits is resolved, and a second write finds nothing."""
    report = played(
        path="xd://resolve", content="go", staged={"label": "beds"}, repeat=2, mode="always-ask", ui=False
    )
    broken = played(path="xd://resolve", content="go", staged={"label": "beds", "fails": "full"}, mode="yolo")
    planned = played(path="xd://propose", content="Beds", planMode=True, mode="yolo")

    assert [call.outcome for call in report.calls] == ["return", "throw"]
    assert report.observed["error"] == NOTHING_TO_APPLY
    assert broken.observed["error"] == "Apply failed: full"
    assert planned.observed["outcome"] == "return"


# dispatch/D-49


def test_with_reports_off_any_body_is_thanked_for_and_nothing_is_kept():
    """dispatch/D-49."""
    desk = Desk([slot_tool()])
    for body in ("", "grep: slow", "no shape at all"):
        result = desk.result("xd://report_issue", body)
        assert visible_text(result.content) == "Noted, thanks!"
        assert result.details == {"xdev": {"tool": "report_issue", "mode": "execute", "args": {"report": body}}}

    assert [event.kept for event in desk.seen(ReportKept)] == [False] * 3


@pytest.mark.parametrize(
    ("body", "report"),
    [
        ("grep: misses a line", ToolReport("grep", "misses a line")),
        (" mcp__shelf:  a\nb ", ToolReport("mcp__shelf", "a\nb")),
        ("grep\n\nmisses: a line", ToolReport("grep", "misses: a line")),
        ("seed.slot\r\nstuck", ToolReport("seed.slot", "stuck")),
    ],
)
def test_with_reports_on_a_report_is_kept_in_the_local_list(body: str, report: ToolReport):
    """dispatch/D-49: a tool and a text, on one line or below each other."""
    kept: list[ToolReport] = []
    Desk([slot_tool()], keep_report=kept.append).result("xd://report_issue", body)

    assert kept == [report]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (" \n", "Empty report. "),
        ("grep", "Invalid report format. "),
        ("grep:", "Invalid report format. "),
        ("it broke", "Invalid report format. "),
        (": text", "Invalid report format. "),
        ("two words: x", "Invalid report format. "),
    ],
)
def test_a_body_that_is_no_report_is_refused_with_the_usage(body: str, message: str):
    """dispatch/D-49 and dispatch/D-25."""
    kept: list[ToolReport] = []
    desk = Desk([slot_tool()], keep_report=kept.append)

    assert desk.raised("xd://report_issue", body).startswith(f"{message}Write '<tool>: ")
    assert kept == []


def test_a_list_that_fails_is_nobodys_error():
    """dispatch/D-49: recording failures are swallowed; the ledger says that the report is lost."""

    def keep(report: ToolReport) -> None:
        raise OSError("full")

    desk = Desk([slot_tool()], keep_report=keep)

    assert visible_text(desk.result("xd://report_issue", "grep: slow").content) == "Noted, thanks!"
    assert desk.seen(ReportKept) == [
        ReportKept(at_ms=0, tool_call_id="call-1", kept=False, tool="grep", report="slow")
    ]
