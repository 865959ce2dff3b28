"""A judge and how far it may be taken at its word, as cells: no number of a judge's stands without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from fourhands.analysis.trust import Trust, Voice
from fourhands.model.agreement import Estimate, Verdict
from fourhands.model.audit import TRUSTED_FROM
from fourhands.report.table import Cell
from fourhands.report.views.build import Field, field
from fourhands.report.views.numbers import UNKNOWN

__all__ = ["Heard", "estimate", "judge_field", "share_estimate", "trust_notes"]

Heard = tuple[Voice, Trust]
"""A judge, and how far to trust it where it is heard."""

_MORE: Final = ("audit_version", "prompt_version", "audited", "trusted", "kappa")


def judge_field[Row](_: type[Row], of: Callable[[Row], Heard | None]) -> Field[Row]:
    """The column that tells whose word a row is; a dash where no judge is heard."""

    def cell(row: Row) -> Cell:
        heard = of(row)
        if heard is None:
            return Cell(UNKNOWN)
        voice, trust = heard
        versions = (voice.audit_version, voice.prompt_version)
        return Cell(
            f"{voice.judge}, {trust.told}",
            voice.judge,
            (*versions, trust.is_audited, trust.is_trusted, trust.kappa),
        )

    return field(
        "judge",
        "judge",
        cell,
        "whose word it is, and how far it agrees with people: Cohen's κ, or unaudited; with the versions of the "
        f"question and of its prompt, whether its κ is known and whether that is {TRUSTED_FROM} or more",
        more=_MORE,
        numeric=False,
    )


def trust_notes(heard: Iterable[Heard | None]) -> list[str]:
    """What a reader of a judge's numbers must know, where they are shown."""
    known = [each for each in heard if each is not None]
    said = []
    if any(trust.agreement is None for _, trust in known):
        said.append("unaudited: what a model read; no person has checked how far it can be trusted.")
    if any(trust.verdict is Verdict.TOO_LITTLE for _, trust in known):
        said.append(
            "too little to say: people have read some of what it did, but they or the items that execution and "
            "events leave open are too few, or people do not agree."
        )
    if any(trust.is_audited for _, trust in known):
        said.append(
            f"κ: Cohen's, of the judge with people, on what execution and events leave open; below {TRUSTED_FROM} "
            "nothing that it says is in a headline, and of labels none with such a κ of its own. "
            "--table agreement has more."
        )
    if any(trust.is_outdated and not trust.is_audited for _, trust in known):
        said.append(
            "An agreement that was measured with another version of the question or of the judge's prompt does not "
            "count: fourhands audit agreement measures it anew."
        )
    return said


def estimate(found: Estimate | None) -> Cell:
    """A number with its interval: ``0.72 (0.61–0.81)``; two values beside its own."""
    if found is None:
        return Cell(UNKNOWN)
    low, high = found.low, found.high
    ends = "" if low is None or high is None else f" ({_told(low)}–{_told(high)})"
    return Cell(f"{_told(found.value)}{ends}", found.value, (low, high))


def share_estimate(found: Estimate | None) -> Cell:
    """A share with its interval: ``31% (22–44%)``."""
    if found is None:
        return Cell(UNKNOWN)
    low, high = found.low, found.high
    ends = "" if low is None or high is None else f" ({low * 100:.0f}–{high * 100:.0f}%)"
    return Cell(f"{found.value:.0%}{ends}", found.value, (low, high))


def _told(number: float) -> str:
    return f"{number:.2f}".replace("-", "−")
