"""What the user did: intended, would have done, did, said."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.delivery import DeliveryRow, Share, delivery_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, is_vanilla, table, unless_vanilla
from fourhands.report.views.numbers import UNKNOWN, count, interval_of, points, points_interval_of

__all__ = ["FIELDS", "delivery"]

_NOTE = (
    "would: in so many trials of vanilla the user of this condition would have acted (their shadow): beside "
    "delivered it tells whether landing depends on what is measured."
)


def _share(found: Share | None) -> Cell:
    return Cell(UNKNOWN) if found is None else Cell(f"{found.count:,}", found.count, (found.n,))


FIELDS: Final[tuple[Field[DeliveryRow], ...]] = (
    *agent_fields(DeliveryRow),
    field("ran", "n", lambda row: count(row.ran), "trials that have ended"),
    field(
        "intended",
        "intended",
        unless_vanilla(lambda row: count(row.intended)),
        "trials in which the user meant to act: an intervention was planned",
    ),
    field(
        "would_have_triggered",
        "would",
        lambda row: _share(row.would),
        "trials of vanilla in which the user of this condition would have acted",
        more=("would_have_triggered_of",),
    ),
    field(
        "would_have_triggered_low",
        "would 95 % CI",
        lambda row: interval_of(row.would.interval if row.would else None),
        "of the share of vanilla's trials",
        more=("would_have_triggered_high",),
    ),
    field(
        "triggered",
        "triggered",
        unless_vanilla(lambda row: _share(row.triggered)),
        "trials in which the user acted",
        more=("triggered_of",),
    ),
    field(
        "delivered",
        "delivered",
        unless_vanilla(lambda row: _share(row.delivered)),
        "trials in which it took place: the edit was written, or words alone were said",
        more=("delivered_of",),
    ),
    field(
        "delivered_low",
        "deliv. 95 % CI",
        unless_vanilla(lambda row: interval_of(row.delivered.interval)),
        "of the share of trials",
        more=("delivered_high",),
    ),
    field(
        "excess",
        "trig. − would",
        unless_vanilla(lambda row: points(row.excess)),
        "mean over tasks of the share triggered less the share that would have been, in points",
    ),
    field(
        "excess_low",
        "diff. 95 % CI",
        unless_vanilla(lambda row: points_interval_of(row.excess_interval)),
        "of that difference, clustered by task",
        more=("excess_high",),
    ),
    field(
        "interventions_delivered",
        "interv.",
        unless_vanilla(lambda row: count(row.interventions)),
        "interventions delivered in all",
    ),
    field(
        "already_present",
        "there",
        unless_vanilla(lambda row: count(row.already_present)),
        "times that the edit was there already when its trigger fired",
    ),
    field(
        "not_applied",
        "no fit",
        unless_vanilla(lambda row: count(row.not_applied)),
        "times that the edit did not fit what the agent had made of its place",
    ),
    field(
        "messages",
        "messages",
        unless_vanilla(lambda row: count(row.messages)),
        "said by the user in all trials",
    ),
    field(
        "carried",
        "carried",
        unless_vanilla(lambda row: count(row.carried)),
        "messages that a request to the model held",
    ),
    field(
        "fallback_messages",
        "fixed",
        unless_vanilla(lambda row: count(row.fallback_messages)),
        "messages said in the fixed words though a model was to word them",
    ),
    field(
        "announced",
        "announced",
        unless_vanilla(lambda row: count(row.announced)),
        "trials in which the agent's own client told its model of the user's edit: a confound",
    ),
)


def delivery(study: Study) -> TableView | None:
    """Each agent and model under each condition, vanilla with what its shadows would have done."""
    rows = delivery_table(study)
    if all(is_vanilla(row) and not (row.would and row.would.count) for row in rows):
        return None
    said = [_NOTE] if any(row.would is not None for row in rows) else []
    return table("delivery", "What the user did", rows, FIELDS, notes=said)
