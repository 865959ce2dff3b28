"""F4c: do agents that revise more of the user's edits lose less?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.revision import AgentRevision, RevisionRow, revision_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import UNKNOWN, interval_of, points, word

__all__ = ["FIELDS", "revision"]


@dataclass(frozen=True, slots=True)
class _Line:
    row: RevisionRow
    agent: AgentRevision


def _lines(rows: Iterable[RevisionRow]) -> Iterator[_Line]:
    for row in rows:
        for agent in row.agents:
            yield _Line(row, agent)


def _revised(line: _Line) -> Cell:
    found = line.agent.revision
    if found.rate is None:
        return Cell(UNKNOWN)
    return Cell(f"{found.revised} of {found.trials}", found.rate, (found.revised, found.trials))


def _absent(line: _Line) -> Cell:
    found = line.agent.revision
    if not found.trials:
        return Cell(UNKNOWN)
    return Cell(f"{found.absent} of {found.trials}", found.absent / found.trials, (found.absent,))


FIELDS: Final[tuple[Field[_Line], ...]] = (
    field(
        "condition", "condition", lambda line: word(line.row.condition), "how the user behaves", numeric=False
    ),
    field("agent", "agent", lambda line: word(line.agent.agent), "the agent", numeric=False),
    field("model", "model", lambda line: word(line.agent.model), "its model", numeric=False),
    field(
        "revised_rate",
        "ever revised",
        _revised,
        "failed trials with an edit in which the agent at some time changed or removed a line of the user",
        more=("revised", "revised_of"),
    ),
    field(
        "revised_low",
        "95 % CI",
        lambda line: interval_of(line.agent.revision.interval),
        "Wilson's interval of that share",
        more=("revised_high",),
    ),
    field(
        "absent_rate",
        "absent at end",
        _absent,
        "failed trials in whose final state nothing of the edit stands",
        more=("absent",),
    ),
    field(
        "delta",
        "Δ",
        lambda line: points(line.agent.delta),
        "to vanilla, paired by task, in percentage points",
    ),
)


def revision(study: Study) -> TableView | None:
    """Of each condition the agents with failed trials that had an edit."""
    rows = revision_table(study)
    said = [
        f"{row.condition}: Spearman's rank correlation of the share ever revised with Δ: {row.rho:.3f}, "
        f"of {row.n} agents; positive: who revises more loses less."
        for row in rows
        if row.rho is not None
    ]
    return table(
        "revision", "Revised edits in failed trials", list(_lines(rows)), FIELDS, notes=said, group=1
    )
