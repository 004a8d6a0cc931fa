"""Command names that no literal chain may contain: they run other text, or change the shell for what follows.

Data for `shell` (approval/A-58). Each group says what would go wrong if such a command were vouched for by
itself.
"""

from __future__ import annotations

from typing import Final

#: They take a command, or a whole program, as their arguments.
_INTERPRETERS: Final = "sh bash dash ash ksh zsh csh tcsh fish busybox env sudo nocorrect noglob"

#: Reserved words: what follows them is grammar, not arguments.
_GRAMMAR: Final = "! [[ case coproc do done elif else esac fi for function if in select then time until while"

#: Builtins that change what a later command of the chain means: its folder, names, options, variables.
_BUILTINS: Final = (
    ". [ alias bg break builtin cd chdir command continue declare dirs disown enable eval exec exit export fc fg "
    "getopts hash history jobs let local logout mapfile popd printf pushd read readarray readonly return set shift "
    "shopt source suspend test times trap typeset ulimit umask unalias unset wait"
)

#: The same, where the shell behind the tool is zsh.
_ZSH_BUILTINS: Final = (
    "- autoload bindkey bye disable emulate functions limit print rehash sched setopt unfunction unhash unlimit "
    "unsetopt vared zle zmodload zparseopts zstyle"
)

NOT_LITERAL_COMMANDS: Final = frozenset(f"{_INTERPRETERS} {_GRAMMAR} {_BUILTINS} {_ZSH_BUILTINS}".split(" "))
