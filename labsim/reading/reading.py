"""Cases read from JSON: whole files, one case, recorded answers; and the schema of all that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from labsim.case.model import CASE_CLASSES, Case, CaseFile, RecordedCase
from labsim.errors import CaseError, UnknownCase, closest
from labsim.extras import SCENARIOS


def parse_file(data: bytes, name: str) -> CaseFile:
    """The cases of one file. `name` stands for the file in messages.

    Raises: CaseError, with the file, the place in it, what was found there and what would do.
    """
    from labsim.reading.checks import check_case
    from labsim.strict_json import parse

    raw = parse(data, name)
    _require_object(raw, name, "a case file", 'Begin it with {"schemaVersion": 1, "id": …, "cases": […]}.')
    if "cases" not in raw and "given" in raw:
        remedy = 'Put it into {"schemaVersion": 1, "id": …, "cases": […]}.'
        raise CaseError(name, "this is a single case, not a file of cases", remedy)
    file: CaseFile = _convert(raw, _kinds()[1], name)
    seen: dict[str, int] = {}
    for number, case in enumerate(file.cases):
        if case.id in seen:
            raise CaseError(
                f"{name}: cases[{number}].id",
                f"{case.id!r} is already the id of cases[{seen[case.id]}]",
                "Give each case an id of its own.",
            )
        seen[case.id] = number
        named = f" ({case.id})" if case.id.isprintable() and case.id.strip() else ""
        check_case(case, f"{name}: cases[{number}]{named}")
    return file


def parse_case(raw: object, place: str) -> Case:
    """One case from decoded JSON. Raises: CaseError."""
    from labsim.reading.checks import check_case

    _require_object(raw, place, "a case", "fixtures/schema/case.schema.json describes one.")
    case: Case = _convert_case(raw, place)
    check_case(case, place)
    return case


def parse_one(data: bytes, name: str, case_id: str) -> Case | None:
    """The case of that id in a file, or None; the file's other cases are left unread. Raises: CaseError.

    A cold `labsim case` has one case to show, and should not pay for checking all the others.
    """
    from labsim.strict_json import parse

    raw = parse(data, name)
    cases = raw.get("cases") if isinstance(raw, dict) else None
    for number, found in enumerate(cases if isinstance(cases, list) else ()):
        if isinstance(found, dict) and found.get("id") == case_id:
            return parse_case(found, f"{name}: cases[{number}] ({case_id})")
    return None


def recorded_case(row: RecordedCase, place: str) -> Case:
    """The case that a recorded line asks; odd values are allowed, since the real program answered them."""
    from labsim.reading.checks import check_labels

    case: Case = _convert({"id": row.id, "scenario": row.scenario, "given": row.given}, Case, place)
    check_labels(case, place)
    return case


def find(cases: Iterable[Case], case_id: str) -> Case:
    """The case of that id. Raises: UnknownCase, with ids that look alike."""
    known = {case.id: case for case in cases}
    if case_id in known:
        return known[case_id]
    raise UnknownCase(case_id, closest(case_id, known, 3))


def schema() -> dict[str, Any]:
    """The JSON Schema of a case file, for editors; made from the classes above."""
    made: dict[str, Any] = msgspec.json.schema(CaseFile)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["title"] = "Cedar Workbook case file"
    return made


def _kinds() -> tuple[Any, Any]:
    """What a case can be, and a file of cases: the closed union, and what chapters have added to it by now."""
    if not SCENARIOS:
        return Case, CaseFile
    from labsim.reading.own_kinds import kinds

    return kinds()


def _require_object(raw: object, place: str, what: str, remedy: str) -> None:
    if not isinstance(raw, dict):
        from labsim.reading.refusals import kind_of

        raise CaseError(place, f"{what} is a JSON object, and this is {kind_of(raw)}", remedy)


def _convert_case(raw: Any, place: str) -> Any:
    """A case by the class of its own kind, so that nobody pays for the other kinds; all explain what it refuses."""
    kind = raw.get("scenario")
    if isinstance(kind, str) and kind in CASE_CLASSES:
        try:
            return msgspec.convert(raw, CASE_CLASSES[kind])
        except msgspec.ValidationError:
            pass
    return _convert(raw, _kinds()[0], place)


def _convert(raw: Any, kind: Any, place: str) -> Any:
    try:
        return msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        from labsim.reading.refusals import refusal

        raise refusal(error, raw, kind, place) from None
