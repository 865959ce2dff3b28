"""T1: from being told all at once to being told in conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.arms import Agent, Arm, Trial, agents_of, by_benchmark, mean
from fourhands.analysis.findings.conversations.groups import Group, at_will, groups_of
from fourhands.analysis.findings.conversations.measures import Difference, Rate, by_task, resolved
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, ratio_interval
from fourhands.analysis.study import Study
from fourhands.model.price import Cost

__all__ = ["ALL", "Effort", "Ratio", "Side", "TurnsRow", "turns_table"]

ALL: Final = "all"
"""The benchmark of a row that is of all tasks."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Of two means over trials, in conversation / told at once, with the interval over tasks where there is one."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Side:
    """Means over so many ``trials``, of those that tell; with ``uncounted`` replies tokens are a lower bound."""

    trials: int
    steps: float | None
    tokens: float | None
    uncounted: int
    cost: Cost | None


@dataclass(frozen=True, slots=True)
class Effort:
    """Both sides, on the ``tasks`` that have a trial on each, and the ratio of each mean.

    A ratio is ``None`` where a side is 0, or not known as a whole.
    """

    tasks: int
    single: Side
    multi: Side
    steps: Ratio | None
    tokens: Ratio | None
    cost: Ratio | None


@dataclass(frozen=True, slots=True)
class TurnsRow:
    """From being told all at once, in the arm ``baseline``, to being told in conversation, on the same ``tasks``.

    ``benchmark`` is the one that the tasks are of, ``None`` where the plan does not tell, or `ALL`. ``single`` is the
    baseline's rate; ``at_will`` that of the states in which the agent first wanted to end, ``multi`` of the final
    ones. Each Δ is paired by task; the ratios are of these rates, on the tasks that have both.

    ``scored_at_will`` is what the scored trials of the tasks took until the agent first wanted to end, beside the
    rate ``at_will``; ``scored`` until the end, beside ``multi``. ``completed`` is as the paper's means are: until the
    agent first wanted to end, in trials whose agent came to an end of its own.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    benchmark: str | None
    baseline: str
    tasks: int
    single: Rate
    at_will: Rate
    multi: Rate
    delta_at_will: Difference
    delta: Difference
    ratio_at_will: Ratio | None
    ratio: Ratio | None
    scored_at_will: Effort
    scored: Effort
    completed: Effort


@kept
def turns_table(study: Study) -> tuple[TurnsRow, ...]:
    """Per agent, model, condition and simulator, then of several simulators together: a row of all tasks.

    Where the tasks are of several benchmarks, each such row is followed by one of each.
    """
    parts = by_benchmark(study)
    if len(parts) == 1:
        parts = {}
    found = {name: {_name(row): row for row in _rows(agents, name)} for name, agents in parts.items()}
    return tuple(
        each
        for row in _rows(agents_of(study), ALL)
        for each in (row, *(rows[_name(row)] for rows in found.values() if _name(row) in rows))
    )


def _name(row: TurnsRow) -> tuple[str, ...]:
    return row.agent, row.model, row.condition, row.simulator


def _rows(agents: Sequence[Agent], benchmark: str | None) -> Iterator[TurnsRow]:
    for group in groups_of(agents):
        if (baseline := group.agent.baseline_of(group.arm)) is not None:
            yield _row(group, baseline, benchmark)


def _row(group: Group, baseline: Arm, benchmark: str | None) -> TurnsRow:
    willing = at_will(group.arm)
    tasks = group.arm.outcomes.keys() & baseline.outcomes.keys()
    single, first, multi = (
        [trial for trial in arm.scored if trial.task in tasks] for arm in (baseline, willing, group.arm)
    )
    return TurnsRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        benchmark=benchmark,
        baseline=baseline.condition,
        tasks=len(tasks),
        single=resolved(single),
        at_will=resolved(first),
        multi=resolved(multi),
        delta_at_will=Difference.between(baseline, willing),
        delta=Difference.between(baseline, group.arm),
        ratio_at_will=_ratio(single, first, _solved),
        ratio=_ratio(single, multi, _solved),
        scored_at_will=_effort(baseline, willing, lambda trial: bool(trial.scored)),
        scored=_effort(baseline, group.arm, lambda trial: bool(trial.scored)),
        completed=_effort(baseline, willing, lambda trial: trial.is_completed),
    )


def _solved(trial: Trial) -> float | None:
    return None if trial.resolved is None else float(trial.resolved)


def _effort(single: Arm, multi: Arm, enters: Callable[[Trial], bool]) -> Effort:
    """Means of different tasks would differ though nothing did: a task enters with a trial on each side."""
    entering = [[trial for trial in arm.trials if enters(trial)] for arm in (single, multi)]
    tasks = set.intersection(*({trial.task for trial in side} for side in entering))
    before, after = (
        replace(arm, trials=tuple(trial for trial in side if trial.task in tasks))
        for arm, side in zip((single, multi), entering, strict=True)
    )
    sides = _side(before), _side(after)
    is_counted = not any(side.uncounted for side in sides)
    is_priced = all(side.cost and side.cost.is_whole for side in sides)
    return Effort(
        len(tasks),
        *sides,
        steps=_ratio(before.trials, after.trials, lambda trial: trial.steps),
        tokens=_ratio(before.trials, after.trials, lambda trial: trial.tokens) if is_counted else None,
        cost=_ratio(before.trials, after.trials, lambda trial: trial.cost) if is_priced else None,
    )


def _side(arm: Arm) -> Side:
    return Side(
        trials=len(arm.trials),
        steps=mean(trial.steps for trial in arm.trials),
        tokens=mean(trial.tokens for trial in arm.trials),
        uncounted=arm.total("uncounted_replies"),
        cost=arm.cost_per_trial,
    )


def _ratio(
    before: Sequence[Trial], after: Sequence[Trial], of: Callable[[Trial], float | None]
) -> Ratio | None:
    single, multi = (by_task((trial.task, of(trial)) for trial in side) for side in (before, after))
    tasks = sorted(single.keys() & multi.keys())
    means = [mean(each for task in tasks for each in side[task]) for side in (single, multi)]
    if means[1] is None or not means[0]:
        return None
    interval = ratio_interval([single[task] for task in tasks], [multi[task] for task in tasks])
    return Ratio(means[1] / means[0], interval)
