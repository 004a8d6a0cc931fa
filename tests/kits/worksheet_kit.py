"""What stands on each page of a printed PDF: enough of the format for what Chromium writes, and no more."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple
from unicodedata import normalize

_OBJECT = re.compile(rb"(\d+) 0 obj\n?(.*?)endobj", re.DOTALL)
_SHOWN = re.compile(r"/(F\d+) [\d.]+ Tf|<([0-9A-F]+)> Tj")
_COLOUR = re.compile(r"(?:^|\s)([\d.]+) ([\d.]+) ([\d.]+) (?:rg|RG)\s")


class PrintedPage(NamedTuple):
    """One page: its text without any blanks, since a line break on paper is none in the text; size in points."""

    text: str
    size: tuple[int, int]
    colours: frozenset[tuple[str, str, str]]

    def has(self, text: str) -> int:
        """How often a text stands on the page."""
        return self.text.count(solid(text))


def solid(text: str) -> str:
    """A text without blanks and line breaks, ligatures taken apart."""
    return re.sub(r"\s+", "", normalize("NFKC", text))


def printed(pdf: bytes) -> list[PrintedPage]:
    """The pages of a PDF, in order."""
    objects = {int(found[1]): found[2] for found in _OBJECT.finditer(pdf)}
    (tree,) = [body for body in objects.values() if b"/Type /Pages" in body and b"/Parent" not in body] or [b""]
    return [_page(objects[number], objects) for number in _leaves(tree, objects)]


def _leaves(tree: bytes, objects: dict[int, bytes]) -> list[int]:
    kids = re.search(rb"/Kids \[(.*?)\]", tree, re.DOTALL)
    assert kids is not None
    found: list[int] = []
    for number in map(int, re.findall(rb"(\d+) 0 R", kids[1])):
        found += _leaves(objects[number], objects) if b"/Type /Pages" in objects[number] else [number]
    return found


def _page(page: bytes, objects: dict[int, bytes]) -> PrintedPage:
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", page)
    contents = re.search(rb"/Contents (\d+)", page)
    assert box is not None
    assert contents is not None
    letters = {
        name.decode(): _letters(objects[int(number)], objects)
        for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", page)
    }
    stream = _stream(objects[int(contents[1])])
    font, text = "", []
    for chosen, glyphs in _SHOWN.findall(stream):
        font = chosen or font
        text += [letters[font][glyphs[at : at + 4]] for at in range(0, len(glyphs), 4)]
    colours = frozenset((red, green, blue) for red, green, blue in _COLOUR.findall(stream))
    return PrintedPage(solid("".join(text)), (round(float(box[1])), round(float(box[2]))), colours)


def _letters(font: bytes, objects: dict[int, bytes]) -> dict[str, str]:
    """What each glyph of a font stands for."""
    table = re.search(rb"/ToUnicode (\d+)", font)
    assert table is not None
    stream, found = _stream(objects[int(table[1])]), {}
    for block in re.findall(r"beginbfchar\n(.*?)endbfchar", stream, re.DOTALL):
        for glyph, letters in re.findall(r"<(\w+)> <(\w+)>", block):
            found[glyph] = bytes.fromhex(letters).decode("utf-16-be")
    for block in re.findall(r"beginbfrange\n(.*?)endbfrange", stream, re.DOTALL):
        for first, last, letter in re.findall(r"<(\w+)> <(\w+)> <(\w+)>", block):
            for step in range(int(last, 16) - int(first, 16) + 1):
                found[f"{int(first, 16) + step:04X}"] = chr(int(letter, 16) + step)
    return found


def _stream(body: bytes) -> str:
    packed = body.split(b"stream\n", 1)[1].rsplit(b"\nendstream", 1)[0]
    return (zlib.decompress(packed) if b"/FlateDecode" in body else packed).decode("latin-1")
