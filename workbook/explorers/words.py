"""What the what-if panel says: the labels of its controls, its options in words, and each rule in one sentence.

Text only.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from labsim.describe.ledger import visible
from labsim.terms import ApprovalMode, Rule, Tier
from workbook.explorers.state import (
    MISSPELT_MODE,
    MISSPELT_POLICY,
    REASON,
    Actions,
    Answers,
    AutoApprove,
    Handlers,
    Modes,
    PanelState,
    Policies,
    Safety,
    Tiers,
    Uis,
    UserPolicies,
    YesNo,
)

AS_OPENED: Final = "as-opened"  # the word of every control for what the opened case says
UNANSWERED: Final = "unanswered"  # the word of an answer that is not in the list

#: The groups of controls, in order. `answers` stands for one control a dialog.
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "What the tool declares": ("tier", "policy", "override", "reason"),
    "The call": ("action", "repeat", "safety"),
    "Settings": ("mode", "user", "auto_approve"),
    "Handlers": ("handler", "second_handler"),
    "Who answers": ("ui", "answers"),
}
LABELS: Final[Mapping[str, str]] = {
    "tier": "Tier",
    "policy": "Policy",
    "override": "Override",
    "reason": "Reason",
    "action": "Action in its input",
    "repeat": "How often it is made",
    "safety": "Provider's safety checks",
    "mode": "Mode",
    "user": "User's policy for the tool",
    "auto_approve": "Auto-approve",
    "handler": "First handler",
    "second_handler": "Second handler",
    "ui": "Somebody there",
    "answers": "Answers",
}
#: The words of each control as they are read; a word that is not here is read as it is.
OPTIONS: Final[Mapping[type[StrEnum], Mapping[StrEnum, str]]] = {
    Tiers: {
        Tiers.NONE: "no declaration at all",
        Tiers.BY_INPUT: "a rule that looks at the input",
    },
    Policies: {Policies.NONE: "none"},
    YesNo: {},
    Actions: {},
    Modes: {Modes.LEFT_OUT: "not set", Modes.MISSPELT: f"misspelt: {MISSPELT_MODE}"},
    UserPolicies: {
        UserPolicies.NONE: "no entry",
        UserPolicies.MISSPELT: f"misspelt: {MISSPELT_POLICY}",
    },
    AutoApprove: {AutoApprove.TEXT: 'the text "yes", not true'},
    Handlers: {
        Handlers.NONE: "none",
        Handlers.WATCHES: "watches, hands back nothing",
        Handlers.REVISES_DOWN: "hands back inspect",
        Handlers.REVISES_UP: "hands back publish",
        Handlers.REVISES_TO_BLOCKED: "hands back blocked",
        Handlers.CHANGES: "writes inspect into the input",
        Handlers.HANDS_BACK_EMPTY: "hands back an empty object",
        Handlers.BLOCKS: "blocks the call",
        Handlers.THROWS: "throws an error",
        Handlers.ASKS: "asks a question of its own",
        Handlers.TOO_SLOW: "works for 40 s, of 30 allowed",
    },
    Uis: {Uis.YES: "yes, a person", Uis.NONE: "no, nobody", Uis.RPC: "yes, a client over RPC"},
    Answers: {
        Answers.APPROVE: "Approve",
        Answers.DENY: "Deny",
        Answers.DISMISSED: "dismissed, no answer",
        Answers.LOWER_CASE: "the text approve, in lower case",
        Answers.OTHER_TEXT: "another text: Later",
        Answers.CONFIRMED: "yes, to a question of yes or no",
        Answers.NOT_CONFIRMED: "no, to a question of yes or no",
        Answers.BREAKS: "the dialog breaks",
        Answers.THROWS_VALUE: "the dialog throws 7, which is no error",
        Answers.DISCONNECTS: "the client goes away",
    },
    Safety: {Safety.NONE: "none", Safety.ONE: "one check", Safety.TWO: "two checks"},
}


def read_aloud(field: str, word: StrEnum | int, reason: str = REASON) -> str:
    """A word of a control as its option reads; `reason` is what a tool that declares one says."""
    if not isinstance(word, StrEnum):
        return str(word)
    if field == "reason" and word is YesNo.YES:
        return f"yes: {visible(reason)}"
    return OPTIONS[type(word)].get(word, str(word))


#: Each rule in a sentence (approval/R1 to approval/R9).
RULES: Final[Mapping[Rule, str]] = {
    Rule.R1: "The tool's own deny comes before everything else.",
    Rule.R2: "A user's deny is read before any mode.",
    Rule.R3: "In yolo a policy that the tool declares still stands.",
    Rule.R4A: "In yolo the tool declares no policy, so the user's counts.",
    Rule.R4B: "In yolo everything is allowed where neither tool nor user says anything.",
    Rule.R5: "An override puts the tool's word before the user's: allow if it declares that, else prompt.",
    Rule.R6: "A policy that the tool declares comes before the user's.",
    Rule.R7: "The user's policy comes before the mode.",
    Rule.R8: "The mode covers the tier.",
    Rule.R9: "The mode does not cover the tier, so somebody is to be asked.",
}


def remarks_on(state: PanelState) -> list[str]:
    """What the words of a state do that their reader may not expect, apart from any run."""
    said = []
    if state.mode is Modes.MISSPELT:
        said.append(
            f'"{MISSPELT_MODE}" is no mode, and the host takes a misspelt mode for {ApprovalMode.YOLO}. '
            "A teaching case has to say that this is meant; the copy does, under unusual."
        )
    if state.mode is Modes.LEFT_OUT:
        said.append(f"Without a mode in its settings the host works in {ApprovalMode.YOLO}.")
    if state.user is UserPolicies.MISSPELT:
        said.append(
            f'"{MISSPELT_POLICY}" is no policy, and the host reads the entry as if it were not there. '
            "A teaching case has to say that this is meant; the copy does, under unusual."
        )
    if state.auto_approve is AutoApprove.TEXT:
        said.append(
            'Auto-approve counts only if it is exactly true; the text "yes" changes nothing. '
            "A teaching case has to say that this is meant; the copy does, under unusual."
        )
    if state.auto_approve is AutoApprove.ON and state.mode is not Modes.YOLO:
        said.append(f"Auto-approve is on, so the call is judged in {ApprovalMode.YOLO}, whatever the mode says.")
    if state.tier is Tiers.BY_INPUT:
        said.append("The rule: inspect is read, reserve is write, publish is exec, and blocked is denied.")
    if state.tier is Tiers.NONE:
        said.append(f"A tool that declares nothing counts as {Tier.EXEC}.")
    if state.safety not in (None, Safety.NONE) and state.tier is Tiers.BY_INPUT:
        said.append(
            "With safety checks the provider's own actions are judged, not the input, so the rule finds no action."
        )
    return said
