"""Two changes of one base together, file by file: how an edit and a reference repair are composed."""

from __future__ import annotations

import os
from dataclasses import dataclass

from fourhands.workspace.store import ObjectStore
from fourhands.workspace.three_way import merge_entries
from fourhands.workspace.tree import TreeClashError

__all__ = ["Conflict", "MergedTree", "compose"]


@dataclass(frozen=True, slots=True)
class MergedTree:
    """The tree that holds both changes."""

    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The files on which the two sides contradict each other."""

    paths: tuple[str, ...]


def compose(
    store: ObjectStore, base_tree: str, ours_tree: str, theirs_tree: str, *, favour_theirs: bool = False
) -> MergedTree | Conflict:
    """Three-way merge of whole trees; renames are a deletion and a creation.

    With ``favour_theirs`` their side is taken of what is contested (see ``merge_entries``); then only a path that
    would be a file and a folder at once is a conflict.

    Raises:
        GitError: a tree is not in the store.
    """
    base, merged, theirs = map(store.read_tree, (base_tree, ours_tree, theirs_tree))
    conflicts = []
    additions = []
    for change in store.diff(base_tree, theirs_tree):
        path = os.fsencode(change.path)
        sides = base.get(path), merged.get(path), theirs.get(path)
        result = merge_entries(store, *sides, favour_theirs=favour_theirs)
        if result is None:
            conflicts.append(change.path)
        elif result.entry is None:
            merged.remove(path)
        else:
            additions.append((path, result.entry))
    for path, entry in additions:
        try:
            merged.set(path, entry)
        except TreeClashError as clash:
            conflicts.append(str(clash))
    return Conflict(tuple(conflicts)) if conflicts else MergedTree(store.write_tree(merged))
