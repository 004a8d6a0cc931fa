"""`python -m labsim`: play cases, replay recorded answers, measure.

The only module here that reads files or writes to a terminal. A cold start has to be quick, so each command imports
what it needs.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from types import SimpleNamespace
from typing import TYPE_CHECKING

from labsim.errors import LabsimError, one_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from labsim.case.model import Case


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit code: 0 right, 1 a mismatch, 2 bad input."""
    words = sys.argv[1:] if argv is None else list(argv)
    arguments = _plain(words) or _parser().parse_args(words)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a case may hold what a terminal cannot show
    try:
        code = int(arguments.run(arguments))
        sys.stdout.flush()
    except LabsimError as error:
        _complain(str(error))
        return 2
    except BrokenPipeError:
        # The reader has gone, as in `labsim cases | head`: nothing is left to say, also at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        _complain(f"{error.filename or 'file'}: {error.strerror or error}")
        return 2
    return code


def _complain(message: str) -> None:
    print(one_line(message), file=sys.stderr)


def _plain(words: list[str]) -> SimpleNamespace | None:
    """`case ID` without options, as `_parser` would read it: argparse costs a cold start as much as the playing."""
    if len(words) == 2 and words[0] == "case" and not words[1].startswith("-"):
        return SimpleNamespace(run=_case, id=words[1], file=None, json=False)
    return None


