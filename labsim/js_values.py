"""How the recorded host's language sees a JSON value: trimming, truth, text, equality, copies.

The real program is JavaScript. Where its notion of a blank, of truth or of text differs from Python's, a rule
would come out differently, so the differences live here, once.

`msgspec.UNSET` stands for a value that is not there at all; `None` is JSON's `null`. The two are different
things to every rule that asks "was it given?".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

# White space and line terminators of the host's language. Python's own set adds U+001C to U+001F and U+0085
# and lacks U+FEFF; both would change which policies count (recorded: resolve-3046, -3070, -3094, -3118).
BLANKS: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)


def trim(text: str) -> str:
    """`text` without the blanks at its ends, as the host counts blanks."""
    return text.strip(BLANKS)


def truthy(value: object) -> bool:
    """Whether a condition on `value` holds: `{}` and `[]` do, `0`, `""`, null, nothing and NaN do not."""
    if value is None or value is UNSET or value is False:
        return False
    if value is True:
        return True
    if isinstance(value, str):
        return value != ""
    if isinstance(value, int | float):
        return not (value == 0 or value != value)
    return True


def text_of(value: object) -> str:
    """`value` as text, as a message shows it: null is `null`, an object says only that it is one."""
    if isinstance(value, str):
        return value
    if value is UNSET:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ",".join("" if item is None or item is UNSET else text_of(item) for item in value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return str(value)


def stringify(value: object) -> str:
    """Compact JSON, spelled as the host spells it; `undefined` where there is no value.

    Numbers without a fraction lose their point (`1.0` is `1`), characters beyond ASCII stay as they are,
    and half a surrogate pair is written as an escape.
    """
    if value is UNSET:
        return "undefined"
    if _plain(value):  # the usual case, and by far the quicker way
        try:
            return _encode(value).decode()
        except (UnicodeEncodeError, msgspec.EncodeError):
            pass  # half a surrogate pair: only the slow path can spell it
    return _slow_json(value)


_encode: Final = msgspec.json.Encoder().encode


def _plain(value: object) -> bool:
    """Whether the fast encoder spells `value` as the host does: it does not order keys, nor know its floats."""
    kind = type(value)
    if kind is dict:
        for key, item in value.items():  # type: ignore[attr-defined]  # (a generator costs twice as much)
            # A key that begins with a digit may be an index, and the host lists those first.
            if key[:1].isdecimal() or (type(item) is not str and not _plain(item)):
                return False
        return True
    if kind is int:
        return -9007199254740992 <= value <= 9007199254740992  # type: ignore[operator]
    if kind is list:
        return all(_plain(v) for v in value)  # type: ignore[attr-defined]
    return kind is str or value is None or kind is bool


def _slow_json(value: object) -> str:
    import json

    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "null" if value != value or value in (float("inf"), float("-inf")) else _number(value)
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return re.sub(r"[\ud800-\udfff]", lambda half: f"\\u{ord(half.group()):04x}", quoted)
    if isinstance(value, Mapping):
        pairs = (f"{_slow_json(k)}:{_slow_json(value[k])}" for k in own_keys(value) if value[k] is not UNSET)
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join("null" if v is UNSET else _slow_json(v) for v in value) + "]"
    return _slow_json(str(value))


def _number(value: int | float) -> str:
    """A number as the host prints it: every number is a double, and exponents start at 1e21."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int) and abs(value) <= 9007199254740992:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if number == 0:
        return "0"  # also of a negative zero
    # `repr` gives the shortest digits that mean this double, as the host does; only the layout is different.
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    figures = whole + fraction
    digits = figures.lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(figures) - len(digits))  # the number is 0.DIGITS × 10^point
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    return f"{sign}{digits[0]}{'.' if len(digits) > 1 else ''}{digits[1:]}e{'+' if power > 0 else '-'}{abs(power)}"


def own_keys(value: Mapping[str, Any]) -> list[str]:
    """The keys of an object in the order the host lists them: whole numbers ascending, then as they were added."""
    numbers = [key for key in value if _is_index(key)]
    if not numbers:
        return list(value)
    return [*sorted(numbers, key=int), *(key for key in value if not _is_index(key))]


def _is_index(key: str) -> bool:
    if not (key.isascii() and key.isdecimal() and len(key) <= 10):
        return False
    return (key == "0" or key[0] != "0") and int(key) < 4294967295


def same(a: object, b: object) -> bool:
    """Deep equality of two JSON values. `True` is not `1`; nothing equals only nothing (wrapper/W-23)."""
    if a is b:
        return True
    if isinstance(a, bool) or isinstance(b, bool):
        return False
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def identical(a: object, b: object) -> bool:
    """Whether two values are the same one: the same object, or equal texts, numbers or the like (wrapper/W-21)."""
    return a is b or (type(a) in _SCALARS and type(b) in _SCALARS and same(a, b))


def copy_json(value: Any) -> Any:
    """A copy that later changes to `value` cannot reach; the ledger keeps what was, not what became of it."""
    kind = type(value)
    if kind is dict:
        for item in value.values():
            if type(item) not in _SCALARS:
                return {k: copy_json(v) for k, v in value.items()}
        return value.copy()
    if kind is list:
        return [copy_json(v) for v in value]
    return value


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})
