"""Why each trial of a population failed: by execution, else by events, and what a judge says of that which is left.

A judge never overrules what execution or events show: of its opinion only that counts which is about what they leave
open. The whole of it is kept beside. So it is with the user's own model, on whose word labels rest where no check
tells whether a requirement is met: what they are of is left open, and it has a voice of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import orjson

from fourhands.analysis.failure_labels import failure_from_json
from fourhands.analysis.findings.arms import Arm, Trial
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.findings.populations import failed_conversations, failed_touched
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Voice
from fourhands.model.audit import AUDITS, Audit, AuditName, Opinion, OpinionLabel
from fourhands.model.condition import Condition
from fourhands.model.failure import FailureLabel, FailureType, FoundBy, FoundLabel, LabelledFailure
from fourhands.trajectories.audits import opinion_from_json

__all__ = ["SCHEMES", "SIMULATOR", "FailedArm", "Failure", "failed_arms", "opinions_in"]

SCHEMES: Final = (AuditName.SWE_INTERACT, AuditName.SWE_TOUCH)
"""The two ways to say why a trial failed, each with its labels and its population."""

SIMULATOR: Final = "simulator:"
"""What the voice of a user's own model begins with, before its name. Nobody compares it with people."""

_ORDER: Final = tuple(FoundBy)
_NO_PROMPT: Final = 0
"""The user's own model was never asked the question of an audit."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed trial.

    Attributes:
        trial: which.
        found: each label that execution or events give, and by the better of both.
        settled: requirements that one of these labels is of.
        left: what is left open: ids of requirements, and ``None`` for what is of no requirement; empty: nothing.
        waits: it is open for want of an ablation, or of one to the end, which might decide it.
        opinions: what judges said of it by the audit's question as it is today; of each voice one.
        simulated: what rests on the word of the user's own model, of what is left; empty: nothing does.
    """

    trial: Trial
    found: Mapping[str, FoundBy]
    settled: frozenset[str]
    left: frozenset[str | None]
    waits: bool
    opinions: Mapping[Voice, Opinion]
    simulated: Mapping[Voice, Opinion]

    @property
    def voices(self) -> Mapping[Voice, Opinion]:
        """All whose word it is, judges and the user's own model."""
        return {**self.opinions, **self.simulated}

    def added(self, voice: Voice) -> frozenset[str]:
        """The labels with which one fills what was left open; empty where nothing was, or it adds nothing.

        They may be among those found already, of another requirement.
        """
        return frozenset(label.label for label in self._said(voice) if self._filled_by(label))

    def by(self, voice: Voice | None) -> dict[str, FoundBy]:
        """Each label of the trial, and by what it was found; a judge's where neither of the others gives it."""
        added = self.added(voice) if voice else ()
        return dict.fromkeys(added, FoundBy.JUDGE) | dict(self.found)

    def is_open(self, voice: Voice | None) -> bool:
        """Whether something is left that nobody decides, with this judge, or without one."""
        said = self._said(voice) if voice else ()
        return bool(self.left.difference(*map(self._filled_by, said)))

    def _said(self, voice: Voice) -> tuple[OpinionLabel, ...]:
        opinion = self.voices.get(voice)
        return opinion.labels if opinion else ()

    def _filled_by(self, label: OpinionLabel) -> frozenset[str | None]:
        """What a label decides of what is left: its own requirement, or what is of none.

        What is of no requirement may be of any that is not settled: nobody knows of which.
        """
        if label.requirement in self.left:
            return frozenset({label.requirement})
        return frozenset({None} if None in self.left and label.requirement not in self.settled else ())


@dataclass(frozen=True, slots=True)
class FailedArm:
    """Failures of one arm that are of a scheme's population, if any; ``unresolved``: all scored ones that failed."""

    scheme: AuditName
    arm: Arm
    unresolved: int
    failures: tuple[Failure, ...]


@kept
def failed_arms(study: Study) -> tuple[FailedArm, ...]:
    """Of each scheme the arms that may have such failures, in order of appearance."""
    return tuple(
        FailedArm(
            scheme,
            arm,
            sum(not trial.resolved for trial in arm.scored),
            tuple(_failure(scheme, trial) for trial in trials),
        )
        for scheme, population in zip(SCHEMES, (failed_conversations, failed_touched), strict=True)
        for arm, trials in population(study)
    )


