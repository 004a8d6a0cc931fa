"""A matplotlib figure as an SVG that may stand inside a page: theme colours, no styles that leak, no loose ids.

What it writes is a document of its own, so four things are put right here. Its style sheet would hold for the
whole notebook. Its ids would be there again in the next picture. Its black would be invisible on a dark page:
whatever is drawn in `INK` takes the colour of the text around it instead. And what it has to say about fonts and
folders is kept quiet, since a learner can do nothing about it.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK: Final = "#010203"  # stands for the colour of the surrounding text; nothing else is drawn in it
CLASS: Final = "cedar-plot-picture"  # by this the picture is found again, and left out of strict comparisons
WIDTH: Final = 8.0  # inches in matplotlib's counting; the page scales the picture
_FONT: Final = "DejaVu Sans"  # comes with matplotlib, so that every machine leaves the same room for a text
_SVG: Final = "{http://www.w3.org/2000/svg}"
_HREF: Final = "{http://www.w3.org/1999/xlink}href"
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)|^#(.+)$")
_SETTINGS: Final[Any] = {  # matplotlib has a type for the names of its settings that no mapping of ours can have
    "svg.fonttype": "none",  # text stays text: it can be read, searched and scaled
    "font.family": [_FONT],
    "font.size": 9.0,
    "hatch.linewidth": 0.8,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.edgecolor": "none",
    "legend.facecolor": "none",
    "axes.unicode_minus": False,
}


def drawn(draw: Callable[[Figure, Axes], None], *, height: float, salt: str) -> str:
    """The picture that `draw` puts on a figure with one pair of axes, as an `<svg>` element.

    `height`: inches, of `WIDTH` across. `salt`: all that the picture says; two pictures that differ share no id.
    The same calls give the same text, in every process with this version of matplotlib.
    """
    with _quiet():
        import matplotlib
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        with matplotlib.rc_context():
            matplotlib.rcdefaults()  # a learner's own settings stay theirs
            matplotlib.rcParams.update(_SETTINGS)
            matplotlib.rcParams["svg.hashsalt"] = hashlib.sha256(salt.encode()).hexdigest()
            figure = Figure(figsize=(WIDTH, height), layout="constrained")
            FigureCanvasSVG(figure)
            draw(figure, figure.add_subplot())
            written = io.StringIO()
            nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
            figure.savefig(written, format="svg", metadata=nothing, transparent=True)
    return _for_a_page(written.getvalue())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps matplotlib's remarks on its font cache, its folders and missing letters from the learner.

    A letter that the font lacks only costs room: the browser has fonts of its own.
    """
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
            warnings.filterwarnings("ignore", "Matplotlib currently does not support .* natively", UserWarning)
            yield
    finally:
        logger.setLevel(level)


def _for_a_page(document: str) -> str:
    root = ElementTree.fromstring(document)
    referenced = {name for element in root.iter() for name in _references(element)}
    for element in root.iter():
        _tidy(element, referenced)
    root.attrib = {
        "xmlns": _SVG.strip("{}"),
        "class": CLASS,
        "viewBox": root.attrib["viewBox"],
        "aria-hidden": "true",  # the figure around it is named, and a table says the same in numbers
        "style": "stroke-linejoin:round;stroke-linecap:butt;"
        "font-family:var(--jp-ui-font-family,system-ui,sans-serif);display:block;width:100%;height:auto",
    }
    return ElementTree.tostring(root, encoding="unicode")


def _references(element: ElementTree.Element) -> Iterator[str]:
    for value in element.attrib.values():
        for match in _REFERENCE.finditer(value):
            yield match[1] or match[2]


def _tidy(element: ElementTree.Element, referenced: set[str]) -> None:
    element.tag = element.tag.removeprefix(_SVG)
    for child in [child for child in element if child.tag == f"{_SVG}style"]:
        element.remove(child)
    if element.get("id") not in referenced:
        element.attrib.pop("id", None)
    if _HREF in element.attrib:
        element.set("href", element.attrib.pop(_HREF))
    for name in ("style", "fill", "stroke"):
        if name in element.attrib:
            value = element.attrib[name].replace(INK, "currentColor")
            element.set(name, value.replace(f" font-family: '{_FONT}';", ""))
    if element.tag != "text":
        element.text = None  # blanks between elements
    element.tail = "\n" if element.tag in ("path", "use", "text") else None
    if "d" in element.attrib:
        element.set("d", " ".join(element.attrib["d"].split()))
