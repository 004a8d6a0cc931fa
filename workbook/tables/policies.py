"""Who decides: the policy of every combination of declaration, user policy and mode, each one really resolved.

Nothing of the rule is repeated here: a cell is what `resolve` said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct

from labsim.approval import resolve
from labsim.call.inert import InertExecutor, inert_tool
from labsim.describe.ledger import one_line
from labsim.errors import HostError
from labsim.js_values import stringify
from labsim.stage.stage import Stage
from labsim.terms import ApprovalMode, Policy
from workbook.errors import WorkbookError
from workbook.show.frame import NOTHING, TEXT, Look, Table

TOOL: Final = "seed_note"
NO_ENTRY: Final = "no entry"  # the user's settings do not name the tool
THROWS: Final = "throws"  # the declaration is a function that failed

#: What a tool may declare, by a short name: a bare tier, and decisions that say more (approval/R1 to approval/R9).
DECLARATIONS: Final[Mapping[str, Any]] = {
    "none": UNSET,
    "read": "read",
    "write": "write",
    "exec": "exec",
    "exec, policy allow": {"tier": "exec", "policy": "allow"},
    "read, policy prompt": {"tier": "read", "policy": "prompt"},
    "read, policy deny": {"tier": "read", "policy": "deny"},
    "read, override": {"tier": "read", "override": True},
    "read, override, policy allow": {"tier": "read", "override": True, "policy": "allow"},
    "read, override, policy prompt": {"tier": "read", "override": True, "policy": "prompt"},
}
#: What the user's settings may say of the tool; None is no entry.
USER_POLICIES: Final[tuple[Any, ...]] = (None, Policy.ALLOW.value, Policy.PROMPT.value, Policy.DENY.value)

Declarations = Mapping[str, Any] | Iterable[str] | None
Values = str | Iterable[Any] | None


class UnknownDeclaration(WorkbookError):
    """A name stands for no declaration. Attribute: `name`."""

    def __init__(self, name: object) -> None:
        self.name = name
        super().__init__(
            f"No declaration is called {name!r}. Use one of: {'; '.join(DECLARATIONS)}; "
            'or give your own as a mapping, {"my tool": {"tier": "read", "policy": "prompt"}}.'
        )


class _Cell(Struct, frozen=True, kw_only=True):
    """One resolution, in words. The fields are the columns of `policy_cells`."""

    declaration: str
    user: str
    mode: str
    policy: str
    source: str
    rule: str
    tier: str

    @property
    def decided(self) -> str:
        return f"{self.policy} ({self.source if self.policy == THROWS else f'{self.source}, {self.rule}'})"


def policy_cells(
    declarations: Declarations = None, user: Values = None, modes: Values = None, *, args: Any = UNSET
) -> Table:
    """One row for each resolution: declarations outermost, then user policies, then modes.

    `declarations`: a mapping of label to declaration (a tier, a decision, a function of the arguments, UNSET, or
    `{"fn": NAME}`), or labels of `DECLARATIONS`. `user`: values of `tools.approval.seed_note`, None for no entry.
    `modes`: the words of `tools.approvalMode`. Each left out stands for all there are. `args` go to functions.
    Columns, all string: `declaration`, `user`, `mode`, `policy`, `source`, `rule` (approval/R1 to approval/R9),
    `tier`. A function that fails has the policy `throws`, its message as `source`, and `–` for the rest.
    Raises: UnknownDeclaration.
    """
    cells = [cell for row in _resolved(declarations, user, modes, args) for cell in row]
    names = _Cell.__struct_fields__
    return Table(
        {name: [getattr(cell, name) for cell in cells] for name in names},
        dict.fromkeys(names, TEXT),
        Look(
            caption=f"{len(cells)} resolution{'' if len(cells) == 1 else 's'}", header="user", group="declaration"
        ),
    )


def policy_matrix(
    declarations: Declarations = None, user: Values = None, modes: Values = None, *, args: Any = UNSET
) -> Table:
    """Declaration and user policy against mode; each cell says the policy, who decided, and by which rule.

    Parameters as `policy_cells`. Columns, all string: `declaration`, `user`, and one for each mode, with cells like
    `prompt (mode, approval/R9)`. Raises: UnknownDeclaration.
    """
    rows = list(_resolved(declarations, user, modes, args))
    columns = {
        "declaration": [row[0].declaration for row in rows if row],
        "user": [row[0].user for row in rows if row],
    }
    for place, mode in enumerate(_modes(modes)):
        columns[mode] = [row[place].decided for row in rows]
    return Table(
        columns,
        dict.fromkeys(columns, TEXT),
        Look(caption="Policy by declaration, user policy and mode", header="user", group="declaration"),
    )


def _resolved(declarations: Declarations, user: Values, modes: Values, args: Any) -> Iterator[list[_Cell]]:
    """The resolutions, those that differ only in their mode together."""
    for label, said in _declarations(declarations).items():
        tool = inert_tool(TOOL, said, InertExecutor(Stage(), TOOL))
        for user_word, value in _values(user, USER_POLICIES).items():
            policies = {} if value is None else {TOOL: value}
            row: list[_Cell] = []
            for mode_word, mode in _modes(modes).items():
                policy, source, rule, tier = THROWS, "", NOTHING, NOTHING
                try:
                    found = resolve(tool, args, mode=mode, policies=policies)
                except HostError as error:
                    source = one_line(str(error))
                else:
                    policy, source, rule, tier = found.policy, found.source, found.rule, found.tier
                row.append(
                    _Cell(
                        declaration=one_line(label),
                        user=user_word,
                        mode=mode_word,
                        policy=str(policy),
                        source=str(source),
                        rule=str(rule),
                        tier=str(tier),
                    )
                )
            yield row


def _declarations(chosen: Declarations) -> Mapping[str, Any]:
    if chosen is None:
        return DECLARATIONS
    if isinstance(chosen, Mapping):
        return chosen
    labels = [chosen] if isinstance(chosen, str) else list(chosen)
    for label in labels:
        if label not in DECLARATIONS:
            raise UnknownDeclaration(label)
    return {label: DECLARATIONS[label] for label in labels}


def _modes(chosen: Values) -> dict[str, Any]:
    return _values(chosen, tuple(mode.value for mode in ApprovalMode))


def _values(chosen: Values, otherwise: tuple[Any, ...]) -> dict[str, Any]:
    """The values to go through by their words, each once; text alone is one word, not its letters."""
    values = otherwise if chosen is None else (chosen,) if isinstance(chosen, str) else chosen
    named: dict[str, Any] = {}
    for value in values:
        named.setdefault(_word(value), value)
    return named


def _word(value: Any) -> str:
    """A setting as it is spelled: a plain word bare, anything else as JSON, so that a blank in it shows."""
    if value is None:
        return NO_ENTRY
    return one_line(value if isinstance(value, str) and value.strip() == value != "" else stringify(value))
