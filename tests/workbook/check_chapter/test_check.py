"""What an author can get wrong, one thing at a time, and what the check says of it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from authoring_kit import CHAPTER, Change, cell, gone, notebook, put, shows, source, text, value, without
from nbformat import v4

from workbook.author.new_chapter import new_chapter
from workbook.chapter.catalogue import NoChapter
from workbook.check_chapter import runs
from workbook.check_chapter.check import Checked, Layer, check_folder

CASES, CHECKPOINTS, EXERCISES = "cases.json", "checkpoints.json", "exercises/exercises.json"
OPTION = ("checkpoints", 0, "options")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chapter as it is made, outputs included."""
    return new_chapter(CHAPTER, inside=tmp_path_factory.mktemp("whole")).folder


def checked(whole: Path, folder: Path, change: Change, upto: Layer) -> Checked:
    """A copy of the chapter, changed in one way, and what the check says of it."""
    copy = folder / CHAPTER
    shutil.copytree(whole, copy)
    change(copy)
    return check_folder(copy, upto=upto)


def error_output(one: Any) -> None:
    one.outputs = [v4.new_output("error", ename="KeyError", evalue="'x'", traceback=[])]


ENGINE = """from labsim.extras import Given


async def play(given, host):
    return {"revision": 1 / 0}


def register(kit):
    kit.scenario("beds", Given, play)
"""
OWN = {
    "id": "own",
    "title": "A kind of its own",
    "scenario": f"{CHAPTER}/beds",
    "given": {},
    "expected": {"revision": 1},
    "why": "So.",
}
#: What is changed, and each line that the check then says, but for the verdict. Nothing of this needs a kernel.
FAULTS: dict[str, tuple[Change, list[str]]] = {
    # -- chapter.toml
    "toml syntax": (
        text("chapter.toml", "order = 60", "order = sixty"),
        ['chapter.toml: line 5: not TOML: invalid value. Text stands in quotes: title = "Ask once".'],
    ),
    "toml key": (
        text("chapter.toml", "needs =", "need ="),
        ["chapter.toml: line 6: the key 'need' is not known here. Did you mean 'needs'?"],
    ),
    "no title": (
        text("chapter.toml", "title =", "# title ="),
        [
            (
                "chapter.toml: the key 'title' is missing. Add title = \"…\", which says what a learner does "
                "in the chapter."
            )
        ],
    ),
    "order is text": (
        text("chapter.toml", "order = 60", 'order = "60"'),
        ["chapter.toml: line 5: order: it is text. Use a whole number."],
    ),
    "id of capitals": (
        text("chapter.toml", 'id = "greenhouse-desk"', 'id = "Greenhouse Desk"'),
        [
            (
                "chapter.toml: line 3: id: 'Greenhouse Desk' is no id. Use small letters, digits and single "
                "dashes: greenhouse-desk."
            )
        ],
    ),
    "id of a built-in chapter": (
        text("chapter.toml", 'id = "greenhouse-desk"', 'id = "gate-desk"'),
        [
            (
                "chapter.toml: line 3: id: 'gate-desk' is the id of a built-in chapter, too. Answers are "
                "kept by id: choose another."
            ),
            "checkpoints.json: line 3: chapter: 'greenhouse-desk' is another chapter. Use 'gate-desk'.",
            ("exercises/exercises.json: line 3: chapter: 'greenhouse-desk' is another chapter. Use 'gate-desk'."),
        ],
    ),
    "needs nobody": (
        text("chapter.toml", '"boundary-desk"', '"boundry-desk"'),
        [
            (
                "chapter.toml: line 6: needs: there is no chapter 'boundry-desk'. Use ids of chapters: "
                "start-here, boundary-desk, dispatch-desk, review-desk, gate-desk, your-own-desk, "
                "appendix-fidelity, write-a-chapter."
            )
        ],
    ),
    "path out of the chapter": (
        text("chapter.toml", "order = 60", 'order = 60\ncases = "../cases.json"'),
        [
            (
                "chapter.toml: line 6: cases: '../cases.json' leads out of the chapter. Use a path inside "
                "the chapter's folder, with forward slashes."
            )
        ],
    ),
    "a part that is not there": (
        text("chapter.toml", "order = 60", 'order = 60\nengine = "tools.py"'),
        [("chapter.toml: line 6: engine: there is no 'tools.py' in the chapter. Add it, or mend the name.")],
    ),
    "no cases": (
        gone(CASES),
        ["cases.json: there is no such file. Add it, or write cases = [] if the chapter has none."],
    ),
    "no notebook": (
        gone("notebook.ipynb"),
        ["notebook.ipynb: there is no such file. A chapter has a notebook; add it, or mend its name."],
    ),
    # -- formats
    "json syntax": (
        text(CASES, '"title": "A call', '"title" "A call'),
        ["cases.json: line 9: not JSON: '\"' is not expected here. Is a colon missing before it?"],
    ),
    "unknown key": (
        text(CASES, '"choices"', '"choice"'),
        [
            (
                "cases.json: line 11: cases[0] (asked).given: the key 'choice' is not known here. Did you "
                "mean 'choices'?"
            )
        ],
    ),
    "misspelt word": (
        text(CASES, '"always-ask"', '"allways-ask"'),
        [
            (
                "cases.json: line 14: cases[0] (asked).given.mode: 'allways-ask' is not allowed here. Did "
                "you mean 'always-ask'? Use one of: always-ask, write, yolo; or, if it is meant, add "
                '"given.mode" to "unusual".'
            )
        ],
    ),
    "unknown scenario": (
        text(CASES, '"scenario": "wrapper"', '"scenario": "wraper"'),
        [
            (
                "cases.json: line 10: cases[0] (asked).scenario: 'wraper' is not allowed here. Did you mean "
                "'wrapper'? Use one of: classify-error, context, dispatch, fallback, gate, loop, resolve, "
                "review, rpc, wrapper."
            )
        ],
    ),
    "two faults in two cases": (
        lambda folder: [text(CASES, '"choices"', '"choice"')(folder), text(CASES, '"yolo"', '"yollo"')(folder)],
        [
            (
                "cases.json: line 11: cases[0] (asked).given: the key 'choice' is not known here. Did you "
                "mean 'choices'?"
            ),
            (
                "cases.json: line 27: cases[1] (deny-rule).given.mode: 'yollo' is not allowed here. Did you "
                "mean 'yolo'? Use one of: always-ask, write, yolo; or, if it is meant, add \"given.mode\" to "
                '"unusual".'
            ),
        ],
    ),
    "case id twice": (
        value(CASES, "cases", 1, "id", to="asked"),
        [
            (
                "cases.json: line 30: cases[1].id: 'asked' is already the id of cases[0]. Give each case an "
                "id of its own."
            )
        ],
    ),
    "checkpoint without why": (
        value(CHECKPOINTS, *OPTION, 0, "why"),
        [
            (
                "checkpoints.json: line 11: checkpoints[0] (deny-in-yolo).options[0] (runs): the key 'why' "
                "is missing. Add 'why'."
            )
        ],
    ),
    "blank why": (
        value(CHECKPOINTS, *OPTION, 0, "why", to=" "),
        [
            (
                "checkpoints.json: line 19: checkpoints[0] (deny-in-yolo).options[0] (runs).why: the text is "
                "blank. Say something, or take the part out."
            )
        ],
    ),
    "unknown kind": (
        value(CHECKPOINTS, "checkpoints", 0, "kind", to="quiz"),
        [
            (
                "checkpoints.json: line 7: checkpoints[0] (deny-in-yolo).kind: 'quiz' is not allowed here. "
                "Use one of: choice, fields, order, paper."
            )
        ],
    ),
    "checkpoint id twice": (
        value(CHECKPOINTS, "checkpoints", 1, "id", to="deny-in-yolo"),
        [
            (
                "checkpoints.json: line 50: checkpoints[1].id: 'deny-in-yolo' is already the id of [0]. Give "
                "each checkpoint an id of its own."
            )
        ],
    ),
    "option id twice": (
        value(CHECKPOINTS, *OPTION, 1, "id", to="runs"),
        [
            (
                "checkpoints.json: line 22: checkpoints[0] (deny-in-yolo).options[1].id: 'runs' is already "
                "the id of [0]. Give each option an id of its own."
            )
        ],
    ),
    "checkpoints of another chapter": (
        value(CHECKPOINTS, "chapter", to="my-desk"),
        ["checkpoints.json: line 3: chapter: 'my-desk' is another chapter. Use 'greenhouse-desk'."],
    ),
    "belief of a built-in id": (
        value("beliefs.json", "beliefs", 0, "id", to="rules-still-ask"),
        [
            (
                "beliefs.json: line 5: beliefs[0].id: the built-in data has a belief of the id "
                "'rules-still-ask'. Give each belief an id of its own."
            )
        ],
    ),
    "exercise of no form": (
        value(EXERCISES, "exercises", 0, "form", to="essay"),
        [
            (
                "exercises/exercises.json: line 7: exercises[0].form: invalid value 'essay'. An exercise has "
                "id, form (one of policy, approver, settings, handler, answers, trace, case), task, rules, "
                "hints, and what its form needs."
            )
        ],
    ),
    "engine without register": (
        put("engine.py", "def setup(kit):\n    pass\n"),
        [("engine.py: there is no function register(kit). It has to run by itself, and to define register(kit).")],
    ),
    "engine is no Python": (
        put("engine.py", "def register(kit)\n    pass\n"),
        [("engine.py: line 1: SyntaxError: expected ':'. It has to run by itself, and to define register(kit).")],
    ),
    "engine that raises": (
        put("engine.py", "def register(kit):\n    kit.handler('quiet', beds)\n"),
        [
            (
                "engine.py: line 2: NameError: name 'beds' is not defined. It has to run by itself, and to define "
                "register(kit)."
            )
        ],
    ),
    "handler that nobody registered": (
        value(CASES, "cases", 0, "given", "handlers", to=[{"fn": "greenhouse-desk/quiet"}]),
        [
            (
                "cases.json: line 23: cases[0] (asked).given.handlers[0].fn: 'greenhouse-desk/quiet' is no "
                "registered handler. A chapter's engine.py registers handlers."
            )
        ],
    ),
    "own scenario that goes wrong": (
        lambda folder: [
            put("engine.py", ENGINE)(folder),
            value(CASES, "cases", 3, to=OWN)(folder),
        ],
        [
            (
                "cases.json: line 74: cases[3] (own): it cannot be played (The scenario greenhouse-desk/beds: "
                "ZeroDivisionError: division by zero). Mend what it is given."
            )
        ],
    ),
    "a home": (
        text(CHECKPOINTS, "letter by letter.", "in /home/ada/rules.txt."),
        [
            (
                "checkpoints.json: line 66: '/home/ada/rules.txt' is a path of somebody's machine. Say it "
                "without the machine it was on: a name, or a path inside the chapter."
            )
        ],
    ),
    "a secret": (
        put("notes.md", f"key: {'AKIA' + 'ABCDEFGHIJKLMNOP'}\n"),
        [
            (
                "notes.md: line 1: this looks like a key of a cloud account. Remove it here and in the "
                "history, and have it revoked."
            )
        ],
    ),
    # -- played
    "wrong expectation": (
        value(CASES, "cases", 0, "expected", "prompts", to=2),
        [
            (
                "cases.json: line 24: cases[0] (asked).expected.prompts: 2 is expected, and the run shows 1. "
                "Mend the expectation, or what is given."
            )
        ],
    ),
    "nothing expected": (
        value(CASES, "cases", 0, "expected", to={}),
        [
            (
                "cases.json: line 22: cases[0] (asked).expected: the case expects nothing. Say what it "
                'shows, such as {"prompts": 1}: a case that claims nothing proves nothing.'
            )
        ],
    ),
    "no reason": (
        value(CASES, "cases", 0, "why"),
        [
            (
                "cases.json: line 7: cases[0] (asked).why: nothing says why it comes out so. Name the rule "
                "that decides."
            )
        ],
    ),
    "an answer is missing": (
        value(CASES, "cases", 0, "given", "choices", to=[]),
        [
            (
                "cases.json: line 21: cases[0] (asked).expected.outcome: 'return' is expected, and the run "
                "shows 'throw'. Mend the expectation, or what is given."
            ),
            (
                "cases.json: line 23: cases[0] (asked).expected.effects: 1 is expected, and the run shows 0. "
                "Mend the expectation, or what is given."
            ),
        ],
    ),
    "no option right": (
        value(CHECKPOINTS, *OPTION, 2, "predicts", "prompts", to=3),
        [
            (
                "checkpoints.json: line 10: checkpoints[0] (deny-in-yolo).options: no option matches what "
                "deny-rule shows. Mend what they predict: one has to match."
            ),
        ],
    ),
    "two options right": (
        value(CHECKPOINTS, *OPTION, 0, "predicts", to={"prompts": 0}),
        [
            (
                "checkpoints.json: line 10: checkpoints[0] (deny-in-yolo).options: runs, refused all match "
                "what deny-rule shows. Mend what they predict: one has to match."
            ),
            (
                "checkpoints.json: line 17: checkpoints[0] (deny-in-yolo).options[0] (runs).belief: this "
                "option is right, so nothing contradicts it. Remove it."
            ),
        ],
    ),
    "wrong option without belief": (
        value(CHECKPOINTS, *OPTION, 0, "belief"),
        [
            (
                "checkpoints.json: line 11: checkpoints[0] (deny-in-yolo).options[0] (runs): this option is "
                "wrong, and no belief says who would choose it. Add a belief."
            ),
            (
                "beliefs.json: line 4: beliefs[0] (loosest-setting-wins): no answer to a checkpoint names "
                "this belief. Name it where somebody who holds it would answer wrongly, or remove it."
            ),
        ],
    ),
    "belief of nobody": (
        value(CHECKPOINTS, *OPTION, 0, "belief", to="loosest-wins"),
        [
            (
                "checkpoints.json: line 18: checkpoints[0] (deny-in-yolo).options[0] (runs).belief: "
                "'loosest-wins' is not a known belief. See beliefs.json."
            ),
            (
                "beliefs.json: line 4: beliefs[0] (loosest-setting-wins): no answer to a checkpoint names "
                "this belief. Name it where somebody who holds it would answer wrongly, or remove it."
            ),
        ],
    ),
    "belief for nothing": (
        value("beliefs.json", "beliefs", 2, to={"id": "extra", "says": "So.", "because": "So."}),
        [
            (
                "beliefs.json: line 14: beliefs[2] (extra): no answer to a checkpoint names this belief. "
                "Name it where somebody who holds it would answer wrongly, or remove it."
            )
        ],
    ),
    "counter of nobody": (
        value(CHECKPOINTS, *OPTION, 0, "counter", to="denied"),
        [
            (
                "checkpoints.json: line 20: checkpoints[0] (deny-in-yolo).options[0] (runs).counter: No case "
                "has the id 'denied'. `python -m labsim cases` lists them."
            )
        ],
    ),
    "counter that agrees": (
        value(CHECKPOINTS, *OPTION, 0, "counter", to="other-tool"),
        [
            (
                "checkpoints.json: line 20: checkpoints[0] (deny-in-yolo).options[0] (runs).counter: "
                "other-tool shows what this option predicts. Name a case that does not."
            )
        ],
    ),
    "retest of something else": (
        lambda folder: [
            value(CHECKPOINTS, "checkpoints", 1, "options", 1, "belief", to="rules-cover-the-like")(folder)
        ],
        [
            (
                "checkpoints.json: line 46: checkpoints[0] (deny-in-yolo).retest: 'similar-name' is no later "
                "checkpoint that shares a belief with this one. Remove it: no later one does."
            )
        ],
    ),
    "case of nobody": (
        value(CHECKPOINTS, "checkpoints", 0, "case", to="deny-rules"),
        [
            (
                "checkpoints.json: line 8: checkpoints[0] (deny-in-yolo).case: No case has the id "
                "'deny-rules'. Did you mean deny-rule?"
            )
        ],
    ),
    "no hint": (
        value(CHECKPOINTS, "checkpoints", 1, "hints", to=[]),
        [
            (
                "checkpoints.json: line 85: checkpoints[1] (similar-name).hints: there is no hint. Add one "
                "that says where to look, not what is there."
            )
        ],
    ),
    "one why twice": (
        value(
            CHECKPOINTS,
            *OPTION,
            0,
            "why",
            to="The user's deny is read before the mode. Nothing is asked, and the tool is never entered.",
        ),
        [
            (
                "checkpoints.json: line 39: checkpoints[0] (deny-in-yolo).options[2] (refused).why: this is "
                "the why of 'runs', word for word. Say of each what speaks for it, and what it overlooks."
            )
        ],
    ),
    "situation that fails": (
        value(EXERCISES, "exercises", 0, "situations", 1, "expected", "decisions", to=["deny"]),
        [
            (
                "exercises/exercises.json: line 88: exercises[0] (nothing-leaves).situations[1] "
                "(a-command).expected.decisions: ['deny'] is expected, and its own answers show ['allow']. "
                "Mend the expectation, or the answers."
            )
        ],
    ),
    "good that fails": (
        text("exercises/nothing-leaves/good-by-level.py", "STAYS else", "() else"),
        [
            (
                "exercises/nothing-leaves/good-by-level.py: it is known to be good, and is graded 'not yet' "
                "(Not yet. 1 of 3 situations come out as they should. The first that does not: an edit of "
                "this checkout, and then a publication.). Mend the submission, or the situations."
            )
        ],
    ),
    "bad that passes": (
        put(
            "exercises/nothing-leaves/bad-by-name.py",
            "from labsim.api import ApprovalDecision, SideEffectLevel\n\n\ndef answer(request):\n"
            "    stays = (SideEffectLevel.LOCAL_STATE, SideEffectLevel.PROCESS)\n"
            "    return ApprovalDecision.ALLOW if request.side_effect_level in stays else ApprovalDecision.DENY\n",
        ),
        [
            (
                "exercises/nothing-leaves/bad-by-name.py: it is known to be bad, and every situation takes "
                "it for right. Add a situation in which it shows, or call the file good."
            )
        ],
    ),
    "no good submission": (
        gone("exercises/nothing-leaves/good-by-level.py"),
        [
            (
                "exercises/exercises.json: line 5: exercises[0] (nothing-leaves): no submission is known to "
                "be right. Add exercises/nothing-leaves/good-NAME.py, which defines answer."
            )
        ],
    ),
    "submission that raises": (
        put("exercises/nothing-leaves/good-by-level.py", "1 / 0\n"),
        [
            (
                "exercises/nothing-leaves/good-by-level.py: running it raised ZeroDivisionError: division by "
                "zero. A submission defines answer, and nothing else happens in it."
            )
        ],
    ),
    # -- wording
    "pointing at a position": (
        value(CHECKPOINTS, "checkpoints", 1, "hints", 0, to="The second option is a trap."),
        [
            (
                "checkpoints.json: line 86: checkpoints[1] (similar-name).hints[0]: 'second option' points "
                "at a position, and positions move. Quote the option instead."
            )
        ],
    ),
    "left over": (
        value(CASES, "cases", 0, "why", to="TODO: name the rule."),
        [
            (
                "cases.json: line 27: cases[0] (asked).why: 'TODO' is left over from writing. Write what "
                "belongs there."
            )
        ],
    ),
    "position in prose": (
        source("name", "## What the rule is about\n\nThink of the option above."),
        [
            (
                "notebook.ipynb: cell 14 (## What the rule is about): 'option above' points at a position, "
                "and positions move. Quote what you mean instead."
            )
        ],
    ),
    # -- the notebook as saved
    "not JSON": (
        put("notebook.ipynb", "{"),
        [
            (
                "notebook.ipynb: the content is not JSON (Expecting property name enclosed in double quotes: "
                "line 1 column 2 (char 1)). A notebook is a file that JupyterLab saved as .ipynb."
            )
        ],
    ),
    "no title cell": (
        source("title", "See what a rule settles."),
        [
            (
                "notebook.ipynb: cell 1 (See what a rule settles.): the notebook does not begin with a "
                'title. Begin with a cell of text: "# " and what one does in the chapter.'
            )
        ],
    ),
    "nothing run after a claim": (
        without("lifecycle"),
        [
            (
                "notebook.ipynb: cell 5 (The table says what the host's extensions heard of): it says "
                "something, and nothing is run before the next heading. Add a code cell that shows it, or "
                "tag the cell no-run if it only sums up or points elsewhere."
            )
        ],
    ),
    "checkpoint never asked": (
        without("predict-name"),
        [("notebook.ipynb: cells: 'similar-name' is never asked. Add a cell: desk.predict(\"similar-name\").")],
    ),
    "revealed before it is asked": (
        lambda folder: [
            source("predict-name", 'desk.reveal("similar-name")')(folder),
            source("reveal-name", 'desk.predict("similar-name")')(folder),
        ],
        [
            (
                "notebook.ipynb: cell 15 (desk.reveal(\"similar-name\")): 'similar-name' is answered before it "
                "is asked. Move the cell behind desk.predict."
            )
        ],
    ),
    "checkpoint of nobody": (
        source("predict-name", 'desk.predict("similar-names")'),
        [
            (
                'notebook.ipynb: cell 15 (desk.predict("similar-names")): the chapter has no checkpoint '
                "'similar-names'. There are: deny-in-yolo, similar-name."
            ),
            ("notebook.ipynb: cells: 'similar-name' is never asked. Add a cell: desk.predict(\"similar-name\")."),
        ],
    ),
    "exercise never graded": (
        without("grade"),
        [
            (
                "notebook.ipynb: cells: 'nothing-leaves' is asked and never answered. Add a cell: "
                'desk.grade("nothing-leaves", answer).'
            )
        ],
    ),
    "another chapter opened": (
        source("open", 'import workbook as wb\n\ndesk = wb.open("gate-desk")'),
        [
            (
                "notebook.ipynb: cells: no cell opens the chapter 'greenhouse-desk'. Add one: desk = "
                'wb.open("greenhouse-desk").'
            )
        ],
    ),
    "never run": (
        cell("lifecycle", lambda one: one.update(execution_count=None, outputs=[])),
        [("notebook.ipynb: cell 6 (wb.lifecycle(asked)): it was saved without being run. Run `workbook bake`.")],
    ),
    "out of order": (
        cell("lifecycle", lambda one: one.update(execution_count=9)),
        [
            (
                "notebook.ipynb: execution counts: they are [1, 2, 9, 4, 5, 6, 7, 8, 9, 10, 11, 12], so the "
                "cells were not run in order. Run `workbook bake`."
            )
        ],
    ),
    "kept from nbval": (
        cell("lifecycle", lambda one: one.metadata.update(tags=["nbval-skip"])),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): the tag nbval-skip keeps nbval from comparing "
                "it. Remove the tag."
            )
        ],
    ),
    "widget state": (
        notebook(lambda made: made.metadata.update(widgets={"application/vnd.jupyter.widget-state+json": {}})),
        [
            (
                "notebook.ipynb: metadata.widgets: widget state is saved. Run `workbook bake`; a browser "
                "saves what only it can show."
            )
        ],
    ),
    "widget view": (
        shows("lifecycle", kind="application/vnd.jupyter.widget-view+json", of={"model_id": "a"}),
        [("notebook.ipynb: cell 6 (wb.lifecycle(asked)): a widget is saved in its output. Run `workbook bake`.")],
    ),
    "python of a machine": (
        notebook(lambda made: made.metadata.language_info.update(version="3.11.7")),
        [("notebook.ipynb: metadata.language_info: it holds the Python that ran it. Run `workbook bake`.")],
    ),
    "too large an output": (
        shows("lifecycle", plain="x" * 300_000),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): its output has 293 kB, and 256 are allowed. "
                "Show less of it."
            )
        ],
    ),
    "an error": (
        cell("lifecycle", error_output),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): it ended in KeyError. Mend it, or tag the "
                "cell raises-exception if it is meant."
            )
        ],
    ),
    "stderr": (
        cell("lifecycle", lambda one: one.update(outputs=[v4.new_output("stream", name="stderr", text="Slow!")])),
        [("notebook.ipynb: cell 6 (wb.lifecycle(asked)): it wrote to stderr (Slow!). Mend what it warns of.")],
    ),
    "picture without words": (
        source("name", "## What\n\n![](rule.png)"),
        [
            (
                "notebook.ipynb: cell 14 (## What): the picture rule.png has no words for it. Say what it "
                "shows: ![words](file)."
            ),
            (
                "notebook.ipynb: cell 14 (## What): there is no file rule.png. Put it beside the notebook, "
                "in assets/."
            ),
        ],
    ),
    "picture of the network": (
        source("name", "## What\n\n![A rule](https://example.org/rule.png)"),
        [
            (
                "notebook.ipynb: cell 14 (## What): the picture https://example.org/rule.png comes from the "
                "network. Put it into assets/, so that it is there offline."
            )
        ],
    ),
    "output picture without words": (
        shows("lifecycle", kind="image/png", of="aGk="),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): a picture in its output has no words for it. "
                "Use wb's plots, which bring words and a table."
            )
        ],
    ),
    "table without caption": (
        shows("lifecycle", html="<table><tr><td>1</td></tr></table>", plain="1"),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): a table has no caption. Use wb's tables, or "
                "give this one a <caption>."
            )
        ],
    ),
    "drawing without words": (
        shows("lifecycle", html="<svg></svg>", plain="a drawing"),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): an <svg> has no words for it. Use wb's plots, "
                "or give it role=img and aria-label."
            )
        ],
    ),
    "place in memory": (
        shows("lifecycle", plain="<object at 0x7f3a1c2b4d50>"),
        [
            (
                "notebook.ipynb: cell 6 (wb.lifecycle(asked)): 'at 0x7f3a1c2b4d50' is a place in memory, and "
                "differs from run to run. Show something else of it."
            )
        ],
    ),
    "clock": (
        source("lifecycle", "import time\n\nwb.lifecycle(asked), time.time()"),
        [
            (
                "notebook.ipynb: cell 6 (import time): time.time() differs from run to run. Use a fixed "
                "value, or a generator with a seed: every run has to give the same bytes."
            )
        ],
    ),
    "chance": (
        source("lifecycle", "import random\n\nwb.lifecycle(asked), random.random()"),
        [
            (
                "notebook.ipynb: cell 6 (import random): random.random() differs from run to run. Use a "
                "fixed value, or a generator with a seed: every run has to give the same bytes."
            )
        ],
    ),
    "magic": (
        source("lifecycle", "%matplotlib inline\nwb.lifecycle(asked)"),
        [
            (
                "notebook.ipynb: cell 6 (%matplotlib inline): '%matplotlib inline' is for one kind of front "
                "end. Use Python."
            )
        ],
    ),
    "long cell": (
        source("lifecycle", "\n".join(["x = 1"] * 11)),
        [
            (
                "notebook.ipynb: cell 6 (x = 1): it has more than 10 lines. Let a function do it: one of wb, "
                "or of a module of yours."
            )
        ],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("change", "said"), FAULTS.values(), ids=FAULTS)
