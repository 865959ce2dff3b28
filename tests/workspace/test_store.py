from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.errors import InputError
from fourhands.workspace.git import GitError
from fourhands.workspace.pack import build_pack
from fourhands.workspace.store import ObjectStore, blob_id
from fourhands.workspace.tree import EXECUTABLE, REGULAR, SYMLINK, Entry, MutableTree, TreeClashError


def _ls(store: ObjectStore, tree: str) -> list[bytes]:
    return store.git("ls-tree", "-r", "-z", tree).stdout.split(b"\0")[:-1]


@given(data=st.binary(max_size=300))
def test_a_blob_comes_back_as_it_was_and_under_gits_name(long_store: ObjectStore, data: bytes) -> None:
    name = long_store.put_blob(data)
    assert long_store.get_blob(name) == data == long_store.git("cat-file", "blob", name).stdout
    assert name == blob_id(data)


@pytest.mark.parametrize("count", [3, 500])
def test_many_blobs_come_back_loose_or_packed(store: ObjectStore, count: int) -> None:
    blobs = [b"", *(b"%d" % n * n for n in range(count))]
    names = store.put_blobs(blobs)
    assert [store.get_blob(name) for name in names] == blobs
    assert bool(list(store.path.glob("objects/pack/*.pack"))) is (count == 500)
    store.git("fsck", "--strict")


def test_a_pack_holds_equal_objects_once() -> None:
    assert build_pack([(b"blob", b"x")] * 3) == build_pack([(b"blob", b"x")])


_NAMES = st.binary(min_size=1, max_size=4).filter(
    lambda n: not {0, 47} & set(n) and n not in {b".", b"..", b".git"}
)


@given(paths=st.lists(st.lists(_NAMES, min_size=1, max_size=3).map(b"/".join), max_size=8), data=st.data())
def test_a_tree_written_piece_by_piece_equals_gits_own(
    long_store: ObjectStore, paths: list[bytes], data: st.DataObject
) -> None:
    entry = Entry(REGULAR, long_store.put_blob(b"content\n"))
    tree, kept = MutableTree(), {}
    for path in paths:
        try:
            tree.set(path, entry)
        except TreeClashError:
            continue
        kept[path] = entry
        if data.draw(st.booleans()):
            long_store.write_tree(tree)
        if kept and data.draw(st.booleans()):
            victim = data.draw(st.sampled_from(sorted(kept)))
            tree.remove(victim)
            del kept[victim]
    name = long_store.write_tree(tree)
    with long_store.scratch() as folder:
        rows = b"".join(b"%o %s\t%s\0" % (REGULAR, entry.blob.encode(), path) for path in kept)
        long_store.git("update-index", "-z", "--index-info", stdin=rows, index=folder / "index")
        expected = long_store.git("write-tree", index=folder / "index").stdout.decode().strip()
    assert name == expected
    assert {path: entry for path in long_store.read_tree(name)} == kept  # noqa: C420


def test_a_new_folder_in_a_written_one_is_written(store: ObjectStore) -> None:
    entry = Entry(REGULAR, store.put_blob(b"x\n"))
    tree = MutableTree({b"a/f": entry})
    store.write_tree(tree)
    tree.set(b"a/b/c/g", entry)
    assert set(store.read_tree(store.write_tree(tree))) == {b"a/f", b"a/b/c/g"}


def test_a_file_where_a_folder_is_clashes() -> None:
    tree = MutableTree({b"a/b": Entry(REGULAR, "0" * 40)})
    with pytest.raises(TreeClashError, match=r"^a$"):
        tree.set(b"a", Entry(REGULAR, "0" * 40))
    with pytest.raises(TreeClashError, match=r"^a/b$"):
        tree.set(b"a/b/c/d", Entry(REGULAR, "0" * 40))


def test_a_base_store_lends_its_objects_and_is_not_written_to(tmp_path: Path) -> None:
    base = ObjectStore(tmp_path / "base")
    loose = base.put_blob(b"loose")
    packed = base.put_blobs(b"%d" % n for n in range(100))
    before = sorted(path for path in base.path.rglob("*"))
    store = ObjectStore(tmp_path / "trial", base=base.path)
    assert store.put_blob(b"loose") == loose
    assert [store.get_blob(loose), store.get_blob(packed[7])] == [b"loose", b"7"]
    store.put_blob(b"new")
    assert sorted(path for path in base.path.rglob("*")) == before
    with pytest.raises(GitError):
        base.get_blob(blob_id(b"new"))


def test_a_base_that_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not an object store"):
        ObjectStore(tmp_path / "trial", base=tmp_path)


def test_importing_a_directory_keeps_modes_links_and_bytes(store: ObjectStore, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a\nb \xe9").write_bytes(b"\r\n\x0c\xff")
    (root / "run").write_bytes(b"#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("/nonexistent")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    tree = store.import_directory(root)
    modes = {row.partition(b"\t")[2]: int(row.split()[0], 8) for row in _ls(store, tree)}
    assert modes == {"sub/a\nb \xe9".encode(): REGULAR, b"run": EXECUTABLE, b"link": SYMLINK}
    link = store.read_tree(tree).get(b"link")
    assert link
    assert store.get_blob(link.blob) == b"/nonexistent"


def test_importing_what_is_no_directory_is_refused(store: ObjectStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a directory"):
        store.import_directory(tmp_path / "none")


def test_a_gitlink_is_left_out_and_the_tree_still_stands(store: ObjectStore) -> None:
    blob = store.put_blob(b"x\n")
    rows = f"100644 blob {blob}\tkept\n160000 commit {'1' * 40}\tsub\n"
    linked = store.git("mktree", "--missing", stdin=rows.encode()).stdout.decode().strip()
    tree = store.read_tree(linked)
    assert list(tree) == [b"kept"]
    assert _ls(store, store.write_tree(tree)) == [b"100644 blob %s\tkept" % blob.encode()]
