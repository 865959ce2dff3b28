"""Which failures the user's edits caused, as execution shows."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.causal import CausalRow, causal_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, count, interval_of, percent

__all__ = ["FIELDS", "causal"]


def _lost(row: CausalRow) -> Cell:
    if row.lost is None:
        return Cell(UNKNOWN)
    text = f"{row.lost.edit_caused} of {row.lost.failed}"
    return Cell(
        text,
        row.lost.edit_caused,
        (
            row.lost.failed,
            row.lost.not_yet,
            row.lost_failed,
        ),
    )


FIELDS: Final[tuple[Field[CausalRow], ...]] = (
    *agent_fields(CausalRow),
    field(
        "failed_touched",
        "failed",
        lambda row: count(row.touched.failed),
        "trials that failed after an edit was delivered",
    ),
    field(
        "edit_caused",
        "caused",
        lambda row: count(row.touched.edit_caused),
        "failures that the edit caused: by removal or by replacement",
    ),
    field(
        "by_removal",
        "by removal",
        lambda row: count(row.touched.by_removal),
        "resolved once the user's edit is out of the final state",
    ),
    field(
        "by_replacement",
        "by replacement",
        lambda row: count(row.touched.by_replacement),
        "resolved only once the reference stands in the edit's place, and not with the edit beside it",
    ),
    field(
        "also_broken_without",
        "also broken",
        lambda row: count(row.touched.also_broken_without),
        "not resolved without the edit either",
    ),
    field(
        "cannot_compose",
        "cannot compose",
        lambda row: count(row.touched.cannot_compose),
        "the edit cannot be taken out of what the agent made of it",
    ),
    field("not_ablated", "not yet", lambda row: count(row.touched.not_yet), "not looked at yet"),
    field(
        "edit_caused_rate",
        "share caused",
        lambda row: percent(row.touched.caused_rate),
        "of those that were looked at",
    ),
    field(
        "edit_caused_low",
        "95 % CI",
        lambda row: interval_of(row.touched.interval),
        "Wilson's interval of that share",
        more=("edit_caused_high",),
    ),
    field(
        "stood",
        "edit stood",
        lambda row: count(row.touched.stood),
        "failures in whose final state anything of the edit was left",
    ),
    field(
        "timed_out",
        "timed out",
        lambda row: count(row.touched.timed_out),
        "failures in which tests ran out of time: the next `fourhands ablate` looks again",
    ),
    field(
        "lost_edit_caused",
        "caused, of tasks lost",
        _lost,
        "the same of tasks that are majority-solved under vanilla and not under the condition",
        more=("lost_failed_touched", "lost_not_ablated", "lost_failed"),
    ),
)


def causal(study: Study) -> TableView | None:
    """Each agent and model under each condition in which a trial failed after an edit."""
    rows = causal_table(study)
    said = (
        ["not yet: fourhands ablate RUN looks at them."] if any(row.touched.not_yet for row in rows) else []
    )
    return table("causal", "Failures that the user's edit caused", rows, FIELDS, notes=said)
