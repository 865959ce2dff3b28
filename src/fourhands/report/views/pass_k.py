"""pass^k: how likely an agent is to resolve a task k times in a row."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.pass_k import PassKRow, pass_k_table
from fourhands.analysis.study import Study
from fourhands.report.table import TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import count, interval_of, percent

__all__ = ["FIELDS", "pass_k"]

FIELDS: Final[tuple[Field[PassKRow], ...]] = (
    *agent_fields(PassKRow),
    field("k", "k", lambda row: count(row.k), "repeats, all of which must be resolved"),
    field("tasks", "tasks", lambda row: count(row.tasks), "with at least k scored repeats"),
    field(
        "pass_k",
        "pass^k",
        lambda row: percent(row.rate, 1),
        "mean over tasks of C(c, k) / C(n, k), where c of n scored repeats are resolved",
    ),
    field(
        "pass_k_low",
        "95 % CI",
        lambda row: interval_of(row.interval),
        "of it, clustered by task",
        more=("pass_k_high",),
    ),
)


def pass_k(study: Study) -> TableView | None:
    """Each agent, model and condition for each k; nothing where no task has two scored repeats."""
    rows = pass_k_table(study)
    if all(row.k == 1 for row in rows):
        return None
    return table("pass-k", "Resolved k times of k", rows, FIELDS, group=3)
