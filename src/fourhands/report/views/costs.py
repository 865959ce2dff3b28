"""What it cost, and of how many tokens of which kind."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Final

from fourhands.analysis.costs import dollars as dollars_told
from fourhands.analysis.findings.costs import CostRow, Tokens, cost_table
from fourhands.analysis.study import Study
from fourhands.model.price import Cost
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, agent_fields, field, table, unless_vanilla
from fourhands.report.views.numbers import UNKNOWN, count, dollars

__all__ = ["FIELDS", "costs"]


def _delta(row: CostRow) -> Cell:
    if row.delta is None:
        return Cell(UNKNOWN)
    sign = "−" if row.delta < 0 else "+"
    return Cell(f"{sign}{dollars_told(Cost(Decimal(str(abs(row.delta)))))}", row.delta)


def _tokens(name: str, title: str, says: str, of: Callable[[Tokens], float | None]) -> Field[CostRow]:
    return field(
        f"tokens{name}",
        title,
        lambda row: count(of(row.tokens), mark="≥ " if row.uncounted_replies else ""),
        f"mean over scored trials: {says}",
    )


FIELDS: Final[tuple[Field[CostRow], ...]] = (
    *agent_fields(CostRow),
    field(
        "cost",
        "cost",
        lambda row: dollars(row.per_trial),
        "mean over scored trials in US dollars, by the price table",
        more=("cost_at_least",),
    ),
    field(
        "delta_cost",
        "Δ cost",
        unless_vanilla(_delta),
        "difference to vanilla's mean, where both are known in whole",
    ),
    field(
        "cost_per_resolved",
        "per resolved",
        lambda row: dollars(row.per_resolved),
        "cost of all scored trials, by those that are resolved",
        more=("cost_per_resolved_at_least",),
    ),
    field(
        "cost_total",
        "in all",
        lambda row: dollars(row.total),
        "of all trials that have run",
        more=("cost_total_at_least",),
    ),
    field(
        "user_cost_total",
        "user's model",
        lambda row: dollars(row.user_total),
        "of the user's own model, in all; in no other cost",
        more=("user_cost_total_at_least",),
    ),
    _tokens("", "tokens", "input and output", lambda found: found.total),
    _tokens("_input", "input", "uncached input", lambda found: found.input),
    _tokens("_cache_read", "cache read", "input read from a cache", lambda found: found.cache_read),
    _tokens("_cache_write", "cache write", "input written to a cache", lambda found: found.cache_write),
    _tokens("_output", "output", "output, reasoning included", lambda found: found.output),
    _tokens(
        "_reasoning", "reasoning", "the part of the output that is reasoning", lambda found: found.reasoning
    ),
    field(
        "uncounted_replies",
        "uncounted",
        lambda row: count(row.uncounted_replies),
        "replies whose tokens the provider did not tell",
    ),
)


def costs(study: Study) -> TableView | None:
    """Each agent and model under each condition, by the study's prices."""
    rows = cost_table(study)
    said = [f"Prices: {study.prices.name}."] if study.prices.name else []
    if any(row.uncounted_replies for row in rows):
        said.append(notes.UNCOUNTED)
    return table("costs", "Costs and tokens", rows, FIELDS, notes=said)
