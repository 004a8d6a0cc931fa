"""What somebody who teaches asks of the command line about a class."""

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
def class_(folder: Path, to: Path, chapters: tuple[Path, ...]) -> None:
    """Count what a class made of each question: DIR holds what learners exported, in any folders.

    Writes index.html, with plots, and its numbers as CSV. The most telling questions come first. Nobody is named,
    and no name is needed. Files that are damaged or foreign are passed over, counted and listed.
    """
    from labsim.describe.ledger import visible
    from workbook.classroom.report import write

    written = write(folder, to, chapters)
    report = written.report
    click.echo(
        f"Learners: {report.learners}. Questions: {len(report.items)}. Files passed over: {len(written.skipped)}."
    )
    for one in written.skipped[:10]:
        click.echo(visible(f"  {one.name}: {one.why}"))
    if more := written.skipped[10:]:
        click.echo(f"  … and {len(more)} more; skipped.csv has them all.")
    for problem in report.problems:
        click.echo(visible(f"Chapter that could not be read: {problem}"), err=True)
    if strays := sum(answers for _, _, answers in report.strays):
        remedy = " For chapters of your own, name their folder: --chapters FOLDER" if report.not_installed else ""
        click.echo(f"Answers that could not be judged: {strays}; not-judged.csv says why.{remedy}")
    click.echo(f"Wrote {to / 'index.html'} and {len(written.tables)} tables beside it.")
