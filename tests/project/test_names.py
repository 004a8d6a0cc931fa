"""What names and texts of the product may not be."""

from __future__ import annotations

import ast
import re

from places import TOP

SOURCES = [*sorted((TOP / "labsim").rglob("*.py")), *sorted((TOP / "workbook").rglob("*.py"))]
#: Words that fit every parameter, and so say of none what it is.
VAGUE = {"one", "found", "made", "shown", "meant"}


def test_a_parameter_is_called_what_it_is() -> None:
    """A caller reads the signature first."""
    vague = [
        f"{path.relative_to(TOP)}:{node.lineno} {node.name}({argument.arg})"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        if argument.arg in VAGUE
    ]

    assert vague == []


def test_no_module_says_where_it_stands() -> None:
    """Its folder does, and the test of layers; of 609 such sentences 24 had become false."""
    place = re.compile(
        r"(^|[.;] )(Above|Below|Beside|At the (top|bottom) of|On top of) (`|everything|all)", re.IGNORECASE
    )
    said = {}
    for path in SOURCES:
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if place.search(" ".join(docstring.split())):
            said[str(path.relative_to(TOP))] = docstring

    assert said == {}
