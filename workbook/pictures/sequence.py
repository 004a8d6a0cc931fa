"""Pictures of what happened, drawn from the ledger and from nothing else.

A diagram is a picture in JupyterLab, VS Code and exported pages, a list in words where styles are taken away, and
characters in a terminal.
"""

from __future__ import annotations

from workbook.ledgers.played import CallChoice, Played, eventful
from workbook.ledgers.withheld import unless_withheld
from workbook.pictures import mermaid as draw_mermaid
from workbook.pictures import svg as draw_svg
from workbook.pictures import text as draw_text
from workbook.pictures.scene import Scene, scene
from workbook.show.page import Page, rule_notes


class Diagram:
    """A sequence diagram. Print it, or let a notebook show it; the same ledger gives the same output, always.

    `text` is the plain form, `svg` the picture alone (colours come from the page around it), `mermaid` a source for
    other documents, `caption` one line on what it shows.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    @property
    def caption(self) -> str:
        return self._scene.caption

    @property
    def text(self) -> str:
        return draw_text.as_text(self._scene)

    @property
    def svg(self) -> str:
        return draw_svg.as_svg(self._scene)

    @property
    def mermaid(self) -> str:
        return draw_mermaid.as_mermaid(self._scene)

    def __repr__(self) -> str:
        return "\n\n".join(filter(None, (self.text, str(self._rules()))))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # Not text/vnd.mermaid: only JupyterLab draws it, and an exported page would fetch a program from elsewhere.
        # Not image/svg+xml: JupyterLab shows it without any name for those who do not see it.
        rules = self._rules()
        drawn = draw_svg.as_html(self._scene)
        return {"text/plain": repr(self), "text/html": drawn + rules.html() if rules.blocks else drawn}

    def _rules(self) -> Page:
        """What the rules say that the words of the picture cite."""
        says = (message.says for part in self._scene.parts for message in part.messages)
        return Page(rule_notes(says), says_rules=False)


@unless_withheld
def sequence(played: Played, call: CallChoice = None) -> Diagram:
    """Who told, asked and answered whom, in ledger order; of one call, if `call` names it (from 1, or its id).

    Lanes are drawn even where nothing reaches them: a tool that was never entered is what many cases are about.
    Raises: NotPlayed, NothingHappened, NoSuchCall.
    """
    return Diagram(scene(eventful(played), call))