def test_what_an_author_gets_wrong_is_said_with_its_place_and_a_remedy(
    whole: Path, tmp_path: Path, change: Change, said: list[str]
) -> None:
    """Issue 7: each seeded fault is caught with its message, and with no other."""
    found = checked(whole, tmp_path, change, Layer.NOTEBOOK)

    assert list(map(str, found.faults)) == said
    assert not found.passed


@pytest.mark.slow
def test_a_new_chapter_passes_every_layer(whole: Path) -> None:
    """Issue 7: the scaffold passes its own check, both editions run included; and says so to a program as well."""
    heard: list[str] = []

    found = check_folder(whole, say=heard.append)

    assert list(found.lines()) == [f"{CHAPTER}: all is well."]
    assert found.passed
    assert heard == [f"Looking at the {layer} of {CHAPTER} …" for layer in Layer]
    assert json.loads(found.json()) == {
        "chapter": CHAPTER,
        "folder": str(whole),
        "passed": True,
        "faults": [],
        "leftOut": [],
    }


@pytest.mark.slow
def test_what_only_running_shows_is_said_cell_by_cell(whole: Path, tmp_path: Path) -> None:
    """Two runs that differ; in the clean edition an explanation, a run and an answer before anybody committed."""

    def edit(folder: Path) -> None:
        shown = "[one.options[0].why for one in desk.checkpoint_records], list({'ash', 'elm', 'fir', 'oak', 'yew'})"
        source("lifecycle", shown)(folder)
        source(
            "live",
            "from labsim.play.performance import run\n\nasked = desk.live('asked')\nrun(desk.case_records[1]).case",
        )(folder)
        cell("policy", lambda one: one.metadata.pop("cedar"))(folder)

    found = checked(whole, tmp_path, edit, Layer.RUNS)

    leak = "Show it by desk.reveal, which waits for a commit."
    first = "notebook.ipynb: cell 6 ([one.options[0].why for one in desk.checkpoint_rec): "
    assert list(map(str, found.faults)) == [
        f"{first}two runs give two different outputs. "
        "Leave out what changes: times, chance, the order of a set, addresses.",
        "notebook.ipynb: cell 4 (from labsim.play.performance import run): "
        "in the clean edition it shows a run of deny-rule, "
        "which a checkpoint is about. Play it by desk.play or desk.live, which wait for a commit.",
        f"{first}in the clean edition it gives away an explanation of deny-in-yolo. {leak}",
        f"{first}in the clean edition it gives away an explanation of similar-name. {leak}",
        'notebook.ipynb: cell 20 (desk.grade("nothing-leaves", my_policy)): the clean edition has a right answer '
        'to nothing-leaves in it. Give the cell that answers it a skeleton: "cedar": {"skeleton": "…"} in its '
        "metadata.",
    ]


