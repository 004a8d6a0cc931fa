"""What an instructor asks of the command line about chapters of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(short_help="List every chapter, and where it was found.")
@click.option("--chapters", "folders", multiple=True, metavar="FOLDER", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@click.pass_context
def chapters(ctx: click.Context, folders: tuple[Path, ...], as_json: bool) -> None:
    """List every chapter: the built-in ones, those in FOLDER, in CEDAR_CHAPTERS, and in installed packages.

    The exit code is 1 if one of them cannot be read, or two have one id.
    """
    import msgspec

    from workbook.chapter.catalogue import catalogue

    found = catalogue(folders)
    problems = [*map(str, found.clashes), *found.faults]
    if as_json:
        rows = [
            {
                "id": one.id,
                "title": one.title,
                "order": one.order,
                "needs": one.needs,
                "origin": one.origin,
                "whence": one.whence,
                "folder": str(one.chapter.place.folder),
            }
            for one in found.chapters
        ]
        click.echo(msgspec.json.format(msgspec.json.encode({"chapters": rows, "faults": problems}), indent=2))
    else:
        width = max(len(one.id) for one in found.chapters)
        for one in found.chapters:
            whence = "" if one.origin == "built in" else f": {one.whence}"
            click.echo(f"{one.order:>3}  {one.id:<{width}}  {one.title}  [{one.origin}{whence}]")
        for problem in problems:
            click.echo(problem, err=True)
    ctx.exit(1 if problems else 0)


@click.command("new-chapter", short_help="Make a chapter of your own, to begin with.")
@click.argument("chapter_id", metavar="ID")
@click.option(
    "--in", "inside", metavar="DIR", default=".", type=click.Path(path_type=Path), help="Where the folder ID goes."
)
def new_chapter(chapter_id: str, inside: Path) -> None:
    """Make the folder ID with a small chapter that works: cases, checkpoints, an exercise, a notebook.

    Nothing that is there is overwritten. Change one thing, and run `workbook check-chapter` to see whether all
    still fits together.
    """
    from workbook.author import new_chapter as authoring

    made = authoring.new_chapter(chapter_id, inside=inside)
    click.echo(f"Made {made.folder}: {', '.join(made.files)}")
    click.echo(f"Check it with: workbook check-chapter {made.folder}")


@click.command("check-chapter", short_help="Say whether a chapter is whole.")
@click.argument("chapter", metavar="CHAPTER")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@click.option("--quick", is_flag=True, help="Leave out what needs a kernel: running both editions.")
@click.pass_context
def check_chapter(ctx: click.Context, chapter: str, as_json: bool, quick: bool) -> None:
    """Read, play and run CHAPTER, a folder or an id, and say what is wrong: where, what, and what would do.

    A chapter's engine.py, its submissions and its notebook are run with your permissions, so look at them first if
    they are not yours. The exit code is 1 if something is wrong.
    """
    from workbook.chapter.catalogue import named
    from workbook.check_chapter.check import Layer, check_folder, check_listed

    upto = Layer.NOTEBOOK if quick else Layer.RUNS
    folder = Path(chapter)

    def say(line: str) -> None:
        if sys.stderr.isatty() and not as_json:
            click.echo(line, err=True)

    if folder.is_dir():
        checked = check_folder(folder, upto=upto, say=say)
    else:
        checked = check_listed(named(chapter), upto=upto, say=say)
    click.echo(checked.json() if as_json else "\n".join(checked.lines()))
    ctx.exit(1 if checked.faults else 0)


@click.command(short_help="Show what baking would change in a chapter.")
@click.argument("chapter", metavar="CHAPTER")
@click.pass_context
def diff(ctx: click.Context, chapter: str) -> None:
    """Run the notebook of CHAPTER, a folder, an id or a notebook, and show how its saved outputs differ.

    Nothing is written; `workbook bake` writes. The exit code is 1 if something differs.
    """
    from workbook.chapter.catalogue import notebooks_named
    from workbook.notebook.diff import changes

    found = False
    for path in notebooks_named([chapter]):
        shown = changes(path, colour=sys.stdout.isatty())
        if shown:
            click.echo(f"{path.name}: saved (-) and today (+)")
            click.echo(shown, nl=False)
        else:
            click.echo(f"{path.name}: as it was")
        found = found or bool(shown)
    ctx.exit(1 if found else 0)
