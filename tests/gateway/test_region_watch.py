from __future__ import annotations

from pathlib import Path

from fourhands.gateway.region_watch import RegionText, RegionWatch
from fourhands.model.text import LineRange, Region
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import REGULAR, Entry, MutableTree

BASE = b"".join(b"line %d\n" % n for n in range(1, 21))
REGION = Region("a.py", LineRange(10, 12))


class Scene:
    def __init__(self, folder: Path) -> None:
        self.store = ObjectStore(folder / "objects.git")
        self.tree = self._tree(BASE)
        self.watch = RegionWatch(self.store, self.tree, [REGION])

    def _tree(self, content: bytes | None) -> str:
        files = {} if content is None else {b"a.py": Entry(REGULAR, self.store.put_blob(content))}
        return self.store.write_tree(MutableTree(files))

    def becomes(self, content: bytes | None) -> list[RegionText]:
        tree = self._tree(content)
        changes, self.tree = self.store.diff(self.tree, tree), tree
        return self.watch.after(changes)


def test_a_change_elsewhere_moves_the_region_and_leaves_its_text(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    assert scene.becomes(b"new\nnewer\n" + BASE) == [RegionText(REGION, None)]
    (found,) = scene.becomes(b"new\nnewer\n" + BASE.replace(b"line 11\n", b"LINE 11\n"))
    assert found.text is not None


def test_equal_texts_have_equal_names_and_the_way_back_is_no_change(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    (first,) = scene.becomes(BASE.replace(b"line 11\n", b"other\n"))
    (second,) = scene.becomes(BASE.replace(b"line 11\n", b"third\n"))
    assert len({None, first.text, second.text}) == 3
    assert scene.becomes(BASE.replace(b"line 11\n", b"other\n")) == [first]
    assert scene.becomes(BASE) == [RegionText(REGION, None)]


def test_a_file_that_goes_and_comes_back_reads_as_before(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    (gone,) = scene.becomes(None)
    assert gone.text is not None
    assert scene.becomes(BASE) == [RegionText(REGION, None)]
    (changed,) = scene.becomes(BASE.replace(b"line 12\n", b""))
    assert changed.text not in {None, gone.text}


def test_nothing_is_said_of_other_files(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "objects.git")
    blob = store.put_blob(BASE)
    one = store.write_tree(MutableTree({b"a.py": Entry(REGULAR, blob)}))
    two = store.write_tree(MutableTree({b"a.py": Entry(REGULAR, blob), b"b.py": Entry(REGULAR, blob)}))
    assert RegionWatch(store, one, [REGION]).after(store.diff(one, two)) == []
