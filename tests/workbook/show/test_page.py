"""A page says the same as text, as HTML and as data for a control, and text never becomes markup."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from labsim.describe.ledger import visible
from workbook.show.grid import Grid
from workbook.show.page import Fold, Group, Heading, Items, Literal, Page, Paragraph, Table, page

EVERY_BLOCK = page(
    Heading(text="A heading"),
    Paragraph(lead="First:", text="one <b>bold</b>\nand a second line"),
    Items(items=("an item", "another & more")),
    Table(grid=Grid(caption="A table", columns=("name", "value"), rows=(("a", "1"), ("b", "<2>")))),
    Literal(label="Said", text="  kept  as\n  it is"),
    Group(title="A part", marks=("a mark",), blocks=(Paragraph(text="inside"),)),
    Fold(title="More", blocks=(Paragraph(text="folded"),)),
)


class Parsed(HTMLParser):
    """The tags and the texts of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if self.tags[-1] != "style":
            self.text += data


def test_the_text_form_has_every_block_in_order():
    """Readable in a terminal, in a diff and on a code host."""
    assert str(EVERY_BLOCK) == (
        "A heading\n"
        "=========\n"
        "\n"
        "First: one <b>bold</b>\n"
        "and a second line\n"
        "\n"
        "- an item\n"
        "- another & more\n"
        "\n"
        "A table\n"
        "\n"
        "name  value\n"
        "----  -----\n"
        "a     1\n"
        "b     <2>\n"
        "\n"
        "Said:\n"
        "      kept  as\n"
        "      it is\n"
        "\n"
        "* A part [a mark]\n"
        "  inside\n"
        "\n"
        "More:\n"
        "  folded"
    )


def test_the_html_form_uses_elements_that_say_what_they_are():
    """Headings, lists, a caption_of table with scoped headers, and a fold that works without any script."""
    html = EVERY_BLOCK.html()
    parsed = Parsed(html)

    assert {"h4", "p", "ul", "li", "table", "caption", "pre", "section", "h5", "details", "summary"} <= set(
        parsed.tags
    )
    assert '<th scope="col"' in html
    assert "b" not in parsed.tags
    assert "script" not in parsed.tags
    assert "<b>bold</b>" in parsed.text


def test_a_page_of_many_tables_carries_their_style_once():
    """A reveal has many, and a notebook many reveals."""
    table = EVERY_BLOCK.blocks[3]
    html = page(table, Group(title="More", blocks=(table, table))).html()

    assert (html.count("<table"), html.count("<style>")) == (3, 1)


def test_long_lines_are_folded_and_set_in_under_their_mark():
    """The plain form needs no scroll bar."""
    shown = str(page(Items(items=("word " * 40,)))).split("\n")

    assert max(map(len, shown)) <= 96
    assert shown[0].startswith("- word")
    assert all(line.startswith("  word") for line in shown[1:] if line.strip())


def test_a_formula_is_not_made_of_dollar_signs():
    """JupyterLab hands HTML outputs to MathJax, which leaves alone what has this class."""
    assert EVERY_BLOCK.html().startswith('<div class="cedar-page mathjax_ignore tex2jax_ignore">')


@given(st.text(max_size=60))
def test_any_text_comes_through_as_text(text: str):
    """Whatever a tool says: HTML parses back to it, data holds it, and no form has a control character."""
    shown = Page((Paragraph(text=text),), says_rules=False)  # which may be the id of a rule

    assert "".join(Parsed(shown.html()).text.split()) == "".join(visible(text).split())
    assert shown.data()[0]["text"] == visible(text)
    assert all(character.isprintable() or character == "\n" for character in str(shown))
