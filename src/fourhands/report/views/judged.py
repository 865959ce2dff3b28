"""Rubric scores by judge models: every row is marked with whose word it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.judged import JudgedRow, judged_table
from fourhands.analysis.study import Study
from fourhands.analysis.trust import trust_in
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import count, mean
from fourhands.report.views.trusting import Heard, judge_field, trust_notes

__all__ = ["FIELDS", "JudgedLine", "judged"]

_ANCHORS: Final = (
    "judge:MODEL: what a model read. What it gives for nothing and for the reference, `fourhands conversations "
    "score` tells."
)


@dataclass(frozen=True, slots=True)
class JudgedLine:
    """One row, with how far its judge is to be trusted."""

    row: JudgedRow
    heard: Heard

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.row.agent

    @property
    def model(self) -> str:
        """Its model's name."""
        return self.row.model

    @property
    def condition(self) -> str:
        """The condition's label."""
        return self.row.condition


FIELDS: Final[tuple[Field[JudgedLine], ...]] = (
    *agent_fields(JudgedLine),
    judge_field(JudgedLine, lambda line: line.heard),
    field("judged", "n", lambda line: count(line.row.judged), "scored trials that it read"),
    field(
        "judged_plan",
        "plan",
        lambda line: mean(line.row.plan),
        "0 to 100, of the last plan before the agent's first changed line; mean of what counts",
    ),
    field(
        "judged_final",
        "final",
        lambda line: mean(line.row.final),
        "0 to 100, of the code in the last state; mean of what counts",
    ),
    field(
        "final_score",
        "by checks",
        lambda line: mean(line.row.checked),
        "of the last state of the same trials, by executable checks, as in `talk`",
    ),
    field(
        "unscored",
        "unscored",
        lambda line: Cell(f"{line.row.unscored} of {line.row.points}", line.row.unscored, (line.row.points,)),
        "points of all states whose evidence does not stand in the text: left out, never counted as missed",
        more=("points",),
    ),
)


def judged(study: Study) -> TableView | None:
    """What judges made of plans and code; ``None`` where none was asked."""
    lines = [
        JudgedLine(row, (row.voice, trust_in(study, row.voice, row.runs))) for row in judged_table(study)
    ]
    said = [_ANCHORS, *trust_notes(line.heard for line in lines)]
    return table("judged", "Plans and code as judges read them", lines, FIELDS, notes=said)
