"""What a study found, in two sentences that are written from its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.cautions import cautions
from fourhands.analysis.findings.after import AfterRow, after_table
from fourhands.analysis.findings.arms import Agent, Arm, agents_of, mean
from fourhands.analysis.findings.causal import CausalRow, causal_table
from fourhands.analysis.findings.controls import ControlRow, first_compared_table
from fourhands.analysis.findings.conversations.groups import as_compared
from fourhands.analysis.findings.conversations.measures import Difference
from fourhands.analysis.findings.main import Retention, main_table
from fourhands.analysis.statistics import Interval, holm, wilson
from fourhands.analysis.study import Study
from fourhands.analysis.why_failed import why_failed
from fourhands.analysis.words import count, p_value, percent, points, reach
from fourhands.model.condition import ConditionName
from fourhands.model.trial import RECORDED, SCRIPTED

__all__ = ["cautions", "headline"]

_LEVEL: Final = 0.05


def headline(study: Study) -> tuple[str, str]:
    """How much the user's hands cost, and what became of what they did.

    It is about `counter-edit` where that was compared with `vanilla`, else about the condition with the largest mean
    difference. A conversation is compared by the state in which the agent first wanted to end; what it came to in
    the end follows. The p is adjusted by Holm's method for all conditions that were compared, since it could have
    been about any of them. A difference that the study cannot tell from chance is said to be one.
    """
    agents = agents_of(study)
    if not any(arm.scored for agent in agents for arm in agent.arms):
        return _nothing(agents)
    compared = [row for row in first_compared_table(study) if row.mean_delta is not None]
    if not compared:
        return _uncompared(study, agents)
    row = max(compared, key=_weight)
    return _difference(agents, row, _chance(row, compared)), _deeds(study, agents, row.condition)


@dataclass(frozen=True, slots=True)
class _Chance:
    """``p`` of no difference, adjusted for ``conditions``; ``None`` where no task is paired for every agent."""

    p: float | None
    conditions: int

    def told(self, interval: Interval, tasks: int) -> str:
        """The interval and the p in brackets, and what so many tasks can say."""
        assert self.p is not None, "where there is an interval, there is a test"
        doubtful = self.p >= _LEVEL  # the test is exact; the interval may be wider than it
        among = f", adjusted for {self.conditions} conditions" if self.conditions > 1 else ""
        over = "" if doubtful else f"{count(tasks, 'task')}, "
        doubt = f", which {count(tasks, 'task')} cannot tell from chance" if doubtful else ""
        return f" (95 % interval {reach(interval)}, {over}{p_value(self.p)}{among}){doubt}"


def _chance(row: ControlRow, compared: Sequence[ControlRow]) -> _Chance:
    """Of one agent alone this is the p of the paired test: it is the same permutation."""
    ps = {each.condition: each.p for each in compared if each.p is not None}
    adjusted = dict(zip(ps, holm([*ps.values()]), strict=True))
    return _Chance(adjusted.get(row.condition), len(ps))


def _weight(row: ControlRow) -> tuple[bool, bool, float]:
    asked = row.condition_name == ConditionName.COUNTER_EDIT
    return asked, row.condition == row.condition_name and asked, abs(row.mean_delta or 0.0)


def _nothing(agents: Sequence[Agent]) -> tuple[str, str]:
    trials = [trial for agent in agents for arm in agent.arms for trial in arm.trials]
    run = sum(trial.has_run for trial in trials)
    return (
        f"None of {count(len(trials), 'planned trial')} has an outcome that counts, so there is nothing to compare.",
        f"{count(run, 'trial')} ended without one, and {len(trials) - run} did not run.",
    )


def _uncompared(study: Study, agents: Sequence[Agent]) -> tuple[str, str]:
    """Rates alone: of the arm with most trials, and why there is nothing to compare it with."""
    arm = max((arm for agent in agents for arm in agent.arms), key=lambda arm: len(arm.scored))
    found = wilson(arm.resolved, len(arm.scored))
    between = f" (95 % interval {percent(found.low)} to {percent(found.high)})" if found else ""
    rate = f"{arm.resolved} of {count(len(arm.scored), 'trial')}{between}"
    whose = f"{_state(arm)}, {_who(arm.agent, arm.model, agents)}"
    first = f"{'; '.join([f'{whose} resolved {rate}', *why_failed(study, [arm])])}."
    if all(agent.vanilla is None for agent in agents):
        if arm.talks:
            return (
                first,
                "Nobody was told the same all at once beside it, so nothing tells what talking costs.",
            )
        return first, "Vanilla was not run beside it, so nothing tells what the user's hands cost."
    if not any(agent.others for agent in agents):
        return first, "No other condition was run, so nothing is known of how it works with a user beside it."
    return first, "No task has an outcome that counts on both sides, so there is no difference to tell."


def _state(arm: Arm) -> str:
    return "Left alone" if arm.is_vanilla else f"Under {arm.condition}"


def _who(agent: str, model: str, agents: Sequence[Agent]) -> str:
    """The model, with its agent where there are several."""
    return model if len({each.agent for each in agents}) == 1 else f"{agent} · {model}"


@dataclass(frozen=True, slots=True)
class _Compared:
    """One agent under the condition, and its baseline; ``arm`` as it is compared first, ``end`` as it ended."""

    baseline: Arm
    arm: Arm
    end: Arm

    @property
    def first(self) -> Difference:
        """By the state that is compared first."""
        return Difference.between(self.baseline, self.arm)

    @property
    def last(self) -> Difference:
        """By the final state."""
        return Difference.between(self.baseline, self.end)

    @property
    def is_at_will(self) -> bool:
        """Whether these are of two states."""
        return self.arm is not self.end


def _difference(agents: Sequence[Agent], row: ControlRow, chance: _Chance) -> str:
    found = [
        _Compared(baseline, as_compared(arm), arm)
        for agent in agents
        for arm in agent.others
        if arm.condition == row.condition and (baseline := agent.baseline_of(arm))
    ]
    compared = [each for each in found if each.first.delta is not None]
    if len(compared) == 1:
        return _of_one(compared[0], agents, chance)
    what = "models" if len({each.arm.agent for each in compared}) == 1 else "agents and models"
    worst = min(compared, key=lambda each: each.first.delta or 0.0)
    told = chance.told(row.mean_interval, row.tasks) if row.mean_interval else ""
    ends = (
        f" ({reach(worst.first.interval)}, not adjusted for having been picked)"
        if worst.first.interval
        else ""
    )
    at_will = any(each.is_at_will for each in compared)
    when = ", when they first wanted to end," if at_will else ""
    last = mean(each.last.delta for each in compared)
    finally_ = f" In the end it is {points(last or 0.0)} points on average." if at_will else ""
    return (
        f"Over {len(compared)} {what}, {row.condition} changed the resolve rate{when} by "
        f"{points(row.mean_delta or 0.0)} points on average{told}. The worst of {len(compared)} is "
        f"{_who(worst.arm.agent, worst.arm.model, agents)}: {points(worst.first.delta or 0.0)}{ends}.{finally_}"
    )


def _of_one(found: _Compared, agents: Sequence[Agent], chance: _Chance) -> str:
    arm, baseline, first = found.arm, found.baseline, found.first
    told = chance.told(first.interval, first.pairs) if first.interval else ""
    when = " when it first wanted to end" if found.is_at_will else ""
    beside = "left alone"
    if arm.talks and baseline.condition_name == ConditionName.SINGLE_TURN:
        beside = "told all at once"
    sentence = (
        f"Under {arm.condition}, {_who(arm.agent, arm.model, agents)} resolved {arm.resolved} of "
        f"{count(len(arm.scored), 'trial')}{when}, {baseline.resolved} of {len(baseline.scored)} {beside}: "
        f"{points(first.delta or 0.0)} points by task{told}."
    )
    return f"{sentence} {_end(found)}" if found.is_at_will else sentence


def _end(found: _Compared) -> str:
    """What a conversation came to after that."""
    last = found.last
    between = f" (95 % interval {reach(last.interval)})" if last.interval else ""
    rate = f"{found.end.resolved} of {len(found.end.scored)}"
    return f"In the end it resolved {rate}: {points(last.delta or 0.0)} points{between}."


@dataclass(frozen=True, slots=True)
class _Found:
    """All that is known of one condition, over the agents."""

    after: tuple[AfterRow, ...]
    causal: tuple[CausalRow, ...]
    retained: tuple[Retention, ...]


def _deeds(study: Study, agents: Sequence[Agent], condition: str) -> str:
    arms = [arm for agent in agents for arm in agent.others if arm.condition == condition]
    ran = sum(trial.has_run and trial.applies for arm in arms for trial in arm.trials)
    delivered = sum(arm.at_least_once("delivered") for arm in arms)
    if not any(arm.touches for arm in arms):
        return f"{'; '.join([_told(arms, agents), *why_failed(study, arms)])}{_stand_in(arms)}."
    if not delivered:
        return (
            f"In none of its {count(ran, 'trial')} did the user get to act, so it is not their doing"
            f"{_stand_in(arms)}."
        )
    found = _Found(
        tuple(row for row in after_table(study) if row.condition == condition),
        tuple(row for row in causal_table(study) if row.condition == condition),
        tuple(row.retention for row in main_table(study) if row.condition == condition and row.retention),
    )
    told = [
        *([_told(arms, agents), *why_failed(study, arms)] if any(arm.talks for arm in arms) else ()),
        f"the user acted in {delivered} of {count(ran, 'trial')}",
        *_lines(found),
        *_causes(found),
        *_retention(found),
    ]
    sentence = "; ".join(told)
    return f"{sentence[0].upper()}{sentence[1:]}{_stand_in(arms)}."


def _told(arms: Sequence[Arm], agents: Sequence[Agent]) -> str:
    """What a talking user said, and what they never did; names the condition where users talk under others too."""
    talking = {arm.condition for agent in agents for arm in agent.arms if arm.talks}
    who = "The user" if len(talking) == 1 else f"Under {arms[0].condition}, the user"
    scored = [trial for arm in arms for trial in arm.scored]
    known, held = (
        [len(of or ()) for of in each]
        for each in zip(*((t.requirements, t.held) for t in scored), strict=True)
    )
    untold = f", in {count(sum(map(bool, held)), 'trial')} not all" if any(held) else ""
    return f"{who} said {sum(known) - sum(held)} of {count(sum(known), 'requirement')}{untold}"


def _lines(found: _Found) -> list[str]:
    written = sum(row.written for row in found.after)
    if not written:
        return []
    stand = sum(row.kept + row.moved for row in found.after)
    return [f"{stand} of {count(written, 'line')} that they wrote stand at the end"]


def _causes(found: _Found) -> list[str]:
    failed = sum(row.touched.failed for row in found.causal)
    done = failed - sum(row.touched.not_yet for row in found.causal)
    if not done:
        return []
    caused = sum(row.touched.edit_caused for row in found.causal)
    return [f"executing without the edit shows that it caused {caused} of {count(done, 'failure')} after one"]


def _retention(found: _Found) -> list[str]:
    """Of one agent with its null; over several only what is observed, since each has a null of its own."""
    solved = sum(each.solved for each in found.retained)
    if not solved:
        return []
    kept = sum(each.kept for each in found.retained)
    what = count(solved, "task") if len(found.retained) == 1 else f"{count(solved, 'pair')} of task and model"
    told = f"{kept} of {what} mostly solved left alone stay so ({percent(kept / solved)}"
    nulls = [each.null for each in found.retained if each.null is not None]
    if len(nulls) == len(found.retained):
        expected = sum(null * each.solved for each, null in zip(found.retained, nulls, strict=True)) / solved
        return [f"{told}, where noise alone would leave {percent(expected)})"]
    return [f"{told}; nothing here tells what noise alone would leave)"]


def _stand_in(arms: Sequence[Arm]) -> str:
    """What must be added where no live model was measured."""
    models = [arm.model for arm in arms]
    if all(model.startswith(SCRIPTED) for model in models):
        return "; these models are scripted, so that this measures the product and no model"
    if all(model.startswith((SCRIPTED, RECORDED)) for model in models):
        return "; these models are recorded or scripted, so that this measures no live model"
    return ""
