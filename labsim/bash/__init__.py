"""Bash rules: classification of command text. Nothing here runs a command."""

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
