"""Sequence diagrams: every event once and in order, in four forms that say the same; no text becomes a drawing."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest
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
    OVER_RPC,
    RESOLVED,
    SILENT_DENY,
    TWICE,
    Markup,
    play,
    recorded_reports,
    wait,
)

from labsim.events.event import Event
from labsim.events.ledger import Ledger
from labsim.play.performance import start
from labsim.play.report import Report
from workbook.ledgers.played import NoSuchCall, NothingHappened, NotPlayed
from workbook.pictures.scene import EVENTS_DRAWN
from workbook.pictures.sequence import Diagram, sequence
from workbook.show.grid import WIDTH, columns_of

SVG = "{http://www.w3.org/2000/svg}"
LEGEND = "--> tells or asks   - -> answers   - -x refuses or fails   ==> has an effect   * notes or decides"
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
    "waiting": wait("waiting").report(),
}


def listed(diagram: Diagram) -> list[str]:
    """The events in words; what rules say follows in a list of its own."""
    return Markup(diagram._repr_mimebundle_()["text/html"].partition('<div class="cedar-page')[0]).texts("li")


# --------------------------------------------------------------------------------------------------- the story

SECOND_CALL = r"""
Sequence of call-2 in twice

      caller   wrapper   handlers   person   seed_note
         |        |          |         |         |  call-2
  13     |------->|          |         |         |  call_started: seed_note {"action":"publish"}
  14     |        *          |         |         |  policy_resolved: prompt (mode, approval/R9) on the
         |        |          |         |         |  original input
  15     |        |--------->|         |         |  tool_call: {"action":"publish"}
  16     |        *          |         |         |  policy_resolved: prompt (mode, approval/R9) on the
         |        |          |         |         |  effective input
  17     |        *          |         |         |  prompt_decided: prompt required: the policy is prompt
  18     |        |--------->|         |         |  tool_approval_requested: mode always-ask
  19     |        |------------------->|         |  question_asked: select: Allow tool: seed_note …
  20     |        |< - - - - - - - - - |         |  ui.select: Deny
  21     |        |--------->|         |         |  tool_approval_resolved: not approved: denied by user
  22     |x - - - |          |         |         |  call_threw: Tool call denied by user: seed_note
         |        |          |         |         |

"""
HANDLERS_ASK = r"""
Sequence of handled

      caller   wrapper   handlers   person   seed_note
         |        |          |         |         |  call-1
   1     |------->|          |         |         |  call_started: seed_note {"action":"publish"}
   2     |        *          |         |         |  policy_resolved: prompt (mode, approval/R9) on the
         |        |          |         |         |  original input
   3     |        |--------->|         |         |  tool_call: {"action":"publish"}
   4     |        |< - - - - |         |         |  handler_answered: desk replaces the input:
         |        |          |         |         |  {"action":"inspect"}
   5     |        |          |-------->|         |  question_asked: confirm: guard …
   6     |        |          |< - - - -|         |  question_answered: true
   7     |        |< - - - - |         |         |  handler_answered: guard changes nothing
   8     |        |< - - - - |         |         |  handler_answered at 500 ms: slow changes nothing
   9     |        |x - - - - |         |         |  handler_answered: last blocks the call
  10     |x - - - |          |         |         |  call_threw: not today
         |        |          |         |         |

"""
OVER_RPC_ASKED = r"""
   6     |        |--------->|            |            |  tool_approval_requested: mode always-ask
   7     |        |---------------------->|            |  frame_sent: select req-1
   8     |        |          |            *            |  question_asked: shows select: Allow tool: seed_note
         |        |          |            |            |  …
   9     |        |< - - - - - - - - - - -|            |  frame_received: req-1 {"value":"Approve"}
  10     |        *          |            |            |  dialog_settled: req-1 is over (reply) and gives
         |        |          |            |            |  "Approve"
  11     |        *          |            |            |  rpc.select: Approve
  12     |        |--------->|            |            |  tool_approval_resolved: approved
  13     |        |===================================>|  execute: {"action":"publish"}
"""
FALLBACK = r"""
Sequence of denied-write

      caller   tool   file system   fallback handlers
         |       |         |                |
   1     |       |- - - - x|                |  primitive_attempted: write attempt 1 fails (EACCES, a
         |       |         |                |  permission denial)
   2     |       *         |                |  target_resolved: /tmp/fb/real/card really means
         |       |         |                |  /tmp/fb/real/card
   3     |       |< - - - - - - - - - - - - |  handler_consulted: write handler 1 declined: false
   4     |       |< - - - - - - - - - - - - |  handler_consulted: write handler 2 accepted: true
   5     |< - - -|         |                |  mutation_returned: the write returns: a handler says it is done
         |       |         |                |

