"""What a final state would be without the user's edit, and with the reference repair in its place."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourhands.model.text import LineRange, Region
from fourhands.workspace.at_place import as_reference_at
from fourhands.workspace.compose import Conflict, MergedTree, compose
from fourhands.workspace.control import Control, control
from fourhands.workspace.displaced import home
from fourhands.workspace.edit import CompiledEdit
from fourhands.workspace.file_edit import EditPart, FileEdit
from fourhands.workspace.part import Part, Scope, all_but_places, parts_at, whole
from fourhands.workspace.revert import Reverted, place_in_base, revert
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import TreeClashError

__all__ = ["Counterfactuals", "Elsewhere", "Replaced", "counterfactuals"]

type State = MergedTree | Conflict


@dataclass(frozen=True, slots=True)
class Replaced:
    """A part of the reference in the edit's place (``instead``), and the control: with the edit (see `Control`).

    There is no control where ``instead`` could not be composed.
    """

    scope: Scope
    instead: State
    control: Control | None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The reference everywhere but at the edit's place: on the ``final`` state, and (the control) on the ``base``."""

    final: State
    base: MergedTree


@dataclass(frozen=True, slots=True)
class Counterfactuals:
    """The states to verify. ``stood``: whether anything of the edit was left in the final state, wherever.

    ``replaced`` has the narrower part first; it is empty when the reference leaves the edited files alone.
    ``at_place`` has the edit's place as the reference has it, whoever wrote there since, and all else as it stands.
    ``whole`` takes all of the reference: on ``at_place``, where nothing of the edit stands; else ``None`` where the
    last of ``replaced`` does. ``elsewhere`` is ``None`` where all of the reference, or none of it, lies at the place.
    """

    stood: bool
    without_edit: State
    replaced: tuple[Replaced, ...]
    at_place: MergedTree | None = None
    whole: Replaced | None = None
    elsewhere: Elsewhere | None = None


def counterfactuals(
    store: ObjectStore,
    tree: str,
    edits: Sequence[FileEdit],
    reference: CompiledEdit,
    regions: Sequence[Region] = (),
) -> Counterfactuals:
    """Compose all states of one trial.

    Where the reference contradicts what the agent itself wrote at that place, the reference's lines are taken.
    Where the agent wrote into the edit, the edit cannot be taken out by itself: what stood before it is put back,
    provided that the reference then says what belongs there; else nobody knows, and the state is a conflict.

    Args:
        store: holds all that is named here; what is composed is written to it.
        tree: the final state.
        edits: what the user wrote, file by file, the newest first.
        reference: compiled against the base.
        regions: what the edits were about, in base coordinates.

    Raises:
        GitError: a tree or a content is not in the store.
    """
    removed = revert(store, edits, tree)
    forced = revert(store, edits, tree, force=True) if removed.contested else removed
    places = _places(store, edits, reference.base_tree, regions)
    contested = _in_base(store, removed.contested, reference.base_tree)
    homes = _homes(store, edits, reference.base_tree, tree)
    base_tree = reference.base_tree

    def replaced(part: Part) -> Replaced:
        instead = _instead(store, forced, base_tree, part, contested=contested, homes=homes)
        beside = None if isinstance(instead, Conflict) else control(store, forced.tree, instead.tree, tree)
        return Replaced(part.scope, instead, beside)

    parts = parts_at(store, reference, places)
    everything = whole(store, reference)
    at_place = as_reference_at(store, tree, reference, places, homes)
    changed = removed.tree != tree or bool(contested) or bool(removed.stuck)
    stood = changed or any(edit.stands() for edit in edits)
    if stood:
        is_new = all(part.tree != everything.tree for part in parts)
        last = replaced(everything) if is_new else None
    else:
        last = Replaced("all", _merged(store, base_tree, at_place, everything.tree, homes), None)
    rest = all_but_places(store, reference, places)
    return Counterfactuals(
        stood=stood,
        without_edit=_removed(removed),
        replaced=tuple(map(replaced, parts)),
        at_place=MergedTree(at_place),
        whole=last,
        elsewhere=Elsewhere(_merged(store, base_tree, tree, rest, homes), MergedTree(rest)) if rest else None,
    )


def _merged(
    store: ObjectStore, base_tree: str, tree: str, theirs_tree: str, homes: Mapping[bytes, bytes]
) -> State:
    """``tree`` with what leads from the base to ``theirs_tree``, of which the lines are taken where both wrote."""
    base, theirs = (_moved(store, each, homes) for each in (base_tree, theirs_tree))
    return compose(store, base, tree, theirs, favour_theirs=True)


def _removed(removed: Reverted) -> State:
    paths = [part.edit.path for part in removed.contested] + list(removed.stuck)
    return _conflict(paths) if paths else MergedTree(removed.tree)


def _instead(
    store: ObjectStore,
    forced: Reverted,
    base_tree: str,
    part: Part,
    *,
    contested: Mapping[bytes, list[LineRange]],
    homes: Mapping[bytes, bytes],
) -> State:
    unknown = [path for path, places in contested.items() if not all(part.covers(path, at) for at in places)]
    if unknown or forced.stuck:
        return _conflict([*unknown, *forced.stuck])
    return _merged(store, base_tree, forced.tree, part.tree, homes)


def _homes(store: ObjectStore, edits: Sequence[FileEdit], base_tree: str, tree: str) -> Mapping[bytes, bytes]:
    """Files of the base that are elsewhere by now, with the edits: the reference's part follows them there."""
    base, files = store.read_tree(base_tree), store.read_tree(tree)
    homes: dict[bytes, bytes] = {}
    for edit in edits:
        there, entry = home(store, files, edit), base.get(edit.path)
        if edit.path in homes or entry is None or there in base:
            continue
        try:
            base.set(there, entry)
        except TreeClashError:
            continue  # the base has a file where there is a folder by now
        homes[edit.path] = there
    return homes


def _moved(store: ObjectStore, tree: str, homes: Mapping[bytes, bytes]) -> str:
    files = store.read_tree(tree)
    for path, there in homes.items():
        entry = files.get(path)
        files.remove(path)
        if entry is not None:
            files.set(there, entry)
    return store.write_tree(files)


def _places(
    store: ObjectStore, edits: Sequence[FileEdit], base_tree: str, regions: Sequence[Region]
) -> Mapping[bytes, list[LineRange]]:
    """Where the edits lie in the base, with their regions."""
    every = [EditPart(edit, hunk) for edit in edits for hunk in edit.hunks or (None,)]
    places = _in_base(store, every, base_tree)
    for region in regions:
        places[os.fsencode(region.path)].append(region.lines)
    return places


def _in_base(
    store: ObjectStore, parts: Sequence[EditPart], base_tree: str
) -> defaultdict[bytes, list[LineRange]]:
    base = store.read_tree(base_tree)
    places: defaultdict[bytes, list[LineRange]] = defaultdict(list)
    for part in parts:
        path = part.edit.path
        places[path].append(place_in_base(store, part, base.get(path)))
    return places


def _conflict(paths: Sequence[bytes]) -> Conflict:
    return Conflict(tuple(map(os.fsdecode, dict.fromkeys(paths))))
