"""The part of an edit that lies at certain places: of a reference repair, what belongs where the user wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fourhands.model.ablation import ProbeScope as Scope
from fourhands.model.text import LineRange, split_lines
from fourhands.workspace.edit import CompiledEdit, EditedFile, variant
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import Entry

__all__ = ["Part", "Scope", "all_but_places", "meet", "parts_at", "whole"]


@dataclass(frozen=True, slots=True)
class Part:
    """Some hunks of an edit. ``tree`` is the base with them alone.

    ``scope`` tells which: those at the ``place``, all in the ``files``, or ``all``. ``taken`` are their lines in the
    base.
    """

    scope: Scope
    tree: str
    taken: Mapping[bytes, tuple[LineRange, ...]]

    def covers(self, path: bytes, lines: LineRange) -> bool:
        """Whether a hunk of the part overlaps or adjoins these lines of the base."""
        return any(meet(taken, lines) for taken in self.taken.get(path, ()))


def parts_at(
    store: ObjectStore, edit: CompiledEdit, places: Mapping[bytes, Sequence[LineRange]]
) -> tuple[Part, ...]:
    """The parts of ``edit`` at ``places``, the narrower first; none if it leaves those files alone.

    Args:
        store: holds the edit; the parts' trees are written to it.
        edit: compiled against the base.
        places: path to lines, in base coordinates.
    """
    files = [file for file in edit.files if file.path in places]
    near = {file.path: _near(file, places[file.path]) for file in files}
    every = {file.path: range(len(file.hunks)) for file in files}
    parts: list[Part] = []
    scopes: tuple[tuple[Scope, Mapping[bytes, Sequence[int]]], ...] = (("place", near), ("files", every))
    for scope, chosen in scopes:
        taken = [file for file in files if chosen[file.path] or _is_whole(file)]
        if taken:
            part = _part(store, edit, scope, taken, chosen)
            parts += [part] if all(part.tree != other.tree for other in parts) else []
    return tuple(parts)


def whole(store: ObjectStore, edit: CompiledEdit) -> Part:
    """All of ``edit`` as one part; ``store`` holds it."""
    return _part(store, edit, "all", edit.files, {file.path: range(len(file.hunks)) for file in edit.files})


def all_but_places(
    store: ObjectStore, edit: CompiledEdit, places: Mapping[bytes, Sequence[LineRange]]
) -> str | None:
    """The base with all hunks of ``edit`` that do not lie at ``places``; ``None`` if all do, or none does.

    Args:
        store: holds the edit; the tree is written to it.
        edit: compiled against the base.
        places: path to lines, in base coordinates.
    """
    near = {file.path: _near(file, places.get(file.path, ())) for file in edit.files}
    at_places = {file.path for file in edit.files if _is_whole(file) and file.path in places}
    rest = {
        file.path: [n for n in range(len(file.hunks)) if n not in near[file.path]]
        for file in edit.files
        if file.path not in at_places
    }
    taken = [file for file in edit.files if file.path in rest and (rest[file.path] or _is_whole(file))]
    if not taken or not (at_places or any(near.values())):
        return None
    return _part(store, edit, "all", taken, rest).tree


def _part(
    store: ObjectStore,
    edit: CompiledEdit,
    scope: Scope,
    files: Iterable[EditedFile],
    chosen: Mapping[bytes, Sequence[int]],
) -> Part:
    tree = store.read_tree(edit.base_tree)
    taken: dict[bytes, tuple[LineRange, ...]] = {}
    for file in files:
        if file.base is None or file.edited is None or _is_whole(file):
            taken[file.path] = (_all_lines(store, file.base),)
            entry = file.edited
        else:
            taken[file.path] = tuple(file.hunks[number].old for number in chosen[file.path])
            sides = store.get_blob(file.base.blob), store.get_blob(file.edited.blob)
            content = variant(*sides, file.hunks, chosen[file.path])
            entry = Entry(file.edited.mode, store.put_blob(content))
        if entry is None:
            tree.remove(file.path)
        else:
            tree.set(file.path, entry)
    return Part(scope, store.write_tree(tree), taken)


def _is_whole(file: EditedFile) -> bool:
    """Whether the file can only be taken as one: created, deleted, binary, or changed in mode alone."""
    return file.base is None or file.edited is None or not file.hunks


def _all_lines(store: ObjectStore, entry: Entry | None) -> LineRange:
    return LineRange(1, len(split_lines(store.get_blob(entry.blob))) if entry else 0)


def _near(file: EditedFile, places: Sequence[LineRange]) -> tuple[int, ...]:
    return tuple(n for n, hunk in enumerate(file.hunks) if any(meet(hunk.old, place) for place in places))


def meet(one: LineRange, other: LineRange) -> bool:
    """Whether two ranges share a line or nothing lies between them; an empty one stands between two lines."""
    return one.start <= other.end + 1 and other.start <= one.end + 1
