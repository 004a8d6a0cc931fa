"""Provider safety checks: which are pending, and how their texts are shown in a prompt.

The texts come from outside and are defused before they reach a dialog (wrapper/W-43, wrapper/W-44).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from labsim.approval import truncate
from labsim.js_values import text_of, trim, truthy

SHOWN: Final = 500  # characters of one check
# Patterns as text: `re` compiles each with the first check that is shown, and few calls have one.
_ANSI: Final = (
    r"[\u001b\u009b][\[\]()#;?]*"
    r"(?:(?:(?:[a-zA-Z\d]*(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007)"
    r"|(?:(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~]))"
)
_BREAKS: Final = r"[\r\n\t]+"
_CONTROLS: Final = r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]"
_MARKUP: Final = r"([\\`*_{}\[\]()<>#+\-.!|])"


def pending_checks(metadata: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The checks that the provider wants acknowledged; empty where it lists none (wrapper/W-20)."""
    checks = metadata.get("pendingSafetyChecks")
    return checks if isinstance(checks, list | tuple) else ()


def safety_text(checks: Sequence[Mapping[str, Any]]) -> str:
    """The lines that a prompt gains: a heading, then one numbered line for each check (wrapper/W-43)."""
    lines = [f"{number}. {check_text(check)}" for number, check in enumerate(checks, start=1)]
    return "\n".join(["Provider safety checks:", *lines])


def check_text(check: Mapping[str, Any]) -> str:
    """The first non-empty of message, code and id, on one line and with nothing left to interpret
    (wrapper/W-44).
    """
    said = next((check[key] for key in ("message", "code", "id") if truthy(check.get(key))), "")
    text = re.sub(_CONTROLS, "", re.sub(_ANSI, "", text_of(said)))
    return re.sub(_MARKUP, r"\\\1", truncate(trim(re.sub(_BREAKS, " ", text)), SHOWN))
