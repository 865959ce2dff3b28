"""Why trials failed, as rows of ``trials`` hold it, by execution, events and judges; and how far judges agree."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from fourhands.analysis.failure_labels import failure_json
from fourhands.analysis.study import RunInfo, Study
from fourhands.model.agreement import Agreement, ClassAgreement, Counted, Estimate
from fourhands.model.audit import AUDITS, AuditName, Opinion, OpinionLabel
from fourhands.model.failure import FailureLabel, FailureType, FoundBy, FoundLabel, LabelledFailure, Undecided
from fourhands.trajectories.audits import opinion_json

Of = tuple[FailureLabel | FailureType | str, str | None]
"""A label, and the requirement that it is of."""


def labelled(
    *found: tuple[FailureLabel, FoundBy, str | None],
    left: Iterable[str | None] = (),
    edit: int | None = None,
    excused: Iterable[str] = (),
) -> dict[str, Any]:
    """The column of a failed conversation; ``edit`` is the user's that may be why of what is left.

    Of what is ``excused`` an ablation has shown that it is.
    """
    failure = LabelledFailure(
        tuple(FoundLabel(label, by, requirement, (1,), "why") for label, by, requirement in found),
        (
            *(Undecided(requirement, (1,), "why", edit) for requirement in left),
            *(Undecided(requirement, (1,), "why", is_excused=True) for requirement in excused),
        ),
    )
    return {"failure_labels": failure_json(failure)}


def typed(found: FailureType, by: FoundBy) -> dict[str, Any]:
    """The columns of a trial that failed under the user's hands."""
    return {"failure_type": found.value, "failure_type_by": by.value}


def opinion(
    *labels: Of,
    judge: str = "judge:j",
    audit: AuditName = AuditName.SWE_INTERACT,
    version: int | None = None,
    prompt: int = 1,
    problem: str | None = None,
) -> Opinion:
    """What a judge said of a trial; by the question as it is today, unless a ``version`` is given."""
    told = AUDITS[audit].version if version is None else version
    given = tuple(OpinionLabel(label, (1,), "why", requirement) for label, requirement in labels)
    return Opinion(audit, told, judge, prompt, "key", given, problem=problem)


def audits(*opinions: Opinion) -> dict[str, Any]:
    """The column that holds them."""
    return {"audits": json.dumps([opinion_json(each) for each in opinions])}


def agreement(
    kappa: float | None,
    *,
    judge: str = "judge:j",
    audit: AuditName = AuditName.SWE_INTERACT,
    version: int | None = None,
    prompt: int = 1,
    measured_on: tuple[str, ...] = ("run",),
) -> Agreement:
    """How far a judge agrees with people: sensitivity 0.9, specificity 0.95 of each label, corrected 31 %.

    Half of the items are left open by execution and events, and κ is the same there.
    """
    known = None if kappa is None else Estimate(kappa, kappa - 0.1, min(1.0, kappa + 0.1))
    label = ClassAgreement(
        "",
        20,
        100,
        known,
        Estimate(0.9, 0.7, 0.97),
        Estimate(0.95, 0.88, 0.98),
        0.33,
        Estimate(0.31, 0.2, 0.4),
        0.8,
    )
    classes = tuple(replace(label, label=name) for name in AUDITS[audit].names)
    counted = tuple(replace(each, positives=10, items=50, judged=None, corrected=None) for each in classes)
    return Agreement(
        audit=audit,
        audit_version=AUDITS[audit].version if version is None else version,
        judge=judge,
        prompt_version=prompt,
        population=300,
        read=300,
        items=100,
        annotators=("ann", "bo"),
        sampled="random",
        kappa=known,
        ac2=known,
        people=0.8,
        alternative=None,
        classes=classes,
        counted=Counted(50, known, 0.8, counted),
        measured_on=measured_on,
        sheet="s",
    )


def audited(study: Study, *agreements: Agreement, runs: Collection[str] = ("run",)) -> Study:
    """The same study of these runs, into each of which the agreements were written."""
    infos = tuple(RunInfo(run, f"/runs/{run}", "run", agreements=agreements) for run in runs)
    return replace(study, runs=infos)
