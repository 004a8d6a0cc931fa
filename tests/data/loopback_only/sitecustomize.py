"""First on the PYTHONPATH, this notes what a Python process asks of the network and refuses what leaves.

Each question is a line in the file that CEDAR_NETWORK_LOG names: the process, the question, the address, and one of
"here" (sockets of the file system and loopback addresses), "refused", and "open": an address of one's own that
others might reach, which lets nothing out and is let through. ZeroMQ opens its sockets in C, where no hook sees
them; a test asks a kernel for its address instead.
"""

from __future__ import annotations

import os
import sys

HERE = ("localhost", "::1")
QUESTIONS = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname")


def _stays_here(host: object) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    return name is None or name in HERE or str(name).startswith(("127.", "::ffff:127."))


def _watch(question: str, arguments: tuple[object, ...]) -> None:
    if question not in QUESTIONS:
        return
    address = arguments[0] if question.endswith(("getaddrinfo", "gethostbyname")) else arguments[-1]
    named = address[0] if isinstance(address, tuple) else address
    of_file_system = isinstance(address, str | bytes) and question in ("socket.connect", "socket.bind")
    passes = of_file_system or _stays_here(named)
    answer = "here" if passes else "open" if question == "socket.bind" else "refused"
    line = f"{os.getpid()}\t{question}\t{address!r}\t{answer}\n"
    log = os.open(os.environ["CEDAR_NETWORK_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(log, line.encode())
    os.close(log)
    if answer == "refused":
        raise OSError(101, "Network is unreachable")


sys.addaudithook(_watch)
