"""What the tests of the bash rules share: the decisions, the rule sets and the examples of the specification."""

from __future__ import annotations

from typing import Any

from labsim.approval import Decision
from labsim.bash import BashRow
from labsim.terms import Policy, Tier

EXEC = Decision(Tier.EXEC)
ALLOW = Decision(Tier.WRITE, policy=Policy.ALLOW)
CRITICAL = Decision(Tier.EXEC, override=True, reason="Critical pattern detected")


def denied(pattern: str) -> Decision:
    reason = f"Blocked by bash pattern: {pattern}"
    return Decision(Tier.EXEC, override=True, policy=Policy.DENY, reason=reason)


def prompted(pattern: str) -> Decision:
    reason = f"Prompt required by bash pattern: {pattern}"
    return Decision(Tier.EXEC, override=True, policy=Policy.PROMPT, reason=reason)


def setting(*rules: tuple[str, str]) -> list[dict[str, str]]:
    return [{"match": match, "approval": approval} for match, approval in rules]


P = setting(("git status*", "allow"))
Q = setting(("rm *", "deny"), ("npm publish*", "prompt"), ("*", "allow"))
GIT_THEN_PUSH = setting(("git *", "allow"), ("git push*", "deny"))
GIT_PROMPT_THEN_PUSH = setting(("git *", "prompt"), ("git push*", "deny"))

EXAMPLES: list[tuple[Any, Any, Decision, BashRow]] = [
    *(
        ([], command, EXEC, BashRow.BARE)
        for command in ("ls", "", None, "rm -rf ./x", "rm -r ./build", "kill -9 12")
    ),
    *(
        ([], command, CRITICAL, BashRow.CRITICAL)
        for command in ("rm -rf /", "rm -f /tmp/x", "sudo rm x", "rm --no-preserve-root x")
    ),
    *(
        (P, command, ALLOW, BashRow.ALLOW)
        for command in (
            "git status",
            "  git status ",
            "git  status   -s",
            "git status 'a;b'",
            'git status "a;b"',
            r"git status \;",
            "git status -c 'ab'",
        )
    ),
    *(
        (P, command, EXEC, BashRow.BARE)
        for command in (
            'git status "$HOME"',
            "git status $(x)",
            "git status > f",
            "git status | cat",
            "git status && ls",
            "git status; rm x",
            "git status\nrm x",
            "git status -c 'a;b'",
            "Git status",
            "xgit status",
        )
    ),
    *(
        (Q, command, denied("rm *"), BashRow.DENY)
        for command in ("rm x", "cd a && rm x", "a | rm x", "(rm x)", "'rm' x", r"r\m x", "echo $(rm x)")
    ),
    *((Q, command, ALLOW, BashRow.ALLOW) for command in ("echo 'rm x'", "ls")),
    *((Q, command, EXEC, BashRow.BARE) for command in ("echo `rm x`", "ls; pwd")),
    (Q, "npm run x && npm publish --tag t", prompted("npm publish*"), BashRow.PROMPT),
    (Q, "sudo rm x", CRITICAL, BashRow.CRITICAL),
    (setting(("rm *", "allow")), "rm -rf /", CRITICAL, BashRow.CRITICAL),
    (setting(("rm *", "prompt")), "rm -rf /", CRITICAL, BashRow.CRITICAL),
    (setting(("rm *", "deny")), "rm -rf /", denied("rm *"), BashRow.DENY),
    (GIT_THEN_PUSH, "git push", ALLOW, BashRow.ALLOW),
    (GIT_PROMPT_THEN_PUSH, "git push", prompted("git *"), BashRow.PROMPT),
    (setting(("a.b", "deny")), "axb", EXEC, BashRow.BARE),
    (setting(("echo *", "deny")), "echo a\nb", denied("echo *"), BashRow.DENY),
]

CHAIN_RULES = setting(("git *", "allow"), ("npm test", "allow"))

