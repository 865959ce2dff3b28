"""How far a judge's word may be taken: by its agreement with people, where that was measured for the runs at hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import floor

from fourhands.analysis.study import Study
from fourhands.model.agreement import Agreement, Verdict
from fourhands.model.audit import TRUSTED_FROM, AuditName

__all__ = ["UNAUDITED", "Trust", "Voice", "trust_among", "trust_in"]

UNAUDITED = "unaudited"
"""What stands beside a judge's numbers that nobody has compared with people's."""


@dataclass(frozen=True, slots=True)
class Voice:
    """A judge, ``judge:MODEL``, in one audit, with one version of the audit's question and one of its own prompt."""

    audit: AuditName
    audit_version: int
    judge: str
    prompt_version: int


@dataclass(frozen=True, slots=True)
class Trust:
    """``agreement`` is ``None`` where the judge is unaudited.

    ``is_outdated``: it was measured, but with other versions of the question or the prompt, which says nothing of
    these. ``label``: the one of which this tells; ``None``: of all that it says.
    """

    agreement: Agreement | None = None
    is_outdated: bool = False
    label: str | None = None

    @property
    def verdict(self) -> Verdict | None:
        """What people's answers come to; ``None`` without any."""
        return self.agreement.verdict(self.label) if self.agreement else None

    @property
    def is_audited(self) -> bool:
        """Whether its agreement with people is known, and by enough to say anything."""
        return self.verdict not in {None, Verdict.TOO_LITTLE}

    @property
    def is_trusted(self) -> bool:
        """Whether its numbers may make a headline."""
        return self.verdict is Verdict.TRUSTED

    @property
    def kappa(self) -> float | None:
        """Cohen's κ with people, of what execution and events leave open; ``None``: undefined or unknown."""
        known = self.agreement.kappa_of(self.label) if self.agreement else None
        return known.value if known else None

    @property
    def told(self) -> str:
        """In words, as they stand beside every number.

        ``unaudited``, ``unaudited: too little to say``, ``κ 0.72``, ``κ 0.41 < 0.6`` or ``κ undefined``.
        """
        if self.agreement is None:
            return UNAUDITED
        if not self.is_audited:
            return f"{UNAUDITED}: {Verdict.TOO_LITTLE}"
        if self.kappa is None:
            return "κ undefined"
        return f"κ {_rounded(self.kappa)}" + ("" if self.is_trusted else f" < {TRUSTED_FROM}")


def trust_in(study: Study, voice: Voice, runs: Collection[str], label: str | None = None) -> Trust:
    """How far to trust what a judge said of trials of these runs, by their ids: in all, or where it gives a label.

    An agreement holds for the runs that it was written into, and no other: without one in each of them the judge is
    unaudited. Of several runs the one in which it agrees least counts, and one of which there is too little to say
    before those in which it is trusted.
    """
    found = [trust_among(run.agreements, voice, label) for run in study.runs if run.run in runs]
    known = [each for each in found if each.agreement]
    if not known or len(known) < len(set(runs)):
        return Trust(is_outdated=any(each.is_outdated for each in found), label=label)
    return _least(known, (Verdict.NOT_TRUSTED, Verdict.TOO_LITTLE, Verdict.TRUSTED))


def trust_among(agreements: Iterable[Agreement], voice: Voice, label: str | None = None) -> Trust:
    """The same by the agreements of one run: the least of those that are enough to say anything."""
    own = [each for each in agreements if (each.audit, each.judge) == (voice.audit, voice.judge)]
    versions = (voice.audit_version, voice.prompt_version)
    same = [Trust(each, label=label) for each in own if (each.audit_version, each.prompt_version) == versions]
    if not same:
        return Trust(is_outdated=bool(own), label=label)
    return _least(same, (Verdict.NOT_TRUSTED, Verdict.TRUSTED, Verdict.TOO_LITTLE))


def _least(known: Iterable[Trust], order: Sequence[Verdict]) -> Trust:
    def key(trust: Trust) -> tuple[int, float, str]:
        assert trust.agreement is not None, "only what was measured is compared"
        kappa = -2.0 if trust.kappa is None else trust.kappa
        return order.index(trust.agreement.verdict(trust.label)), kappa, trust.agreement.sheet

    return min(known, key=key)


def _rounded(kappa: float) -> str:
    """To two digits, and never up to what it does not reach."""
    shown = f"{kappa:.2f}"
    if kappa < TRUSTED_FROM <= float(shown):
        shown = f"{floor(100 * kappa) / 100:.2f}"
    return shown.replace("-", "−")