"""


def test_a_refused_call_never_reaches_the_tool():
    """wrapper/W-42: the second call asks again, what came back is no, and no arrow enters the tool's lane."""
    assert sequence(TWICE, 2).text == SECOND_CALL.removeprefix("\n") + LEGEND


def test_what_a_handler_asks_is_drawn_from_the_handlers():
    """wrapper/W-64: a dialog before the gate's decision is an extension's own; time is told when it moves on."""
    assert sequence(HANDLED).text == HANDLERS_ASK.removeprefix("\n") + LEGEND


def test_over_rpc_the_frames_are_what_travels():
    """rpc/R-16, rpc/R-61: request and reply are the arrows; showing the dialog and giving its value are notes."""
    assert OVER_RPC_ASKED in sequence(OVER_RPC).text
    assert "client (RPC)" in sequence(OVER_RPC).text


DISPATCH_INSIDE = r"""
  11     |       |---------------------------->|         |         |  tool_approval_resolved: approved
  12     |       *             |               |         |         |  address_read: the path is read as:
         |       |             |               |         |         |  device seed_slot ("xd://seed_slot")
  13     |       *             |               |         |         |  device_sought: seed_slot is found:
         |       |             |               |         |         |  mounted
  14     |       *             |               |         |         |  content_read: the content holds
         |       |             |               |         |         |  arguments for seed_slot:
         |       |             |               |         |         |  {"action":"reserve"}
  15     |       *             |               |         |         |  passed_on: passed on to the gate of
         |       |             |               |         |         |  seed_slot, marked as approved outside;
         |       |             |               |         |         |  tier write
  16     |       |------------>|               |         |         |  call_started: seed_slot
         |       |             |               |         |         |  {"action":"reserve"}
"""
DISPATCH_REFUSED = r"""
  24     |       |             |< - - - - - - - - - - - -|         |  ui.select: Deny
  25     |       |             |-------------->|         |         |  tool_approval_resolved: not approved:
         |       |             |               |         |         |  denied by user
  26     |       |x - - - - - -|               |         |         |  call_threw: Tool call denied by user:
         |       |             |               |         |         |  seed_slot
"""


def test_a_dispatch_has_a_lane_for_each_gate():
    """dispatch/D-16: the outer gate hands on to the device's own, which asks for itself, and its refusal ends at
    `write`.
    """
    text = sequence(DISPATCHED).text

    assert text.splitlines()[2] == "      caller   write   gate of seed_slot   handlers   person   seed_slot"
    assert DISPATCH_INSIDE in text
    assert DISPATCH_REFUSED in text
    assert "==>" not in text.removesuffix(LEGEND)


LOOP_PREPARES = r"""
      agent loop   wrapper   handlers   person   tool
           |          |          |         |       |  call-1
   1       *          |          |         |       |  arguments_checked: the schema takes the model's
           |          |          |         |       |  arguments as {"action":"publish"}
   2       *          |          |         |       |  marker_set: the loop emits tool_call itself, and leaves
           |          |          |         |       |  a marker for the wrapper
   3       |-------------------->|         |       |  tool_call: {"action":"publish"}
"""


def test_a_batch_shows_what_the_loop_does_by_itself():
    """wrapper/W-66, wrapper/W-68: the whole batch is prepared first, and the loop emits tool_call, not the
    wrapper.
    """
    text = sequence(LOOPED).text

    assert LOOP_PREPARES in text
    assert text.index("call-2") < text.index("call_started") < text.index("call-3")
    assert "9       |x - - - - - - - - - -|         |       |  handler_answered: desk blocks the call" in text
    assert "?       |  waiting for an answer" in sequence(start(BATCH, lambda performance, question: None)).text


def test_a_file_fallback_has_lanes_of_its_own():
    """fallback/F-12: the denied call of the tool itself, then the handlers; nothing else touches the disk."""
    assert sequence(DENIED_WRITE).text == FALLBACK.removeprefix("\n") + LEGEND


def test_lanes_that_nothing_reaches_are_drawn_all_the_same():
    """wrapper/W-5, wrapper/W-37: a deny reaches no handler, person or tool; without a UI the lane says that nobody
    is there.
    """
    header, *lines = sequence(SILENT_DENY).text.splitlines()[2:-2]

    assert header == "      caller   wrapper   handlers   person   seed_note"
    assert {line[18:49] for line in lines} == {"|          |         |         ", "*          |         |         "}
    assert {line[49] for line in lines} == {"|"}
    assert "nobody (no UI)" in sequence(NO_UI).text


def test_an_awaited_answer_is_drawn_as_awaited():
    """Where it is open, the diagram says so, on the lane of whoever has to answer."""
    waiting = sequence(wait("live", repeat=2))

    assert waiting.caption == "Sequence of live; waiting for an answer"
    assert "         |        |          |         ?         |  waiting for an answer" in waiting.text.splitlines()
    assert listed(waiting)[-1] == "person: waiting for an answer"
    assert "Note over person: waiting for an answer" in waiting.mermaid
    assert "waiting for an answer</text>" in waiting.svg


