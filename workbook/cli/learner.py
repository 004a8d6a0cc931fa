"""What a learner asks of the command line about their own work."""

from __future__ import annotations

import os
from pathlib import Path

import click

DEFAULT_FOLDER = "cedar-workbook"

_answers = click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))


def _folder_of_answers(folder: Path | None) -> Path:
    """The folder that was named, or that the environment names, or this one if it holds answers, or the usual one.

    Raises: click.ClickException, if there is no such folder.
    """
    from workbook.learner.store import FILE_NAME, FOLDER_VARIABLE

    if folder is None:
        if named := os.environ.get(FOLDER_VARIABLE):
            folder = Path(named)
        else:
            folder = Path() if Path(FILE_NAME).is_file() else Path(DEFAULT_FOLDER)
    if not folder.is_dir():
        raise click.ClickException(f"There is no folder {folder}. Name the one with your notebooks.")
    return folder


@click.command(short_help="Show how you stand, and what to do next.")
@_answers
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def progress(folder: Path | None, as_json: bool) -> None:
    """Show how you stand: chapters, checkpoints, beliefs, confidence, and what to do next.

    DIR holds your notebooks and answers; without it, this folder or ./cedar-workbook. Nothing is written, and
    nothing is shown that you have not seen revealed.
    """
    import msgspec

    from workbook.learner.store import Progress
    from workbook.progress.page import progress_in

    shown = progress_in(Progress(_folder_of_answers(folder)))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(shown.summary), indent=2))
    else:
        click.echo(str(shown))


@click.command(short_help="Write all your work into a Markdown file and a JSON file.")
@_answers
@click.option("--name", help="Your name; without it the files carry a pseudonym.")
@click.option("--to", metavar="FILE-STEM", type=click.Path(path_type=Path), help="Instead of DIR/my-work.")
@click.option("--without-confidence", is_flag=True, help="Leave out how sure you were.")
def export(folder: Path | None, name: str | None, to: Path | None, without_confidence: bool) -> None:
    """Write all your work to DIR/my-work.md, to be read, and DIR/my-work.json, for a class report.

    It has each question that you answered, your answers with their history, and how they stand. Run it again to
    bring both files up to date; any other file of that name is left alone.
    """
    from workbook.learner.store import Progress
    from workbook.progress.export import export as write

    written = write(Progress(_folder_of_answers(folder)), name=name, to=to, with_confidence=not without_confidence)
    whose = f"under the name {name}" if name else f"as {written.work.learner}, a pseudonym"
    click.echo(f"Wrote {written.markdown} and {written.json}, {whose}.")


@click.command(short_help="Write a chapter's checkpoints as a page to print.")
@click.argument("chapter", metavar="CHAPTER")
@click.option("--to", metavar="FILE", type=click.Path(path_type=Path), help="Instead of CHAPTER-worksheet.html.")
def worksheet(chapter: str, to: Path | None) -> None:
    """Write a chapter's checkpoints as one HTML page to print: A4, black and white, answers on their own pages.

    CHAPTER is an id, or a chapter's folder. The answers are found by playing the cases; nothing of yours is read.
    """
    from workbook.chapter.catalogue import named
    from workbook.paper.worksheet import write

    click.echo(f"Wrote {write(named(chapter), to)}. Open it in a browser, and print it.")
