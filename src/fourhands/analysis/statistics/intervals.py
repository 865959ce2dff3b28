"""A 95 % interval, and those of one count of independent trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["CONFIDENCE", "Interval", "clopper_pearson", "wilson"]

CONFIDENCE: Final = 0.95
"""Of every interval here."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval of a rate, or of a difference of rates, as fractions; ``method`` names its rule in words."""

    low: float
    high: float
    method: str


def wilson(successes: int, n: int) -> Interval | None:
    """The score interval of Wilson (1927): all trials as independent. ``None`` without trials.

    Raises:
        ValueError: more successes than trials, or fewer than none.
    """
    return _binomial(successes, n, "wilson", "Wilson")


def clopper_pearson(successes: int, n: int) -> Interval | None:
    """The exact interval of Clopper and Pearson (1934), which covers at least 95 %. ``None`` without trials.

    Raises:
        ValueError: more successes than trials, or fewer than none.
    """
    return _binomial(successes, n, "exact", "exact (Clopper–Pearson)")


def _binomial(successes: int, n: int, method: Literal["wilson", "exact"], name: str) -> Interval | None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes in {n} trials: give 0 … n")
    if not n:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415 - takes a second, and only tables need it

    found = binomtest(successes, n).proportion_ci(confidence_level=CONFIDENCE, method=method)
    return Interval(float(found.low), float(found.high), name)
