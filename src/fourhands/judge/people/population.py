"""All items that an audit may be asked about, and what judges have said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from fourhands.engine.planned import unchanged_task
from fourhands.model.audit import AUDITS, AuditName, Choice
from fourhands.model.errors import InputError
from fourhands.model.event import EventKind
from fourhands.tasks.ledger_file import load_ledger
from fourhands.trajectories.audits import opinion_path, opinions_of
from fourhands.trajectories.judgements import judgements_of
from fourhands.trajectories.run_folder import Attempt, RunFolder

__all__ = [
    "JudgeAnswers",
    "Population",
    "Unit",
    "attempt_of",
    "goal_population",
    "judge_named",
    "judges_of",
    "trial_population",
]

_STEPS: Final = AUDITS[AuditName.GOALS].names
_QUARTER: Final = 0.25


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing that can be asked about: an attempt; of `goals`, one goal of one of its checkpoints.

    ``run`` is a place among the runs, ``trial`` a trial's folder. Two with equal fields are the same.
    """

    run: int
    trial: str
    attempt: int
    task: str
    checkpoint: str | None = None
    goal: str | None = None


@dataclass(frozen=True, slots=True)
class Population:
    """All units, and those of which execution and events leave something open: there the judge's word counts.

    ``left`` is ``None`` of `AuditName.GOALS`, where they decide nothing, and it counts everywhere.
    """

    units: tuple[Unit, ...]
    left: frozenset[Unit] | None = None


@dataclass(frozen=True, slots=True)
class JudgeAnswers:
    """What one judge says of each unit it has an opinion of: labels, and one alone where only one can be given.

    All by one version of its prompt; ``outdated`` units it has read with an older one only: it says nothing of this.
    ``left_out`` are the characters that it was not shown of a record, where that is known.
    """

    judge: str
    prompt_version: int
    answers: Mapping[Unit, frozenset[str]]
    outdated: int = 0
    left_out: Mapping[Unit, int] = field(default_factory=dict)


def attempt_of(folder: RunFolder, unit: Unit) -> Attempt:
    """The attempt that a unit is of."""
    return Attempt(folder.path / "trials" / unit.trial / f"attempt-{unit.attempt}")


def trial_population(folders: Sequence[RunFolder], trials: Sequence[Mapping[str, bool]]) -> Population:
    """The last ended attempts at the trials of each run that belong to an audit's population, in the plans' order.

    ``trials``: of each run their folders, and whether execution and events leave anything of them open.
    """
    found = {
        Unit(place, trial.key.slug, attempt.number, trial.task): trials[place][trial.key.slug]
        for place, folder in enumerate(folders)
        for trial in folder.plan().trials
        if trial.key.slug in trials[place] and (attempt := folder.final_attempt(trial.key))
    }
    return Population(tuple(found), frozenset(unit for unit, is_left in found.items() if is_left))


def goal_population(folders: Sequence[RunFolder]) -> Population:
    """Every goal of every plan and state of the code of ended trials whose task has a ledger.

    Raises:
        InputError: a task is not what it was, or its ledger is wrong.
    """
    return Population(
        tuple(unit for place, folder in enumerate(folders) for unit in _goals_in(place, folder))
    )


def _goals_in(place: int, folder: RunFolder) -> Iterator[Unit]:
    plan = folder.plan()

    @cache
    def goals(name: str) -> tuple[str, ...]:
        task = unchanged_task(folder, plan, name)
        return (
            tuple(goal.id for goal in load_ledger(task.ledger, task.instruction).goals) if task.ledger else ()
        )

    for trial in plan.trials:
        attempt = folder.final_attempt(trial.key)
        if attempt is None or not goals(trial.task):
            continue
        for event in attempt.read().events:
            if event.kind is EventKind.CHECKPOINT:
                for goal in goals(trial.task):
                    yield Unit(
                        place, trial.key.slug, attempt.number, trial.task, event.body["checkpoint"], goal
                    )


