"""The edit's place as the reference has it, and the reference everywhere but there."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

import pytest

from fourhands.model.text import LineRange
from fourhands.workspace.at_place import as_reference_at
from fourhands.workspace.edit import CompiledEdit, regenerate
from fourhands.workspace.part import all_but_places, whole
from fourhands.workspace.store import ObjectStore

BASE = b"".join(b"line %d\n" % n for n in range(1, 31))
TreeMaker = Callable[..., str]
Places = Mapping[bytes, list[LineRange]]


def swapped(content: bytes, *pairs: tuple[bytes, bytes]) -> bytes:
    for old, new in pairs:
        assert content.count(old) == 1
        content = content.replace(old, new)
    return content


REFERENCE = swapped(BASE, (b"line 2\n", b"two\n"), (b"line 20\n", b"twenty\nand a half\n"))


class Bench:
    def __init__(self, store: ObjectStore, tree_of: TreeMaker) -> None:
        self.store, self.tree_of = store, tree_of
        self.base = self.tree(f=BASE, g=BASE)

    def tree(self, **files: bytes) -> str:
        return self.tree_of(self.store, files)

    def content(self, tree: str, path: str = "f") -> bytes | None:
        entry = self.store.read_tree(tree).get(os.fsencode(path))
        return self.store.get_blob(entry.blob) if entry else None

    def reference(self, **files: bytes) -> CompiledEdit:
        edited = self.tree(**({"f": BASE, "g": BASE} | files))
        diff = self.store.git("diff-tree", "-p", "--binary", "--full-index", self.base, edited).stdout
        return regenerate(self.store, self.base, diff)

    def at_place(self, reference: CompiledEdit, places: Places, **files: bytes) -> str:
        return as_reference_at(self.store, self.tree(**files), reference, places, {})


@pytest.fixture
def bench(store: ObjectStore, tree_of: TreeMaker) -> Bench:
    return Bench(store, tree_of)


def test_what_was_written_at_the_place_goes_and_what_was_written_elsewhere_stays(bench: Bench) -> None:
    now = swapped(REFERENCE, (b"line 21\n", b"wrong\n"), (b"line 22\n", b""), (b"line 5\n", b"five\n"))
    tree = bench.at_place(bench.reference(f=REFERENCE), {b"f": [LineRange(21, 22)]}, f=now, g=b"own\n")
    assert bench.content(tree) == swapped(REFERENCE, (b"line 5\n", b"five\n"))
    assert bench.content(tree, "g") == b"own\n"


def test_a_line_put_where_nothing_was_goes_as_well(bench: Bench) -> None:
    now = swapped(BASE, (b"line 10\n", b"line 10\nwrong\n"))
    tree = bench.at_place(bench.reference(f=REFERENCE), {b"f": [LineRange(11, 10)]}, f=now)
    assert bench.content(tree) == BASE


def test_the_reference_comes_in_only_at_the_place(bench: Bench) -> None:
    tree = bench.at_place(bench.reference(f=REFERENCE), {b"f": [LineRange(20, 20)]}, f=BASE)
    assert bench.content(tree) == swapped(BASE, (b"line 20\n", b"twenty\nand a half\n"))


def test_a_file_that_is_gone_or_too_many_is_the_place_as_a_whole(bench: Bench) -> None:
    reference = bench.reference(f=REFERENCE, h=b"new\n")
    places = {b"f": [LineRange(1, 1)], b"h": [LineRange(1, 0)], b"i": [LineRange(1, 0)]}
    tree = bench.at_place(reference, places, i=b"own\n")
    assert [bench.content(tree, path) for path in "fhi"] == [REFERENCE, b"new\n", None]


def test_a_file_that_moved_is_found_where_it_is(bench: Bench) -> None:
    now = bench.tree(moved=swapped(BASE, (b"line 20\n", b"wrong\n")))
    places = {b"f": [LineRange(20, 20)]}
    tree = as_reference_at(bench.store, now, bench.reference(f=REFERENCE), places, {b"f": b"moved"})
    assert bench.content(tree, "moved") == swapped(BASE, (b"line 20\n", b"twenty\nand a half\n"))


def test_what_is_no_text_is_taken_as_a_whole(bench: Bench) -> None:
    tree = bench.at_place(bench.reference(f=REFERENCE), {b"f": [LineRange(20, 20)]}, f=b"\0" + BASE)
    assert bench.content(tree) == REFERENCE


def test_the_rest_of_the_reference_is_all_that_is_not_at_the_place(bench: Bench) -> None:
    reference = bench.reference(f=REFERENCE, g=swapped(BASE, (b"line 1\n", b"one\n")), h=b"new\n")
    rest = all_but_places(bench.store, reference, {b"f": [LineRange(20, 21)]})
    assert rest
    assert bench.content(rest) == swapped(BASE, (b"line 2\n", b"two\n"))
    assert bench.content(rest, "g") == swapped(BASE, (b"line 1\n", b"one\n"))
    assert bench.content(rest, "h") == b"new\n"


@pytest.mark.parametrize(
    "places",
    [
        pytest.param({b"f": [LineRange(1, 30)]}, id="all of it is there"),
        pytest.param({b"f": [LineRange(10, 11)]}, id="none of it is there"),
        pytest.param({b"g": [LineRange(1, 30)]}, id="none of it is in the file"),
    ],
)
def test_there_is_no_rest_where_the_place_does_not_divide_the_reference(bench: Bench, places: Places) -> None:
    assert all_but_places(bench.store, bench.reference(f=REFERENCE), places) is None


def test_the_whole_is_all_of_it(bench: Bench) -> None:
    reference = bench.reference(f=REFERENCE, h=b"new\n")
    part = whole(bench.store, reference)
    assert (part.tree, part.scope) == (reference.edited_tree, "all")
    assert part.covers(b"f", LineRange(20, 20))
