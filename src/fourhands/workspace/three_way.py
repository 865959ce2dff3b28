"""Three-way merge of one file: what both sides did to the base, or ``None`` where they contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import SYMLINK, Entry

__all__ = ["Merged", "is_binary", "merge_contents", "merge_entries"]

_LOOKED_AT: Final = 8000
"""Bytes git looks at to tell text from binary."""
_NO_ANSWER: Final = 128
"""``git merge-file`` answers the number of conflicts, below this; from here on it is an error."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge without contradiction; ``entry`` is ``None`` where the file is to be absent."""

    entry: Entry | None


def merge_entries(
    store: ObjectStore,
    base: Entry | None,
    ours: Entry | None,
    theirs: Entry | None,
    *,
    favour_theirs: bool = False,
) -> Merged | None:
    """Merge a file of three trees (``None``: not there); ``None`` on a contradiction.

    Modes and links merge as wholes, contents line by line. A deletion contradicts any change. With
    ``favour_theirs`` nothing contradicts: their side is taken, of the contested lines alone where there are lines,
    else of the whole file.
    """
    return _merge(store, base, ours, theirs, favour_theirs=favour_theirs) or (
        Merged(theirs) if favour_theirs else None
    )


def _merge(
    store: ObjectStore, base: Entry | None, ours: Entry | None, theirs: Entry | None, *, favour_theirs: bool
) -> Merged | None:
    if theirs in {ours, base}:
        return Merged(ours)
    if ours == base:
        return Merged(theirs)
    if ours is None or theirs is None:
        return None
    base_mode, base_blob = (base.mode, base.blob) if base else (None, None)
    mode = _pick(base_mode, ours.mode, theirs.mode)
    if mode is None and favour_theirs and SYMLINK not in {ours.mode, theirs.mode}:
        mode = theirs.mode
    blob = _pick(base_blob, ours.blob, theirs.blob)
    if mode is None or (blob is None and SYMLINK in {base_mode, ours.mode, theirs.mode}):
        return None
    if blob is None:
        before = store.get_blob(base_blob) if base_blob else b""
        sides = store.get_blob(ours.blob), store.get_blob(theirs.blob)
        content = merge_contents(store, before, *sides, favour_theirs=favour_theirs)
        if content is None:
            return None
        blob = store.put_blob(content)
    return Merged(Entry(mode, blob))


def merge_contents(
    store: ObjectStore, base: bytes, ours: bytes, theirs: bytes, *, favour_theirs: bool = False
) -> bytes | None:
    """Merge lines as ``git merge-file`` does, byte for byte; ``None`` on a conflict or binary content.

    With ``favour_theirs`` lines in conflict become theirs, and only those.
    """
    if any(map(is_binary, (base, ours, theirs))):
        return None
    with store.scratch() as folder:
        names = []
        for name, data in (("ours", ours), ("base", base), ("theirs", theirs)):
            (folder / name).write_bytes(data)
            names.append(str(folder / name))
        favour = ["--theirs"] if favour_theirs else []
        result = store.git("merge-file", "-p", *favour, *names, codes=tuple(range(_NO_ANSWER)))
    return None if result.code else result.stdout


def is_binary(data: bytes) -> bool:
    """Git's own test."""
    return b"\0" in data[:_LOOKED_AT]


def _pick[T](base: T | None, ours: T, theirs: T) -> T | None:
    """The one that changed, or what both agree on; ``None`` if both changed in different ways."""
    if ours in {theirs, base}:
        return theirs
    return ours if theirs == base else None
