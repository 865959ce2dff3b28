from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest

from fourhands.model.text import LineRange, Region
from fourhands.workspace.compose import Conflict, MergedTree, compose
from fourhands.workspace.control import control
from fourhands.workspace.counterfactual import Counterfactuals, counterfactuals
from fourhands.workspace.edit import CompiledEdit, regenerate
from fourhands.workspace.part import parts_at
from fourhands.workspace.revert import FileEdit
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.three_way import Merged, merge_entries
from fourhands.workspace.tree import EXECUTABLE, REGULAR, SYMLINK, Entry

TreeMaker = Callable[..., str]
Files = Mapping[str, bytes]

BASE = b"".join(b"line %d\n" % n for n in range(1, 31))


def swapped(content: bytes, *pairs: tuple[bytes, bytes]) -> bytes:
    for old, new in pairs:
        assert content.count(old) == 1
        content = content.replace(old, new)
    return content


REFERENCE = swapped(BASE, (b"line 2\n", b"reference two\n"), (b"line 20\n", b"reference twenty\n"))


class Bench:
    """A base, a reference against it, and what a user and an agent make of it."""

    def __init__(self, store: ObjectStore, tree_of: TreeMaker) -> None:
        self.store, self.tree_of = store, tree_of
        self.base_files: Files = {"f": BASE, "g": BASE}
        self.base = self.tree(self.base_files)

    def tree(self, files: Files) -> str:
        return self.tree_of(self.store, files)

    def content(self, tree: str, path: str = "f") -> bytes | None:
        entry = self.store.read_tree(tree).get(os.fsencode(path))
        return self.store.get_blob(entry.blob) if entry else None

    def compiled(self, **changed: bytes) -> CompiledEdit:
        edited = self.tree({**self.base_files, **changed})
        diff = self.store.git("diff-tree", "-p", "--binary", "--full-index", self.base, edited).stdout
        return regenerate(self.store, self.base, diff)

    def states(
        self, after: bytes, now: bytes, *regions: tuple[int, int], reference: bytes = REFERENCE
    ) -> Counterfactuals:
        """The user made ``f`` into ``after``, the agent into ``now``."""
        edits = [
            FileEdit(
                os.fsencode(change.path),
                Entry(REGULAR, change.old_blob or ""),
                Entry(REGULAR, change.new_blob or ""),
                change.hunks,
            )
            for change in self.store.diff(self.base, self.tree({**self.base_files, "f": after}))
        ]
        return counterfactuals(
            self.store,
            self.tree({**self.base_files, "f": now}),
            edits,
            self.compiled(f=reference),
            [Region("f", LineRange(*lines)) for lines in regions],
        )


@pytest.fixture
def bench(store: ObjectStore, tree_of: TreeMaker) -> Bench:
    return Bench(store, tree_of)


def content_of(bench: Bench, state: MergedTree | Conflict) -> bytes | None:
    assert isinstance(state, MergedTree)
    return bench.content(state.tree)


@pytest.mark.parametrize(
    ("place", "scopes"),
    [
        pytest.param((20, 20), ["place", "files"], id="on a hunk"),
        pytest.param((21, 25), ["place", "files"], id="adjoining it"),
        pytest.param((20, 19), ["place", "files"], id="between lines, just before it"),
        pytest.param((22, 25), ["files"], id="a line away: no hunk is at that place"),
        pytest.param((1, 30), ["place"], id="over all of them: the two parts are one"),
    ],
)
def test_the_references_part_is_what_lies_at_the_place_and_then_all_in_the_file(
    bench: Bench, place: tuple[int, int], scopes: list[str]
) -> None:
    reference = bench.compiled(f=REFERENCE, g=swapped(BASE, (b"line 1\n", b"reference one\n")))
    parts = parts_at(bench.store, reference, {b"f": [LineRange(*place)]})
    assert [part.scope for part in parts] == scopes
    assert bench.content(parts[-1].tree) == REFERENCE
    assert bench.content(parts[-1].tree, "g") == BASE
    if len(parts) > 1:
        assert bench.content(parts[0].tree) == swapped(BASE, (b"line 20\n", b"reference twenty\n"))


def test_a_reference_that_leaves_the_file_alone_has_no_part(bench: Bench) -> None:
    reference = bench.compiled(g=REFERENCE)
    assert parts_at(bench.store, reference, {b"f": [LineRange(1, 30)]}) == ()


