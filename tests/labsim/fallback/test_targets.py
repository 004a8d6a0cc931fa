"""fallback/F-29 to fallback/F-36, fallback/F-37 to fallback/F-40: where a denied call would really have acted, and
whose call it was.
"""

from __future__ import annotations

import contextvars
import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsim.fallback import (
    FallbackRegistries,
    InertFiles,
    NodeKind,
    SimulatedError,
    WriteRequest,
    current_session,
    error_code,
    mutation_session,
    resolve_target,
    write_file,
)


def two_places() -> InertFiles:
    """A workspace `/ws` and a place outside it, with links from the one into the other."""
    files = InertFiles(cwd="/ws")
    for folder in ("/ws", "/ws/inside", "/elsewhere", "/elsewhere/sub"):
        files.add_directory(folder)
    files.add_file("/elsewhere/f", "far")
    files.add_file("/ws/plain", "near")
    files.add_link("/ws/link", "/elsewhere")
    files.add_link("/ws/to-file", "../elsewhere/f")
    files.add_link("/ws/dangling", "/nowhere")
    files.add_link("/ws/loop", "loop")
    files.add_link("/alias", "ws")
    return files


def for_write(path: str, files: InertFiles | None = None) -> str | None:
    return resolve_target(path, follow_last=True, files=files or two_places())


def for_delete(path: str, files: InertFiles | None = None) -> str | None:
    return resolve_target(path, follow_last=False, files=files or two_places())


# fallback/F-33, one by one


def test_a_write_below_a_linked_folder_lands_where_the_link_leads() -> None:
    """fallback/F-33: `ws/link -> /elsewhere`, write `ws/link/f` acts on `/elsewhere/f`."""
    assert for_write("/ws/link/f") == "/elsewhere/f"


def test_a_write_to_a_link_lands_on_the_file_behind_it() -> None:
    """fallback/F-33: a write follows the last component too."""
    assert for_write("/ws/to-file") == "/elsewhere/f"
    assert for_write("/ws/link") == "/elsewhere"


def test_a_delete_of_a_link_acts_on_the_link() -> None:
    """fallback/F-33: unlinking removes the link itself, under the real path of its folder."""
    assert for_delete("/ws/link") == "/ws/link"
    assert for_delete("/alias/link") == "/ws/link"


def test_a_delete_below_a_linked_folder_acts_where_the_link_leads() -> None:
    """fallback/F-33: everything above the last component is followed."""
    assert for_delete("/ws/link/f") == "/elsewhere/f"


def test_a_write_to_a_dangling_link_or_below_one_has_no_answer() -> None:
    """fallback/F-33, fallback/F-30: nobody can say where it would land."""
    assert for_write("/ws/dangling") is None
    assert for_write("/ws/dangling/f") is None
    assert for_write("/ws/dangling/a/b") is None


def test_a_delete_of_a_dangling_link_acts_on_the_links_own_path() -> None:
    """fallback/F-33: the link exists, whatever it points at; below it there is nothing."""
    assert for_delete("/ws/dangling") == "/ws/dangling"
    assert for_delete("/ws/dangling/f") is None


def test_a_new_file_in_an_existing_folder_is_the_real_folder_and_the_name() -> None:
    """fallback/F-33: only the last component is missing."""
    assert for_write("/ws/inside/new") == "/ws/inside/new"
    assert for_write("/alias/inside/new") == "/ws/inside/new"


def test_a_new_file_under_two_missing_folders_hangs_on_the_real_ancestor() -> None:
    """fallback/F-33, fallback/F-31: the deepest ancestor with a real path, and every name after it."""
    assert for_write("/ws/link/a/b/new") == "/elsewhere/a/b/new"
    assert for_delete("/ws/link/a/b/new") == "/elsewhere/a/b/new"


# The other rules of fallback/F-29 to fallback/F-36


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("plain", "/ws/plain"),
        ("./inside/../plain", "/ws/plain"),
        ("//ws//plain", "/ws/plain"),
        ("/ws/inside/", "/ws/inside"),
        ("/", "/"),
        ("/new", "/new"),
    ],
)
def test_a_path_is_made_absolute_first(path: str, target: str) -> None:
    """fallback/F-29: against the layer's folder, with dots and doubled slashes taken out."""
    assert for_write(path) == target


