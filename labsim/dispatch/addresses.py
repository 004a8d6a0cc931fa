"""Addresses: what the path of a `write` names.

An address is read twice by the host, by the gate
and by the router, and the two do not read alike (dispatch/D-5): what each of them sees is a function of its own
here.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from msgspec import Struct

from labsim.js_values import BLANKS, trim

XD: Final = "xd://"


class SpecialDevice(StrEnum):
    """Device names that are no tools. They win over a real tool of that name (dispatch/D-14)."""

    RESOLVE = "resolve"
    REJECT = "reject"
    PROPOSE = "propose"
    REPORT_ISSUE = "report_issue"


#: Schemes of the host's own addresses beside `xd`, and whether `write` may change what they name (dispatch/G9,
#: dispatch/G10).
INTERNAL_SCHEMES: Final[dict[str, bool]] = {
    "agent": False,
    "artifact": False,
    "history": False,
    "local": False,
    "memory": False,
    "rule": False,
    "skill": False,
    "vault": True,
}
_ROUTED: Final = frozenset({"xd", "ssh", *INTERNAL_SCHEMES})
_SPECIAL: Final = {device.value: device for device in SpecialDevice}
_NEAR_SCHEMES: Final = frozenset({"dx", "xdd", "xdt"})
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*)://", re.IGNORECASE)
# A line break ends what these two look at, and then the path is no address at all.
_LINE: Final = r"([^\n\r\u2028\u2029]*)\Z"
_URI_LIKE: Final = re.compile(r"([a-z][a-z0-9+.-]*):/{1,2}" + _LINE, re.IGNORECASE)
_NO_COLON: Final = re.compile(r"xd/+" + _LINE, re.IGNORECASE)
_ABSOLUTE: Final = re.compile(r"[/\\]|[A-Za-z]:[/\\]")
_TAG: Final = re.compile(r"#[0-9A-Fa-f]{4}\Z")


class Address(Struct, frozen=True):
    """A valid `xd://` address. `device` is kept as written (dispatch/D-4); None is the root (dispatch/D-2)."""

    device: str | None

    @property
    def special(self) -> SpecialDevice | None:
        return _SPECIAL.get(self.device) if self.device is not None else None


def parse_address(path: str) -> Address | None:
    """The address that `path` is, blanks around it aside; None if it is none, or not a valid one (dispatch/D-1 to
    dispatch/D-3).
    """
    text = trim(path)
    if text[: len(XD)].lower() != XD:
        return None
    name = text[len(XD) :]
    if not name:
        return Address(None)  # dispatch/D-2
    return None if re.search(r"[/?#]", name) else Address(name)


def bare_name(name: str) -> str:
    """A device name without a leading `xd://`, in any case; other names as they are (dispatch/D-6)."""
    return name[len(XD) :] if name[: len(XD)].lower() == XD else name


def address_of(device: str) -> str:
    """The address of a device, as messages spell it."""
    return f"{XD}{device}"


def unwrap_header(path: str) -> str:
    """`path` out of a copied `[path#TAG]`; anything of another shape stays as it is (dispatch/D-57)."""
    text = path.rstrip(BLANKS)
    if len(text) < 2 or text[0] != "[" or text[-1] != "]":
        return path
    inner = text[1:-1]
    tag = _TAG.search(inner)
    named = inner[: tag.start()] if tag else inner
    return path if not named or "#" in named else named


def scheme_of(path: str) -> str | None:
    """The scheme that `path` begins with, in lower case. A leading blank hides it, from the router too
    (dispatch/D-5).
    """
    found = _SCHEME.match(path)
    return found[1].lower() if found else None


def is_routed(path: str) -> bool:
    """Whether the router takes `path` for one of the host's own addresses, valid or not."""
    return scheme_of(path) in _ROUTED


def near_miss(path: str) -> str | None:
    """Why `path` is taken for a mistyped address, with what may be meant; None if it is not (dispatch/near-miss).

    Judged on the trimmed path, so an address after a blank is no near miss, and is then no address either
    (dispatch/D-5).
    """
    text = trim(path)
    if _ABSOLUTE.match(text) or is_routed(text):
        return None
    found = _NO_COLON.match(text)
    meant: str | None = f"xd://{found[1]}" if found else None
    if not found:
        found = _URI_LIKE.match(text)
        if found is None or found[1].lower() == "conflict":  # conflict:// has a reader of its own
            return None
        scheme = found[1].lower()
        if scheme in _NEAR_SCHEMES:
            scheme = "xd"
        if scheme in _ROUTED:
            meant = f"{scheme}://{found[2]}"
    hint = f"Did you mean '{meant}'?" if meant is not None else "Tool devices use 'xd://<tool>'."
    return (
        f"Unknown URI-like write target '{text}'. {hint} "
        "Prefix the path with './' to write it as a filesystem path."
    )