def test_a_file_the_reference_creates_is_taken_as_one(bench: Bench) -> None:
    (part,) = parts_at(bench.store, bench.compiled(h=b"new\n"), {b"h": [LineRange(1, 0)]})
    assert bench.content(part.tree, "h") == b"new\n"
    assert part.covers(b"h", LineRange(1, 0))


def test_the_agents_own_lines_yield_to_the_reference_only_where_they_contradict_it(bench: Bench) -> None:
    after = swapped(BASE, (b"line 22\n", b"line 22\nuser\n"))
    now = swapped(after, (b"line 20\n", b"agent twenty\n"), (b"line 10\n", b"agent ten\n"))
    found = bench.states(after, now, (18, 24))
    assert found.stood
    assert content_of(bench, found.without_edit) == swapped(now, (b"user\n", b""))
    place, files = found.replaced
    expected = swapped(BASE, (b"line 20\n", b"reference twenty\n"), (b"line 10\n", b"agent ten\n"))
    assert content_of(bench, place.instead) == expected
    assert content_of(bench, files.instead) == swapped(expected, (b"line 2\n", b"reference two\n"))
    assert place.control  # the agent yields to the reference in the control as well, and the edit stays
    assert content_of(bench, place.control.beside) == swapped(expected, (b"line 22\n", b"line 22\nuser\n"))
    assert place.control.around is None


def test_the_reference_elsewhere_leaves_the_place_as_it_stands(bench: Bench) -> None:
    after = swapped(BASE, (b"line 22\n", b"line 22\nuser\n"))
    now = swapped(after, (b"line 20\n", b"agent twenty\n"), (b"line 2\n", b"agent two\n"))
    found = bench.states(after, now, (18, 24)).elsewhere
    assert found
    assert content_of(bench, found.final) == swapped(now, (b"agent two\n", b"reference two\n"))
    assert content_of(bench, found.base) == swapped(BASE, (b"line 2\n", b"reference two\n"))
    assert bench.states(after, now, (1, 30)).elsewhere is None


def test_all_of_the_reference_is_a_state_of_its_own_only_where_no_part_is_all_of_it(bench: Bench) -> None:
    after = swapped(BASE, (b"line 22\n", b"line 22\nuser\n"))
    assert bench.states(after, after, (18, 24)).whole is None
    both = bench.compiled(f=REFERENCE, g=swapped(BASE, (b"line 1\n", b"one\n")))
    edits = [FileEdit(b"f", *(Entry(REGULAR, bench.store.put_blob(text)) for text in (BASE, after)), ())]
    found = counterfactuals(bench.store, bench.tree({"f": after, "g": BASE}), edits, both)
    assert found.whole
    assert found.whole.control
    assert isinstance(found.whole.instead, MergedTree)
    assert bench.content(found.whole.instead.tree, "g") == swapped(BASE, (b"line 1\n", b"one\n"))


def test_where_the_edit_is_gone_what_the_agent_wrote_there_gives_way_to_all_of_the_reference(
    bench: Bench,
) -> None:
    after = swapped(BASE, (b"line 10\n", b"line 10\nuser\n"))
    now = swapped(BASE, (b"line 10\n", b"line 10\nagent\n"), (b"line 15\n", b"own\n"))
    found = bench.states(after, now)
    assert not found.stood
    assert found.at_place
    assert content_of(bench, found.at_place) == swapped(now, (b"agent\n", b""))
    assert found.whole
    assert content_of(bench, found.whole.instead) == swapped(REFERENCE, (b"line 15\n", b"own\n"))


def test_the_control_keeps_the_edit(bench: Bench) -> None:
    after = swapped(BASE, (b"line 22\n", b"line 22\nuser\n"))
    (place, _) = bench.states(after, after, (18, 24)).replaced
    beside = swapped(BASE, (b"line 20\n", b"reference twenty\n"), (b"line 22\n", b"line 22\nuser\n"))
    assert place.control
    assert content_of(bench, place.control.beside) == beside
    assert place.control.around is None


def test_a_comment_that_adjoins_what_the_reference_rewrites_stands_beside_it(bench: Bench) -> None:
    for there in (b"# user\nline 20\n", b"line 20\n# user\n"):
        after = swapped(BASE, (b"line 20\n", there))
        (place, _) = bench.states(after, after).replaced
        assert place.control
        assert content_of(bench, place.control.beside) == swapped(
            after, (b"line 20\n", b"reference twenty\n")
        )
        assert place.control.around is None


