"""When a line that came is a changed form of one that went."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from difflib import SequenceMatcher
from operator import itemgetter
from typing import Final

__all__ = ["SIMILAR", "compared", "most_similar", "without_white_space"]

SIMILAR: Final = 0.6
"""``difflib`` ratio from which on a line is a changed form of another: the cutoff of its `get_close_matches`."""
_MOST_COMPARED: Final = 50
_FEWEST_COMPARED: Final = 3
_MOST_IN_ALL: Final = 2000
"""Comparisons for one hunk: a few tenths of a second."""
_LONGEST: Final = 500
"""Bytes of a line that are compared: the ratio is quadratic in them."""
_SPACE: Final = re.compile(rb"\s+")
_LAST_COMMA: Final = re.compile(rb",(?=[)\]}])")


def without_white_space(text: bytes) -> bytes:
    """What formatters leave alone: ``text`` without white space and commas before a closing bracket."""
    return _LAST_COMMA.sub(b"", _SPACE.sub(b"", text))


def compared(lines: int) -> int:
    """With how many candidates each of so many lines of one hunk is compared."""
    return max(_FEWEST_COMPARED, min(_MOST_COMPARED, _MOST_IN_ALL // lines))


def most_similar(line: bytes, candidates: Sequence[tuple[int, bytes]], near: int, most: int) -> int | None:
    """The position of the candidate that is most like ``line``, white space aside; the first of equals.

    Args:
        line: what went.
        candidates: positions, ascending, and lines.
        near: of many candidates, those around this position are compared,
        most: at most so many.

    Returns:
        ``None`` if none reaches ``SIMILAR``.
    """
    if len(candidates) > most:
        first = bisect_left(candidates, near, key=itemgetter(0)) - most // 2
        first = min(max(first, 0), len(candidates) - most)
        candidates = candidates[first : first + most]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_comparable(line))
    best, found = SIMILAR, None
    for position, candidate in candidates:
        matcher.set_seq1(_comparable(candidate))
        if matcher.real_quick_ratio() >= best and matcher.quick_ratio() >= best:
            ratio = matcher.ratio()
            if ratio > best or (found is None and ratio >= best):
                best, found = ratio, position
    return found


def _comparable(line: bytes) -> str:
    return without_white_space(line)[:_LONGEST].decode("latin-1")