@pytest.mark.slow
def test_a_worked_edition_that_stops_is_said_with_its_cell_and_error(whole: Path, tmp_path: Path) -> None:
    """And the clean one is not run: it would stop there as well."""
    found = checked(whole, tmp_path, source("lifecycle", "wb.lifecycle(asket)"), Layer.RUNS)

    assert list(map(str, found.faults)) == [
        "notebook.ipynb: cell 6 (wb.lifecycle(asket)): the worked edition stops here (NameError: name 'asket' is "
        "not defined). Run the notebook from top to bottom in JupyterLab to see the whole error."
    ]


@pytest.mark.slow
def test_a_clean_edition_that_stops_is_said_with_its_cell_and_error(whole: Path, tmp_path: Path) -> None:
    """A run that is withheld has no ledger, which somebody who has answered would not notice."""
    counted = 'shown = desk.play("deny-rule")\nlen(shown.ledger) and wb.ledger(shown)'
    found = checked(whole, tmp_path, source("ledger-deny", counted), Layer.RUNS)

    assert list(map(str, found.faults)) == [
        'notebook.ipynb: cell 13 (shown = desk.play("deny-rule")): the clean edition, which nobody answers, stops '
        "here (AttributeError: 'Withheld' object has no attribute 'ledger'). "
        "Run the notebook from top to bottom in JupyterLab to see the whole error."
    ]