def test_on_a_line_of_the_reference_the_edit_stays_and_around_it_stands_what_it_replaced(
    bench: Bench,
) -> None:
    after = swapped(BASE, (b"line 20\n", b"line 20  # user\n"))
    files = bench.states(after, after).replaced[1]
    assert content_of(bench, files.instead) == REFERENCE
    assert files.control
    assert files.control.around
    around = swapped(BASE, (b"line 2\n", b"reference two\n"))
    assert content_of(bench, files.control.around) == around
    assert content_of(bench, files.control.beside) == swapped(around, (b"line 20\n", b"line 20  # user\n"))


def test_an_edit_that_is_the_references_own_leaves_the_reference_whole(bench: Bench) -> None:
    after = swapped(BASE, (b"line 20\n", b"reference twenty\n"))
    files = bench.states(after, after).replaced[1]
    assert files.control
    assert content_of(bench, files.control.beside) == REFERENCE
    assert files.control.around is None


def test_a_file_that_is_not_text_on_both_sides_gives_way_as_a_whole(bench: Bench) -> None:
    shorter = swapped(BASE, (b"line 1\n", b""))
    trees = [bench.tree({"f": content}) for content in (BASE, b"\0reference", shorter)]
    found = control(bench.store, *trees)
    assert (found.beside, found.around) == (MergedTree(trees[2]), MergedTree(trees[0]))


def test_a_file_of_the_reference_in_a_folder_that_the_edit_made_a_file_has_no_control(bench: Bench) -> None:
    trees = [bench.tree({"g": BASE} | files) for files in ({}, {"a/b": b"reference\n"}, {"a": b"user\n"})]
    assert control(bench.store, *trees).beside == Conflict(("a/b",))


def test_an_edit_in_pieces_gives_way_to_the_reference_that_covers_its_place(bench: Bench) -> None:
    after = swapped(BASE, (b"line 20\n", b"user a\nuser b\n"))
    found = bench.states(after, swapped(after, (b"user b\n", b"agent b\n")))
    assert found.stood
    assert found.without_edit == Conflict(("f",))
    assert content_of(bench, found.replaced[0].instead) == swapped(
        BASE, (b"line 20\n", b"reference twenty\n")
    )


def test_an_edit_in_pieces_elsewhere_leaves_no_state_to_verify(bench: Bench) -> None:
    after = swapped(BASE, (b"line 10\n", b"user a\nuser b\n"))
    found = bench.states(after, swapped(after, (b"user b\n", b"agent b\n")))
    assert found.without_edit == Conflict(("f",))
    assert [part.instead for part in found.replaced] == [Conflict(("f",))]


def test_an_edit_that_is_gone_leaves_the_final_state_as_it_is(bench: Bench) -> None:
    after = swapped(BASE, (b"line 20\n", b"user twenty\n"))
    now = swapped(BASE, (b"line 20\n", b"agent twenty\n"))
    found = bench.states(after, now)
    assert not found.stood
    assert content_of(bench, found.without_edit) == now


A, B, C = (Entry(REGULAR, letter * 40) for letter in "abc")


def test_favouring_their_side_leaves_no_contradiction_of_whole_files(store: ObjectStore) -> None:
    link = Entry(SYMLINK, "d" * 40)
    for base, ours, theirs in ((A, None, B), (A, B, None), (A, B, link), (link, A, Entry(SYMLINK, "e" * 40))):
        assert merge_entries(store, base, ours, theirs) is None
        assert merge_entries(store, base, ours, theirs, favour_theirs=True) == Merged(theirs)
    assert merge_entries(store, A, B, A, favour_theirs=True) == Merged(B)  # they changed nothing


def test_favouring_their_side_of_new_files_with_other_modes(store: ObjectStore) -> None:
    ours, theirs = Entry(REGULAR, store.put_blob(b"ours\n")), Entry(EXECUTABLE, store.put_blob(b"theirs\n"))
    assert merge_entries(store, None, ours, theirs) is None
    assert merge_entries(store, None, ours, theirs, favour_theirs=True) == Merged(theirs)


def test_a_file_in_the_place_of_a_folder_stays_a_conflict_whoever_is_favoured(
    store: ObjectStore, tree_of: TreeMaker
) -> None:
    trees = [
        tree_of(store, {"keep": b"k\n"} | files) for files in ({}, {"a/b": b"ours\n"}, {"a": b"theirs\n"})
    ]
    assert compose(store, *trees, favour_theirs=True) == Conflict(("a",))
