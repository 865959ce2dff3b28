"""How much of the goals agents discover, from the plan to the last state, and what that is to be read against.

The SWE-Interact paper's figure 4a; definitions are in ``docs/discovery.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from fourhands.analysis.discovery import GRID, revisions, score_at_base, step_hold
from fourhands.analysis.findings.arms import Trial, mean, trials_of
from fourhands.analysis.findings.conversations.groups import Group, groups
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.findings.scores import (
    HIDDEN_TESTS,
    ScoreMean,
    ScoreSource,
    TrialScores,
    by_source,
    mean_of,
    trust_in_source,
    with_sources_told,
)
from fourhands.analysis.study import Anchors, Study
from fourhands.analysis.trust import Trust
from fourhands.model.ledger import TOTAL_WEIGHT

__all__ = ["AnchorMeans", "DiscoveryRow", "anchor_means", "discovery_table"]


@dataclass(frozen=True, slots=True)
class AnchorMeans:
    """Means over tasks, 0 to 100: of no change, of the reference as code and as plan.

    ``tasks`` are those that tell what no change is worth. ``drop`` is the mean of the reference as a plan less as
    code, over tasks that have both: the judge's own leniency.
    """

    tasks: int
    empty: float | None
    reference: float | None
    as_plan: float | None
    drop: float | None


@dataclass(frozen=True, slots=True)
class DiscoveryRow:
    """One agent and model under one condition with one simulator, or all pooled, by one source of scores.

    ``trials`` are scored trials that the source says something of. ``plan`` is of the plan that the work began with,
    ``points`` of the code at each point of the grid, ``drop`` of the plan less the first revision, over trials that
    have both. ``unscored`` of the ``revisions`` have no score: there the one before is held. ``verifier_informed``
    counts trials whose scores are by hidden tests: all or none. ``trust`` is in a judge; ``None``: it is none.
    ``told`` says in words whose scores they are. ``anchored`` has the anchors of those of its tasks that have any.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    source: ScoreSource
    trust: Trust | None
    told: str
    trials: int
    plan: ScoreMean | None
    points: tuple[ScoreMean | None, ...]
    drop: ScoreMean | None
    anchored: Mapping[str, Anchors]
    revisions: int
    unscored: int
    verifier_informed: int

    @property
    def anchors(self) -> AnchorMeans:
        """Means over its tasks."""
        return anchor_means(self.anchored)


def discovery_table(study: Study) -> tuple[DiscoveryRow, ...]:
    """One row per agent, model, condition, simulator and source, where there is anything."""
    bases = _bases(study)
    judged = {
        (task.name, each.judge, each.prompt_version): each
        for run in study.runs
        for task in run.tasks
        for each in task.anchors
    }
    rows = [
        replace(
            row,
            trust=trust_in_source(study, row.source, {trial.run for trial in trials}),
            anchored=_anchored(row.source, sorted({trial.task for trial in trials}), bases, judged),
        )
        for row, trials in _rows(study)
    ]
    return with_sources_told(rows)


@kept
def _rows(study: Study) -> tuple[tuple[DiscoveryRow, tuple[Trial, ...]], ...]:
    """With the trials of each; without what trials do not tell."""
    return tuple(
        (_row(group, source, scored), tuple(each.trial for each in scored))
        for group in groups(study)
        for source, scored in by_source(group.arm.scored).items()
    )


def _row(group: Group, source: ScoreSource, scored: Sequence[TrialScores]) -> DiscoveryRow:
    lines = [(each, revisions(each.states)) for each in scored]
    curves = [(each.trial.task, step_hold(scores)) for each, scores in lines]
    drops = [
        (each.trial.task, each.plan - scores[0])
        for each, scores in lines
        if each.plan is not None and scores and scores[0] is not None
    ]
    return DiscoveryRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        source=source,
        trust=None,
        told="",
        trials=len(scored),
        plan=mean_of((each.trial.task, each.plan) for each in scored if each.plan is not None),
        points=tuple(
            mean_of((task, score) for task, curve in curves if (score := curve[index]) is not None)
            for index in range(len(GRID))
        ),
        drop=mean_of(drops, differences=True),
        anchored={},
        revisions=sum(len(scores) for _, scores in lines),
        unscored=sum(score is None for _, scores in lines for score in scores),
        verifier_informed=len(scored) if source == HIDDEN_TESTS else 0,
    )


@kept
def _bases(study: Study) -> Mapping[tuple[ScoreSource, str], float]:
    """What checks found of each task before anybody had changed anything, where some trial's record tells."""
    found: dict[tuple[ScoreSource, str], float] = {}
    for source, scored in by_source(trials_of(study)).items():
        for each in scored:
            if source.voice is None and (score := score_at_base(each.states)) is not None:
                found.setdefault((source, each.trial.task), score)
    return found


def _anchored(
    source: ScoreSource,
    tasks: Sequence[str],
    bases: Mapping[tuple[ScoreSource, str], float],
    judged: Mapping[tuple[str, str, int], Anchors],
) -> Mapping[str, Anchors]:
    """Of the tasks that have any, by task."""
    if source.voice is None:
        # That the reference meets all of them is what `conversations check` asks of a ledger.
        return {
            task: Anchors(source.name, 0, bases.get((source, task)), TOTAL_WEIGHT, None) for task in tasks
        }
    key = (source.name, source.prompt_version)
    return {task: each for task in tasks if (each := judged.get((task, *key)))}


def anchor_means(anchors: Mapping[str, Anchors]) -> AnchorMeans:
    """Each task counts once."""
    found = [anchors[task] for task in sorted(anchors)]
    return AnchorMeans(
        tasks=sum(each.empty is not None for each in found),
        empty=mean(each.empty for each in found),
        reference=mean(each.reference for each in found),
        as_plan=mean(each.as_plan for each in found),
        drop=mean(
            each.as_plan - each.reference
            for each in found
            if each.as_plan is not None and each.reference is not None
        ),
    )
