"""Rows of trials -> the table of a run: per agent and condition, with Δ paired by task. Pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean, median
from typing import Any

from fourhands.analysis.costs import cost_json
from fourhands.analysis.trials import TrialRow
from fourhands.model.condition import Condition, ConditionName
from fourhands.model.price import Cost
from fourhands.model.trial import AgentSpec

__all__ = ["ConditionRow", "condition_table", "median_steps", "wilson"]


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One agent under one condition.

    ``trials`` are planned, ``scored`` have a verdict that counts; ``resolve_rate`` is resolved / scored with its
    95 % Wilson interval, trials as independent; ``resolve_rate_strict`` counts a protocol failure as unresolved
    whatever its verdict. ``delta`` is the mean over tasks of (rate under the condition −
    rate under `vanilla`), each rate over the task's scored repeats, and only over tasks scored under both:
    ``pairs`` of them, ``incomplete_pairs`` left out. ``intended``, ``triggered`` and ``delivered`` count trials
    with at least one intervention planned, triggered, delivered; ``announced`` those in which the agent's own
    client told its model of the user's edit;
    ``would_have_triggered`` counts the `vanilla` trials of the same agent in which this condition's user would have
    acted (under `vanilla` itself: any condition's); ``interventions_delivered`` counts interventions; ``messages``
    are those said, ``fallback_messages`` in the fixed words in place of a model's, ``never_carried`` those that no
    request carried. ``steps`` and ``tokens`` are means over scored trials; with ``uncounted_replies`` the tokens are
    a lower bound. ``cost`` is of a scored trial in the mean, ``cost_total`` of all, as far as they are known;
    ``user_cost_total`` is what the user's own model cost, in neither. ``None``: nothing to compute it of.
    """

    agent: str
    model: str
    condition: str
    trials: int
    scored: int
    not_applicable: int
    resolved: int
    resolve_rate: float | None
    resolve_rate_low: float | None
    resolve_rate_high: float | None
    resolve_rate_strict: float | None
    delta: float | None
    pairs: int
    incomplete_pairs: int
    intended: int
    triggered: int
    would_have_triggered: int | None
    delivered: int
    announced: int
    interventions_delivered: int
    messages: int
    fallback_messages: int
    never_carried: int
    steps: float | None
    tokens: float | None
    uncounted_replies: int
    cost: Cost | None
    cost_total: Cost
    user_cost_total: Cost

    def as_json(self) -> dict[str, Any]:
        """As ``results --json`` prints it."""
        costs = ("cost", "cost_total", "user_cost_total")
        values = {name: value for name, value in asdict(self).items() if name not in costs}
        for name in costs:
            values |= cost_json(name, getattr(self, name))
        return values


def condition_table(rows: Iterable[TrialRow]) -> list[ConditionRow]:
    """One row per agent and condition, `vanilla` first, then in order of appearance."""
    groups: dict[tuple[AgentSpec, Condition], list[TrialRow]] = defaultdict(list)
    for row in rows:
        groups[row.key.agent, row.key.condition].append(row)
    agents = list(dict.fromkeys(agent for agent, _ in groups))
    order = sorted(groups, key=lambda key: (agents.index(key[0]), key[1].name is not ConditionName.VANILLA))
    return [_row(agent, condition, groups) for agent, condition in order]


def median_steps(rows: Iterable[TrialRow]) -> dict[str, int]:
    """Per task the median number of steps of its scored `vanilla` trials, over all agents and repeats, rounded up."""
    steps: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        if row.is_scored and row.key.condition.name is ConditionName.VANILLA:
            steps[row.key.task].append(row.steps)
    return {task: math.ceil(median(found)) for task, found in steps.items()}


def wilson(successes: int, n: int) -> tuple[float, float] | None:
    """The 95 % Wilson score interval (Wilson 1927) of a rate; ``None`` without trials."""
    if not n:
        return None
    from scipy.stats import binomtest  # noqa: PLC0415 - takes half a second, and only tables need it

    interval = binomtest(successes, n).proportion_ci(confidence_level=0.95, method="wilson")
    return float(interval.low), float(interval.high)


def _row(
    agent: AgentSpec, condition: Condition, groups: dict[tuple[AgentSpec, Condition], list[TrialRow]]
) -> ConditionRow:
    trials = groups[agent, condition]
    scored = [trial for trial in trials if trial.is_scored]
    resolved = sum(trial.is_resolved for trial in scored)
    strict = sum(trial.is_resolved and not trial.is_protocol_failure for trial in scored)
    interval = wilson(resolved, len(scored))
    vanilla = next((c for a, c in groups if a == agent and c.name is ConditionName.VANILLA), None)
    differences: list[float] = []
    incomplete = 0
    if vanilla and condition.name is not ConditionName.VANILLA:
        before, after = _rates(groups[agent, vanilla]), _rates(trials)
        applicable = [task for task, rate in after.items() if rate is not None or _applies(trials, task)]
        pairs = [(before.get(task), after[task]) for task in applicable]
        differences = [b - a for a, b in pairs if a is not None and b is not None]
        incomplete = len(pairs) - len(differences)
    return ConditionRow(
        agent=agent.name,
        model=agent.model,
        condition=condition.label,
        trials=len(trials),
        scored=len(scored),
        not_applicable=sum(not trial.applicable for trial in trials),
        resolved=resolved,
        resolve_rate=resolved / len(scored) if scored else None,
        resolve_rate_low=interval[0] if interval else None,
        resolve_rate_high=interval[1] if interval else None,
        resolve_rate_strict=strict / len(scored) if scored else None,
        delta=fmean(differences) if differences else None,
        pairs=len(differences),
        incomplete_pairs=incomplete,
        intended=sum(trial.intended > 0 for trial in trials),
        triggered=sum(trial.triggered > 0 for trial in trials),
        would_have_triggered=sum(
            bool(trial.shadowed) if condition == vanilla else condition.label in trial.shadowed
            for trial in groups.get((agent, vanilla), ())
        )
        if vanilla
        else None,
        delivered=sum(trial.delivered > 0 for trial in trials),
        announced=sum(trial.announced > 0 for trial in trials),
        interventions_delivered=sum(trial.delivered for trial in trials),
        messages=sum(trial.messages for trial in trials),
        fallback_messages=sum(trial.fallback_messages for trial in trials),
        never_carried=sum(trial.never_carried for trial in trials),
        steps=fmean(trial.steps for trial in scored) if scored else None,
        tokens=fmean(trial.tokens for trial in scored) if scored else None,
        uncounted_replies=sum(trial.uncounted_replies for trial in trials),
        cost=sum((trial.cost.agent for trial in scored), Cost()) / len(scored) if scored else None,
        cost_total=sum((trial.cost.agent for trial in trials), Cost()),
        user_cost_total=sum((trial.cost.user for trial in trials), Cost()),
    )


def _rates(trials: Sequence[TrialRow]) -> dict[str, float | None]:
    """Per task the share of scored repeats that are resolved; ``None`` without a scored one."""
    tasks: dict[str, list[bool]] = {trial.key.task: [] for trial in trials}
    for trial in trials:
        if trial.is_scored:
            tasks[trial.key.task].append(trial.is_resolved)
    return {task: fmean(outcomes) if outcomes else None for task, outcomes in tasks.items()}


def _applies(trials: Sequence[TrialRow], task: str) -> bool:
    return any(trial.applicable for trial in trials if trial.key.task == task)
