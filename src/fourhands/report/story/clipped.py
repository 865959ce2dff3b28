"""A text as a story holds it: whole, or its head and tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fourhands.report.text import visible

__all__ = ["Clipped", "clipped_json"]


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text, or its head and tail with what was left out between them."""

    head: str
    tail: str = ""
    lines_left_out: int = 0
    bytes_left_out: int = 0

    @property
    def left_out(self) -> str | None:
        """What is missing, in words; ``None`` if nothing is."""
        if not self.bytes_left_out:
            return None
        lines = f"{_count(self.lines_left_out, 'line')}, " if self.lines_left_out else ""
        return f"{lines}{_size(self.bytes_left_out)} left out"


def _size(count: int) -> str:
    for unit, name in ((1 << 20, "MB"), (1 << 10, "KB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return _count(count, "byte")


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def clipped_json(text: Clipped | None) -> dict[str, Any] | None:
    """As plain JSON, every text made visible."""
    if text is None:
        return None
    return {
        "head": visible(text.head),
        "tail": visible(text.tail),
        "lines_left_out": text.lines_left_out,
        "bytes_left_out": text.bytes_left_out,
        "left_out": text.left_out,
    }