def test_a_finished_call_of_a_waiting_case_waits_for_nobody():
    """The first call is over although the second one waits."""
    live = wait("live", repeat=2)
    live.reply("q-1", "Approve")

    assert "?" not in sequence(live, 1).text
    assert "         ?         |  waiting for an answer" in sequence(live, 2).text


# --------------------------------------------------------------------------------------------- completeness


@pytest.mark.parametrize("name", ALL)
def test_every_form_has_every_event_once_and_in_order(name: str):
    """Text, picture, list and Mermaid source are drawn from the ledger and from nothing else."""
    report = ALL[name]
    kinds = [(number, event.kind_name()) for number, event in enumerate(report.ledger, start=1)]
    diagram = sequence(report)

    in_text = re.findall(r"^ {,3}(\d+) .*[|*] {2}([a-z_.]+)", diagram.text, re.MULTILINE)
    in_mermaid = re.findall(r": (\d+) ([a-z_.]+)", diagram.mermaid)
    titles = [found.text or "" for found in ElementTree.fromstring(diagram.svg).iter(f"{SVG}title")]
    in_svg = [re.match(r"(\d+)\. ([a-z_.]+)", title) for title in titles]

    assert [(int(number), kind) for number, kind in in_text] == kinds
    assert [(int(number), kind) for number, kind in in_mermaid] == kinds
    assert [(int(found[1]), found[2]) for found in in_svg if found] == kinds
    for (_, kind), line in zip(kinds, listed(diagram), strict=False):
        assert kind in line


def test_an_event_of_an_unknown_kind_becomes_a_note():
    """Parts that are added later bring events of their own; a diagram shows them with the words they have."""

    class Surprise(Event, frozen=True, kw_only=True, tag="surprise"):
        what: str

    ledger = Ledger()
    ledger.append(Surprise(at_ms=0, what="new"))
    report = Report(case=RESOLVED.case, finished=True, observed={}, calls=(), ledger=ledger)

    assert "   1       *  surprise: what: new" in sequence(report).text.splitlines()


@pytest.mark.parametrize("name", ALL)
def test_no_line_is_wider_than_a_terminal(name: str):
    """The words are wrapped beside the lanes; nothing ends in blanks, and only ASCII draws."""
    for line in sequence(ALL[name]).text.splitlines():
        assert columns_of(line) <= WIDTH
        assert line == line.rstrip()
        assert line.replace("…", "").isascii()


def test_recorded_cases_can_all_be_drawn():
    """Over recorded cases of every shape: a picture that is well-formed, as many arrows as events."""
    for report in recorded_reports(every=41):
        picture = ElementTree.fromstring(sequence(report).svg)
        assert len(list(picture.iter(f"{SVG}title"))) == len(report.ledger)


def test_a_thousand_calls_are_drawn_in_part_and_say_so():
    """Nobody reads a picture of ten screens; a call of the thousand can be drawn alone."""
    many = play("many", choices=["Approve"] * 1000, repeat=1000)
    said = f"… and {12_000 - EVENTS_DRAWN:,} more events, not drawn here; call=2 draws the second call alone."

    assert said in sequence(many).text.splitlines()
    assert said in Markup(sequence(many)._repr_mimebundle_()["text/html"]).texts("p")
    assert len(listed(sequence(many))) == EVENTS_DRAWN
    assert "12000     |" not in sequence(many, 1000).text
    assert re.search(r"^1200+", sequence(many, 1000).text, re.MULTILINE)


# ------------------------------------------------------------------------------------------- names and markup


def test_the_picture_has_a_name_and_its_events_follow_as_a_list():
    """A screen reader hears what the picture is and then reads its events; nothing in it is announced twice."""
    html = Markup(sequence(TWICE)._repr_mimebundle_()["text/html"])

    [(figure, svg)] = zip(
        [attrs for tag, attrs, _ in html.elements if tag == "figure"],
        [attrs for tag, attrs, _ in html.elements if tag == "svg"],
        strict=True,
    )
    assert figure == {
        "hidden": "hidden",
        "role": "img",
        "aria-label": "Sequence diagram: Sequence of twice. 22 events between caller, wrapper, handlers, person, "
        "seed_note. A list of them follows.",
    }
    assert svg["aria-hidden"] == "true"
    numbers = [attrs.get("value") for tag, attrs, _ in html.elements if tag == "li"]
    assert numbers == [*map(str, range(1, 23)), None], "the rule that the events cite comes last, and is no event"
    assert html.texts("li")[7:9] == [
        "call-1, person → wrapper: ui.select: Approve",
        "call-1, wrapper → handlers: tool_approval_resolved: approved",
    ]


