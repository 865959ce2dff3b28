"""Columns that these tables share: a rate with both of its intervals, a difference with its interval and test.

Each takes the type of the rows first, which cannot be told from a function of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import Difference, Rate
from fourhands.report.table import Cell
from fourhands.report.views.build import Field, field
from fourhands.report.views.numbers import (
    UNKNOWN,
    interval_of,
    percent,
    points,
    points_interval_of,
    probability,
)

__all__ = [
    "INTERVALS",
    "difference_fields",
    "interval_fields",
    "rate_fields",
    "share_fields",
    "tests_of",
    "versus",
]

INTERVALS: Final = "95 % CI: Wilson's, trials as independent, as the paper; by task: clustered by task."
"""The note on the two intervals of a rate."""


def rate_fields[Row](
    kind: type[Row], name: str, title: str, of: Callable[[Row], Rate], definition: str
) -> tuple[Field[Row], ...]:
    """A rate as ``3/4 = 75%``, and its two intervals."""

    def told(row: Row) -> Cell:
        found = of(row)
        text = UNKNOWN if found.rate is None else f"{found.count}/{found.n} = {found.rate:.0%}"
        return Cell(text, found.rate, (found.count, found.n))

    rate: Field[Row] = field(name, title, told, definition, more=(f"{name}_resolved", f"{name}_trials"))
    return rate, *interval_fields(kind, name, title, of)


def share_fields[Row](
    kind: type[Row],
    name: str,
    title: str,
    of: Callable[[Row], Rate],
    definition: str,
    *,
    detail: bool = False,
) -> tuple[Field[Row], ...]:
    """A rate as the paper prints it, ``26.7%``, and its two intervals to the same decimal."""
    rate: Field[Row] = field(
        name,
        title,
        lambda row: replace(percent(of(row).rate, 1), more=(of(row).count, of(row).n)),
        definition,
        more=(f"{name}_count", f"{name}_trials"),
    )
    return rate, *interval_fields(kind, name, title, of, digits=1, detail=detail)


def interval_fields[Row](
    _: type[Row], name: str, title: str, of: Callable[[Row], Rate], *, digits: int = 0, detail: bool = False
) -> tuple[Field[Row], ...]:
    """The two intervals of a rate."""
    return (
        field(
            f"{name}_low",
            f"{title} 95 % CI",
            lambda row: interval_of(of(row).wilson, digits),
            "Wilson's interval of it, trials as independent, as the paper",
            more=(f"{name}_high",),
            detail=detail,
        ),
        field(
            f"{name}_clustered_low",
            f"{title} by task",
            lambda row: interval_of(of(row).clustered, digits),
            "95 % interval of the mean over tasks of each task's rate",
            more=(f"{name}_clustered_high",),
            detail=detail,
        ),
    )


def difference_fields[Row](
    _: type[Row], name: str, title: str, of: Callable[[Row], Difference], definition: str, *, suffix: str = ""
) -> tuple[Field[Row], ...]:
    """A difference in percentage points, its interval, and its p; ``suffix`` tells the p's name from others."""

    def delta(row: Row) -> Cell:
        found = of(row)
        told = points(found.delta, mark="*" if found.incomplete_pairs else "")
        return replace(told, more=(found.pairs, found.incomplete_pairs))

    def p(row: Row) -> Cell:
        test = of(row).test
        return replace(probability(test.p), more=(test.method,)) if test else probability(None)

    return (
        field(
            name,
            title,
            delta,
            f"{definition}, paired by task, in percentage points",
            more=(f"{name}_pairs", f"{name}_incomplete_pairs"),
        ),
        field(
            f"{name}_low",
            f"{title} 95 % CI",
            lambda row: points_interval_of(of(row).interval),
            "95 % interval of it, clustered by task",
            more=(f"{name}_high",),
        ),
        field(
            f"p{suffix}",
            f"{title} p",
            p,
            "of no difference, two-sided, exact, tasks as units",
            more=(f"p{suffix}_method",),
        ),
    )


def versus(one: Cell, other: Cell) -> Cell:
    """Two numbers of the same kind: ``8.7 vs 9.0``."""
    return Cell(f"{one.text} vs {other.text}", one.value, (other.value,))


def tests_of(differences: Iterable[Difference]) -> list[str]:
    """What was tested how, and which tasks are in no difference."""
    found = list(differences)
    methods = dict.fromkeys(each.test.method for each in found if each.test)
    said = [f"p: of no difference, two-sided: {'; '.join(methods)}."] if methods else []
    if any(each.incomplete_pairs for each in found):
        said.append("*: tasks without an outcome that counts on one side are left out of Δ.")
    return said
