"""Co-Edit, the neutral edit and every other condition side by side: Δ of each agent, and their mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.controls import ControlRow, control_table
from fourhands.analysis.statistics import Interval
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import count, points, points_interval_of, probability, word

__all__ = ["FIELDS", "controls"]

_CONFLICT = (
    "neutral-edit disturbs the same lines and misleads nobody; co-edit disturbs and helps: the conflict itself is "
    "what a Counter-Edit loses beyond the neutral edit."
)


@dataclass(frozen=True, slots=True)
class _Line:
    """An agent's Δ; without a name, the mean of ``agents`` of them (an agent with another model is another)."""

    condition: str
    agent: str | None
    model: str | None
    agents: int
    delta: float | None
    interval: Interval | None
    p: float | None
    tasks: int
    incomplete: int
    not_applicable: int


def _lines(rows: Iterable[ControlRow]) -> Iterator[_Line]:
    for row in rows:
        for each in row.agents:
            yield _Line(
                row.condition,
                each.agent,
                each.model,
                1,
                each.delta,
                each.interval,
                None,
                each.pairs,
                each.incomplete_pairs,
                each.not_applicable,
            )
        if len(row.agents) > 1:
            yield _Line(
                row.condition,
                None,
                None,
                len(row.agents),
                row.mean_delta,
                row.mean_interval,
                row.p,
                row.tasks,
                0,
                row.not_applicable,
            )


def _model(line: _Line) -> Cell:
    told = Cell(f"of {line.agents}") if line.model is None else word(line.model)
    return replace(told, more=(line.agents,))


def _delta(line: _Line) -> Cell:
    told = points(line.delta, mark="*" if line.incomplete else "")
    return replace(told, more=(line.tasks, line.incomplete))


FIELDS: Final[tuple[Field[_Line], ...]] = (
    field("condition", "condition", lambda line: word(line.condition), "how the user behaves", numeric=False),
    field(
        "agent",
        "agent",
        lambda line: Cell("mean") if line.agent is None else word(line.agent),
        "the agent; null for the mean of all",
        numeric=False,
    ),
    field(
        "model",
        "model",
        _model,
        "its model; of a mean, how many agents and models it is of",
        more=("agents",),
        numeric=False,
    ),
    field(
        "delta",
        "Δ",
        _delta,
        "to vanilla, paired by task, in percentage points; the mean takes each agent alike",
        more=("pairs", "incomplete_pairs"),
    ),
    field(
        "delta_low",
        "95 % CI",
        lambda line: points_interval_of(line.interval),
        "of Δ, clustered by task; of the mean, over the tasks that are paired for every agent",
        more=("delta_high",),
    ),
    field("p", "p", lambda line: probability(line.p), "of the mean: exact sign-flip test over tasks"),
    field(
        "not_applicable",
        "no such edit",
        lambda line: count(line.not_applicable),
        "tasks whose record has no edit for the condition",
    ),
)


def controls(study: Study) -> TableView | None:
    """Of each condition the Δ of every agent, and of several agents the mean."""
    rows = control_table(study)
    said = [_CONFLICT]
    lines = list(_lines(rows))
    if any(line.incomplete for line in lines):
        said.append(notes.INCOMPLETE)
    return table("controls", "Conditions side by side", lines, FIELDS, notes=said, group=1)
