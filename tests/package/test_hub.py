"""A class on a real JupyterHub: two people study at the same time, and neither meets the other's files.

`hub_kit` says what this proves and what it leaves to the spawner.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import websocket
from hub_kit import Desk, Hub, Kernel, Visitor, running_hub
from network_kit import asked

from workbook.chapter.notebooks import notebooks_dir, notebooks_in

pytestmark = pytest.mark.package

ADA, BEN = "ada", "ben"
FOLDER = "cedar-workbook"
ANSWERS = {ADA: "twice", BEN: "never-again"}  # to the same question


EXPORT = "import subprocess; print(subprocess.run(['workbook', 'export'], check=True, capture_output=True).stdout)"


class Studied(NamedTuple):
    """A learner after an hour: the pages that were seen, a token, the server it opens, and a kernel there."""

    visitor: Visitor
    landed: str  # the address at which JupyterLab opened
    page: str
    token: str
    desk: Desk
    kernel: Kernel
    reveal: str


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    with running_hub(tmp_path_factory.mktemp("hub"), [ADA, BEN]) as hub:
        yield hub


@pytest.fixture(scope="module")
def class_(hub: Hub) -> Iterator[dict[str, Studied]]:
    """Both log in before either server is up, both answer the same checkpoint, each in their own way."""
    visitors = {name: Visitor(hub, name) for name in (ADA, BEN)}
    for visitor in visitors.values():
        visitor.log_in()
    studied = {}
    for name, visitor in visitors.items():
        page = visitor.open_lab()
        token = visitor.make_token()
        desk = Desk(hub, name, token)
        kernel = desk.start_kernel(f"{FOLDER}/01-boundary-desk.ipynb")
        kernel.run('import workbook as wb\ndesk = wb.open("boundary-desk")')
        kernel.run(f'desk.predict("second-call").commit({ANSWERS[name]!r})')
        reveal = kernel.run('desk.reveal("second-call")')
        kernel.run(EXPORT)
        studied[name] = Studied(visitor, page.url, page.text, token, desk, kernel, reveal)
    yield studied
    for one in studied.values():
        one.kernel.close()


def records(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("name", [ADA, BEN])
def test_a_user_lands_in_jupyterlab_at_the_first_chapter_with_copies_of_every_one(
    hub: Hub, class_: dict[str, Studied], name: str
) -> None:
    """Logging in is all that a learner does: the copies are there, clean, in a home of their own."""
    one = class_[name]
    listed = one.desk.get(f"contents/{FOLDER}").json()["content"]
    first = one.desk.get(f"contents/{FOLDER}/00-start-here.ipynb").json()["content"]

    assert one.landed.startswith(f"{hub.url}/user/{name}/lab/tree/{FOLDER}/00-start-here.ipynb")
    assert "<title>JupyterLab</title>" in one.page
    notebooks = sorted(entry["name"] for entry in listed if entry["type"] == "notebook")
    assert notebooks == [path.name for path in notebooks_in(notebooks_dir())]
    assert [cell["outputs"] for cell in first["cells"] if cell.get("outputs")] == []


def test_two_users_answer_the_same_question_and_each_sees_their_own_verdict(class_: dict[str, Studied]) -> None:
    """Each answer went to one file, in the home of the one who gave it."""
    kept = {
        name: records(one.desk.get(f"contents/{FOLDER}/cedar-progress.jsonl?type=file").json()["content"])
        for name, one in class_.items()
    }

    for name, lines in kept.items():
        assert [line["answer"] for line in lines if line["record"] == "commit"] == [ANSWERS[name]]
        assert [line["record"] for line in lines] == ["cedar-progress", "commit", "reveal-seen", "pseudonym"]
    assert class_[ADA].reveal.startswith("Checkpoint second-call: right\n")
    assert class_[BEN].reveal.startswith("Checkpoint second-call: not yet\n")


def test_each_exports_their_own_work_under_a_pseudonym(class_: dict[str, Studied]) -> None:
    """What goes to the instructor has the answers of the one who exported, and nobody's name."""
    works = {
        name: one.desk.get(f"contents/{FOLDER}/my-work.json?type=file").json()["content"]
        for name, one in class_.items()
    }

    for name, other in ((ADA, BEN), (BEN, ADA)):
        assert f'"{ANSWERS[name]}"' in works[name]
        assert f'"{ANSWERS[other]}"' not in works[name]
        assert f'"{name}"' not in works[name]
    learners = {json.loads(work)["learner"] for work in works.values()}
    assert len(learners) == 2
    assert all(re.fullmatch(r"learner-[0-9a-f]{12}", learner) for learner in learners)


