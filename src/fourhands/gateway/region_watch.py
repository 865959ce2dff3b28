"""Regions whose text is watched: where they are now, and whether they still read as in the base."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourhands.model.text import LineRange, Region, split_lines
from fourhands.workspace.changes import FileChange
from fourhands.workspace.regions import carry
from fourhands.workspace.store import ObjectStore, blob_id

__all__ = ["RegionText", "RegionWatch"]


@dataclass(frozen=True, slots=True)
class RegionText:
    """What became of a region (base coordinates). ``text`` names its text now, ``None`` where that is the base's."""

    region: Region
    text: str | None


@dataclass
class _Watched:
    region: Region
    blob: str | None
    text: bytes
    lines: LineRange


class RegionWatch:
    """Follows regions from the base tree on, whoever changes them."""

    def __init__(self, store: ObjectStore, base_tree: str, regions: Iterable[Region]) -> None:
        self._store = store
        self._watched: list[_Watched] = []
        wanted = list(dict.fromkeys(regions))
        files = store.read_tree(base_tree) if wanted else None
        for region in wanted:
            entry = files.get(os.fsencode(region.path)) if files else None
            blob = entry.blob if entry else None
            text = _text(store.get_blob(blob), region.lines) if blob else b""
            self._watched.append(_Watched(region, blob, text, region.lines))

    def after(self, changes: Sequence[FileChange]) -> list[RegionText]:
        """Carry the regions through changes, and say how those in the changed files read now."""
        changed = {change.path: change for change in changes}
        return [
            RegionText(watched.region, self._follow(watched, changed[watched.region.path]))
            for watched in self._watched
            if watched.region.path in changed
        ]

    def _follow(self, watched: _Watched, change: FileChange) -> str | None:
        if change.new_blob == watched.blob:  # however it came back, it is the base's again
            watched.lines = watched.region.lines
            return None
        watched.lines = carry(watched.lines, change.hunks)
        text = _text(self._store.get_blob(change.new_blob), watched.lines) if change.new_blob else b""
        return None if text == watched.text else blob_id(text)


def _text(content: bytes, lines: LineRange) -> bytes:
    return b"".join(split_lines(content)[lines.start - 1 : lines.end])
