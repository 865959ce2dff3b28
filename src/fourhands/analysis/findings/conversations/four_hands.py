"""Four hands against their parts: what a user who edits costs, one who talks, and one who does both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Literal

from fourhands.analysis.findings.arms import Agent, Arm, Outcomes, agents_of
from fourhands.analysis.findings.conversations.groups import at_will
from fourhands.analysis.findings.conversations.measures import Difference, Rate, resolved
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, Test, paired_interval, sign_flip
from fourhands.analysis.study import Study
from fourhands.model.condition import TALK_PARAMETERS, Condition, ConditionName

__all__ = ["FourHandsRow", "Interaction", "four_hands_table", "without_parts"]

_TOUCH_PARAMETERS: Final = ("k", "trigger", "moment", "message")

State = Literal["at will", "end"]
"""Which verdict counts of those who talk: when the agent first wanted to end, or the final one."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """Δ(four hands) - [Δ(interactive) + Δ(Counter-Edit)], mean over tasks, as a fraction from -2 to 2.

    Below 0 the two together cost more than their sum. ``test`` is of none, by flipping signs over tasks.
    """

    value: float
    interval: Interval | None
    test: Test


@dataclass(frozen=True, slots=True)
class FourHandsRow:
    """One agent and model under four-hands, beside the arms of its two parts with the same parameters.

    All is of the ``complete`` tasks, which are scored in all four arms; ``incomplete`` are the others that any of
    them planned, each with the arms that lack an outcome. Every Δ is to ``baseline``, the same for all three.
    """

    agent: str
    model: str
    condition: str
    state: State
    baseline: str
    talked: str
    touched: str
    complete: tuple[str, ...]
    incomplete: tuple[tuple[str, tuple[str, ...]], ...]
    alone: Rate
    both: Rate
    delta_talked: Difference
    delta_touched: Difference
    delta_both: Difference
    interaction: Interaction | None


@dataclass(frozen=True, slots=True)
class _Parts:
    """The four arms."""

    alone: Arm
    talked: Arm
    touched: Arm
    both: Arm


@kept
def four_hands_table(study: Study) -> tuple[FourHandsRow, ...]:
    """Two rows, at will and in the end, per agent, model and four-hands arm whose parts and baseline were run."""
    return tuple(
        _row(parts, state)
        for agent in agents_of(study)
        for arm in _both(agent)
        if (parts := _parts(agent, arm))
        for state in ("at will", "end")
    )


def without_parts(study: Study) -> tuple[str, ...]:
    """Arms of four hands of which a part, or the baseline, was not run with the same parameters."""
    return tuple(
        f"{agent.agent} · {agent.model} · {arm.condition}"
        for agent in agents_of(study)
        for arm in _both(agent)
        if _parts(agent, arm) is None
    )


def _both(agent: Agent) -> Iterator[Arm]:
    return (arm for arm in agent.others if arm.condition_name == ConditionName.FOUR_HANDS)


def _parts(agent: Agent, both: Arm) -> _Parts | None:
    condition = Condition.parse(both.condition)
    found = {Condition.parse(arm.condition): arm for arm in agent.others}
    talked, touched = (
        found.get(Condition(name, **{each: getattr(condition, each) for each in parameters}))
        for name, parameters in (
            (ConditionName.INTERACTIVE, TALK_PARAMETERS),
            (ConditionName.COUNTER_EDIT, _TOUCH_PARAMETERS),
        )
    )
    alone = agent.baseline_of(both)
    return _Parts(alone, talked, touched, both) if alone and talked and touched else None


def _row(parts: _Parts, state: State) -> FourHandsRow:
    talked, both = (at_will(arm) if state == "at will" else arm for arm in (parts.talked, parts.both))
    arms = {arm.condition: arm for arm in (parts.alone, talked, parts.touched, both)}
    planned = sorted({trial.task for arm in arms.values() for trial in arm.trials})
    complete = tuple(task for task in planned if all(task in arm.outcomes for arm in arms.values()))
    alone = parts.alone.outcomes
    deltas = [Difference.on(complete, alone, arm.outcomes) for arm in (talked, parts.touched, both)]
    return FourHandsRow(
        agent=both.agent,
        model=both.model,
        condition=both.condition,
        state=state,
        baseline=parts.alone.condition,
        talked=talked.condition,
        touched=parts.touched.condition,
        complete=complete,
        incomplete=tuple(
            (task, tuple(label for label, arm in arms.items() if task not in arm.outcomes))
            for task in planned
            if task not in complete
        ),
        alone=_rate(parts.alone, complete),
        both=_rate(both, complete),
        delta_talked=deltas[0],
        delta_touched=deltas[1],
        delta_both=deltas[2],
        interaction=_interaction(complete, alone, talked.outcomes, parts.touched.outcomes, both.outcomes),
    )


def _rate(arm: Arm, tasks: tuple[str, ...]) -> Rate:
    return resolved(trial for trial in arm.scored if trial.task in tasks)


def _interaction(
    tasks: tuple[str, ...],
    alone: Mapping[str, Outcomes],
    talked: Mapping[str, Outcomes],
    touched: Mapping[str, Outcomes],
    both: Mapping[str, Outcomes],
) -> Interaction | None:
    if not tasks:
        return None
    # The baseline is taken off each of three differences, and once in all two are put back: F - T - C + B.
    found = [fmean(both[t]) - fmean(talked[t]) - fmean(touched[t]) + fmean(alone[t]) for t in tasks]
    # Halves lie in the range that intervals of differences of two rates are made for.
    half = paired_interval([each / 2 for each in found])
    return Interaction(
        fmean(found),
        half and Interval(2 * half.low, 2 * half.high, half.method),
        Test(sign_flip(found), "sign-flip permutation over tasks, exact", len(tasks)),
    )
