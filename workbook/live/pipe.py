"""The Review Desk as a program of its own, with a learner's notebook as the host at the other end of the pipe.

Nothing here waits for a person: a dialog that travels over the pipe is answered by what the cell says, or by a
function of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from labsim.client.client import Client, OnDialog
from labsim.client.errors import CommandFailed
from labsim.describe.ledger import visible
from labsim.js_values import stringify
from labsim.rpc.frames import DialogRequest
from workbook.errors import WorkbookError
from workbook.show.frame import INTEGER, NOTHING, TEXT, Look, Table


class NoAnswer(WorkbookError):
    """A dialog came for which the cell gave no answer. Attribute: `kind`."""

    def __init__(self, kind: str, given: tuple[str, ...]) -> None:
        self.kind = kind
        super().__init__(
            f"A {kind} dialog came, and there is no answer for it (only for: {', '.join(given) or 'nothing'}). "
            f'Give one: wb.host({{"{kind}": …}}); None closes a dialog without an answer.'
        )


class Host(Client):
    """The client of a desk's process, with one more way to give a command."""

    def tell(self, command: str, /, **fields: Any) -> dict[str, Any]:
        """Give a command and wait for its response; a refusal is a response like any other, and is not raised.

        Returns: the response without its type and id. labsim/server/commands.py lists the commands and their
        fields.
        Raises: labsim.client.errors.NotAnswered, ServerGone.
        """
        try:
            data = self.call(command, **fields)
        except CommandFailed as refused:
            return {"success": False, "error": refused.error}
        return {"success": True} if data is None else {"success": True, "data": data}


def host(answers: Mapping[str, object] | OnDialog, *, mode: str = "always-ask") -> Host:
    """Start the desk as a process, and be its host. Use it in a `with`, which also ends the process.

    `answers`: what to answer to each kind of dialog (`select`, `confirm`, `input`, `editor`), None for no answer;
    or a function of the client and the dialog. `mode` is the generic gate's.
    Raises: labsim.client.errors.ServerGone, NotAnswered, if the process does not get ready.
    """
    return Host("--approval-mode", mode, on_dialog=answers if callable(answers) else _from(dict(answers)))


def pipe(client: Client) -> Table:
    """Every frame that went over the pipe, in both directions and in order.

    Columns: `n` int64, from 1; `direction` string, `to client` or `from client`; `kind` string, a dialog's method
    or the frame's type; `id` string, `–` without one; `frame` string, the line as it travelled. Times are left out:
    they are real ones, and differ from run to run.
    """
    frames = client.frames
    return Table(
        {
            "n": [one.n for one in frames],
            "direction": [str(one.direction) for one in frames],
            "kind": [_kind(one.frame) for one in frames],
            "id": [NOTHING if one.id is None else visible(stringify(one.id).strip('"')) for one in frames],
            "frame": [visible(one.line) for one in frames],
        },
        {"n": INTEGER, "direction": TEXT, "kind": TEXT, "id": TEXT, "frame": TEXT},
        Look(caption=f"{len(frames)} frames between a host and a real process", header="kind"),
    )


def _kind(frame: Any) -> str:
    if not isinstance(frame, Mapping):
        return "no frame" if frame is UNSET else "no object"
    return visible(str(frame.get("method") or frame.get("type") or NOTHING))


def _from(answers: dict[str, object]) -> OnDialog:
    def answer(client: Client, dialog: DialogRequest) -> object:
        if dialog.method not in answers:
            raise NoAnswer(dialog.method, tuple(answers))
        return answers[dialog.method]

    return answer
