"""T4: each benchmark apart, with runs that lack different trials."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.long_horizon import LongHorizonRow, Runs, long_horizon_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, mean, points, points_interval_of, probability, word

__all__ = ["FIELDS", "long_horizon"]


def _rate(side: Runs) -> Cell:
    if side.rate is None:
        return Cell(UNKNOWN)
    return Cell(f"{side.rate * 100:.1f}", side.rate, ("/".join(map(str, side.scored)),))


def _side(which: str, title: str) -> tuple[Field[LongHorizonRow], ...]:
    def side(row: LongHorizonRow) -> Runs:
        return row.vanilla if which == "vanilla" else row.touched

    return (
        field(
            f"{which}_resolve",
            title,
            lambda row: _rate(side(row)),
            "resolved, in percent: mean of the repeats' rates, each over its scored trials",
            more=(f"{which}_scored",),
        ),
        field(
            f"{which}_steps",
            f"steps, {title}",
            lambda row: replace(mean(side(row).steps), more=(side(row).observed,)),
            "mean over all trials that have ended, scored or not",
            more=(f"{which}_observed",),
        ),
    )


def _paired(row: LongHorizonRow) -> Cell:
    told = points(row.paired_delta, mark="*" if row.incomplete_pairs else "")
    return replace(told, more=(row.pairs, row.incomplete_pairs))


def _p(row: LongHorizonRow) -> Cell:
    return replace(probability(row.test.p), more=(row.test.method,)) if row.test else probability(None)


FIELDS: Final[tuple[Field[LongHorizonRow], ...]] = (
    field("benchmark", "benchmark", lambda row: word(row.benchmark), "that the tasks are of", numeric=False),
    *agent_fields(LongHorizonRow),
    *_side("vanilla", "alone"),
    *_side("condition", "touched"),
    field(
        "delta", "Δ", lambda row: points(row.delta), "difference of the two rates, as the paper's, in points"
    ),
    field(
        "paired_delta",
        "Δ paired",
        _paired,
        "mean over tasks of the difference, in points; differs from Δ where repeats lack different trials",
        more=("pairs", "incomplete_pairs"),
    ),
    field(
        "paired_delta_low",
        "95 % CI",
        lambda row: points_interval_of(row.paired_interval),
        "of Δ paired, clustered by task",
        more=("paired_delta_high",),
    ),
    field("p", "p", _p, "of no difference, two-sided, tasks as units", more=("p_method",)),
    field("delta_steps", "Δ steps", lambda row: mean(row.delta_steps, sign=True), "of the two means"),
)


def long_horizon(study: Study) -> TableView | None:
    """Each agent and model on each benchmark, vanilla beside each condition; nothing where no plan names one."""
    rows = long_horizon_table(study)
    if all(row.benchmark is None for row in rows):
        return None
    said = ["Δ: difference of mean rates, as the paper's; Δ paired: by task, of tasks scored under both."]
    if any(row.incomplete_pairs for row in rows):
        said.append(notes.INCOMPLETE)
    return table("long-horizon", "Resolve rates by benchmark", rows, FIELDS, notes=said, group=3)
