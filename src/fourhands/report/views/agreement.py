"""How far each judge agrees with people, and with execution where both speak."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.agreement import AgreementRow, Source, agreement_table
from fourhands.analysis.study import Study
from fourhands.analysis.trust import UNAUDITED
from fourhands.model.agreement import Agreement, ClassAgreement, Counted
from fourhands.model.audit import TRUSTED_FROM
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import UNKNOWN, count, mean, percent, word
from fourhands.report.views.trusting import estimate, share_estimate, trust_notes

__all__ = ["FIELDS", "AgreementLine", "agreement"]

_WHOLE: Final = "all"
"""In place of a label: the audit as a whole."""


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """One label of a comparison, or the whole of it."""

    row: AgreementRow
    label: ClassAgreement | None

    @property
    def people(self) -> Agreement | None:
        """What people's answers gave of the whole."""
        return None if self.label else self.row.agreement


def _verdict(line: AgreementLine) -> Cell:
    """Of a judge by people's answers alone: what execution shows is a check, and no gate."""
    row = line.row
    if row.source is not Source.PEOPLE:
        return Cell("")
    trust = replace(row.trust, label=line.label.label) if line.label else row.trust
    told = "trusted" if trust.is_trusted else f"not trusted: {trust.told}" if trust.is_audited else trust.told
    if trust.is_outdated:
        told = f"{UNAUDITED}: other versions were measured"
    if not row.is_heard and not line.label:
        told += "; it has not spoken here by these versions"
    return Cell(told, told, (trust.is_audited, trust.is_trusted))


def _counted(line: AgreementLine) -> Counted | ClassAgreement | None:
    """What the verdict goes by, of the whole or of a label."""
    found = line.row.agreement
    if found is None:
        return None
    if line.label is None:
        return found.counted
    return next((each for each in found.counted.classes if each.label == line.label.label), None)


def _counted_items(line: AgreementLine) -> Cell:
    own = _counted(line)
    return count(own.items) if own else Cell("")


def _counted_kappa(line: AgreementLine) -> Cell:
    own = _counted(line)
    return estimate(own.kappa) if own else Cell("")


def _read(found: Agreement) -> Cell:
    return Cell(f"{found.read} of {found.population}", found.read, (found.population,))


def _of_label(cell: Callable[[ClassAgreement], Cell]) -> Callable[[AgreementLine], Cell]:
    """Blank on the line of the whole."""
    return lambda line: cell(line.label) if line.label else Cell("")


def _of_people(cell: Callable[[Agreement], Cell]) -> Callable[[AgreementLine], Cell]:
    """Blank but on the line of the whole, of people's answers."""
    return lambda line: cell(line.people) if line.people else Cell("")


def _alternative(found: Agreement) -> Cell:
    if found.alternative is None:
        return Cell(UNKNOWN)
    told = "passed" if found.alternative.passed else "failed"
    rate, advantage = found.alternative.winning_rate, found.alternative.advantage
    return Cell(f"{told}, ω {rate:.2f}", told, (rate, advantage, found.alternative.epsilon))


_ENDS: Final = {
    name: (f"{name}_low", f"{name}_high")
    for name in ("kappa", "counted_kappa", "ac2", "sensitivity", "specificity")
}

