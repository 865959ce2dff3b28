"""What judge models said of an attempt, as a row holds it: their word, beside what checks found, and never mixed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import orjson

from fourhands.analysis.conversations import plan_begun_with
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import Event
from fourhands.model.judgement import Judgements

__all__ = ["JudgedTrial", "StateScore", "judged_trial", "judged_trials"]


@dataclass(frozen=True, slots=True)
class StateScore:
    """What a checkpoint is worth, 0 to 100, by a judge's word; ``None``: nothing that it said of it counts."""

    state: str
    of: str
    score: float | None


@dataclass(frozen=True, slots=True)
class JudgedTrial:
    """What one judge, ``judge:MODEL``, said of an attempt by the prompts of that version.

    ``plan`` is of the plan that the work began with, ``final`` of the last state, 0 to 100; ``None`` where that was
    not judged, or nothing in it counts. ``unscored`` are points of all judged states that do not count, of
    ``points``. ``states`` are all that it read, in order.
    """

    judge: str
    prompt_version: int
    plan: float | None
    final: float | None
    unscored: int
    points: int
    states: tuple[StateScore, ...] = ()


_FIELDS: Final = tuple(each.name for each in fields(JudgedTrial))


def judged_trial(events: Sequence[Event], judgements: Iterable[Judgements]) -> list[JudgedTrial]:
    """Of each judge, in their order; ``events`` of the attempt that they judged."""
    begun = plan_begun_with(events)
    plan: str | None = begun["checkpoint"] if begun else None
    return [_one(each, plan) for each in judgements]


def _one(found: Judgements, plan: str | None) -> JudgedTrial:
    ends = [each for each in found.states if each.of == CheckpointKind.END]
    return JudgedTrial(
        judge=found.judge,
        prompt_version=found.prompt_version,
        plan=next((each.judgement.score for each in found.states if each.state == plan), None),
        final=ends[-1].judgement.score if ends else None,
        unscored=sum(len(each.judgement.unscored) for each in found.states),
        points=sum(len(each.judgement.scores) for each in found.states),
        states=tuple(StateScore(each.state, each.of, each.judgement.score) for each in found.states),
    )


def judged_trials(column: str | None) -> list[JudgedTrial]:
    """What ``trials.judged`` holds, each judge's; of tables of other versions what both know."""
    return [_read(each) for each in orjson.loads(column or "[]")]


def _read(found: dict[str, Any]) -> JudgedTrial:
    known = {name: found[name] for name in _FIELDS if name in found}
    states = tuple(StateScore(**each) for each in found.get("states", ()))
    return JudgedTrial(**{**known, "states": states})
