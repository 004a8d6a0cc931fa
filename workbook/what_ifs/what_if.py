"""What if: the calls of a log under other settings, how often a person would be asked, and what changes.

A call that is resolved to `prompt` puts one prompt before a person, whatever they answer. The calls are taken as
made directly, one by one: no dispatch vouches for them, and no safety check asks of its own accord (wrapper/W-22
to wrapper/W-25).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd

from labsim.approval import Resolution, normalise_policy
from labsim.errors import one_line
from labsim.terms import ApprovalMode, Policy, Rule, Source, Tier
from workbook.errors import WorkbookError
from workbook.show.frame import INTEGER, TEXT, Look, Table
from workbook.show.page import Page, Paragraph, page
from workbook.show.page import Table as TableBlock
from workbook.show.plots import Plot, bars
from workbook.tables.bash_rules import parsed_rules
from workbook.what_ifs.call_log import SHOWN, Calls, as_log, counted
from workbook.what_ifs.changes import Changed, category, check_same
from workbook.what_ifs.columns import DECLARATION, TOOL, declared
from workbook.what_ifs.decide import Kind, Kinds, Settings, decide, kinds_of

#: How a call ends, by its policy.
ENDS: Final[Mapping[Policy, str]] = {
    Policy.PROMPT: "asks a person",
    Policy.ALLOW: "runs unasked",
    Policy.DENY: "is refused",
}
_POLICIES: Final = list(Policy)
_PROMPT: Final = _POLICIES.index(Policy.PROMPT)
_NAMED: Final = 6  # keys, or settings, that a sentence names one by one

Policies: TypeAlias = Mapping[str, str] | None
BashRules: TypeAlias = Iterable[tuple[str, str]] | None


class BadSetting(WorkbookError):
    """A setting that a host would ignore, or take for something else, without a word.

    Attributes: `place`, `found`, `remedy`.
    """

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        self.place, self.found, self.remedy = place, problem, remedy
        super().__init__(one_line(f"{place}: {problem}. {remedy}"))


def what_if(calls: Calls, *, mode: str = "always-ask", policies: Policies = None, bash: BashRules = None) -> WhatIf:
    """What becomes of each call of a log under these settings. Nothing is run, and nobody is asked.

    `calls`: a DataFrame, mappings, or the path of a file, with the columns that `call_logs` describes. `mode`: the
    host's mode. `policies`: what the user's settings say, by tool or by policy key: allow, deny or prompt. `bash`:
    rules for commands, as `bash_rules` takes them; calls of `bash` are then judged by the command in their `args`,
    each distinct one once, in place of what they declared. None leaves those declarations alone.
    Raises: BadCallLog, BadSetting, BadRule; OSError.
    """
    settings = _settings(mode, policies, bash)
    log = as_log(calls)
    return WhatIf(log, kinds_of(log, commands=settings.bash is not None), settings)


def prompts(calls: Calls, settings: Mapping[str, Any]) -> Plot:
    """What becomes of the calls of a log under several settings, side by side: who is asked how often.

    `settings`: by a name of your own, a mode, or (mode, policies), or (mode, policies, bash rules), or a `WhatIf`.
    Returns: bars, with every number in the table. Raises: as `what_if`; NotTheSameCalls.
    """
    log = as_log(calls)
    if not settings:
        raise BadSetting("settings", "there is none", 'Name one: {"as it is": ("write", {"bash": "prompt"})}.')
    sorted_out: dict[bool, Kinds] = {}

    def asked(name: str, setting: Any) -> WhatIf:
        if isinstance(setting, WhatIf):
            check_same(log, setting.calls)
            return setting
        parts = (setting,) if isinstance(setting, str) else setting
        if not isinstance(parts, tuple) or not 1 <= len(parts) <= 3:
            remedy = 'Write a mode, or ("write", {"bash": "prompt"}), and rules for bash after that.'
            raise BadSetting(f"settings, {name}", f"a setting is of type {type(setting).__name__}", remedy)
        made = _settings(*parts)
        by_command = made.bash is not None
        if by_command not in sorted_out:
            sorted_out[by_command] = kinds_of(log, commands=by_command)
        return WhatIf(log, sorted_out[by_command], made)

    ends = {str(name): asked(str(name), setting).ends for name, setting in settings.items()}
    counts = {words: [end[words] for end in ends.values()] for words in ENDS.values()}
    return bars(
        f"What becomes of {counted(len(log))}",
        list(ends),
        counts,
        value_axis="calls",
        label_axis="settings",
        alt=_in_words(len(log), {name: end[ENDS[Policy.PROMPT]] for name, end in ends.items()}),
    )


class WhatIf:
    """What becomes of the calls of a log under one setting. `what_if` makes it.

    `calls`: the log, with the columns that `call_log` describes. `settings`: what was asked. `kinds` and `decided`:
    the same as numbers (see `workbook.what_ifs.decide`). Shown as a summary: how many calls end how, and which rule
    decided.
    """

    def __init__(self, calls: pd.DataFrame, kinds: Kinds, settings: Settings) -> None:
        self.calls = calls
        self.settings = settings
        self.kinds = kinds
        self.decided = decide(kinds, settings)

    @property
    def decisions(self) -> Table:
        """One row for each call, with the index of `calls`.

        Columns: `tool` and `declaration` category, those of the log; `policy` category (allow, deny, prompt);
        `source` category (tool, user, mode); `rule` category (approval/R1 to approval/R9); `tier`
        category (read, write, exec); `prompts` int8, how many a person sees, 0 or 1; `ends` category, the words of
        `ENDS`.
        """
        decided = self.decided
        columns = {
            TOOL: self.calls[TOOL].array,
            DECLARATION: self.calls[DECLARATION].array,
            "policy": category(decided.policy, Policy),
            "source": category(decided.source, Source),
            "rule": category(decided.rule, Rule),
            "tier": category(decided.tier, Tier),
            "prompts": (decided.policy == _PROMPT).view(np.int8),
            "ends": category(decided.policy, [ENDS[policy] for policy in Policy]),
        }
        frame = pd.DataFrame(columns, index=self.calls.index, copy=False)
        return Table.around(frame, Look(caption=f"Decisions in {self.name}", header=TOOL, rows=SHOWN))

    @property
    def prompts(self) -> int:
        """How many prompts a person sees."""
        return int(self.ends[ENDS[Policy.PROMPT]])

    @property
    def ends(self) -> dict[str, int]:
        """How many calls end how, by the words of `ENDS`."""
        counts = self._count(lambda kind, found: found.policy)
        return {words: counts[policy] for policy, words in ENDS.items()}

    @property
    def rules(self) -> Table:
        """How many calls each rule decided, most first.

        Columns: `ends`, `source`, `rule` string; `calls` int64; `share` string, in per cent of all calls.
        """
        counts = self._count(lambda kind, found: (ENDS[found.policy], str(found.source), str(found.rule)))
        rows = [(*row, calls) for row, calls in _most_first(counts)]
        return Table(
            {
                "ends": [row[0] for row in rows],
                "source": [row[1] for row in rows],
                "rule": [row[2] for row in rows],
                "calls": [row[3] for row in rows],
                "share": [f"{row[3] / len(self.calls):.1%}" for row in rows],
            },
            {"ends": TEXT, "source": TEXT, "rule": TEXT, "calls": INTEGER, "share": TEXT},
            Look(caption=f"Who decided, and by which rule, in {self.name}", header="ends"),
        )

    @property
    def tools(self) -> Table:
        """What becomes of each tool's calls, those that ask most often first.

        Columns: `tool` string; `calls`, and one for each of the words of `ENDS`, int64.
        """
        counts = self._count(lambda kind, found: (kind.tool, found.policy))
        names = dict.fromkeys(name for name, _ in counts)
        order = sorted(
            names, key=lambda name: (-counts[name, Policy.PROMPT], -sum(counts[name, end] for end in ENDS), name)
        )
        columns: dict[str, list[Any]] = {
            "tool": order,
            "calls": [sum(counts[name, policy] for policy in ENDS) for name in order],
        }
        columns |= {words: [counts[name, policy] for name in order] for policy, words in ENDS.items()}
        types = dict.fromkeys(columns, INTEGER) | {"tool": TEXT}
        return Table(columns, types, Look(caption=f"Tools in {self.name}", header="tool"))

    @property
    def unused(self) -> tuple[str, ...]:
        """The keys of the policies that no call of the log looks at: a slip of the pen, or nothing to say yet."""
        looked_at = {name for kind in self.kinds.kinds for name in _keys(kind)}
        return tuple(key for key in self.settings.policies if key not in looked_at)

    def changed(self, other: WhatIf) -> Changed:
        """The calls with another policy under `other`. This what-if is before, `other` after.

        Raises: NotTheSameCalls.
        """
        check_same(self.calls, other.calls)
        return Changed(self, other)

    @property
    def name(self) -> str:
        """The settings in words."""
        said = [f"mode {self.settings.mode}"]
        policies = [f"{key}: {policy}" for key, policy in self.settings.policies.items()]
        if policies:
            said.append(_listed(policies))
        if self.settings.bash is not None:
            said.append(f"{len(self.settings.bash)} rule{'' if len(self.settings.bash) == 1 else 's'} for bash")
        return ", ".join(said)

    def __repr__(self) -> str:
        return str(self._page())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return self._page()._repr_mimebundle_()

    def _page(self) -> Page:
        ends = "; ".join(f"{calls:,} {_plural(words, calls)}" for words, calls in self.ends.items())
        text = f"{counted(len(self.calls))} in {self.name}: {ends}."
        if self.unused:
            text += f" No call of this log looks at {_listed(self.unused)}."
        return page(Paragraph(text=text, lead="What if."), TableBlock(grid=self.rules.grid))

    def _count(self, of: Callable[[Kind, Resolution], Any]) -> Counter[Any]:
        """How many calls there are of whatever `of` says of a kind and its answer."""
        counts: Counter[Any] = Counter()
        for kind, calls, found in zip(self.kinds.kinds, self.kinds.counts, self.decided.answers, strict=True):
            counts[of(kind, found)] += calls
        return counts


def _settings(mode: Any, policies: Any = None, bash: Any = None) -> Settings:
    """Settings that say what a host would hear. Raises: BadSetting, BadRule."""
    words = ", ".join(ApprovalMode)
    if not (isinstance(mode, str) and mode in list(ApprovalMode)):
        remedy = f"Use one of: {words}. A host would take it for yolo, and say nothing (approval/A-18)."
        raise BadSetting("mode", f"{mode!r} is no mode", remedy)
    if not isinstance(policies, Mapping | None):
        found = f"policies are of type {type(policies).__name__}"
        raise BadSetting("policies", found, 'Write a mapping: {"bash": "prompt"}.')
    said: dict[str, Policy] = {}
    for key, value in (policies or {}).items():
        policy = normalise_policy(value)
        if not isinstance(key, str) or policy is None:
            remedy = f"Use one of: {', '.join(Policy)}. A host would ignore it, and say nothing (approval/A-11)."
            raise BadSetting(f"policies, {key}", f"{value!r} is no policy", remedy)
        said[key] = policy
    rules = None if bash is None else parsed_rules(list(bash))
    return Settings(mode=ApprovalMode(mode), policies=said, bash=rules)


def _keys(kind: Kind) -> Iterable[str]:
    """The keys of user policies that the engine may look at for a call of this kind (approval/A-23 to
    approval/A-25).
    """
    yield kind.tool
    said = declared(kind.declaration)
    if isinstance(said, Mapping) and isinstance(said.get("policyKey"), str):
        yield said["policyKey"]
    if kind.legacy_name is not None:
        yield kind.legacy_name


def _most_first(counts: Counter[Any]) -> list[tuple[Any, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _plural(words: str, calls: int) -> str:
    """`asks a person` of one call, `ask a person` of several."""
    if calls == 1:
        return words
    verb, _, rest = words.partition(" ")
    return f"{'are' if verb == 'is' else verb.removesuffix('s')} {rest}"


def _listed(names: Iterable[str]) -> str:
    """Names in a sentence, and how many more there are."""
    every = list(names)
    left = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {left} more" if left > 0 else "")


def _in_words(calls: int, asked: Mapping[str, int]) -> str:
    """What somebody should know who does not see the bars: how often a person is asked, under each setting."""
    words = [f"{count:,} under “{name}”" for name, count in asked.items()]
    return f"Bars for {len(asked)} settings. Of {counted(calls)}, a person is asked about {_listed(words)}."
