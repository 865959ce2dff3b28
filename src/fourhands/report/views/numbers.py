"""Numbers -> cells: rounded as people read them, unrounded for machines."""

from __future__ import annotations

from fourhands.analysis.costs import dollars as dollars_told
from fourhands.analysis.statistics import Interval
from fourhands.model.price import Cost
from fourhands.report.table import Cell

__all__ = [
    "UNKNOWN",
    "count",
    "dollars",
    "interval_of",
    "mean",
    "percent",
    "points",
    "points_interval_of",
    "probability",
    "word",
]

UNKNOWN = "–"
"""Stands where nothing is known: there is nothing to compute the number of, or the record does not tell it."""

_COARSE = 20.0
"""An interval wider than so many points says nothing by its decimals."""
_LEAST_P = 0.001


def word(text: str | None) -> Cell:
    """A name, as it is."""
    return Cell(UNKNOWN) if text is None else Cell(text, text)


def count(number: float | None, *, mark: str = "") -> Cell:
    """A whole number, with thousands set apart; ``mark`` goes before it."""
    return Cell(UNKNOWN) if number is None else Cell(f"{mark}{_told(number)}", number)


def mean(number: float | None, digits: int = 1, *, sign: bool = False) -> Cell:
    """A number with so many decimals; with ``sign``, as a difference: ``+1.8``."""
    return Cell(UNKNOWN) if number is None else Cell(_told(number, digits, sign=sign), number)


def percent(rate: float | None, digits: int = 0) -> Cell:
    """A rate from 0 to 1: ``67%``."""
    return Cell(UNKNOWN) if rate is None else Cell(f"{rate:.{digits}%}", rate)


def points(difference: float | None, *, mark: str = "") -> Cell:
    """A difference of rates, in percentage points: ``−3.3``; ``mark`` goes behind it."""
    if difference is None:
        return Cell(f"{UNKNOWN}{mark}")
    return Cell(f"{_point(difference, 1)}{mark}", difference)


def interval_of(found: Interval | None, digits: int = 0) -> Cell:
    """Of a rate: ``34–100%``."""
    if found is None:
        return Cell(UNKNOWN)
    return Cell(f"{found.low * 100:.{digits}f}–{found.high * 100:.{digits}f}%", found.low, (found.high,))


def points_interval_of(found: Interval | None) -> Cell:
    """Of a difference of rates, in percentage points: ``−4.3 to −0.2``; without decimals where it is wide."""
    if found is None:
        return Cell(UNKNOWN)
    digits = 0 if (found.high - found.low) * 100 > _COARSE else 1
    return Cell(f"{_point(found.low, digits)} to {_point(found.high, digits)}", found.low, (found.high,))


def probability(p: float | None) -> Cell:
    """A p-value: ``0.03``, ``0.003``, ``<0.001``, ``1``."""
    if p is None:
        return Cell(UNKNOWN)
    if p < _LEAST_P:
        return Cell(f"<{_LEAST_P}", p)
    digits = 3 if p < 0.01 else 2  # noqa: PLR2004 - as many as two that differ need
    return Cell("1" if round(p, digits) == 1 else f"{p:.{digits}f}", p)


def dollars(cost: Cost | None) -> Cell:
    """An amount in US dollars: ``$0.042``, ``≥ $1.20`` where a part is unknown, ``unknown``.

    The value is null unless all of it is known; what is known of it stands in the second field.
    """
    if cost is None:
        return Cell(UNKNOWN)
    return Cell(dollars_told(cost), None if cost.usd is None else float(cost.usd), (float(cost.known),))


def _told(number: float, digits: int = 0, *, sign: bool = False) -> str:
    """Rounded, with a minus as people write it; what rounds to zero is not below it."""
    rounded = round(number, digits)
    before = "−" if rounded < 0 else "+" if sign else ""
    return f"{before}{abs(rounded):,.{digits}f}"


def _point(difference: float, digits: int) -> str:
    return _told(difference * 100, digits, sign=True)
