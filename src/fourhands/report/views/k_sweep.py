"""F3b: the resolve rate against K, the most interventions that a trial may see; and by how many took place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.k_sweep import DeliveredRow, SweepPoint, delivered_table, k_sweep
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table, wilson_field
from fourhands.report.views.numbers import count, interval_of, mean, percent, points, points_interval_of, word

__all__ = ["DELIVERED_FIELDS", "FIELDS", "delivered", "sweep"]

FIELDS: Final[tuple[Field[SweepPoint], ...]] = (
    field("benchmark", "benchmark", lambda row: word(row.benchmark), "that the tasks are of", numeric=False),
    field("agent", "agent", lambda row: word(row.agent), "the agent", numeric=False),
    field("model", "model", lambda row: word(row.model), "its model", numeric=False),
    field("condition", "condition", lambda row: word(row.family), "without its K", numeric=False),
    field("k", "K", lambda row: count(row.k), "the most interventions; 0 is vanilla"),
    field("scored", "n", lambda row: count(row.scored), "trials that are scored"),
    field("resolve_rate", "resolved", lambda row: percent(row.rate, 1), "of the scored trials"),
    field(
        "resolve_rate_low",
        "95 % CI",
        lambda row: interval_of(row.interval),
        "of it, clustered by task",
        more=("resolve_rate_high",),
    ),
    field("delta", "Δ", lambda row: points(row.delta), "to vanilla, paired by task, in percentage points"),
    field(
        "delta_low",
        "Δ 95 % CI",
        lambda row: points_interval_of(row.delta_interval),
        "of Δ, clustered by task",
        more=("delta_high",),
    ),
    field(
        "interventions_delivered",
        "delivered",
        lambda row: mean(row.delivered, 2),
        "mean number of interventions that took place in a trial",
    ),
)


def _rate(row: DeliveredRow) -> Cell:
    return replace(percent(row.rate, 1), more=(row.resolved,))


_DESCRIPTION: Final = (
    "Description only: how often a user gets to act depends on how the trial goes, so the rows are of unlike tasks, "
    "and conditioning on delivery is selection."
)

DELIVERED_FIELDS: Final[tuple[Field[DeliveredRow], ...]] = (
    field("benchmark", "benchmark", lambda row: word(row.benchmark), "that the tasks are of", numeric=False),
    *agent_fields(DeliveredRow),
    field(
        "delivered", "delivered", lambda row: count(row.delivered), "interventions that took place in a trial"
    ),
    field("scored", "n", lambda row: count(row.scored), "scored trials with so many"),
    field("resolve_rate", "resolved", _rate, "of these trials", more=("resolved",)),
    wilson_field(DeliveredRow),
)


def sweep(study: Study) -> TableView | None:
    """Each family of conditions by its K; nothing where none was run with several."""
    rows: Sequence[SweepPoint] = k_sweep(study)
    several = {(row.agent, row.model, row.family, row.k) for row in rows if row.k}
    families = [(agent, model, family) for agent, model, family, _ in several]
    shown = [row for row in rows if families.count((row.agent, row.model, row.family)) > 1]
    said = ["The number delivered is a description only: conditioning on it would be selection."]
    return table("k-sweep", "Resolved by K", shown, FIELDS, notes=said, group=4)


def delivered(study: Study) -> TableView | None:
    """Each condition's scored trials by how many interventions took place in them."""
    rows = delivered_table(study)
    return table(
        "delivered-count",
        "Resolved by interventions delivered",
        rows,
        DELIVERED_FIELDS,
        notes=[_DESCRIPTION],
        group=4,
    )
