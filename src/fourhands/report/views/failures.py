"""F4 and F5: what failures are composed of, and by what each part was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.evidence import SIMULATOR
from fourhands.analysis.findings.failures import UNDECIDED, FailureRow, LabelShare, failure_table
from fourhands.analysis.study import Study
from fourhands.analysis.trust import trust_in
from fourhands.model.agreement import Estimate
from fourhands.model.audit import AuditName
from fourhands.model.failure import FailureLabel
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, count, interval_of, percent, word
from fourhands.report.views.trusting import Heard, judge_field, share_estimate, trust_notes

__all__ = ["FIELDS", "LabelLine", "failures", "heard_in"]

_EVIDENCE: Final = (
    "execution: tests, checks or ablation show it; events: the record does; judge: a model says so, of what these "
    "leave open and of nothing else. Each trial counts where its best evidence is."
)
_SIMULATED: Final = (
    f"{SIMULATOR}…: what the user's own model says of requirements that no check decides; nobody compares it with "
    "people."
)
_POPULATIONS: Final = {
    AuditName.SWE_INTERACT: (
        "swe-interact: of conversations that end unresolved, without protocol failures; a trial may have several, "
        "and none where causal ablation shows that the user's own edit caused it. Of the final state: at full "
        "coverage no requirement can be missing by then. The paper's are of the state at will, as with "
        "coverage=at-will."
    ),
    AuditName.SWE_TOUCH: (
        "swe-touch: of failed trials of tasks majority-solved under the baseline and not under the condition; one "
        "each. The paper's exact rule is unknown."
    ),
}


_SHORT: Final[dict[str, str]] = {
    FailureLabel.TECHNICAL: "technical bug",
    FailureLabel.FORGOTTEN: "forgotten",
    FailureLabel.MISINTERPRETATION: "misinterpretation",
    FailureLabel.MISSING: "missing",
}
"""Labels that would take most of a table's width."""


@dataclass(frozen=True, slots=True)
class LabelLine:
    """One label in one row of failures, with the trust in the row's judge."""

    row: FailureRow
    label: LabelShare
    heard: Heard | None
    corrected: Estimate | None

    @property
    def agent(self) -> str:
        """The agent's name."""
        return self.row.agent

    @property
    def model(self) -> str:
        """Its model's name."""
        return self.row.model

    @property
    def condition(self) -> str:
        """The condition's label."""
        return self.row.condition


def _label(line: LabelLine) -> Cell:
    label = line.label.label
    return Cell(_SHORT.get(label, label), label)


def _judged(line: LabelLine) -> Cell:
    if line.label.judged is None or not line.row.read:
        return Cell(UNKNOWN)
    return Cell(f"{line.label.judged} of {line.row.read}", line.label.judged, (line.row.read,))


FIELDS: Final[tuple[Field[LabelLine], ...]] = (
    field("scheme", "labels of", lambda line: word(line.row.scheme), "whose labels they are", numeric=False),
    *agent_fields(LabelLine),
    judge_field(LabelLine, lambda line: line.heard),
    field("label", "label", _label, "why trials failed", numeric=False),
    field(
        "trials",
        "trials",
        lambda line: Cell(
            f"{line.label.rate.count} of {line.row.n}",
            line.label.rate.count,
            (line.row.n, line.row.unresolved),
        ),
        "trials that have it, of the population; and all scored trials that failed under these conditions",
        more=("population", "unresolved"),
    ),
    field("by_execution", "exec.", lambda line: count(line.label.execution), "of them, shown by execution"),
    field("by_events", "events", lambda line: count(line.label.events), "by events and by nothing better"),
    field(
        "by_judge",
        "by judge",
        lambda line: count(line.label.judge),
        "by the judge alone, of what was left open",
    ),
    field(
        "share",
        "of labels",
        lambda line: percent(line.label.share),
        "share of all labels, what is undecided counted as one more label of its trial",
    ),
    field(
        "rate", "of trials", lambda line: percent(line.label.rate.rate), "share of the population's trials"
    ),
    field(
        "rate_low",
        "95 % CI",
        lambda line: interval_of(line.label.rate.wilson),
        "Wilson's interval of it, trials as independent",
        more=("rate_high",),
    ),
    field(
        "rate_clustered_low",
        "by task",
        lambda line: interval_of(line.label.rate.clustered),
        "the same clustered by task",
        more=("rate_clustered_high",),
    ),
    field(
        "judged",
        "judge gives",
        _judged,
        "trials to which the judge gives it, whatever execution and events show, of those that it read",
        more=("judged_of",),
    ),
    field(
        "corrected",
        "corrected",
        lambda line: share_estimate(line.corrected),
        "the share that the judge gives, corrected by how it errs against people: of all trials of the runs that "
        "this was measured on, where the row counts just these",
        more=("corrected_low", "corrected_high"),
        detail=True,
    ),
)


def heard_in(study: Study, row: FailureRow) -> Heard | None:
    """The row's judge, and how far to trust it there; ``None`` where none is heard."""
    return None if row.voice is None else (row.voice, trust_in(study, row.voice, row.heard))


def failures(study: Study) -> TableView | None:
    """Why trials failed, by both papers' labels; each judge is heard apart."""
    lines = []
    for row in failure_table(study):
        heard = heard_in(study, row)
        lines += [
            LabelLine(row, label, heard, _corrected(row, label, heard))
            for label in row.shares
            if label.rate.count or label.judged
        ]
    said = [_EVIDENCE, "Labels that no trial has are left out."]
    said += [
        told for scheme, told in _POPULATIONS.items() if any(line.row.scheme is scheme for line in lines)
    ]
    if any(line.label.label == UNDECIDED and line.label.rate.count for line in lines):
        said.append(
            "undecided: trials in which something is left that nobody decides; they may have labels as well."
        )
    if any(line.row.voice and line.row.voice.judge.startswith(SIMULATOR) for line in lines):
        said.append(_SIMULATED)
    said += [told for scheme in _POPULATIONS if (told := _waiting(scheme, lines))]
    return table(
        "failures",
        "What failures are composed of",
        lines,
        FIELDS,
        notes=[*said, *trust_notes(line.heard for line in lines)],
        group=5,
    )


def _waiting(scheme: AuditName, lines: Iterable[LabelLine]) -> str | None:
    waiting = max((line.row.waiting for line in lines if line.row.scheme is scheme), default=0)
    if not waiting:
        return None
    return (
        f"{scheme}: {waiting} of what is open is not ablated, or not to the end, which might decide it: fourhands "
        "ablate does it."
    )


def _corrected(row: FailureRow, label: LabelShare, heard: Heard | None) -> Estimate | None:
    """A corrected share is of the runs that it was measured on, and of no part of them."""
    agreement = heard[1].agreement if heard else None
    if agreement is None or not row.is_whole or set(agreement.measured_on) != set(row.runs):
        return None
    return next((each.corrected for each in agreement.classes if each.label == label.label), None)
