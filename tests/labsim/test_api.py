"""The public face for authors: which names there are, of what kind, and that what we hand out uses no others."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from enum import EnumType
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from places import TOP

import workbook
from labsim import api, approval, extras
from labsim.library import fixtures_dir
from labsim.play.performance import run
from labsim.reading.reading import parse_case

#: Each name and what an author relies on: an enum's words, a record's fields, what can be called and how.
PROMISED: dict[str, list[str] | str] = {
    "ApprovalAnswer": ["decision", "reason"],
    "ApprovalDecision": ["Allow", "Deny", "AllowForSession", "DenyForSession"],
    "ApprovalMode": ["always-ask", "write", "yolo"],
    "ApprovalRequest": [
        "request_id",
        "tool_call_id",
        "tool_name",
        "description",
        "input",
        "side_effect_level",
    ],
    "BadExtra": ["name"],
    "CallReport": ["tool_call_id", "start", "end", "outcome", "error", "error_name", "result"],
    "Decision": ["tier", "override", "policy", "reason", "policy_key"],
    "Given": ["ui", "choices"],
    "HandlerContext": [
        "confirm(title, message, *, signal)",
        "editor(title, prefill, *, signal)",
        "has_ui",
        "input(title, placeholder, *, signal)",
        "select(title, options, *, signal)",
        "sleep(ms)",
    ],
    "HandlerReply": ["input", "block", "reason", "content", "details", "is_error", "cancel"],
    "Host": ["call(given)", "now_ms", "sleep(ms)"],
    "Kit": [
        "approval_rule(name, rule)",
        "handler(name, handler)",
        "scenario(name, given, play)",
        "tool(name, *, approval, details, runs)",
    ],
    "Outcome": ["return", "throw", "error-result", "throw-same-error"],
    "Policy": ["allow", "deny", "prompt"],
    "SideEffectLevel": ["None", "LocalState", "Process", "External"],
    "Tier": ["read", "write", "exec"],
    "ToolCallInput": ["tool_name", "tool_call_id", "input"],
    "is_consequential": "(level)",
    "judged": "(level)",
    "pause": "(ms)",
}


def parameters(function: Any, *, bound: bool = False) -> str:
    """Names as they are passed: `(name, *, approval)`."""
    parts, keywords = [], False
    for parameter in list(inspect.signature(function).parameters.values())[bound:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not keywords:
            keywords = True
            parts.append("*")
        parts.append(parameter.name)
    return f"({', '.join(parts)})"


def promise(value: Any) -> list[str] | str:
    """What an author relies on, of one name."""
    if isinstance(value, EnumType):
        return [str(member.value) for member in value]
    if not isinstance(value, type):
        return parameters(value)
    if issubclass(value, Struct):
        return list(value.__struct_fields__)
    if issubclass(value, Exception):
        return list(inspect.signature(value).parameters)[:1]
    own = {name: part for name, part in vars(value).items() if not name.startswith("_")}
    return sorted(
        name + (parameters(part, bound=True) if callable(part) else "")
        for name, part in own.items()
        if callable(part) or isinstance(part, property)
    )


def test_the_names_for_authors_are_these_and_mean_what_they_meant() -> None:
    """Issue 11, a public face for authors: a change here is a change for everybody's chapters."""
    assert {name: promise(getattr(api, name)) for name in api.__all__} == PROMISED


@pytest.mark.parametrize("module", [api, workbook], ids=["labsim.api", "workbook"])
def test_a_lazy_name_is_declared_alike_for_python_and_for_type_checkers(module: Any) -> None:
    """The table, `__all__` and the imports for type checkers name the same, and from the same homes."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    homes = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert module.__all__ == sorted(homes)
    assert set(module.__all__) <= set(dir(module))
    for name, (home, there) in homes.items():
        assert getattr(module, name) is getattr(__import__(str(home), fromlist=[there]), there), name
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name


def test_every_name_for_authors_is_explained_in_one_line() -> None:
    """`help(labsim.api)` says what each name is."""
    assert api.__doc__ is not None
    explained = [line.split("`")[1] for line in api.__doc__.splitlines() if line.startswith("- `")]

    assert sorted(explained) == api.__all__


def test_naming_the_api_loads_nothing_of_the_engine() -> None:
    """Each name is imported when it is used."""
    program = "import sys, labsim.api; print(*sorted(n for n in sys.modules if n.startswith('labsim')))"
    ran = subprocess.run([sys.executable, "-c", program], cwd=TOP, capture_output=True, text=True, check=True)

    assert ran.stdout.split() == ["labsim", "labsim.api", "labsim.lazy"]


def handed_out() -> Iterator[tuple[str, str]]:
    """Code that authors and learners begin with: where it stands, and its text."""
    for folder in ("scaffold", "scaffold-extras", "chapters", "exercises"):
        for path in sorted((fixtures_dir() / folder).rglob("*.py")):
            yield str(path.relative_to(fixtures_dir())), path.read_text(encoding="utf-8")
    for path in (fixtures_dir() / "scaffold" / "notebook.ipynb", *sorted((TOP / "notebooks").glob("*.ipynb"))):
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            if cell["cell_type"] == "code":
                yield f"{path.name}: cell {number}", "".join(cell["source"])
                yield f"{path.name}: skeleton of {number}", cell["metadata"].get("cedar", {}).get("skeleton", "")


def test_what_authors_begin_with_imports_the_api_alone() -> None:
    """The scaffold, its exercise, the notebooks with their skeletons, and the guide's example of an engine.py."""
    used = set()
    for place, text in handed_out():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert not [alias.name for alias in node.names if alias.name.startswith("labsim")], place
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("labsim", "workbook")):
                assert node.module == "labsim.api", place
                used |= {alias.name for alias in node.names}

    assert {"Given", "ApprovalDecision", "SideEffectLevel"} <= used <= set(api.__all__)


def test_an_approval_rule_may_give_back_the_engines_own_decision() -> None:
    """A Decision is read as strictly as the mapping that says the same: what is no tier is `exec`
    (approval/A-2).
    """

    def rule(args: dict[str, Any]) -> api.Decision:
        return api.Decision(args["tier"], policy=api.Policy.PROMPT, reason="a chapter's own")

    kit = extras.Kit("my-desk")
    kit.approval_rule("own", rule)
    given = {"approval": {"fn": "my-desk/own"}, "mode": "yolo", "choices": ["Approve"], "args": {"tier": "read"}}
    report = run(parse_case({"id": "own", "scenario": "wrapper", "given": given}, "a case"))
    extras.Kit("my-desk")

    assert (report.observed["outcome"], report.observed["prompts"]) == ("return", 1)
    for said, tier in (("read", api.Tier.READ), (api.Tier.WRITE, api.Tier.WRITE), ("reed", api.Tier.EXEC)):
        assert approval.normalise_declaration(rule, {"tier": said}) == api.Decision(
            tier, policy=api.Policy.PROMPT, reason="a chapter's own"
        )
