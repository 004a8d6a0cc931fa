"""Bash rules: classification of command text (spec/approval.md section 9). Nothing here runs a command.

One concept a module, lowest first: `commands` (names that no literal chain may contain), `patterns` (rules and how
they match), `shell` (quotes, active control, segments, chains), `critical` (shapes no allow can vouch for),
`classify` (the order of it all), `tool` (the inert tool that declares the result).
"""

from labsim.bash.classify import BashRow, BashVerdict, classify, declaration, explain
from labsim.bash.critical import CRITICAL_SHAPES, CriticalRule, critical_rule
from labsim.bash.patterns import BashRule, normalise, parse_rules
from labsim.bash.shell import ActiveControl, ControlRule, active_control, literal_chain, segments
from labsim.bash.tool import bash_tool

__all__ = [
    "CRITICAL_SHAPES",
    "ActiveControl",
    "BashRow",
    "BashRule",
    "BashVerdict",
    "ControlRule",
    "CriticalRule",
    "active_control",
    "bash_tool",
    "classify",
    "critical_rule",
    "declaration",
    "explain",
    "literal_chain",
    "normalise",
    "parse_rules",
    "segments",
]