def _parser() -> ArgumentParser:
    from argparse import ArgumentParser

    parser = ArgumentParser(
        prog="labsim", description="A simulated agent host: play cases, replay recorded answers."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    cases = commands.add_parser("cases", help="play every case of the given files, or of the built-in ones")
    cases.add_argument("files", nargs="*", metavar="FILE")
    cases.add_argument("--json", action="store_true", help="one JSON object a case")
    cases.set_defaults(run=_cases)

    case = commands.add_parser("case", help="play one case and show its ledger")
    case.add_argument("id", metavar="ID")
    case.add_argument(
        "--file", action="append", metavar="FILE", help="look in this file instead of the built-in ones"
    )
    case.add_argument("--json", action="store_true", help="the report as JSON")
    case.set_defaults(run=_case)

    replay = commands.add_parser("replay", help="compare the engine with recorded answers of the real program")
    replay.add_argument(
        "files", nargs="*", metavar="FILE", help="JSON lines, plain or .gz; default: the built-in ones"
    )
    replay.add_argument("--declared", metavar="FILE", help="declared differences; default: the built-in list")
    replay.add_argument("--json", action="store_true", help="one JSON object a file")
    replay.set_defaults(run=_replay)

    bench = commands.add_parser("bench", help="measure the engine on this machine")
    bench.add_argument("--json", action="store_true", help="one JSON object")
    bench.add_argument(
        "--rounds", type=_rounds, default=15, metavar="N", help="rounds of each measurement; the best one counts"
    )
    bench.set_defaults(run=_bench)

    schema = commands.add_parser("schema", help="print the JSON Schema of a case file, for editors")
    schema.set_defaults(run=_schema)
    return parser


def _rounds(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text) <= 1000:
        return int(text)
    from argparse import ArgumentTypeError

    raise ArgumentTypeError(f"{text!r} is no number of rounds. Use 1 to 1000.")


def _case_files(names: Sequence[str]) -> list[tuple[str, bytes]]:
    """Name and content of each file of cases; the built-in ones where none is named."""
    if not names:
        from labsim.library import cases_read

        return cases_read()
    from pathlib import Path

    return [(name, Path(name).read_bytes()) for name in names]


def _cases(arguments: Namespace) -> int:
    from labsim.describe.ledger import verdict
    from labsim.play.performance import run
    from labsim.reading.reading import parse_file

    total = matched = mismatched = 0
    parsed = [parse_file(data, name) for name, data in _case_files(arguments.files)]
    for file in parsed:
        for case in file.cases:
            report = run(case)
            total += 1
            matched += report.matches is True
            mismatched += report.matches is False
            if arguments.json:
                _print_json(_brief(report))
            else:
                print(f"{verdict(report):<8}  {case.id}")
                for check in report.checks:
                    if not check.agrees:
                        print(f"          {check.field}: expected {check.expected!r}, observed {check.observed!r}")
    if not arguments.json:
        print(f"{total} cases, {matched} match")
    return 0 if total and not mismatched else 1  # a case that claims nothing claims nothing wrong


def _case(arguments: Namespace | SimpleNamespace) -> int:
    from labsim.describe.ledger import case_lines
    from labsim.play.performance import run

    report = run(_find(arguments.id, _case_files(arguments.file or ())))
    if arguments.json:
        from labsim.events.event import as_mapping

        _print_json({**_brief(report), "ledger": [as_mapping(event) for event in report.ledger]})
    else:
        print("\n".join(case_lines(report)))
    return 1 if report.matches is False else 0


def _find(case_id: str, files: list[tuple[str, bytes]]) -> Case:
    """The case of that id. Only a file that can hold it is read, and of it only that case."""
    from labsim.reading.reading import find, parse_file, parse_one

    for name, data in files:
        if case_id.encode(errors="surrogatepass") in data:  # a shell may hand over anything
            found = parse_one(data, name, case_id)
            if found is not None:
                return found
    return find((case for name, data in files for case in parse_file(data, name).cases), case_id)


def _replay(arguments: Namespace) -> int:
    from pathlib import Path

    from labsim.library import declared_differences, recorded_files
    from labsim.proof.recordings import read_lines
    from labsim.proof.replay import parse_declared, replay

    files = [Path(name) for name in arguments.files] or recorded_files()
    declared_path = Path(arguments.declared) if arguments.declared else declared_differences()
    declared = parse_declared(declared_path.read_bytes(), declared_path.name)
    right = bool(files)
    unmet = {} if arguments.files else dict(declared)  # some of the files say nothing about the whole list
    for path in files:
        tally = replay(read_lines(path), path.name, declared)
        right = right and tally.ok
        for case_id in tally.met:
            unmet.pop(case_id, None)
        if arguments.json:
            _print_json(tally)
            continue
        for problem in tally.problems:
            difference = problem.difference
            if difference is None or problem.stale:
                print(f"{problem.id}: declared as different and is not; remove the declaration")
            if difference is not None:
                print(f"{problem.id}: {difference.path}")
                print(f"  recorded  {one_line(repr(difference.recorded))}")
                print(f"  engine    {one_line(repr(difference.engine))}")
                print(f"  look at   {', '.join(difference.rules) or 'the spec of this scenario'}")
        print(f"{path.name}: {tally.cases} cases, {tally.match} match, {tally.declared} declared")
    for case_id in unmet:
        _complain(f"{declared_path.name}: {case_id}: no recorded answer has this id. Remove the declaration.")
    return 0 if right and not unmet else 1


def _bench(arguments: Namespace) -> int:
    from labsim.proof.bench import measure, table

    figures = measure(arguments.rounds)
    if arguments.json:
        _print_json(figures)
    else:
        print(table(figures))
    return 0


def _schema(arguments: Namespace) -> int:
    from labsim.reading.reading import schema

    _print_json(schema(), indent=True)
    return 0


def _brief(report: object) -> dict[str, object]:
    from labsim.describe.ledger import verdict
    from labsim.play.report import Report

    assert isinstance(report, Report)
    return {
        "id": report.case.id,
        "verdict": verdict(report),
        "expected": report.case.expected,
        "observed": report.observed,
    }


def _print_json(value: object, *, indent: bool = False) -> None:
    import msgspec

    text = msgspec.json.encode(value)
    print((msgspec.json.format(text, indent=2) if indent else text).decode())


if __name__ == "__main__":
    if _plain(sys.argv[1:]):
        gc.disable()  # the process plays one case and ends; looking for garbage would be a twentieth of its time
    sys.exit(main())
