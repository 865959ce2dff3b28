"""Numbers as people read them, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fourhands.analysis.statistics import Interval

__all__ = ["SMALLEST_P", "count", "listed", "p_value", "percent", "points", "reach"]

SMALLEST_P: Final = 0.001
"""Below it a p is not told more exactly."""

_LISTED: Final = 5


def points(difference: float) -> str:
    """A difference of rates in percentage points, signed: ``−7.7``."""
    text = f"{difference * 100:+.1f}"
    return "0.0" if float(text) == 0 else text.replace("-", "−")


def reach(interval: Interval) -> str:
    """From where to where an interval of a difference goes, in percentage points."""
    return f"{points(interval.low)} to {points(interval.high)}"


def percent(rate: float) -> str:
    """A rate: ``84.1 %``, ``100 %``."""
    text = f"{rate * 100:.1f}"
    return f"{text.removesuffix('.0')} %"


def p_value(p: float) -> str:
    """``p = 0.031``, ``p < 0.001``."""
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p = {p:.2g}"


def count(n: int, one: str, many: str | None = None) -> str:
    """``1 task``, ``2 tasks``."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """The first few, and how many more there are."""
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
