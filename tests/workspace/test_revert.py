from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.model.text import LineRange
from fourhands.workspace.changes import FileChange
from fourhands.workspace.revert import EditPart, FileEdit, Reverted, place_in_base, revert
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import EXECUTABLE, REGULAR, SYMLINK, Entry, MutableTree

TreeMaker = Callable[..., str]

BASE = b"".join(b"line %d\n" % n for n in range(1, 21))


def swapped(content: bytes, *pairs: tuple[bytes, bytes]) -> bytes:
    for old, new in pairs:
        assert content.count(old) == 1
        content = content.replace(old, new)
    return content


def edits_of(store: ObjectStore, before: str, after: str) -> list[FileEdit]:
    """What the events of a trial say of one edit."""
    return [edit_of(change) for change in store.diff(before, after)]


def edit_of(change: FileChange) -> FileEdit:
    old = Entry(change.old_mode, change.old_blob) if change.old_mode and change.old_blob else None
    new = Entry(change.new_mode, change.new_blob) if change.new_mode and change.new_blob else None
    return FileEdit(os.fsencode(change.path), old, new, change.hunks)


class File:
    """One file ``f``: before the user's edit, after it, and as the agent left it."""

    def __init__(self, store: ObjectStore, tree_of: TreeMaker) -> None:
        self.store, self.tree_of = store, tree_of

    def tree(self, content: bytes | None) -> str:
        return self.tree_of(self.store, {"other": b"o\n"} | ({} if content is None else {"f": content}))

    def content(self, tree: str) -> bytes | None:
        entry = self.store.read_tree(tree).get(b"f")
        return self.store.get_blob(entry.blob) if entry else None

    def revert(
        self, before: bytes | None, after: bytes | None, now: bytes | None, *, force: bool = False
    ) -> tuple[bytes | None, Reverted]:
        edits = edits_of(self.store, self.tree(before), self.tree(after))
        found = revert(self.store, edits, self.tree(now), force=force)
        return self.content(found.tree), found


@pytest.fixture
def file(store: ObjectStore, tree_of: TreeMaker) -> File:
    return File(store, tree_of)


USER = swapped(BASE, (b"line 10\n", b"the user's ten\n"))
ADDED = swapped(BASE, (b"line 10\n", b"line 10\nuser a\nuser b\n"))
CUT = swapped(BASE, (b"line 10\nline 11\n", b""))
AGENT = ((b"line 2\n", b"the agent's two\n"),)


@pytest.mark.parametrize(
    ("after", "agent", "left"),
    [
        pytest.param(USER, AGENT, swapped(BASE, *AGENT), id="a replaced line comes back"),
        pytest.param(ADDED, AGENT, swapped(BASE, *AGENT), id="added lines go"),
        pytest.param(CUT, AGENT, swapped(BASE, *AGENT), id="deleted lines come back"),
        pytest.param(
            ADDED,
            [(b"user b\n", b"user b\nagent next to it\n")],
            swapped(BASE, (b"line 10\n", b"line 10\nagent next to it\n")),
            id="what the agent put beside the user's lines stays",
        ),
        pytest.param(
            USER,
            [(b"line 11\n", b"agent's eleven\n"), (b"line 9\n", b"")],
            swapped(BASE, (b"line 11\n", b"agent's eleven\n"), (b"line 9\n", b"")),
            id="what the agent changed right around the user's line stays changed",
        ),
        pytest.param(ADDED, [(b"user a\nuser b\n", b"")], BASE, id="the agent reverted it already"),
        pytest.param(CUT, [(b"line 9\n", b"line 9\nline 10\nline 11\n")], BASE, id="the agent put it back"),
    ],
)
def test_exactly_the_users_own_lines_are_undone(
    file: File, after: bytes, agent: list[tuple[bytes, bytes]], left: bytes
) -> None:
    content, found = file.revert(BASE, after, swapped(after, *agent))
    assert content == left
    assert (found.contested, found.stuck) == ((), ())