def judges_of(
    folders: Sequence[RunFolder], audit: AuditName, units: Sequence[Unit]
) -> dict[str, JudgeAnswers]:
    """What judges say of these units by the audit's question as it is today, by the judge's name.

    Of a judge with several versions of its prompt the newest counts.

    Raises:
        InputError: a file of opinions is wrong.
    """
    said: dict[str, dict[int, dict[Unit, frozenset[str]]]] = {}
    left_out: dict[str, dict[Unit, int]] = {}
    read = _judgements if audit is AuditName.GOALS else _opinions
    by_attempt: dict[tuple[int, str, int], list[Unit]] = {}
    for unit in units:
        by_attempt.setdefault((unit.run, unit.trial, unit.attempt), []).append(unit)
    for own in by_attempt.values():
        for judge, version, answers, cut in read(attempt_of(folders[own[0].run], own[0]), audit, own):
            if answers:
                said.setdefault(judge, {}).setdefault(version, {}).update(answers)
                if cut is not None:
                    left_out.setdefault(judge, {}).update(dict.fromkeys(answers, cut))
    return {judge: _newest(judge, said[judge], left_out.get(judge, {})) for judge in sorted(said)}


def _newest(
    judge: str, versions: Mapping[int, Mapping[Unit, frozenset[str]]], left_out: Mapping[Unit, int]
) -> JudgeAnswers:
    newest = max(versions)
    older = {unit for version, answers in versions.items() if version < newest for unit in answers}
    return JudgeAnswers(judge, newest, versions[newest], len(older - versions[newest].keys()), left_out)


def judge_named(judges: Mapping[str, JudgeAnswers], name: str) -> JudgeAnswers:
    """The judge of that name, with or without ``judge:``.

    Raises:
        InputError: it has not answered; names those that have.
    """
    found = judges.get(name) or judges.get(f"judge:{name}")
    if found is None:
        raise InputError(
            f"--judge {name}: has not answered here; have answered: {', '.join(judges) or 'none'}"
        )
    return found


def _command(audit: AuditName) -> str:
    return (
        "fourhands conversations score"
        if audit is AuditName.GOALS
        else f"fourhands audit judge --audit {audit} --on all"
    )


type _Said = Iterator[tuple[str, int, dict[Unit, frozenset[str]], int | None]]
"""A judge, its prompt's version, its answers, and the characters that it was not shown, where that is known."""


def _opinions(attempt: Attempt, audit: AuditName, units: Sequence[Unit]) -> _Said:
    for opinion in opinions_of(attempt):
        if (opinion.audit, opinion.audit_version) != (audit, AUDITS[audit].version) or opinion.problem:
            continue
        labels = frozenset(each.label for each in opinion.labels)
        is_one = AUDITS[audit].choice is not Choice.ANY
        if not labels <= set(AUDITS[audit].names) or (is_one and len(labels) != 1):
            raise InputError(
                f"{opinion_path(attempt, audit, opinion.judge)}: labels: {sorted(labels)} is no answer to {audit}; "
                f"remove the file, and have the judge asked again with {_command(audit)}"
            )
        yield opinion.judge, opinion.prompt_version, dict.fromkeys(units, labels), opinion.left_out


def _judgements(attempt: Attempt, _: AuditName, units: Sequence[Unit]) -> _Said:
    for judgements in judgements_of(attempt):
        scores = {
            (state.state, score.id): score.score
            for state in judgements.states
            for score in state.judgement.scores
            if score.score is not None
        }
        found = {
            unit: frozenset({_step(scores[unit.checkpoint or "", unit.goal or ""])})
            for unit in units
            if (unit.checkpoint, unit.goal) in scores
        }
        yield judgements.judge, judgements.prompt_version, found, None


def _step(score: float) -> str:
    """The nearest step to a score from 0 to 1; the middle one where two are as near."""
    if _QUARTER <= score <= 1 - _QUARTER:
        return _STEPS[1]
    return _STEPS[0] if score < _QUARTER else _STEPS[2]
