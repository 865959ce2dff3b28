"""Which lines of which files flow through a pipe.

``cat -n f | head -50 | tail -20`` shows lines 31 to 50 of ``f``: each command narrows what the one before it
let through. Lengths of files are not known, so a range may be open at its end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from fourhands.model.text import LineRange

__all__ = [
    "OPEN_END",
    "WHOLE",
    "Flow",
    "Listing",
    "Piece",
    "gather",
    "last",
    "renumber",
    "scatter",
    "select",
    "union",
]

OPEN_END: Final = 2**31 - 1
"""A range that ends here goes to the end of its file, wherever that is."""
WHOLE: Final = (LineRange(1, OPEN_END),)


@dataclass(frozen=True, slots=True)
class Piece:
    """Lines of one file, in order; never none.

    If not ``exact``, it is unknown which of ``lines`` they are. With ``numbered``, each line shows its number in
    the file, so that output can tell.
    """

    path: str
    lines: tuple[LineRange, ...] = WHOLE
    exact: bool = True
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """Files that only the output names. ``roots`` are the folders they lie below, ``""`` for the repository.

    ``lines`` is what is shown of each file, as far as the command tells.
    """

    roots: tuple[str, ...]
    lines: tuple[LineRange, ...] | None = None


Flow = tuple[Piece | Listing, ...]


def select(flow: Flow, wanted: Iterable[LineRange]) -> Flow:
    """The flow's lines at the positions ``wanted``, counted from 1 across its pieces.

    Past a piece of unknown length positions are unknown, and so are the lines.
    """
    ranges = tuple(wanted)
    chosen: list[Piece | Listing] = []
    offset: int | None = 0
    for piece in flow:
        if isinstance(piece, Listing):
            chosen.append(piece)
            offset = None
        elif offset is None or not piece.exact:
            chosen.append(replace(piece, exact=False))
            offset = None
        else:
            lines, offset = _pick(piece.lines, ranges, offset)
            if lines:
                chosen.append(replace(piece, lines=lines))
            if offset is not None and all(r.end <= offset for r in ranges):
                break
    return tuple(chosen)


def last(flow: Flow, count: int) -> Flow:
    """The last ``count`` lines: known only if the whole length is."""
    total = 0
    for piece in flow:
        if isinstance(piece, Listing) or not piece.exact or piece.lines[-1].end == OPEN_END:
            return scatter(flow)
        total += sum(map(len, piece.lines))
    return select(flow, [LineRange(max(1, total - count + 1), total)])


def scatter(flow: Flow) -> Flow:
    """Some of the same lines, but nobody knows which, or in what order."""
    return tuple(replace(p, exact=False) if isinstance(p, Piece) else replace(p, lines=None) for p in flow)


def renumber(flow: Flow, *, numbered: bool) -> Flow:
    """The same lines, each with its number, or without."""
    return tuple(replace(p, numbered=numbered) if isinstance(p, Piece) else p for p in flow)


def union(ranges: Iterable[LineRange]) -> list[LineRange]:
    """The same lines as ranges in order, apart from each other."""
    merged: list[LineRange] = []
    for lines in sorted(ranges):
        if merged and lines.start <= merged[-1].end + 1:
            merged[-1] = LineRange(merged[-1].start, max(merged[-1].end, lines.end))
        else:
            merged.append(lines)
    return merged


def gather(numbers: Iterable[int]) -> tuple[LineRange, ...]:
    """Lines, given one by one, as ranges in order, apart from each other."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return tuple(LineRange(first, last) for first, last in runs)


def _pick(
    lines: tuple[LineRange, ...], wanted: tuple[LineRange, ...], offset: int
) -> tuple[tuple[LineRange, ...], int | None]:
    """Lines of one piece that starts after ``offset`` lines; and the offset after it, if known."""
    found: list[LineRange] = []
    after: int | None = offset
    for part in lines:
        assert after is not None, "only the last range of a piece is open"
        for want in wanted:
            start = part.start + max(0, want.start - after - 1)
            end = OPEN_END if want.end == OPEN_END else part.start + want.end - after - 1
            if start <= min(end, part.end):
                found.append(LineRange(start, min(end, part.end)))
        after = None if part.end == OPEN_END else after + len(part)
    return tuple(found), after