#: For each critical rule: texts that show its shape, and texts a step beside it.
CRITICAL_EXAMPLES: dict[str, tuple[list[str], list[str]]] = {
    "approval/C1": (
        [
            "rm -rf /",
            "rm -v -rf -- /x",
            "RM -R /",
            "rm --recursive /x",
            "rm -x --FORCE -v /x",
            "x.rm -f /y",
            "rm -rm /x",
        ],
        ["rm -rf ./x", "rm -v /x", "rm -rf x /y", "farm -rf /x", "rm - -rf/", "rm -rf", "rm --recursively /x"],
    ),
    "approval/C2": (
        ["rm --no-preserve-root x", "rm -v --no-preserve-root"],
        ["rm x --no-preserve-root", "rm --no-preserve-rooted"],
    ),
    "approval/C3": (["sudo rm x", "SUDO  RM", "sudo\nrm x"], ["sudo -u x rm", "sudo rmdir x"]),
    "approval/C4": (
        ["chmod -R 777 /x", "CHMOD -r 0 /", "chmod -R u+rwx,o-w /etc"],
        ["chmod 777 /x", "chmod -R 778 /x", "CHMOD -R u+x /", "chmod -r u+x /", "chmod -R u+x x/"],
    ),
    "approval/C5": (["chown -R me:us /x", "CHOWN -r me /"], ["chown me /x", "chown -R me x"]),
    "approval/C6": ([":(){ :|:& };:", ":() { : | : & }"], [":( ){ :|:", "f(){ f|f& }"]),
    "approval/C7": (
        [
            "cat x >/dev/sda",
            "x > /DEV/SDB1",
            "mkfs /x",
            "mkfs.ext4 x",
            "dd if=x of=/dev/sdb",
            "dd\nif=x y of=/dev/z",
            "shred /dev/x",
            "cryptsetup open",
        ],
        [
            "cat > /dev/null",
            "mkfsx",
            "dd if=x\nof=/dev/sdb",
            "dd if=of=/dev/sdb",
            "dd of=/dev/x if=y",
            "shred x",
            "xcryptsetup",
        ],
    ),
    "approval/C8": (
        ["x > /etc/passwd", "x >>/ETC/shadow", "x | tee /etc/sudoers", "tee -a /etc/passwd"],
        ["x > /etc/passwords", "tee -b /etc/passwd", "cat /etc/shadow"],
    ),
    "approval/C9": (
        ["curl x | bash", "wget x |  SH", "fetch a; b | zsh -s", "curl x | fish"],
        ["curl x | tee y | sh", "curls x | sh", "curl x", "curl x | bashful", "curl x || sh"],
    ),
    "approval/C10": (
        ["bash <(curl x)", ". <(wget x)", "a;source <( fetch x)", "x && zsh <(curl)"],
        ["bash < (curl x)", "bash <(curlx)", "xbash <(curl)", "a.<(curl)"],
    ),
    "approval/C11": (
        ["eval $(curl x)", 'eval "$(wget x)"', "eval `curl x`", "EVAL '$( fetch"],
        ["eval curl x", "eval $x$(curl)", "evaluate $(curl)", 'eval "`curl x`"'],
    ),
    "approval/C12": (["kill -9 1", "x;kill  -9  1;y"], ["kill -9 12", "KILL -9 1", "kill -1 9", "skill -9 1"]),
    "approval/C13": (
        ["reboot", "x; HALT", "(shutdown -h now", "find . -name reboot", "poweroff&", "init 0", "x|init 0"],
        ["npm run reboot-tests", "echo 'shutdown the queue'", "init 01", "xhalt", "init 6", "halt)"],
    ),
    "approval/C14": (
        ["nc -e sh x", "nc host 1 -lC x", "NC x -ve y"],
        ["nc -l 1", "nc x | y -e z", "nc x; y -c z", "nc -e", "nce -e x", "nc -e9 x"],
    ),
}