def test_a_loop_has_no_answer_for_a_write_and_none_below_it() -> None:
    """fallback/F-30, fallback/F-31: a loop inspects as a link, so nothing is proven. The link itself can be
    deleted.
    """
    assert (for_write("/ws/loop"), for_write("/ws/loop/f"), for_delete("/ws/loop/f")) == (None, None, None)
    assert for_delete("/ws/loop") == "/ws/loop"


def test_a_file_used_as_a_folder_is_not_proven_for_a_write() -> None:
    """fallback/F-34: ENOTDIR is not "does not exist", so the write has no answer; a delete needs no such proof."""
    assert for_write("/ws/plain/f") is None
    assert for_delete("/ws/plain/f") == "/ws/plain/f"


def test_a_denied_inspection_proves_nothing() -> None:
    """fallback/F-34: behind a folder that cannot be searched, a link cannot be ruled out."""
    files = two_places()
    files.add_directory("/ws/hidden", mode=0o600)
    files.add_directory("/ws/hidden/deep")

    assert for_write("/ws/hidden/card", files) is None
    assert for_delete("/ws/hidden/deep/card", files) is None
    assert for_delete("/ws/hidden/card", files) == "/ws/hidden/card"


def test_a_layer_whose_root_has_no_real_path_gives_no_answer() -> None:
    """fallback/F-32: reaching the root without success is no answer."""

    class Blind(InertFiles):
        def real_path(self, path: str) -> str:
            raise SimulatedError("EIO: blind", "EIO")

        def inspect(self, path: str) -> NodeKind:
            raise SimulatedError("ENOENT: blind", "ENOENT")

    assert for_write("/a/b/c", Blind()) is None
    assert for_delete("/c", Blind()) is None


# The tree in memory


def test_a_chain_of_forty_links_is_followed_and_one_more_is_a_loop() -> None:
    """The layer's limit is that of the systems it stands for, for reading and for writing alike."""
    files = two_places()
    aim = "plain"
    for number in range(41):
        files.add_link(f"/ws/link-{number}", aim)
        aim = f"link-{number}"

    files.write_text("/ws/link-39", "through forty")

    assert files.read_text("/ws/plain") == "through forty"
    assert files.real_path("/ws/link-39") == "/ws/plain"
    for act in (files.real_path, lambda path: files.write_text(path, "lost")):
        with pytest.raises(SimulatedError, match="ELOOP"):
            act("/ws/link-40")


def test_the_owners_bits_count_for_the_owner_and_the_last_bits_for_everyone_else() -> None:
    """Denials come from the tree alone, so they also hold for a person who is root outside it."""
    files = two_places()
    files.add_directory("/ws/theirs", mode=0o700, owner="root")
    files.add_file("/ws/theirs/card")
    files.add_directory("/ws/mine", mode=0o700)
    files.add_file("/ws/mine/card", "kept", mode=0o407)
    files.add_file("/ws/shared", "secret", mode=0o640, owner="root")

    assert files.read_text("/ws/mine/card") == "kept"
    for act in (
        lambda: files.real_path("/ws/theirs/card"),
        lambda: files.make_directories("/ws/theirs/a"),
        lambda: files.unlink("/ws/theirs/card"),
        lambda: files.write_text("/ws/mine/card", "lost"),
        lambda: files.read_text("/ws/shared"),
    ):
        with pytest.raises(SimulatedError, match="EACCES: permission denied"):
            act()


def test_a_folder_is_no_place_for_text() -> None:
    """The layer answers as a system does, so a primitive that meets a folder is no denial."""
    files = two_places()

    for act in (lambda: files.read_text("/ws/inside"), lambda: files.write_text("/ws/link", "lost")):
        with pytest.raises(SimulatedError, match="EISDIR: illegal operation on a directory, open"):
            act()


def test_a_tree_can_only_be_laid_out_where_there_is_a_folder_and_a_free_name() -> None:
    """A layout that contradicts itself is a mistake of its author, and says where."""
    files = two_places()

    with pytest.raises(ValueError, match=r"/ws/plain/x: 'plain' is not a directory of this tree"):
        files.add_file("/ws/plain/x")
    with pytest.raises(ValueError, match="/ws/link: there is something at this path already"):
        files.add_directory("/ws/link")


# Invariants over random trees

NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
LINK_TARGETS = st.one_of(
    PATHS, st.lists(st.sampled_from(["a", "b", "c", ".."]), min_size=1, max_size=3).map("/".join)
)
PIECES = st.lists(
    st.tuples(PATHS, st.sampled_from(["directory", "file", "link"]), LINK_TARGETS), min_size=1, max_size=12
)
Pieces = list[tuple[str, str, str]]


def placeable(pieces: Pieces) -> Iterator[tuple[str, str, str]]:
    """The pieces that have a parent folder and a free place, shallow ones first."""
    taken = {"/": "directory"}
    for path, kind, target in sorted(pieces, key=lambda piece: piece[0].count("/")):
        if taken.get(posixpath.dirname(path)) == "directory" and path not in taken:
            taken[path] = kind
            yield path, kind, target


def add(files: InertFiles, path: str, kind: str, target: str) -> None:
    if kind == "directory":
        files.add_directory(path)
    elif kind == "file":
        files.add_file(path, "old")
    else:
        files.add_link(path, target)


def grow(pieces: Pieces) -> InertFiles:
    files = InertFiles()
    for path, kind, target in placeable(pieces):
        add(files, path, kind, target)
    return files


def kind_at(files: InertFiles, path: str) -> NodeKind | str | None:
    try:
        return files.inspect(path)
    except SimulatedError as error:
        return error.code if isinstance(error.code, str) else None


def prefixes(path: str) -> list[str]:
    parts = path.strip("/").split("/")
    return ["/" + "/".join(parts[: i + 1]) for i in range(len(parts))]


@pytest.mark.slow
@given(pieces=PIECES, path=PATHS, follow=st.booleans())
def test_a_resolved_path_never_lies_below_a_link(pieces: Pieces, path: str, follow: bool) -> None:
    """fallback/F-29 to fallback/F-31: no component above the last is a link, and for a write the last is none
    either.
    """
    files = grow(pieces)

    target = resolve_target(path, follow_last=follow, files=files)

    if target is not None:
        *above, last = prefixes(target)
        assert all(kind_at(files, each) is not NodeKind.SYMLINK for each in above)
        assert not (follow and kind_at(files, last) is NodeKind.SYMLINK)


@pytest.mark.slow
@given(pieces=PIECES, path=PATHS)
def test_a_write_that_succeeds_lands_on_the_path_that_was_resolved_before(pieces: Pieces, path: str) -> None:
    """fallback/F-35: what a handler would have been told is where the bytes go."""
    files = grow([("/a", "directory", ""), *pieces])
    path = "/a" + path
    target = resolve_target(path, follow_last=True, files=files)
    try:
        files.write_text(path, "new")
    except SimulatedError:
        return

    if target is not None:
        assert files.read_text(target) == "new"
        assert files.real_path(path) == target
    else:
        # The one write that goes through without an answer: it creates the far end of a dangling link.
        assert files.inspect(path) is NodeKind.SYMLINK


@pytest.mark.slow
@given(pieces=PIECES, path=PATHS)
def test_an_unlink_that_succeeds_removes_the_path_that_was_resolved_before(pieces: Pieces, path: str) -> None:
    """fallback/F-33: a delete always has an answer where the plain unlink works, and it is the thing that goes."""
    files = grow([("/a", "directory", ""), *pieces])
    path = "/a" + path
    target = resolve_target(path, follow_last=False, files=files)
    try:
        files.unlink(path)
    except SimulatedError:
        return

    assert target is not None
    assert kind_at(files, target) == "ENOENT"


@pytest.mark.slow
@given(pieces=PIECES, path=PATHS)
@settings(max_examples=60, deadline=None)
def test_the_tree_in_memory_walks_links_as_a_real_file_system_does(
    tmp_path_factory: pytest.TempPathFactory, pieces: Pieces, path: str
) -> None:
    """The layer's answers are a real system's: same real path, same kind, or the same error."""
    base = os.path.realpath(tmp_path_factory.mktemp("tree"))
    files = InertFiles()
    for folder in prefixes(base):
        files.add_directory(folder)
    for place, kind, target in placeable(pieces):
        real = Path(base + place)
        # A relative target may climb out of the folder in text; nothing is ever written through it.
        aim = base + target if target.startswith("/") else target
        if kind == "directory":
            real.mkdir()
        elif kind == "file":
            real.write_text("old")
        else:
            real.symlink_to(aim)
        add(files, base + place, kind, aim)

    assert real_answers(base + path) == inert_answers(files, base + path)


