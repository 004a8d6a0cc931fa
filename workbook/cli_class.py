"""What somebody who teaches asks of the command line about a class.

Above `classroom` and `class_page`, imported where they are needed; below `cli`, which turns errors into one line.
"""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="class", short_help="Count what a class made of each question.")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--to",
    metavar="FOLDER",
    default="class-report",
    show_default=True,
    type=click.Path(path_type=Path),
    help="Where the report goes.",
)
@click.option(
    "--chapters",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A folder of chapters of your own; may be given again.",
)
def report(folder: Path, to: Path, chapters: tuple[Path, ...]) -> None:
    """Count what a class made of each question: DIR holds what learners exported, in any folders.

    Writes index.html, with plots, and its numbers as CSV. The most telling questions come first. Nobody is named,
    and no name is needed. Files that are damaged or foreign are passed over, counted and listed.
    """
    from workbook.class_report import write

    written = write(folder, to, chapters)
    click.echo(
        f"Learners: {written.report.learners}. Questions: {len(written.report.items)}. "
        f"Files passed over: {len(written.skipped)}."
    )
    for one in written.skipped[:10]:
        click.echo(f"  {one.name}: {one.why}")
    if more := written.skipped[10:]:
        click.echo(f"  … and {len(more)} more; skipped.csv has them all.")
    click.echo(f"Wrote {to / 'index.html'} and {len(written.tables)} tables beside it.")
