"""What one action of the agent did to files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fourhands.model.text import LineRange, Region

__all__ = ["Touch", "TouchKind", "touches_region"]

TouchKind = Literal["read", "edit"]


@dataclass(frozen=True, slots=True)
class Touch:
    """One file that an action read or edited.

    ``lines`` are ranges in the file **as it stood before the action**; ``None`` means the whole file, or that
    the command does not tell which lines. ``path`` is relative to the repository; one outside it is no touch.
    """

    path: str
    kind: TouchKind
    lines: tuple[LineRange, ...] | None = None


def touches_region(touch: Touch, region: Region) -> bool:
    """Whether ``touch`` reached ``region`` (same coordinates). Unknown lines count as reaching it."""
    if touch.path != region.path:
        return False
    return touch.lines is None or any(lines.overlaps(region.lines) for lines in touch.lines)
