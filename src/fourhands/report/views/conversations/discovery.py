"""How much of the goals agents discover, from the plan to the last state of the code."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fourhands.analysis.discovery import GRID
from fourhands.analysis.findings.discovery import DiscoveryRow, discovery_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import informed, simulator_field
from fourhands.report.views.conversations.scored import score_field, scored_notes, source_field
from fourhands.report.views.numbers import count, mean

__all__ = ["FIELDS", "discovery"]

_SHOWN: Final = {0.0: "first code", 0.5: "half way", 1.0: "end"}
"""The points of progress that stand in narrow tables."""


def _point(index: int, progress: float) -> Field[DiscoveryRow]:
    per_cent = f"{progress:.0%}"
    return score_field(
        f"code_{per_cent[:-1]}",
        _SHOWN.get(progress, per_cent),
        lambda row: row.points[index],
        f"of the code at {per_cent} of its revisions, the first at 0 %; mean, 95 % interval by task, and trials",
        detail=progress not in _SHOWN,
    )


FIELDS: Final[tuple[Field[DiscoveryRow], ...]] = (
    *agent_fields(DiscoveryRow),
    simulator_field(DiscoveryRow),
    source_field(DiscoveryRow),
    field("trials", "n", lambda row: count(row.trials), "scored trials that it says something of"),
    score_field(
        "plan",
        "plan",
        lambda row: row.plan,
        "0 to 100, of the plan that the work began with; mean, 95 % interval by task, and trials",
    ),
    *(_point(index, progress) for index, progress in enumerate(GRID)),
    score_field(
        "drop",
        "plan − code",
        lambda row: row.drop,
        "the plan less the first code, of trials that have both; mean, 95 % interval by task, and trials",
        sign=True,
    ),
    field(
        "reference_drop",
        "ref. plan − code",
        lambda row: mean(row.anchors.drop, sign=True),
        "what the judge gives for the reference as a plan less as code: its own leniency to plans",
    ),
    field(
        "empty",
        "nothing",
        lambda row: replace(mean(row.anchors.empty), more=(row.anchors.tasks,)),
        "the score of no change at all, mean over the tasks that tell; and how many tasks do",
        more=("anchor_tasks",),
    ),
    field(
        "reference",
        "reference",
        lambda row: mean(row.anchors.reference),
        "of the reference as code; by checks 100 by definition",
    ),
    field(
        "reference_as_plan",
        "as plan",
        lambda row: mean(row.anchors.as_plan),
        "of the reference as a plan",
    ),
    field(
        "unscored",
        "unscored",
        lambda row: Cell(f"{row.unscored} of {row.revisions}", row.unscored, (row.revisions,)),
        "revisions of the code without a score: the one before is held in their place",
        more=("revisions",),
        detail=True,
    ),
)


def discovery(study: Study) -> TableView | None:
    """Each agent and model in each kind of conversation, by each source of scores."""
    rows = discovery_table(study)
    said = [
        "Scores are 0 to 100, in brackets 95 % intervals by task. first code, half way, end: by order of revisions.",
        "plan − code: a fall from plan to code is partly leniency to plans; beside it, that of the reference.",
    ]
    if any(row.source.voice is None for row in rows):
        said.append(
            "reference: by checks 100 by definition, which is asked of a ledger; a judge's is scored."
        )
    return table(
        "discovery",
        "How much of the goals is discovered",
        rows,
        FIELDS,
        notes=[*said, *scored_notes(rows), *informed(rows)],
    )