FIELDS: Final[tuple[Field[AgreementLine], ...]] = (
    field("audit", "audit", lambda line: word(line.row.voice.audit), "what was asked", numeric=False),
    field(
        "judge",
        "judge",
        lambda line: Cell(
            line.row.voice.judge,
            line.row.voice.judge,
            (line.row.voice.audit_version, line.row.voice.prompt_version, ", ".join(line.row.runs)),
        ),
        "who answered, with the versions of the question and of its prompt, and the runs that this holds for",
        more=("audit_version", "prompt_version", "runs"),
        numeric=False,
    ),
    field(
        "source",
        "against",
        lambda line: word(line.row.source),
        "`people`: their majority; `execution`: what tests, checks or ablation show of the same trials",
        numeric=False,
    ),
    field(
        "label",
        "label",
        lambda line: word(line.label.label if line.label else _WHOLE),
        "one label, as given or not given, or `all` of them",
        numeric=False,
    ),
    field(
        "verdict",
        "verdict",
        _verdict,
        f"`trusted` from κ {TRUSTED_FROM} with people on, of what is left open, else `not trusted`; `unaudited`: "
        "nobody compared it, or there is too little to say; of a label by its own κ",
        more=("audited", "trusted"),
        numeric=False,
    ),
    field(
        "items",
        "items",
        lambda line: count(line.label.items if line.label else line.row.items),
        "that both have answered",
    ),
    field(
        "positives",
        "positive",
        _of_label(lambda label: count(label.positives)),
        "of them, to which the source gives the label",
    ),
    field(
        "kappa",
        "κ",
        lambda line: estimate(line.label.kappa if line.label else line.row.kappa),
        "Cohen's, with its 95 % interval; of several labels a trial their mean, of steps with quadratic weights",
        more=_ENDS["kappa"],
    ),
    field(
        "counted",
        "left open",
        _counted_items,
        "of the items, those that execution and events leave open, and where alone the judge's word counts: the "
        "verdict goes by these; of `goals` all",
    ),
    field(
        "counted_kappa",
        "κ there",
        _counted_kappa,
        "Cohen's κ of these, with its 95 % interval",
        more=_ENDS["counted_kappa"],
    ),
    field(
        "ac2",
        "AC2",
        _of_people(lambda found: estimate(found.ac2)),
        "Gwet's AC2, AC1 where labels have no order, with its 95 % interval",
        more=_ENDS["ac2"],
    ),
    field(
        "sensitivity",
        "sens.",
        _of_label(lambda label: share_estimate(label.sensitivity)),
        "of the items with the label, the share to which the judge gives it, with its 95 % interval",
        more=_ENDS["sensitivity"],
    ),
    field(
        "specificity",
        "spec.",
        _of_label(lambda label: share_estimate(label.specificity)),
        "of the items without it, the share to which the judge does not, with its 95 % interval",
        more=_ENDS["specificity"],
    ),
    field(
        "judged",
        "judged",
        _of_label(lambda label: percent(label.judged)),
        "share of all trials of the measured runs to which the judge gives the label, where it has read them all",
    ),
    field(
        "corrected",
        "corrected",
        _of_label(lambda label: share_estimate(label.corrected)),
        "the same corrected by how the judge errs against people, with its 95 % interval",
        more=("corrected_low", "corrected_high"),
    ),
    field(
        "people",
        "people",
        _of_people(lambda found: replace(mean(found.people, 2), more=(len(found.annotators),))),
        "mean κ of people among each other; and how many they are",
        more=("annotators",),
        detail=True,
    ),
    field(
        "alternative",
        "stands in",
        _of_people(_alternative),
        "the alternative-annotator test: whether the judge may stand in for a person, with its winning rate ω, its "
        "mean advantage and ε; from three people on",
        more=("winning_rate", "advantage", "epsilon"),
        numeric=False,
        detail=True,
    ),
    field(
        "read",
        "has read",
        _of_people(_read),
        "items of which the judge has an opinion, and how many there are in the measured runs",
        more=("population",),
    ),
    field(
        "sampled",
        "sampled",
        _of_people(lambda found: word(found.sampled)),
        "how the items were drawn: all, at random, or by the judge's answer and by what is left open",
        numeric=False,
        detail=True,
    ),
)


def agreement(study: Study) -> TableView | None:
    """Each judge that has spoken or was measured, in each audit."""
    rows = agreement_table(study)
    said = trust_notes((row.voice, row.trust) for row in rows)
    if any(row.source is Source.EXECUTION for row in rows):
        said.append(
            "execution: of what it decides by itself; that a judge agrees there says little of what is left to it."
        )
    lines = [AgreementLine(row, label) for row in rows for label in (None, *row.classes)]
    return table("agreement", "How far judges agree with people", lines, FIELDS, notes=said, group=3)
