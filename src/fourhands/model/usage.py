"""Tokens of one exchange with a model, counted the same way on every wire."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["Usage"]


@dataclass(frozen=True, slots=True)
class Usage:
    """``input`` excludes what was read from or written to a cache; ``output`` includes ``reasoning``."""

    input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        """Input (uncached and cached) plus output."""
        return self.input + self.cache_read + self.cache_write + self.output

    def __add__(self, other: Usage) -> Usage:
        """Field by field."""
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))