def test_what_the_agent_wrote_over_altogether_is_gone_and_its_text_stays(file: File) -> None:
    now = swapped(ADDED, (b"user a\nuser b\n", b"agent's own\n"))
    content, found = file.revert(BASE, ADDED, now)
    assert (content, found.contested) == (now, ())


def test_lines_that_the_agent_wrote_into_are_contested_and_only_those_are_forced_out(file: File) -> None:
    after = swapped(ADDED, (b"line 17\n", b"user seventeen\n"))
    now = swapped(after, (b"user b\n", b"agent's b\n"), *AGENT)
    content, found = file.revert(BASE, after, now)
    assert content == swapped(now, (b"user seventeen\n", b"line 17\n"))
    assert [part.hunk and part.hunk.new for part in found.contested] == [LineRange(11, 12)]
    forced, again = file.revert(BASE, after, now, force=True)
    assert forced == swapped(BASE, *AGENT)
    assert again.contested == found.contested


def test_punctuation_that_happens_to_stand_keeps_nothing_contested(file: File) -> None:
    after = swapped(BASE, (b"line 10\n", b"line 10\nif user {\n}\n"))
    now = swapped(after, (b"if user {\n", b"while agent {\n"))
    content, found = file.revert(BASE, after, now)
    assert (content, found.contested) == (now, ())


def test_the_newest_edit_is_undone_first_so_that_later_ones_on_the_same_lines_come_off_in_turn(
    file: File,
) -> None:
    first = swapped(BASE, (b"line 10\n", b"user, once\n"))
    between = swapped(first, *AGENT)
    second = swapped(between, (b"user, once\n", b"user, twice\n"))
    trees = [file.tree(content) for content in (BASE, first, between, second)]
    edits = [*edits_of(file.store, *trees[2:4]), *edits_of(file.store, *trees[0:2])]
    found = revert(file.store, edits, trees[3])
    assert file.content(found.tree) == swapped(BASE, *AGENT)


def test_an_edit_made_again_after_the_agent_took_it_back_is_undone_once(file: File) -> None:
    trees = [file.tree(content) for content in (BASE, ADDED, swapped(BASE, *AGENT), swapped(ADDED, *AGENT))]
    edits = [*edits_of(file.store, *trees[2:4]), *edits_of(file.store, *trees[0:2])]
    found = revert(file.store, edits, trees[3])
    assert file.content(found.tree) == swapped(BASE, *AGENT)
    assert found.contested == ()


def test_a_file_the_user_created_goes_and_one_they_deleted_comes_back(file: File) -> None:
    assert file.revert(None, ADDED, ADDED)[0] is None
    assert file.revert(BASE, None, None)[0] == BASE


def test_a_created_file_that_the_agent_wrote_into_is_contested_as_a_whole(file: File) -> None:
    now = swapped(ADDED, *AGENT)
    content, found = file.revert(None, ADDED, now)
    assert (content, [part.hunk for part in found.contested]) == (now, [None])
    assert file.revert(None, ADDED, now, force=True)[0] is None


def test_a_file_written_anew_where_the_user_had_deleted_or_created_one_is_the_agents(file: File) -> None:
    for before, after in ((BASE, None), (None, BASE)):
        content, found = file.revert(before, after, b"all of it the agent's\n")
        assert (content, found.contested) == (b"all of it the agent's\n", ())


def test_a_file_that_the_agent_deleted_stays_deleted(file: File) -> None:
    content, found = file.revert(BASE, USER, None)
    assert (content, found.contested) == (None, ())


def test_crlf_stays_byte_for_byte(file: File) -> None:
    before, after = (text.replace(b"\n", b"\r\n") for text in (BASE, USER))
    now = after.replace(b"line 2\r\n", b"two\r\n")
    assert file.revert(before, after, now)[0] == before.replace(b"line 2\r\n", b"two\r\n")