def test_without_its_style_the_list_shows_and_the_picture_does_not():
    """A notebook that is not trusted loses style and SVG, never `hidden`: the two are shown by turns."""
    html = sequence(TWICE)._repr_mimebundle_()["text/html"]

    assert '<figure hidden="hidden"' in html
    assert ".cedar-scene>figure[hidden]{display:block" in html
    assert ".cedar-scene>ol{position:absolute;width:1px;height:1px;" in html


def test_no_text_of_a_case_becomes_part_of_a_drawing():
    """Untrusted text is text in every form: no element, no attribute, no Mermaid syntax, no control character."""
    hostile = f"{MARKUP}; end\n%% x\nparticipant evil as #quot;</text><script>"
    report = play(
        "hostile", args={"a": hostile}, tool=f"t{MARKUP}", choices=[hostile], handlers=[{"revise": hostile}]
    )
    diagram = sequence(report)
    html = diagram._repr_mimebundle_()["text/html"]

    assert {tag for tag, _, _ in Markup(html).elements} == {
        *("div", "style", "p", "strong", "figure", "svg", "line", "g", "rect", "text", "title", "path", "ol", "li"),
        *("details", "summary", "ul"),
    }
    for element in ElementTree.fromstring(diagram.svg).iter():
        assert not {name for name in element.attrib if name.startswith("on") or name in ("id", "href", "style")}
    for form in (html, diagram.text, diagram.mermaid, diagram.caption):
        assert not any(sign in form for sign in ("\x1b", "\u202e"))
    source = diagram.mermaid.replace("<br/>", "")
    assert set(re.findall(r"[^A-Za-z0-9 .,_/()→…\n-]", re.sub(r"#\d+;", "", source))) <= {":", ">"}
    assert not re.search(r"\bend\b", source)
    assert len(source.splitlines()) == 3 + 5 + 1 + len(report.ledger)


def test_mermaid_source_is_named_and_its_arrows_tell_the_strokes_apart():
    """accTitle and accDescr are what JupyterLab gives to a screen reader."""
    assert sequence(SILENT_DENY).mermaid == (
        "sequenceDiagram\n"
        "    accTitle: Sequence of silent-deny\n"
        "    accDescr: caller, wrapper, handlers, person, seed_note exchange the events of one ledger.\n"
        "    participant caller as caller\n"
        "    participant wrapper as wrapper\n"
        "    participant handlers as handlers\n"
        "    participant person as person\n"
        "    participant tool as seed_note\n"
        "    Note over caller,tool: call-1\n"
        "    caller->>wrapper: 1 call_started<br/>seed_note #123;#34;action#34;#58;#34;publish#34;#125;\n"
        "    Note over wrapper: 2 policy_resolved<br/>deny (user, approval/R2) on the<br/>original input\n"
        "    wrapper--xcaller: 3 call_threw<br/>Tool #34;seed_note#34; is blocked by user<br/>policy. #8230;\n"
    )


def test_the_same_ledger_gives_the_same_diagram():
    """nbval compares the output as it is, and two pictures in one page share no name."""
    one, other = (sequence(play("again", choices=["Approve"])) for _ in range(2))

    assert one._repr_mimebundle_() == other._repr_mimebundle_()
    assert set(one._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert repr(one) == str(one)
    assert repr(one).startswith(one.text)
    assert " id=" not in one._repr_mimebundle_()["text/html"]


def test_the_words_of_the_picture_stay_inside_it():
    """A label is never cut off by the edge, whichever lanes it belongs to."""
    long = "a rather long answer that has to be shortened, because it goes on and on and on and on"
    for report in (play("long", ui="rpc", choices=[long], args={"a": long}), DENIED_WRITE, DIALOG):
        picture = ElementTree.fromstring(sequence(report).svg)
        width = float(picture.attrib["viewBox"].split()[2])
        for rect in picture.iter(f"{SVG}rect"):
            assert float(rect.attrib["x"]) >= 0
            assert float(rect.attrib["x"]) + float(rect.attrib["width"]) <= width
        for text in picture.iter(f"{SVG}text"):
            half = len(text.text or "") * 6.5 / 2
            if text.get("text-anchor") == "middle":
                assert half <= float(text.attrib["x"]) <= width - half


def test_what_cannot_be_drawn_is_said():
    """No events, no such call, no report: the same words as for tables."""
    with pytest.raises(NothingHappened, match="a classify-error case calls nothing"):
        sequence(CLASSIFIED)
    with pytest.raises(NoSuchCall, match="twice: there is no call 0"):
        sequence(TWICE, 0)
    with pytest.raises(NotPlayed):
        sequence("twice")  # type: ignore[arg-type]
