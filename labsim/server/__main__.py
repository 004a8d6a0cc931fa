"""`python -m labsim.rpc`: the Review Desk and the generic gate as a child process that speaks JSON lines.

Standard input and output are the connection (protocol 1, rpc/R-9); the commands are
those of `labsim.server.commands`. Nothing is read or written besides, but for the files that the command line
names.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Container, Sequence
from pathlib import Path

from labsim.approval import Settings
from labsim.errors import LabsimError, one_line
from labsim.events.event import as_mapping
from labsim.js_values import stringify
from labsim.review.branch.note import PACKAGED_NOTE
from labsim.rpc.frames import emits_titles
from labsim.server.actions import Reopened, Start
from labsim.server.process import own_stdout, serve
from labsim.server.session_file import SessionFiles
from labsim.terms import ApprovalMode


class NothingToResume(LabsimError):
    """`--resume` without a folder of sessions."""

    def __init__(self) -> None:
        super().__init__("--resume: there is no folder to look in. Name it with --sessions.")


def main(argv: Sequence[str] | None = None) -> int:
    """Serve one client. Returns the exit code: 0 once it is gone or has sent `shutdown`, 2 for bad arguments."""
    arguments = _parser().parse_args(argv)
    try:
        ledger = serve(_start(arguments), 0, own_stdout())
        if arguments.ledger is not None:
            lines = "".join(f"{stringify(as_mapping(event))}\n" for event in ledger)
            arguments.ledger.write_text(lines, encoding="utf-8")
    except LabsimError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return 130  # interrupted from the keyboard; there is nothing to explain
    return 0


def _complain(message: str) -> int:
    print(one_line(message), file=sys.stderr)
    return 2


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m labsim.rpc", description="A simulated agent host over RPC: JSON lines on stdin and stdout."
    )
    modes = [mode.value for mode in ApprovalMode]
    parser.add_argument(
        "--approval-mode",
        choices=modes,
        default=ApprovalMode.WRITE.value,
        help="of the generic gate (default: %(default)s)",
    )
    parser.add_argument("--note", type=Path, metavar="FILE", help="the release note, instead of the packaged one")
    parser.add_argument(
        "--sessions", type=Path, metavar="FOLDER", help="keep sessions here; without it they end with the process"
    )
    parser.add_argument("--resume", metavar="ID", help="open this session of the folder, instead of a new one")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="write what happened here at the end")
    return parser


def _start(arguments: Namespace) -> Start:
    """What the command line asks for, read. Raises: NothingToResume; NoSessionId; OSError."""
    settings = Settings(arguments.approval_mode, {})
    fixture = PACKAGED_NOTE if arguments.note is None else _note(arguments.note)
    titles = emits_titles(os.environ.get("PI_RPC_EMIT_TITLE"))
    resumed: str | None = arguments.resume
    if arguments.sessions is None:
        if resumed is not None:
            raise NothingToResume
        return Start(settings=settings, fixture=fixture, titles=titles)
    files = SessionFiles(arguments.sessions)
    read = {name: files.read(name) for name in files.session_ids}
    current, reopened = _unused_id(read), None
    if resumed is not None:
        # A session without an entry has no file, and is opened again all the same.
        current, reopened = resumed, Reopened(remarks=files.read(resumed).remarks)
    return Start(
        settings=settings,
        fixture=fixture,
        titles=titles,
        stored={name: lines.entries for name, lines in read.items()},
        current=current,
        reopened=reopened,
        save=files.save,
    )


def _note(path: Path) -> bytes | None:
    """The release note as read; None: there is none, and the desk will say so (review/V-4)."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _unused_id(stored: Container[str]) -> str:
    number = 1
    while (name := f"session-{number}") in stored:
        number += 1
    return name


if __name__ == "__main__":
    sys.exit(main())
