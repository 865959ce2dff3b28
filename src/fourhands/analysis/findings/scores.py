"""Rubric scores of conversations, by whose word they are, and their means over trials."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar, Final, Protocol

import orjson

from fourhands.analysis.discovery import CodeState
from fourhands.analysis.findings.arms import Trial
from fourhands.analysis.judged import JudgedTrial, judged_trials
from fourhands.analysis.statistics import Interval, paired_interval, rate_interval
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Trust, Voice, trust_in
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.ledger import TOTAL_WEIGHT

__all__ = [
    "CHECKS",
    "HIDDEN_TESTS",
    "ScoreMean",
    "ScoreSource",
    "Sourced",
    "TrialScores",
    "by_source",
    "mean_of",
    "trust_in_source",
    "with_sources_told",
]


@dataclass(frozen=True, slots=True, order=True)
class ScoreSource:
    """By whose word scores are: ``checks``, ``hidden-tests`` or ``judge:MODEL`` with its prompts' version, else 0."""

    name: str
    prompt_version: int = 0

    @property
    def voice(self) -> Voice | None:
        """The judge that it is, as one who speaks of goals; ``None``: it is none."""
        if not self.name.startswith("judge:"):
            return None
        return Voice(AuditName.GOALS, AUDITS[AuditName.GOALS].version, self.name, self.prompt_version)


CHECKS: Final = ScoreSource("checks")
"""The ledger's executable checks; of a plan, whether its words take a requirement up."""
HIDDEN_TESTS: Final = ScoreSource("hidden-tests")
"""The same of a ledger that lacks checks, so that hidden tests stood in for them: verifier-informed."""


@dataclass(frozen=True, slots=True)
class TrialScores:
    """One trial's, 0 to 100: of the plan that the work began with, of each state of the code, and of the last."""

    trial: Trial
    plan: float | None
    states: tuple[CodeState, ...]
    final: float | None


@dataclass(frozen=True, slots=True)
class ScoreMean:
    """Over ``n`` trials, or tasks; ``interval``: 95 % of the mean over tasks; all in points of a hundred."""

    value: float
    n: int
    interval: Interval | None


def by_source(trials: Iterable[Trial]) -> Mapping[ScoreSource, Sequence[TrialScores]]:
    """The trials that each source says something of: checks first, then judges by name and version.

    Of a trial with any score by hidden tests none is by checks.
    """
    found: dict[ScoreSource, list[TrialScores]] = defaultdict(list)
    for trial in trials:
        states = [each for each in orjson.loads(trial.scores or "[]") if each["of"] != CheckpointKind.PLAN]
        checked = TrialScores(
            trial,
            trial.plan_score,
            tuple(CodeState(each["is_new"], each["score"]) for each in states),
            trial.final_score,
        )
        if checked.plan is not None or any(each.score is not None for each in checked.states):
            found[HIDDEN_TESTS if trial.verifier_informed else CHECKS].append(checked)
        for judged in judged_trials(trial.judged):
            source = ScoreSource(judged.judge, judged.prompt_version)
            found[source].append(_judged(trial, states, judged))
    return {source: found[source] for source in sorted(found)}


def _judged(trial: Trial, states: Sequence[Mapping[str, object]], judged: JudgedTrial) -> TrialScores:
    """In the order of the record, also where the judge was not asked about each state."""
    scores = {each.state: each.score for each in judged.states}
    code = tuple(CodeState(bool(each["is_new"]), scores.get(str(each["checkpoint"]))) for each in states)
    return TrialScores(trial, judged.plan, code, judged.final)


def trust_in_source(study: Study, source: ScoreSource, runs: Collection[str]) -> Trust | None:
    """How far a judge agrees with people on goals; ``None``: no judge made these scores."""
    return trust_in(study, source.voice, runs) if source.voice else None


class Sourced(Protocol):
    """A row of scores by one source: a dataclass that has ``told`` as well."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def source(self) -> ScoreSource:
        """By whose word they are."""

    @property
    def trust(self) -> Trust | None:
        """In a judge; ``None``: it is none."""


def with_sources_told[R: Sourced](rows: Sequence[R]) -> tuple[R, ...]:
    """Rows of a table, each with ``told``: by whose word scores are, and how far a judge's may be taken, in words.

    The version of its prompts tells a judge apart that the table has with several.
    """
    sources = {(row.source.name, row.source.prompt_version) for row in rows}
    versions = Counter(name for name, _ in sources)
    return tuple(replace(row, told=_told(row, is_of_several=versions[row.source.name] > 1)) for row in rows)


def _told(row: Sourced, *, is_of_several: bool) -> str:
    source = row.source
    if row.trust is None:
        return source.name.replace("-", " ")
    return f"{source.name}{f' v{source.prompt_version}' if is_of_several else ''}, {row.trust.told}"


def mean_of(scores: Iterable[tuple[str, float]], *, differences: bool = False) -> ScoreMean | None:
    """Of pairs of a task and a score, or a difference of two, each trial counting alike; ``None`` without any.

    The interval is clustered by task.
    """
    tasks: dict[str, list[float]] = defaultdict(list)
    for task, score in scores:
        tasks[task].append(score)
    if not tasks:
        return None
    means = [fmean(tasks[task]) / TOTAL_WEIGHT for task in sorted(tasks)]
    found = paired_interval(means) if differences else rate_interval(means)
    every = [score for each in tasks.values() for score in each]
    return ScoreMean(
        fmean(every),
        len(every),
        found and Interval(found.low * TOTAL_WEIGHT, found.high * TOTAL_WEIGHT, found.method),
    )
