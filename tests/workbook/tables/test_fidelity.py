"""The learner-facing proof: what was compared, how much agrees, and one answer beside another."""

from __future__ import annotations

import json
import re

import pytest

from labsim.library import about_recordings, recorded_files
from labsim.proof.recordings import read_lines
from workbook.tables import fidelity


@pytest.mark.slow
def test_the_recordings_are_named_with_program_version_and_date() -> None:
    """A reader can tell what was asked, and when."""
    known = fidelity.about()

    assert known.program == "@oh-my-pi/pi-coding-agent"
    assert re.fullmatch(r"\d+\.\d+\.\d+", known.version)
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", known.asked)
    assert sorted(known.holds) == [path.name for path in recorded_files()]
    assert f"{known.program} {known.version}" in fidelity.recordings().caption
    assert json.loads(about_recordings().read_bytes())["asked"] in fidelity.fidelity().caption


@pytest.mark.slow
def test_every_recorded_answer_is_compared_and_counted_once() -> None:
    """The table's sums are the files' own line counts, and nothing differs without leave."""
    table = fidelity.fidelity()

    lines = {path.name: sum(1 for line in read_lines(path) if line.strip()) for path in recorded_files()}
    compared = dict(zip(table["file"], table["compared"], strict=True))
    assert compared == {**lines, "all": sum(lines.values())}
    assert (table["agree"] + table["declared"] == table["compared"]).all()
    assert list(table["differ"]) == [0] * len(table)


@pytest.mark.slow
def test_the_declared_differences_are_listed_each_with_its_reason_and_date() -> None:
    """As many rows as the list has; none at present."""
    table = fidelity.declared()

    assert list(table.columns) == ["id", "path", "reason", "date"]
    assert len(table) == fidelity.fidelity()["declared"].iloc[-1]


def test_one_recorded_answer_is_shown_field_by_field_and_event_by_event() -> None:
    """The recorded side is the file's, the engine's is made now, and the last column says if they agree."""
    table = fidelity.recorded("wrapper-0012")

    assert set(table["agrees"]) == {"yes"}
    assert set(table["engine"]) == {fidelity.SAME}
    assert [field for field in table["field"] if field.startswith("call-1")][:1] == ["call-1, event 1"]
    assert table.loc[table["field"] == "outcome", "recorded"].item() in ("return", "throw")


def test_an_unknown_recorded_id_says_which_ids_look_alike() -> None:
    """A typing mistake costs a moment, not a search."""
    with pytest.raises(fidelity.NotRecorded, match=r"No recorded answer has the id 'wrapper-0013x'\. Did you mean"):
        fidelity.recorded("wrapper-0013x")
