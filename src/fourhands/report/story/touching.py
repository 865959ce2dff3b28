"""Which touch it was that set a trigger off, from what the trigger says of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from fourhands.model.text import LineRange
from fourhands.report.story.model import Touched

__all__ = ["Reason", "mark", "touched"]

_REASON: Final = re.compile(r"(read|edit) of (.+):(\d+)-(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reason:
    """A touch of a region: its kind, and the region as it stood."""

    kind: str
    path: str
    lines: LineRange

    @classmethod
    def of(cls, why: object) -> Reason | None:
        """Read a trigger's ``why``; ``None`` where it was no touch: a step, a time, a progress."""
        match = _REASON.fullmatch(why) if isinstance(why, str) else None
        if match is None:
            return None
        return cls(match[1], match[2], LineRange(int(match[3]), int(match[4])))


def touched(found: Iterable[dict[str, Any]]) -> tuple[Touched, ...]:
    """The ``touches`` of an event."""
    return tuple(
        Touched(
            touch["path"],
            touch["kind"],
            None if touch["lines"] is None else tuple((start, end) for start, end in touch["lines"]),
        )
        for touch in found
    )


def mark(touches: Iterable[Touched], reason: Reason) -> tuple[Touched, ...]:
    """``touches``, those that reached the region marked."""
    return tuple(replace(touch, fired=True) if _reached(touch, reason) else touch for touch in touches)


def _reached(touch: Touched, reason: Reason) -> bool:
    if (touch.path, touch.kind) != (reason.path, reason.kind):
        return False
    return touch.lines is None or any(LineRange(*pair).overlaps(reason.lines) for pair in touch.lines)
