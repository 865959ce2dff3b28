"""T5 and every other sweep: each agent under each condition, beside vanilla."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourhands.analysis.findings.arms import Agent, Arm, Pairing, agents_of, mean
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, Test, holm, wilson
from fourhands.analysis.study import Study
from fourhands.model.price import Cost

__all__ = ["ConditionRow", "condition_table"]


@dataclass(frozen=True, slots=True)
class ConditionRow:
    """One agent and model under one condition.

    ``trials`` are planned, ``scored`` have a verdict that counts, of ``tasks`` tasks. ``rate`` is resolved / scored:
    ``wilson`` is its 95 % interval with trials as independent, as the papers do, ``clustered`` the interval over
    tasks. ``strict_rate`` counts a protocol failure as unresolved whatever its verdict.

    ``delta`` is the mean over tasks of (rate under the condition − rate under vanilla), each rate over the task's
    scored repeats, and only over tasks scored under both: ``pairs`` of them, ``incomplete_pairs`` left out; ``test``
    is of no difference, and ``p_holm`` its p adjusted by Holm's method, the family being all conditions of this
    agent and model against its vanilla: ``family`` of them.

    ``steps`` and ``tokens`` are means over scored trials, the ``completed_`` ones over those of them whose agent came
    to an end of its own, as the paper's; with ``uncounted_replies`` tokens are a lower bound. ``cost`` is the mean
    over scored trials, ``cost_total`` of all, as far as they are known; ``user_cost_total`` is of the user's own
    model, in neither. ``None``: nothing to compute it of.
    """

    agent: str
    model: str
    condition: str
    condition_name: str
    k: int | None
    trials: int
    scored: int
    tasks: int
    not_applicable: int
    resolved: int
    rate: float | None
    wilson: Interval | None
    clustered: Interval | None
    strict_rate: float | None
    delta: float | None
    delta_interval: Interval | None
    test: Test | None
    p_holm: float | None
    family: int
    pairs: int
    incomplete_pairs: int
    completed: int
    steps: float | None
    tokens: float | None
    completed_steps: float | None
    completed_tokens: float | None
    uncounted_replies: int
    cost: Cost | None
    cost_total: Cost
    user_cost_total: Cost


@kept
def condition_table(study: Study) -> tuple[ConditionRow, ...]:
    """One row per agent, model and condition: vanilla first, then in order of appearance."""
    return tuple(row for agent in agents_of(study) for row in _rows(agent))


def _rows(agent: Agent) -> list[ConditionRow]:
    tests = {label: pairing.test for label, pairing in agent.pairings.items() if pairing.test is not None}
    adjusted = dict(zip(tests, holm([test.p for test in tests.values()]), strict=True))
    return [
        replace(
            _row(arm, agent.pairings.get(arm.condition)),
            p_holm=adjusted.get(arm.condition),
            family=len(tests),
        )
        for arm in agent.arms
    ]


def _row(arm: Arm, pairing: Pairing | None) -> ConditionRow:
    scored = arm.scored
    return ConditionRow(
        agent=arm.agent,
        model=arm.model,
        condition=arm.condition,
        condition_name=arm.condition_name,
        k=arm.k,
        trials=len(arm.trials),
        scored=len(scored),
        tasks=len(arm.outcomes),
        not_applicable=arm.not_applicable,
        resolved=arm.resolved,
        rate=arm.rate,
        wilson=wilson(arm.resolved, len(scored)),
        clustered=arm.rate_interval,
        strict_rate=arm.strict_rate,
        delta=pairing.delta if pairing else None,
        delta_interval=pairing.interval if pairing else None,
        test=pairing.test if pairing else None,
        p_holm=None,
        family=0,
        pairs=len(pairing.tasks) if pairing else 0,
        incomplete_pairs=len(pairing.incomplete) if pairing else 0,
        completed=len(arm.completed),
        steps=mean(trial.steps for trial in scored),
        tokens=mean(trial.tokens for trial in scored),
        completed_steps=mean(trial.steps for trial in arm.completed),
        completed_tokens=mean(trial.tokens for trial in arm.completed),
        uncounted_replies=arm.total("uncounted_replies"),
        cost=arm.cost_per_trial,
        cost_total=arm.cost,
        user_cost_total=arm.user_cost,
    )