def real_answers(path: str) -> tuple[str, str]:
    try:
        real = os.path.realpath(path, strict=True)
    except OSError as error:
        real = str(error_code(error))
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return real, str(error_code(error))
    return real, "symlink" if stat.S_ISLNK(mode) else "directory" if stat.S_ISDIR(mode) else "file"


def inert_answers(files: InertFiles, path: str) -> tuple[str, str]:
    try:
        real = files.real_path(path)
    except SimulatedError as error:
        real = str(error.code)
    return real, str(kind_at(files, path))


# fallback/F-37 to fallback/F-40


class Sessions:
    """A write handler that notes the session of each request and takes it."""

    def __init__(self) -> None:
        self.seen: list[str | None] = []

    def __call__(self, request: WriteRequest) -> bool:
        self.seen.append(request.session_id)
        return True


def denied_write(registries: FallbackRegistries) -> None:
    def refuse() -> None:
        raise SimulatedError("EACCES: synthetic", "EACCES")

    write_file("/ws/plain", "note", files=two_places(), registries=registries, primitive=refuse)


def test_a_request_carries_the_session_of_the_tool_call_around_it() -> None:
    """fallback/F-37: inside the scope the session, outside any scope none; the empty name is a name."""
    registries, sessions = FallbackRegistries(), Sessions()
    registries.writes.add(sessions)

    denied_write(registries)
    with mutation_session("alpha", registries):
        denied_write(registries)
        with mutation_session("", registries):
            denied_write(registries)
        denied_write(registries)
    denied_write(registries)

    assert sessions.seen == [None, "alpha", "", "alpha", None]


def test_a_session_that_is_not_named_enters_no_scope() -> None:
    """fallback/F-37: a runner without a session borrows nobody's, but does not hide the scope around it either."""
    registries, sessions = FallbackRegistries(), Sessions()
    registries.writes.add(sessions)

    with mutation_session(None, registries):
        denied_write(registries)

    assert sessions.seen == [None]


def test_the_scope_is_entered_only_if_a_handler_of_either_kind_exists_at_that_moment() -> None:
    """fallback/F-38: a host without fallbacks pays nothing, and a handler that comes later sees no session."""
    registries, sessions = FallbackRegistries(), Sessions()

    with mutation_session("early", registries):
        registries.writes.add(sessions)
        denied_write(registries)

    assert sessions.seen == [None]


def test_a_delete_handler_alone_is_enough_for_the_scope() -> None:
    """fallback/F-38: a handler of either kind."""
    registries = FallbackRegistries()
    registries.deletes.add(lambda request: False)

    with mutation_session("alpha", registries):
        named = current_session()

    assert named == "alpha"


def test_the_scope_ends_when_the_call_raises() -> None:
    """fallback/F-37: a failed execution leaves no name behind."""
    registries = FallbackRegistries()
    registries.writes.add(Sessions())

    with pytest.raises(SimulatedError), mutation_session("alpha", registries):
        raise SimulatedError("tool failed")

    assert current_session() is None


def test_two_interleaved_calls_do_not_mix_their_sessions() -> None:
    """fallback/F-40: each call runs in a context of its own, and its steps keep their name in any order."""
    registries, sessions = FallbackRegistries(), Sessions()
    registries.writes.add(sessions)

    def call(session: str) -> Iterator[None]:
        with mutation_session(session, registries):
            denied_write(registries)
            yield
            denied_write(registries)
            yield

    alpha, beta = call("alpha"), call("beta")
    contexts = {alpha: contextvars.copy_context(), beta: contextvars.copy_context()}
    for step in (alpha, beta, beta, alpha, alpha, beta):
        contexts[step].run(next, step, None)

    assert sessions.seen == ["alpha", "beta", "beta", "alpha"]
    assert current_session() is None


def test_a_handler_may_be_asked_about_another_sessions_write() -> None:
    """fallback/F-39: the registry does not filter, so a handler compares and declines, and the next one is
    asked.
    """
    registries = FallbackRegistries()
    asked: list[tuple[str, str | None]] = []

    def own(session: str) -> Callable[[WriteRequest], bool]:
        def handler(request: WriteRequest) -> bool:
            asked.append((session, request.session_id))
            return request.session_id == session

        return handler

    registries.writes.add(own("alpha"))
    registries.writes.add(own("beta"))
    with mutation_session("beta", registries):
        denied_write(registries)

    assert asked == [("alpha", "beta"), ("beta", "beta")]
