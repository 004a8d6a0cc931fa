"""Rules in a file, as a learner has them: played against, looked into, and damaged."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from labsim.case.model import GateCase
from labsim.gate.base.errors import RuleStoreFailed
from labsim.gate.rules.rules import RememberedRule, RuleContext, RuleKey, RuleScope
from labsim.library import fixtures_dir
from labsim.play.gate import play_against
from labsim.reading.reading import find, parse_file
from workbook import rule_file
from workbook.live.rule_file import NotOverwritten, RuleFile

MORE = parse_file((fixtures_dir() / "gate-desk-more.json").read_bytes(), "gate-desk-more.json")
FAILURE = (
    "the remembered rules in rules.sqlite cannot be used (its rules are not those that were written); "
    "restore the file from a copy, or move it away to start without rules"
)


def kept() -> GateCase:
    """The case whose host remembers in the project."""
    case = find(MORE.cases, "gate-remembered-in-the-project")
    assert isinstance(case, GateCase)
    return case


def settled(rules: RuleFile) -> dict[str, object]:
    """What one play against the file says of who settled the call."""
    seen = play_against(kept(), rules.store()).observed
    return {name: seen.get(name) for name in ("prompts", "decisions", "decidedBy", "effects", "rulesLeft")}


ASKED = {"prompts": 1, "decisions": ["allow"], "decidedBy": ["approver"], "effects": 1, "rulesLeft": ["project"]}
BY_RULE = {"prompts": 0, "decisions": ["allow"], "decidedBy": ["rule"], "effects": 1, "rulesLeft": ["project"]}
DENIED = {"prompts": 0, "decisions": ["deny"], "decidedBy": ["error"], "effects": 0, "rulesLeft": None}


def test_an_answer_that_is_kept_in_the_project_answers_the_next_play() -> None:
    """gate/R2, gate/R22: the first play asks and remembers; the second, with a store opened anew, does not ask."""
    rules = rule_file()

    assert [settled(rules), settled(rules)] == [ASKED, BY_RULE]


def test_a_file_of_ones_own_outlasts_the_program(tmp_path: Path) -> None:
    """gate/R2: another process has asked, and it is over."""
    path = tmp_path / "my-rules.sqlite"
    program = (
        "import sys; from test_rule_file import kept; from labsim.play.gate import play_against; "
        "from workbook import rule_file; rules = rule_file(sys.argv[1]); "
        "print(play_against(kept(), rules.store()).observed['prompts'])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == "1\n"
    assert settled(rule_file(path)) == BY_RULE


def test_a_file_of_nobody_is_gone_with_its_object() -> None:
    """Nothing is left in the temporary folder."""
    rules = rule_file()
    folder = rules.path.parent
    assert [entry.name for entry in folder.iterdir()] == ["rules.sqlite"]

    del rules
    gc.collect()

    assert not folder.exists()


def test_the_table_has_every_rule_whoever_it_applies_to() -> None:
    """gate/R19: those of another project and of an agent too, and no path of this machine."""
    rules = rule_file()
    play_against(kept(), rules.store())
    for scope, key, reason in (
        (RuleScope.SESSION, RuleKey("edit_catalog", "*3*"), "not bed 3"),
        (RuleScope.GLOBAL, RuleKey("publish_list"), None),
    ):
        rule = RememberedRule(key=key, allow=False, scope=scope, reason=reason)
        rules.store().upsert(RuleContext("helper", "other"), rule)

    assert rules.table().to_dict("records") == [
        {"scope": "global", "of": "–", "tool": "publish_list", "pattern": "–", "answer": "deny", "reason": "–"},
        {
            "scope": "project",
            "of": "cedar",
            "tool": "edit_catalog",
            "pattern": "–",
            "answer": "allow",
            "reason": "–",
        },
        {
            "scope": "session",
            "of": "helper",
            "tool": "edit_catalog",
            "pattern": "*3*",
            "answer": "deny",
            "reason": "not bed 3",
        },
    ]
    assert rules.table().caption == "3 rules in rules.sqlite"
    assert str(rules.path.parent) not in str(rules._repr_mimebundle_())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("edit_catalog", "edit_catalag", id="a-letter-of-a-tool"),
        pytest.param("cedar", "cadar", id="a-letter-of-a-project"),
    ],
)
def test_a_damaged_file_denies_the_next_play_and_says_why(old: str, new: str) -> None:
    """gate/R18: also where SQLite itself notices nothing; nobody is asked, and the model is told no path."""
    rules = rule_file()
    play_against(kept(), rules.store())

    rules.overwrite(old, new)

    assert settled(rules) == DENIED
    report = play_against(kept(), rules.store())
    assert report.observed["error"] == f"Tool execution denied: {FAILURE}"
    assert str(rules.page()) == (
        "Not readable: the remembered rules in rules.sqlite cannot be used (its rules are not those that\n"
        "were written); restore the file from a copy, or move it away to start without rules."
    )
    with pytest.raises(RuleStoreFailed, match=r"in rules\.sqlite cannot be used"):
        rules.table()


def test_damage_that_is_taken_back_leaves_the_rules_as_they_were() -> None:
    """gate/R18: a file that is restored answers again."""
    rules = rule_file()
    play_against(kept(), rules.store())
    rules.overwrite("edit_catalog", "edit_catalag")

    rules.overwrite("edit_catalag", "edit_catalog")

    assert settled(rules) == BY_RULE


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "edit_catalog",
            "edit",
            "rules.sqlite: 'edit_catalog' and 'edit' are not of one length. Use as many bytes.",
        ),
        ("publish", "PUBLISH", "rules.sqlite: 'publish' is nowhere in the file. Use a word of one of its rules."),
        ("", "", "rules.sqlite: '' is nowhere in the file. Use a word of one of its rules."),
    ],
)
def test_an_overwriting_that_would_be_none_changes_nothing(old: str, new: str, says: str) -> None:
    """A slip does not move what SQLite counts on."""
    rules = rule_file()
    play_against(kept(), rules.store())
    before = rules.path.read_bytes()

    with pytest.raises(NotOverwritten) as refused:
        rules.overwrite(old, new)

    assert (str(refused.value), rules.path.read_bytes()) == (says, before)


def test_a_file_of_another_kind_is_no_rule_file(tmp_path: Path) -> None:
    """gate/R18: nobody's answers are overwritten by a slip in a name."""
    answers = tmp_path / "cedar-progress.jsonl"
    answers.write_text("{}\n" * 40)

    with pytest.raises(RuleStoreFailed, match=r"^the remembered rules in cedar-progress.jsonl cannot be used"):
        rule_file(answers)
    assert answers.read_text() == "{}\n" * 40
