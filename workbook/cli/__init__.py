"""The `workbook` command: one short function for each thing a learner or an author asks for.

Whatever takes long to import is imported by the command that needs it, so that `workbook --help` answers at once.
What goes wrong with a learner's input is one line on stderr and exit code 1 (2 for a command line that cannot be
understood).
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from labsim.errors import LabsimError
from workbook.cli import author, classroom, learner
from workbook.errors import WorkbookError

DEFAULT_FOLDER = "cedar-workbook"
FIRST_CHAPTER = "00-start-here.ipynb"


class _OneLineErrors(click.Group):
    """Turns the errors that our packages raise on purpose, and the system's refusals, into one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has gone, as in `workbook cases | head`; click ends quietly
            raise
        except (WorkbookError, LabsimError, OSError) as error:
            raise click.ClickException(str(error)) from error


class _PassesOnAfterDashes(click.Command):
    """Keeps everything after `--` for another program; click alone would read it as arguments of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ours, dashes, theirs = args, "--", list[str]()
        if dashes in args:
            ours, theirs = args[: args.index(dashes)], args[args.index(dashes) + 1 :]
        ctx.meta[__name__] = theirs
        return super().parse_args(ctx, ours)


_folder = click.argument("folder", metavar="[DIR]", default=DEFAULT_FOLDER, type=click.Path(path_type=Path))
_chapters = click.option(
    "--chapters",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="A chapter of somebody else's, or a folder of them; DIR remembers where it is.",
)


@click.group(cls=_OneLineErrors, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cedar-workbook")
def main() -> None:
    """Cedar Workbook: what did the word Approve authorise?

    Start with: workbook lab
    """


@main.command(short_help="Put clean copies of the chapters into DIR.")
@_folder
@_chapters
def start(folder: Path, chapters: tuple[Path, ...]) -> None:
    """Put clean copies of the chapters into DIR (./cedar-workbook).

    A file that is already there is never overwritten. Run it again after an upgrade to add new chapters.
    """
    from workbook.chapter import copies

    click.echo(copies.start(folder, chapters=chapters).summary())
    click.echo(f"Open it with: workbook lab {folder}")


@main.command(
    cls=_PassesOnAfterDashes,
    short_help="Open DIR in JupyterLab.",
    epilog="Example: workbook lab -- --port=9000",
)
@_folder
@_chapters
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@click.pass_context
def lab(ctx: click.Context, folder: Path, chapters: tuple[Path, ...], no_browser: bool) -> None:
    """Open DIR (./cedar-workbook) in JupyterLab, making the copies first if need be.

    What follows -- goes to JupyterLab.
    """
    from workbook.chapter import copies

    if importlib.util.find_spec("jupyterlab") is None:
        raise click.ClickException(
            f"JupyterLab is not installed in this Python ({sys.executable}). "
            "Install it: python -m pip install jupyterlab"
        )
    started = copies.start(folder, chapters=chapters)
    if started.created or started.faults:
        click.echo(started.summary())
    command = lab_command(folder, ["--no-browser"] * no_browser + ctx.meta[__name__])
    if "--allow-root" in command:
        click.echo("You are root here, which JupyterLab refuses unless told otherwise: adding --allow-root.")
    if os.name == "nt":  # no exec worth the name: the shell would not wait
        ctx.exit(subprocess.call(command))
    os.execv(command[0], command)


def lab_command(folder: Path, further: list[str]) -> list[str]:
    """The command that opens JupyterLab on the folder, at its first chapter if it has one; `further` comes last."""
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder.absolute()}"]
    if (folder / FIRST_CHAPTER).is_file():
        command.append(f"--LabApp.default_url=/lab/tree/{FIRST_CHAPTER}")
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in further:
        command.append("--allow-root")
    return command + further


@main.command(short_help="Compare notebooks with their outputs.")
@click.argument("notebooks", metavar="[NOTEBOOK]...", nargs=-1)
@click.pass_context
def check(ctx: click.Context, notebooks: tuple[str, ...]) -> None:
    """Play notebooks and compare every output with the saved one.

    NOTEBOOK may also be a chapter's folder or id. Without it: the worked editions that came with the package.
    """
    from workbook.chapter.catalogue import notebooks_named
    from workbook.notebook import compare

    ctx.exit(0 if compare.check(notebooks_named(notebooks), say=click.echo) else 1)


@main.command(short_help="Write the outputs of worked editions anew.")
@click.argument("notebooks", metavar="[NOTEBOOK]...", nargs=-1)
def bake(notebooks: tuple[str, ...]) -> None:
    """Play notebooks as the scripted learner and save what they show.

    NOTEBOOK may also be a chapter's folder or id. Without it: every worked edition of this checkout. For authors,
    after a change of text or engine.
    """
    from workbook.chapter.catalogue import notebooks_named
    from workbook.chapter.notebooks import notebooks_dir, notebooks_in
    from workbook.notebook import bake as baking

    for path in notebooks_named(notebooks) or notebooks_in(notebooks_dir()):
        click.echo(f"{path.name}: {'written anew' if baking.bake(path) else 'as it was'}")


@main.command(short_help="Play cases against what they expect.")
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@click.pass_context
def cases(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Play cases and compare what they show with what they expect.

    FILE may also be a chapter's folder or id. Without it: the cases that came with the package. The same as
    python -m labsim cases.
    """
    from labsim.__main__ import main as engine
    from workbook.chapter.catalogue import cases_named

    ctx.exit(engine(["cases", *map(str, cases_named(files)), *["--json"] * as_json]))


@main.command(short_help="Say what a rule id means, and show it at work.")
@click.argument("asked", metavar="[ID]", default="")
@click.option("--play", is_flag=True, help="Play the rule's cases and show their ledgers.")
def rule(asked: str, play: bool) -> None:
    """Say what a rule means, where the host has it, how it is known, and which cases show it.

    ID carries its book, as in wrapper/W-33. The name of a book lists its rules; without ID the books are listed.
    """
    from labsim.describe.ledger import case_lines
    from workbook.tables import rules

    found = rules.rule(asked)
    click.echo(str(found))
    if play and isinstance(found, rules.ShownRule):
        for report in found.plays():
            click.echo("\n" + "\n".join(case_lines(report)))


@main.command(short_help="Write a report of a run to FILE.")
@click.argument("file", type=click.Path(path_type=Path))
def evidence(file: Path) -> None:
    """Play everything and write a report to FILE: versions, hashes, expected, observed, match."""
    from workbook.author.evidence import write

    write(file)
    click.echo(f"Wrote {file}")


main.add_command(learner.progress)
main.add_command(learner.export)
main.add_command(learner.worksheet)
main.add_command(author.chapters)
main.add_command(author.new_chapter)
main.add_command(author.check_chapter)
main.add_command(author.diff)
main.add_command(classroom.class_)