def test_outputs_of_yesterday_are_said_with_their_cells(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs agree with each other, and not with what is saved; a plot's picture alone is no difference."""

    def today(path: Path, environment: object = None) -> str:
        return path.read_text(encoding="utf-8").replace("blocked by user policy", "blocked")

    monkeypatch.setattr(runs, "baked", today)
    monkeypatch.setattr(runs, "run_unanswered", lambda path: nbformat.v4.new_notebook())
    found = checked(whole, tmp_path, lambda folder: None, Layer.RUNS)

    assert list(map(str, found.faults)) == [
        "notebook.ipynb: the saved outputs are not what the scripted learner sees today "
        '(cell 11 (desk.reveal("deny-in-yolo")), cell 13 (wb.ledger(desk.play("deny-rule")))). '
        "Look at `workbook diff`, then run `workbook bake`."
    ]


def test_a_fault_keeps_the_later_layers_from_starting(whole: Path, tmp_path: Path) -> None:
    """Nobody waits for a kernel to be told of a missing comma; what was not looked at is named."""
    found = checked(whole, tmp_path, value(CASES, "cases", 0, "expected", "prompts", to=2), Layer.RUNS)

    assert found.left_out == (Layer.WORDING, Layer.NOTEBOOK, Layer.RUNS)
    assert list(found.lines())[-1] == f"{CHAPTER}: 1 fault. Not looked at yet: wording, notebook, runs."
    (fault,) = json.loads(found.json())["faults"]
    assert (fault["file"], fault["line"], fault["place"], fault["layer"]) == (
        CASES,
        24,
        "cases[0] (asked).expected.prompts",
        "cases",
    )


def test_a_folder_without_a_chapter_is_no_chapter(tmp_path: Path) -> None:
    """Neither an empty one nor one that is not there."""
    with pytest.raises(NoChapter, match=r"there is no chapter\.toml in it\. `workbook new-chapter ID` makes"):
        check_folder(tmp_path)
    with pytest.raises(NoChapter, match="there is no such folder"):
        check_folder(tmp_path / "none")


def test_a_path_of_this_very_machine_is_found_wherever_it_is(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every machine keeps its people in /home: where this Python is, and where the chapter lies, count too."""
    monkeypatch.setattr(sys, "prefix", "/srv/python")
    found = checked(whole, tmp_path, shows("lifecycle", plain="in /srv/python/lib"), Layer.NOTEBOOK)

    (fault,) = found.faults
    assert fault.found == "'/srv/python' is a path of somebody's machine"
    assert fault.file == "notebook.ipynb"


def test_there_are_at_least_forty_seeded_faults() -> None:
    """Issue 7."""
    assert len(FAULTS) >= 40
