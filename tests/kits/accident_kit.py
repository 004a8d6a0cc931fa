"""A process that saves until it is killed, for the tests of what the progress store survives."""

from __future__ import annotations

import signal
import subprocess
import sys


def child(code: str, *args: object) -> subprocess.Popen[str]:
    """A Python process of its own, with pipes for a handshake."""
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def last_said_by(writer: subprocess.Popen[str], *, lines: int) -> int:
    """kill -9 after so many lines; the largest number that the process has printed, each on a line of its own."""
    assert writer.stdout is not None
    said = [int(writer.stdout.readline()) for _ in range(lines)]
    writer.send_signal(signal.SIGKILL)
    said += map(int, writer.stdout.read().split())  # communicate would pass over what readline read ahead
    writer.communicate(timeout=60)

    assert writer.returncode == -signal.SIGKILL
    return max(said)