@pytest.mark.parametrize("to_crlf", [True, False])
def test_converted_line_ends_do_not_hide_the_edit(file: File, *, to_crlf: bool) -> None:
    unix, dos = (lambda text: text), (lambda text: text.replace(b"\n", b"\r\n"))
    old, new = (unix, dos) if to_crlf else (dos, unix)
    content, found = file.revert(old(BASE), old(USER), new(swapped(USER, *AGENT)))
    assert (content, found.contested) == (new(swapped(BASE, *AGENT)), ())


def test_binary_content_that_both_changed_is_contested_as_a_whole(file: File) -> None:
    content, found = file.revert(b"\0a", b"\0b", b"\0c")
    assert (content, [part.hunk for part in found.contested]) == (b"\0c", [None])
    assert file.revert(b"\0a", b"\0b", b"\0c", force=True)[0] == b"\0a"


def test_a_path_that_is_a_folder_by_now_is_a_clash(store: ObjectStore, tree_of: TreeMaker) -> None:
    edits = edits_of(store, tree_of(store, {"f": BASE, "g": b"g\n"}), tree_of(store, {"g": b"g\n"}))
    now = tree_of(store, {"f/inside": b"agent\n", "g": b"g\n"})
    assert revert(store, edits, now) == Reverted(now, (), (b"f",))


def test_modes_and_links_come_back(store: ObjectStore) -> None:
    def tree(files: Mapping[bytes, tuple[int, bytes]]) -> str:
        return store.write_tree(MutableTree({p: Entry(m, store.put_blob(c)) for p, (m, c) in files.items()}))

    before = tree({b"run": (REGULAR, BASE), b"link": (SYMLINK, b"run")})
    after = tree({b"run": (EXECUTABLE, USER), b"link": (REGULAR, b"a file\n")})
    now = tree({b"run": (EXECUTABLE, swapped(USER, *AGENT)), b"link": (REGULAR, b"a file\n")})
    found = revert(store, edits_of(store, before, after), now)
    assert found.tree == tree({b"run": (REGULAR, swapped(BASE, *AGENT)), b"link": (SYMLINK, b"run")})


def test_a_place_is_told_in_the_bases_lines_whatever_the_agent_had_done_before(file: File) -> None:
    before = b"agent's first\n" * 5 + BASE
    after = swapped(before, (b"line 10\n", b"user ten\n"))
    (edit,) = edits_of(file.store, file.tree(before), file.tree(after))
    base = Entry(REGULAR, file.store.put_blob(BASE))
    assert place_in_base(file.store, EditPart(edit, edit.hunks[0]), base) == LineRange(10, 10)
    assert place_in_base(file.store, EditPart(edit, None), base) == LineRange(1, 20)
    assert place_in_base(file.store, EditPart(edit, edit.hunks[0]), None) == LineRange(1, 0)


LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"}\n", b"\n"]), max_size=8).map(b"".join)


@settings(deadline=None, max_examples=40)
@given(before=LINES, after=LINES)
def test_an_edit_that_nobody_touched_is_undone_whole(
    long_store: ObjectStore, tree_of: TreeMaker, before: bytes, after: bytes
) -> None:
    old, new = (tree_of(long_store, {"f": content}) for content in (before, after))
    assert revert(long_store, edits_of(long_store, old, new), new) == Reverted(old)


@settings(deadline=None, max_examples=40)
@given(before=LINES, after=LINES, now=LINES)
def test_reverting_needs_no_luck_and_is_the_same_each_time(
    long_store: ObjectStore, tree_of: TreeMaker, before: bytes, after: bytes, now: bytes
) -> None:
    old, new, current = (tree_of(long_store, {"f": content}) for content in (before, after, now))
    edits = edits_of(long_store, old, new)
    found = [revert(long_store, edits, current) for _ in range(2)]
    assert found[0] == found[1]
    if not found[0].contested:
        forced = revert(long_store, edits, current, force=True)
        assert forced == found[0]
