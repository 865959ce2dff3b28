"""Resolved and Δ by how far the tasks' records were validated."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.by_status import StatusRow, status_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table, wilson_field
from fourhands.report.views.deltas import delta_fields, delta_notes
from fourhands.report.views.numbers import UNKNOWN, count, word

__all__ = ["FIELDS", "by_status"]


def _resolved(row: StatusRow) -> Cell:
    text = UNKNOWN if row.rate is None else f"{row.resolved} = {row.rate:.0%}"
    return Cell(text, row.rate, (row.resolved,))


FIELDS: Final[tuple[Field[StatusRow], ...]] = (
    field(
        "record_status",
        "record",
        lambda row: word(row.record_status),
        "how far the task's record of edits was validated by whoever released it",
        numeric=False,
    ),
    *agent_fields(StatusRow),
    field("tasks", "tasks", lambda row: count(row.tasks), "with a scored trial"),
    field("scored", "n", lambda row: count(row.scored), "trials that are scored"),
    field("resolve_rate", "resolved", _resolved, "of the scored trials", more=("resolved",)),
    wilson_field(StatusRow),
    *delta_fields(StatusRow),
)


def by_status(study: Study) -> TableView | None:
    """Each agent, model and condition on the tasks of each status; nothing where no record has one."""
    rows = status_table(study)
    if all(row.record_status is None for row in rows):
        return None
    return table(
        "by-status", "By status of the task's record", rows, FIELDS, notes=delta_notes(rows), group=3
    )
