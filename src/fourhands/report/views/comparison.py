"""Two runs beside each other: the arms that both have, and the tasks whose outcome changed."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.comparison import ArmChange, Comparison, TaskChange, lacking
from fourhands.analysis.findings.arms import Outcomes
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import (
    mean,
    percent,
    points,
    points_interval_of,
    probability,
    word,
)

__all__ = ["arms", "tasks"]

_NAMED: Final = 5
"""Missing tasks of an arm that a note names."""


def _arm(change: ArmChange) -> str:
    agents = dict.fromkeys(f"{arm.agent} · {arm.model}" for arm in (change.before, change.after))
    return " → ".join(agents)


_ARMS: Final[tuple[Field[ArmChange], ...]] = (
    field("agent", "agent", lambda arm: word(_arm(arm)), "agent and model, before and after", numeric=False),
    field("condition", "condition", lambda arm: word(arm.before.condition), "the condition", numeric=False),
    field(
        "tasks",
        "tasks",
        lambda arm: Cell(f"{len(arm.tasks)}{'*' if arm.incomplete else ''}", len(arm.tasks)),
        "scored in both runs; *: further ones lack an outcome on one side",
    ),
    field(
        "before",
        "before",
        lambda arm: percent(arm.rate_before),
        "mean resolve rate of these tasks, first run",
    ),
    field(
        "after", "after", lambda arm: percent(arm.rate_after), "mean resolve rate of these tasks, second run"
    ),
    field(
        "change",
        "change",
        lambda arm: points(arm.change),
        "mean over tasks of the difference, in percentage points",
    ),
    field(
        "change_low",
        "95 % CI",
        lambda arm: points_interval_of(arm.interval),
        "95 % interval of it, clustered by task",
        more=("change_high",),
    ),
    field(
        "p_worse",
        "p worse",
        lambda arm: probability(arm.p_worse),
        "one-sided p that it became worse, adjusted by Holm's method over all rows",
    ),
    field(
        "retention",
        "retained",
        lambda arm: percent(arm.retention),
        "of the tasks solved before, by majority, the share that still is",
    ),
    field(
        "null",
        "by chance",
        lambda arm: percent(None if arm.excess_loss is None else arm.excess_loss.null),
        "what share would still be solved if the first run were repeated",
    ),
    field(
        "delta_change",
        "ΔΔ",
        lambda arm: points(arm.delta_change) if not arm.before.is_vanilla else Cell(""),
        "the second run's difference to vanilla less the first's, in percentage points",
    ),
    field(
        "steps_change",
        "steps",
        lambda arm: mean(arm.mean_change("steps"), sign=True),
        "mean steps of a scored trial of these tasks, after less before",
    ),
    field(
        "tokens_change",
        "tokens",
        lambda arm: mean(arm.mean_change("tokens"), 0, sign=True),
        "mean tokens of a scored trial of these tasks, after less before",
    ),
)


def arms(comparison: Comparison) -> TableView | None:
    """What both runs have, one row an agent and model under a condition."""
    notes = [
        "before, after, change: means over tasks scored in both runs.",
        "p worse: one-sided, adjusted by Holm's method over all rows.",
        "retained: of the tasks solved before, by majority; by chance: what a repeat of the first run would retain.",
        "ΔΔ: the second run's difference to vanilla less the first's. –: not to be told.",
    ]
    if any(arm.incomplete for arm in comparison.changes):
        notes.append("*: tasks of either run without an outcome that counts on both sides are left out:")
        notes += [_missing(arm) for arm in comparison.changes if arm.incomplete]
    return table("comparison", "Before and after", comparison.changes, _ARMS, notes=notes, group=1)


def _missing(arm: ArmChange) -> str:
    told = [f"{missing.task} ({lacking(missing)})" for missing in arm.incomplete[:_NAMED]]
    left = len(arm.incomplete) - len(told)
    return f"{arm.name}: {', '.join(told)}{f' and {left} more' if left else ''}."


def _repeats(outcomes: Outcomes) -> Cell:
    return Cell(f"{sum(outcomes)} of {len(outcomes)}", sum(outcomes) / len(outcomes))


_Row = tuple[ArmChange, TaskChange]

_TASKS: Final[tuple[Field[_Row], ...]] = (
    field("agent", "agent", lambda row: word(_arm(row[0])), "agent and model", numeric=False),
    field(
        "condition", "condition", lambda row: word(row[0].before.condition), "the condition", numeric=False
    ),
    field("task", "task", lambda row: word(row[1].task), "the task", numeric=False),
    field("before", "before", lambda row: _repeats(row[1].before), "scored repeats that were resolved"),
    field("after", "after", lambda row: _repeats(row[1].after), "scored repeats that are resolved"),
    field("kind", "by majority", lambda row: word(row[1].kind), "lost, gained, or as it was", numeric=False),
)


def tasks(comparison: Comparison, *, changed_only: bool) -> TableView | None:
    """Task by task, what was lost first; with ``changed_only`` those alone whose rate changed."""
    rows: list[_Row] = [
        (arm, task)
        for arm in comparison.changes
        for task in sorted(arm.tasks, key=lambda each: (each.change, each.task))
        if task.change or not changed_only
    ]
    title = "Tasks whose rate changed" if changed_only else "Task by task"
    return table("tasks", title, rows, _TASKS, group=2)
