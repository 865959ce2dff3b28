"""How far a judge agrees with people, and people with each other: what makes a judge's numbers more than its word.

Definitions, with their sources, are in ``docs/audits.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fourhands.model.audit import TRUSTED_FROM, AuditName

__all__ = [
    "LEAST_ITEMS",
    "LEAST_OF_A_KIND",
    "SURE_FROM",
    "Agreement",
    "AlternativeTest",
    "ClassAgreement",
    "Counted",
    "Estimate",
    "Verdict",
]

LEAST_ITEMS: Final = 20
"""Fewer that both have answered are too little to say anything of a judge."""
LEAST_OF_A_KIND: Final = 5
"""So many of them must have a label, and so many lack it, before its κ says anything."""
SURE_FROM: Final = 0.4
"""The lower end of κ's interval, and people's κ among themselves, must reach it: Landis and Koch's *moderate*."""
_LEAST_PEOPLE: Final = 2


class Verdict(StrEnum):
    """What people's answers come to."""

    TRUSTED = "trusted"
    NOT_TRUSTED = "not trusted"
    """κ is below `TRUSTED_FROM`."""
    TOO_LITTLE = "too little to say"
    """As good as unaudited: one person alone, few items, people who do not agree, or a κ that may be anything."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; ``None`` ends: too little to say."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ClassAgreement:
    """One label, as given or not given.

    Attributes:
        label: which.
        positives: items to which people give it, of ``items``.
        items: that were compared.
        kappa: Cohen's, of given or not given; ``None`` where it is undefined: both give it to all, or both to
            none. Where only one of them does so it is 0.
        sensitivity: share of those that people give it to which the judge does too; ``None`` without any.
        specificity: share of those that people do not give it to which the judge does not either; likewise.
        judged: share of all trials of the population to which the judge gives it; ``None`` where it has not read all
            of them: those that it has are not like the others.
        corrected: the same corrected by sensitivity and specificity (Rogan and Gladen 1978), from 0 to 1; ``None``
            also where the judge tells nothing: sensitivity + specificity is 1 or less.
        people: κ of people among each other, mean over pairs; ``None`` of one, or where it is undefined.
    """

    label: str
    positives: int
    items: int
    kappa: Estimate | None
    sensitivity: Estimate | None
    specificity: Estimate | None
    judged: float | None
    corrected: Estimate | None
    people: float | None = None

    @property
    def has_both(self) -> bool:
        """Whether enough items have the label, and enough lack it, to tell anything of it."""
        return min(self.positives, self.items - self.positives) >= LEAST_OF_A_KIND


@dataclass(frozen=True, slots=True)
class AlternativeTest:
    """Whether the judge may stand in for a person (Calderon et al. 2025): with three annotators or more.

    ``winning_rate`` is the share of annotators whom it serves at least as well as, ``advantage`` its mean chance to
    agree with the rest no worse than one of them; passed from a winning rate of a half.
    """

    annotators: int
    epsilon: float
    winning_rate: float
    advantage: float

    @property
    def passed(self) -> bool:
        """Whether it may."""
        return self.winning_rate >= 0.5  # noqa: PLR2004 - the authors' rule


@dataclass(frozen=True, slots=True)
class Counted:
    """The items on which the judge's word counts: that execution and events leave open; of `AuditName.GOALS` all.

    What they decide often stands in what is read: to repeat it is no merit, and nobody asks the judge about it.
    ``items`` are those that both have answered; the rest as in `Agreement`, without the shares of labels.
    """

    items: int
    kappa: Estimate | None
    people: float | None
    classes: tuple[ClassAgreement, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One judge, in one audit, against people.

    Attributes:
        audit: which.
        audit_version: of its question.
        judge: ``judge:MODEL``.
        prompt_version: of the judge's prompt.
        population: items that there are in the runs.
        read: of them the judge has.
        items: that both have answered.
        annotators: names of the people, sorted.
        sampled: how the items were drawn: ``all``, ``random`` or ``stratified`` by the judge's answer and by what
            execution and events leave open.
        kappa: Cohen's κ of judge and people's majority: over the labels of `Choice.ANY` its unweighted mean, of
            `Choice.STEP` with quadratic weights; ``None`` where it is undefined.
        ac2: Gwet's AC2 of the same (AC1 where labels have no order); likewise.
        people: κ of people among each other, mean over pairs; ``None`` of one.
        alternative: of three annotators or more.
        classes: each label.
        counted: the same on what execution and events leave open; by this alone a judge is trusted.
        measured_on: ids of the runs that the items are of.
        sheet: digest of the sheet.
    """

    audit: AuditName
    audit_version: int
    judge: str
    prompt_version: int
    population: int
    read: int
    items: int
    annotators: tuple[str, ...]
    sampled: str
    kappa: Estimate | None
    ac2: Estimate | None
    people: float | None
    alternative: AlternativeTest | None
    classes: tuple[ClassAgreement, ...]
    counted: Counted
    measured_on: tuple[str, ...]
    sheet: str

    @property
    def is_trusted(self) -> bool:
        """Whether its numbers may make a headline; they are never more than estimates all the same."""
        return self.verdict() is Verdict.TRUSTED

    def kappa_of(self, label: str | None = None) -> Estimate | None:
        """The κ by which it is trusted or not: as a whole, or in one label."""
        if label is None:
            return self.counted.kappa
        own = self._counted_class(label)
        return own.kappa if own else None

    def verdict(self, label: str | None = None) -> Verdict:
        """What its word is worth as a whole, or in one label: that takes the whole as well.

        By κ of `counted`, its lower end, people's own κ, and how many they and the items are.
        """
        counted = self.counted
        is_enough = counted.items >= LEAST_ITEMS and any(each.has_both for each in counted.classes)
        whole = self._verdict(counted.kappa, counted.people, is_enough=is_enough)
        if label is None or whole is not Verdict.TRUSTED:
            return whole
        own = self._counted_class(label)
        if own is None:
            return Verdict.TOO_LITTLE
        return self._verdict(own.kappa, own.people, is_enough=own.items >= LEAST_ITEMS and own.has_both)

    def _counted_class(self, label: str) -> ClassAgreement | None:
        return next((each for each in self.counted.classes if each.label == label), None)

    def _verdict(self, kappa: Estimate | None, people: float | None, *, is_enough: bool) -> Verdict:
        if not is_enough or len(self.annotators) < _LEAST_PEOPLE or people is None or people < SURE_FROM:
            return Verdict.TOO_LITTLE
        if kappa is None or kappa.value < TRUSTED_FROM:
            return Verdict.NOT_TRUSTED
        return Verdict.TRUSTED if kappa.low is not None and kappa.low >= SURE_FROM else Verdict.TOO_LITTLE
