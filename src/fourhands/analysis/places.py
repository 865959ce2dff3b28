"""Where the lines of a user's edit are, carried through later changes. Pure.

Looser than line attribution, and known from the hunks alone: a place is all that now stands where the user's lines
stood, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fourhands.model.text import LineRange

__all__ = ["Place", "carried", "places_written", "reaches"]


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a file; ``None`` is the whole file, of which no lines are known."""

    path: str
    lines: LineRange | None


def places_written(files: Iterable[dict[str, Any]]) -> list[Place]:
    """The places of a user's change, from its event's ``files``. Of a deletion: the lines around it."""
    found: list[Place] = []
    for file in files:
        new = [LineRange(start, end) for _, _, start, end in file["hunks"]]
        found += [Place(file["path"], _at_least_a_gap(lines)) for lines in new]
        if not new and file["old"] != file["new"]:
            found.append(Place(file["path"], None))
    return found


def carried(place: Place, files: Iterable[dict[str, Any]]) -> Place | None:
    """Where a place is after a change; ``None`` if its file is gone.

    Lines put in between its lines, and lines that replace any of them, belong to it. Of a place of which
    nothing is left, the lines around it remain.
    """
    for file in files:
        if file["path"] == place.path:
            if file["new"] is None:
                return None
            return place if place.lines is None else Place(place.path, _carry(place.lines, file["hunks"]))
    return place


def reaches(place: Place, path: str, lines: Sequence[LineRange] | None) -> bool:
    """Whether ``lines`` of ``path`` (``None``: all, or unknown ones) share a line with the place."""
    if path != place.path:
        return False
    if lines is None or place.lines is None:
        return True
    return any(each.overlaps(place.lines) for each in lines)


def _carry(lines: LineRange, hunks: Iterable[Sequence[int]]) -> LineRange:
    start, end = lines.start, lines.end
    first, shift = start, 0
    for old_start, old_end, new_start, new_end in hunks:
        change = (new_end - new_start) - (old_end - old_start)
        if old_end < lines.start and old_start <= lines.start:
            first += change
        elif old_start > lines.end:
            break
        else:
            if old_start <= start:
                first = new_start
            if old_end >= end:
                return _at_least_a_gap(LineRange(first, new_end))
        shift += change
    return _at_least_a_gap(LineRange(first, end + shift))


def _at_least_a_gap(lines: LineRange) -> LineRange:
    return lines if len(lines) else LineRange(max(1, lines.start - 1), lines.start)
