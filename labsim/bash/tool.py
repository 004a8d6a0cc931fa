"""The teaching `bash` tool: it declares what its rules say of a command, and runs nothing.

Its executor is an inert one: entering it is noted in the ledger, and that is all that happens (approval/A-42,
approval/A-50).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from labsim.approval import bash_details
from labsim.bash.classify import classify, declaration
from labsim.bash.patterns import parse_rules
from labsim.call.inert import InertExecutor
from labsim.tool import Tool


def bash_tool(executor: InertExecutor, patterns: object = (), *, compound: bool = False) -> Tool:
    """A tool named `bash` under the rules of a `bash.patterns` setting, given as it stands in the configuration.

    It has no executor but an inert one, so no command is ever run (approval/A-50).
    `compound` is the switch for chains of commands (approval/A-58), off by default as in the host.
    """
    rules = parse_rules(patterns)

    def approval(args: object) -> Any:
        command = args.get("command") if isinstance(args, Mapping) else None
        return declaration(classify(command, rules, compound=compound))

    return Tool(
        name="bash",
        execute=executor,
        approval=approval,
        format_approval_details=bash_details,
        label="Bash",
        summary="Would run a command line; here it only notes that it was asked to",
        parameters={
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    )