def test_neither_user_gets_into_the_others_server(hub: Hub, class_: dict[str, Studied]) -> None:
    """Not with a token, not with the cookies of a login, not over a kernel's websocket; nobody without these."""
    for mine, theirs in ((ADA, BEN), (BEN, ADA)):
        with_token = Desk(hub, theirs, class_[mine].token)
        assert class_[mine].desk.get(f"contents/{FOLDER}").status_code == 200
        assert with_token.get(f"contents/{FOLDER}").status_code == 403
        assert with_token.get(f"contents/{FOLDER}/cedar-progress.jsonl?type=file").status_code == 403
        assert with_token.post("sessions", {}).status_code == 403
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            with_token.open_kernel(class_[theirs].kernel.id)
        assert refused.value.status_code == 403

        page = class_[mine].visitor.session.get(f"{hub.url}/user/{theirs}/lab", timeout=20)
        assert page.status_code == 403
        assert "<title>JupyterLab</title>" not in page.text

    stranger = Desk(hub, ADA, "not-a-token")
    assert stranger.get(f"contents/{FOLDER}").status_code == 403


def test_the_folders_of_two_users_have_nothing_in_common_but_the_chapters(
    hub: Hub, class_: dict[str, Studied]
) -> None:
    """Each home is where its owner's server works, and holds one file of answers: the owner's."""
    where = {name: Path(one.kernel.run("import os; print(os.getcwd(), end='')")) for name, one in class_.items()}
    assert where == {name: hub.homes / name / FOLDER for name in (ADA, BEN)}

    for name, other in ((ADA, BEN), (BEN, ADA)):
        (kept,) = (hub.homes / name).rglob("cedar-progress.jsonl")
        assert kept == where[name] / "cedar-progress.jsonl"
        assert ANSWERS[name] in kept.read_text()
        assert ANSWERS[other] not in kept.read_text()
        assert [path for path in (hub.homes / name).rglob("*") if path.is_symlink()] == []


def test_a_wrong_password_and_a_name_that_is_not_in_the_class_stay_outside(hub: Hub) -> None:
    """The door is JupyterHub's; this is that the configuration which is shipped leaves it closed."""
    assert Visitor(hub, ADA).log_in(password="guessed-wrongly").status_code == 403
    assert Visitor(hub, "carl").log_in().status_code == 403


def test_a_server_that_is_started_again_finds_every_file_as_it_was_left(
    hub: Hub, class_: dict[str, Studied]
) -> None:
    """The copies are made at each start, and a start overwrites nothing; the answer still stands."""
    one = class_[BEN]
    edited = hub.homes / BEN / FOLDER / "02-dispatch-desk.ipynb"
    edited.write_text(edited.read_text() + "\n")
    before = {path: path.read_bytes() for path in (hub.homes / BEN / FOLDER).rglob("*") if path.is_file()}

    one.visitor.stop_server()
    again = one.visitor.open_lab()
    kernel = one.desk.start_kernel(f"{FOLDER}/01-boundary-desk.ipynb")
    answer = kernel.run("import workbook as wb; wb.open('boundary-desk').predict('second-call').committed.answer")
    kernel.close()

    assert again.url == one.landed
    assert answer == repr(ANSWERS[BEN])
    assert {path: path.read_bytes() for path in before} == before


def test_nothing_of_a_hub_and_its_servers_asked_for_anything_beyond_this_machine(
    hub: Hub, class_: dict[str, Studied]
) -> None:
    """Hub, proxy, servers and kernels: the class could be held without a network."""
    questions = asked(hub.network_log)

    assert [one for one in questions if one.answer == "refused"] == []
    # JupyterHub looks for a free port on all addresses, and then uses it on one: port 0 is "any".
    assert {one.address for one in questions if one.answer == "open"} <= {"('', 0)"}
    assert len({one.process for one in questions}) >= 4  # the hub, its proxy and two servers, at the least
