"""A possible neutral edit of one file, as whole lines put in the place of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourhands.model.condition import NeutralKind
from fourhands.model.text import LineRange, split_lines

__all__ = ["Candidate", "Splice", "lines_between", "spliced"]


@dataclass(frozen=True, slots=True)
class Splice:
    """Lines ``old`` (base coordinates) become ``new``, each with its line ending; empty: put in between."""

    old: LineRange
    new: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """``splices`` are in order and apart. ``scope`` are the lines of the function (or class) that holds them.

    ``did`` is what the user may truthfully say ("renamed …"), ``place`` the name of that function, if there is one.
    ``renamed`` is the old and the new name.
    """

    kind: NeutralKind
    splices: tuple[Splice, ...]
    scope: LineRange
    did: str
    place: str | None = None
    renamed: tuple[str, str] | None = None

    def between(self, ranges: Iterable[LineRange]) -> int | None:
        """Lines between the edit and the nearest of ``ranges``, negative where they share any; ``None``: no range."""
        return min(
            (lines_between(splice.old, other) for other in ranges for splice in self.splices), default=None
        )


def lines_between(one: LineRange, other: LineRange) -> int:
    """How many lines stand between two ranges, either of which may be empty; negative where they overlap."""
    return max(one.start - other.end, other.start - one.end) - 1


def spliced(base: bytes, splices: Sequence[Splice]) -> bytes:
    """``base`` with ``splices`` made."""
    lines = split_lines(base)
    for splice in reversed(splices):
        lines[splice.old.start - 1 : splice.old.end] = splice.new
    return b"".join(lines)