def opinions_in(trial: Trial) -> list[Opinion]:
    """All that judges said of it; what came of no opinion is left out."""
    said = (opinion_from_json(fields) for fields in orjson.loads(trial.audits or "[]"))
    return [opinion for opinion in said if opinion.problem is None]


def _failure(scheme: AuditName, trial: Trial) -> Failure:
    known = _labels(trial) if scheme is AuditName.SWE_INTERACT else _type(trial)
    audit = AUDITS[scheme]
    return Failure(
        trial=trial,
        found=known.found,
        settled=known.settled,
        left=known.left,
        waits=known.is_of_edits and _is_unablated(trial),
        opinions={
            Voice(scheme, audit.version, each.judge, each.prompt_version): _of_audit(each, audit)
            for each in opinions_in(trial)
            if each.audit is scheme and each.audit_version == audit.version
        },
        simulated=_simulated(trial, audit, known.simulated),
    )


def _of_audit(opinion: Opinion, audit: Audit) -> Opinion:
    """Without labels that the audit does not have: a file may hold any."""
    return replace(opinion, labels=tuple(each for each in opinion.labels if each.label in audit.names))


def _simulated(trial: Trial, audit: Audit, labels: Iterable[FoundLabel]) -> dict[Voice, Opinion]:
    told = tuple(OpinionLabel(each.label, each.events, each.why, each.requirement) for each in labels)
    if not told:
        return {}
    name = f"{SIMULATOR}{Condition.parse(trial.condition).simulator}"
    voice = Voice(audit.name, audit.version, name, _NO_PROMPT)
    return {voice: Opinion(audit.name, audit.version, name, _NO_PROMPT, "", told)}


def _is_unablated(trial: Trial) -> bool:
    """Whether ``fourhands ablate`` would execute states of it: it has not yet, or not all that it would today."""
    is_done = trial.ablation is not None and False not in {trial.ablation_final, trial.ablation_typed}
    return bool(trial.failed_touched) and not is_done


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one failure without a judge; ``is_of_edits``: some of it is open for the user's edits."""

    found: Mapping[str, FoundBy]
    settled: frozenset[str]
    left: frozenset[str | None]
    is_of_edits: bool
    simulated: tuple[FoundLabel, ...] = ()


def _labels(trial: Trial) -> _Known:
    """Of a conversation; where it could not be labelled at all, everything is left."""
    labelled = (
        LabelledFailure(()) if trial.failure_labels is None else failure_from_json(trial.failure_labels)
    )
    shown = [each for each in labelled.found if each.by is not FoundBy.JUDGE]
    known = {each.requirement for each in shown}
    simulated = [
        each for each in labelled.found if each.by is FoundBy.JUDGE and each.requirement not in known
    ]
    excused = [each.requirement for each in labelled.undecided if each.is_excused]
    left = frozenset[str | None](
        {each.requirement for each in labelled.undecided if not each.is_excused}
        | {each.requirement for each in simulated}
    )
    return _Known(
        found=_best((each.label, each.by) for each in shown),
        settled=frozenset(name for name in (*known, *excused) if name is not None),
        # No label and nothing undecided would be a failure that nobody has a word for.
        left=left if left or shown or excused else frozenset({None}),
        is_of_edits=any(each.edit is not None for each in labelled.undecided),
        simulated=tuple(simulated),
    )


def _type(trial: Trial) -> _Known:
    if trial.failure_type is None or trial.failure_type_by is None:
        return _Known({}, frozenset(), frozenset({None}), is_of_edits=True)
    found = {str(FailureType(trial.failure_type)): FoundBy(trial.failure_type_by)}
    return _Known(found, frozenset(), frozenset(), is_of_edits=False)


def _best(found: Iterable[tuple[FailureLabel, FoundBy]]) -> dict[str, FoundBy]:
    """Each label once, by the better of what shows it."""
    weakest_first = sorted(found, key=lambda each: _ORDER.index(each[1]), reverse=True)
    return {str(label): by for label, by in weakest_first}
