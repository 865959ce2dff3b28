"""T3: each agent left alone and touched, as the paper prints it, with what says how far to trust it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fourhands.analysis.findings.main import MainRow, Side, main_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.deltas import delta_fields, delta_notes
from fourhands.report.views.numbers import (
    UNKNOWN,
    count,
    interval_of,
    mean,
    percent,
    points,
    points_interval_of,
)

__all__ = ["FIELDS", "main"]

_Of = Callable[[MainRow], Side | None]


def _resolve(side: Side | None) -> Cell:
    if side is None or side.resolve is None:
        return Cell(UNKNOWN)
    spread = "" if side.sd is None else f" ± {side.sd * 100:.1f}"
    return Cell(f"{side.resolve * 100:.1f}{spread}", side.resolve, (side.sd, side.repeats, side.scored))


def _rank(side: Side | None) -> Cell:
    if side is None or side.rank is None:
        return Cell(UNKNOWN)
    return Cell(f"{side.rank}{'=' * side.tied}", side.rank)


def _rank_change(row: MainRow) -> Cell:
    return Cell("0", 0) if row.rank_change == 0 else mean(row.rank_change, 0, sign=True)


def _retention(row: MainRow) -> Cell:
    found = row.retention
    if found is None:
        return Cell(UNKNOWN)
    text = percent(found.rate, 1).text + "†" * row.few_repeats
    return Cell(text, found.rate, (found.kept, found.solved))


def _null(row: MainRow) -> Cell:
    return percent(row.retention.null if row.retention else None, 1)


def _excess(row: MainRow) -> Cell:
    excess = row.retention.excess if row.retention else None
    return points(excess.value if excess else None)


def _excess_interval(row: MainRow) -> Cell:
    excess = row.retention.excess if row.retention else None
    return points_interval_of(excess.interval if excess else None)


def _resolve_field(which: str, title: str, says: str, side: _Of) -> Field[MainRow]:
    return field(
        f"{which}_resolve",
        title,
        lambda row: _resolve(side(row)),
        f"resolved {says}, in percent: mean of the repeats' rates ± sample standard deviation over repeats",
        more=(f"{which}_sd", f"{which}_repeats", f"{which}_scored"),
    )


def _rank_field(which: str, title: str, says: str, side: _Of) -> Field[MainRow]:
    return field(
        f"{which}_rank",
        f"rank, {title}",
        lambda row: _rank(side(row)),
        f"by the rate {says}, of the agents that have both; =: shared",
        detail=True,
    )


def _alone(row: MainRow) -> Side | None:
    return row.vanilla


def _touched(row: MainRow) -> Side | None:
    return row.touched


FIELDS: Final[tuple[Field[MainRow], ...]] = (
    *agent_fields(MainRow),
    _resolve_field("vanilla", "alone", "when left alone", _alone),
    _resolve_field("condition", "touched", "under the condition", _touched),
    *delta_fields(MainRow),
    field(
        "retention",
        "retention",
        _retention,
        "of the tasks majority-solved under vanilla, the share majority-solved under the condition",
        more=("kept", "solved"),
    ),
    field(
        "retention_low",
        "ret. 95 % CI",
        lambda row: interval_of(row.retention.interval if row.retention else None),
        "95 % interval of retention",
        more=("retention_high",),
        detail=True,
    ),
    field(
        "null_retention", "null", _null, "retention that noise alone would leave, from vanilla's own repeats"
    ),
    field(
        "excess_loss",
        "excess loss",
        _excess,
        "null − retention, in percentage points: the loss that is the condition's",
    ),
    field(
        "excess_loss_low",
        "exc. 95 % CI",
        _excess_interval,
        "95 % interval of excess loss, clustered by task",
        more=("excess_loss_high",),
        detail=True,
    ),
    _rank_field("vanilla", "alone", "when left alone", _alone),
    _rank_field("condition", "touched", "under the condition", _touched),
    field(
        "rank_change",
        "rank Δ",
        _rank_change,
        "rank left alone − rank touched: positive is better than before",
    ),
    field(
        "vanilla_steps",
        "steps, alone",
        lambda row: mean(row.vanilla.steps if row.vanilla else None),
        "mean over completed trials",
        detail=True,
    ),
    field(
        "condition_steps",
        "steps, touched",
        lambda row: mean(row.touched.steps if row.touched else None),
        "mean over completed trials",
        detail=True,
    ),
    field(
        "delta_steps", "Δ steps", lambda row: mean(row.delta_steps, sign=True), "difference of the two means"
    ),
    field(
        "vanilla_tokens",
        "tokens, alone",
        lambda row: count(row.vanilla.tokens if row.vanilla else None),
        "mean over completed trials",
        detail=True,
    ),
    field(
        "condition_tokens",
        "tokens, touched",
        lambda row: count(row.touched.tokens if row.touched else None),
        "mean over completed trials",
        detail=True,
    ),
    field(
        "delta_tokens",
        "Δ tokens",
        lambda row: mean(row.delta_tokens, 0, sign=True),
        "difference of the two means",
    ),
)


def main(study: Study) -> TableView | None:
    """Each agent and model, vanilla beside each condition."""
    rows = main_table(study)
    said = delta_notes(rows)
    if any(row.retention for row in rows):
        said.append(
            "null: with noise alone retention is not 100 %; excess loss is what the condition adds to it."
        )
    if any(row.few_repeats and row.retention for row in rows):
        said.append(notes.FEW_REPEATS)
    if any(side and side.tied for row in rows for side in (row.vanilla, row.touched)):
        said.append("=: agents with equal rates share the better rank.")
    return table("main", "Resolve rates, left alone and touched", rows, FIELDS, notes=said)
