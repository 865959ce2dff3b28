"""What it changes how the user speaks: each persona against the neutral one, of all else the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.arms import Agent, Arm, Trial, agents_of, mean
from fourhands.analysis.findings.conversations.groups import POOLED, at_will, together_of
from fourhands.analysis.findings.conversations.measures import Difference, Rate, rate_of, resolved
from fourhands.analysis.findings.conversations.talk import is_premature, told_share
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import holm
from fourhands.analysis.study import Study
from fourhands.model.condition import DEFAULT_PERSONA, Condition

__all__ = ["NEUTRAL", "PersonaRow", "PersonaTalk", "persona_table", "without_neutral"]

NEUTRAL: Final = "neutral"
"""The persona that the others are held against."""


@dataclass(frozen=True, slots=True)
class PersonaTalk:
    """How it went with one persona, over the scored trials of the tasks that are paired.

    ``at_will`` and ``end`` are resolve rates. ``said`` and ``corrections`` are mean messages, ``told_at_will`` is the
    mean share of the requirements that were said when the agent first wanted to end, ``premature`` the rate of
    trials that wanted to end, or were cut, with something untold after one correction or none.
    """

    at_will: Rate
    end: Rate
    said: float | None
    told_at_will: float | None
    corrections: float | None
    premature: Rate


@dataclass(frozen=True, slots=True)
class PersonaRow:
    """One persona against `NEUTRAL`, of one agent, model, simulator and condition, whose label has no persona.

    Each Δ is the persona's rate less the neutral one's, paired by task. A p adjusted by Holm's method has as its
    family all personas of this agent, model, simulator and condition: ``family`` of them; at will and in the end are
    two families.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    persona: str
    tasks: int
    one: PersonaTalk
    neutral: PersonaTalk
    delta_at_will: Difference
    p_holm_at_will: float | None
    delta: Difference
    p_holm: float | None
    family: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two arms that differ in the persona; ``setting`` is what they share."""

    setting: Condition
    persona: str
    one: Arm
    neutral: Arm


@kept
def persona_table(study: Study) -> tuple[PersonaRow, ...]:
    """One row per agent, model, condition, simulator and persona that has its neutral counterpart.

    Then, where that is so with several simulators, one of these together.
    """
    return tuple(row for agent in agents_of(study) for row in _rows(agent))


def without_neutral(study: Study) -> tuple[str, ...]:
    """Arms of other personas that have no neutral counterpart: nothing here is of them."""
    return tuple(
        f"{agent.agent} · {agent.model} · {arm.condition}"
        for agent in agents_of(study)
        for arm in _talking(agent)
        if Condition.parse(arm.condition).persona != NEUTRAL and _neutral_of(agent, arm) is None
    )


def _talking(agent: Agent) -> Iterator[Arm]:
    return (arm for arm in agent.others if arm.talks)


def _neutral_of(agent: Agent, arm: Arm) -> Arm | None:
    wanted = replace(Condition.parse(arm.condition), persona=NEUTRAL)
    return next((other for other in _talking(agent) if Condition.parse(other.condition) == wanted), None)


def _pairs(agent: Agent) -> Iterator[_Pair]:
    together: dict[tuple[Condition, str], list[_Pair]] = defaultdict(list)
    for arm in _talking(agent):
        condition = Condition.parse(arm.condition)
        neutral = _neutral_of(agent, arm)
        if neutral is None or condition.persona == NEUTRAL:
            continue
        setting = replace(condition, persona=DEFAULT_PERSONA)
        found = _Pair(setting, condition.persona, arm, neutral)
        yield found
        together[replace(setting, simulator="*"), condition.persona].append(found)
    for (setting, persona), pairs in together.items():
        if len(pairs) > 1:
            one, neutral = (
                together_of([getattr(each, side) for each in pairs]) for side in ("one", "neutral")
            )
            yield _Pair(setting, persona, one, neutral)


def _rows(agent: Agent) -> Iterator[PersonaRow]:
    families: dict[Condition, list[PersonaRow]] = defaultdict(list)
    for each in _pairs(agent):
        families[each.setting].append(_row(each))
    for rows in families.values():
        yield from _adjusted(rows)


def _row(pair: _Pair) -> PersonaRow:
    tasks = pair.one.outcomes.keys() & pair.neutral.outcomes.keys()
    one, neutral = (
        [trial for trial in arm.scored if trial.task in tasks] for arm in (pair.one, pair.neutral)
    )
    return PersonaRow(
        agent=pair.one.agent,
        model=pair.one.model,
        condition=pair.setting.label,
        simulator=POOLED if pair.setting.simulator == "*" else pair.setting.simulator,
        persona=pair.persona,
        tasks=len(tasks),
        one=_talk(pair.one, one),
        neutral=_talk(pair.neutral, neutral),
        delta_at_will=Difference.between(at_will(pair.neutral), at_will(pair.one)),
        p_holm_at_will=None,
        delta=Difference.between(pair.neutral, pair.one),
        p_holm=None,
        family=0,
    )


def _talk(arm: Arm, trials: Sequence[Trial]) -> PersonaTalk:
    first = at_will(replace(arm, trials=tuple(trials)))
    return PersonaTalk(
        at_will=resolved(first.scored),
        end=resolved(trials),
        said=mean(trial.said for trial in trials),
        told_at_will=mean(told_share(trial, trial.held_at_will) for trial in trials),
        corrections=mean(trial.corrections for trial in trials),
        premature=rate_of((trial.task, is_premature(trial)) for trial in trials),
    )


def _adjusted(rows: Sequence[PersonaRow]) -> Iterator[PersonaRow]:
    first, end = (_holm(each) for each in ([r.delta_at_will for r in rows], [r.delta for r in rows]))
    for row, p_first, p_end in zip(rows, first, end, strict=True):
        yield replace(row, p_holm_at_will=p_first, p_holm=p_end, family=len(rows))


def _holm(differences: Sequence[Difference]) -> list[float | None]:
    adjusted = iter(holm([each.test.p for each in differences if each.test]))
    return [next(adjusted) if each.test else None for each in differences]
