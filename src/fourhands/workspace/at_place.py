"""A state with certain places of it as a reference has them, whoever wrote there since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fourhands.model.text import LineRange
from fourhands.workspace.edit import CompiledEdit, variant
from fourhands.workspace.lines import diff_contents
from fourhands.workspace.part import meet
from fourhands.workspace.regions import carry
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import Entry, TreeClashError

__all__ = ["as_reference_at"]


def as_reference_at(
    store: ObjectStore,
    tree: str,
    reference: CompiledEdit,
    places: Mapping[bytes, Sequence[LineRange]],
    homes: Mapping[bytes, bytes],
) -> str:
    """``tree`` with the lines at ``places`` as in the base with the reference: what others wrote there is gone.

    Where a file is on one side only, or no text, the place is the whole file. One that cannot be put where a folder
    is by now stays as it is.

    Args:
        store: holds the trees; the new one is written to it.
        tree: the state.
        reference: compiled against the base.
        places: path to lines, in base coordinates.
        homes: files of the base that are elsewhere in ``tree``.

    Raises:
        GitError: a tree or a content is not in the store.
    """
    files = store.read_tree(tree)
    base, wanted = store.read_tree(reference.base_tree), store.read_tree(reference.edited_tree)
    for path, lines in places.items():
        there = homes.get(path, path)
        entry = _as_reference(store, files.get(there), base.get(path), wanted.get(path), lines)
        if entry is None:
            files.remove(there)
            continue
        try:
            files.set(there, entry)
        except TreeClashError:
            continue
    return store.write_tree(files)


def _as_reference(
    store: ObjectStore,
    now: Entry | None,
    base: Entry | None,
    wanted: Entry | None,
    places: Sequence[LineRange],
) -> Entry | None:
    if now is None or base is None or wanted is None:
        return wanted
    old, is_now, is_wanted = (store.get_blob(entry.blob) for entry in (base, now, wanted))
    carried = [carry(place, diff_contents(store, old, is_wanted)) for place in places]
    hunks = diff_contents(store, is_now, is_wanted)
    if not hunks and is_now != is_wanted:
        return wanted
    chosen = [n for n, hunk in enumerate(hunks) if any(meet(hunk.new, place) for place in carried)]
    return Entry(now.mode, store.put_blob(variant(is_now, is_wanted, hunks, chosen)))
