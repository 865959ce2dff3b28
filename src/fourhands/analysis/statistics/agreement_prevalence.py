"""How much there is of a label, from how often a judge gives it and how often the judge is right."""

from __future__ import annotations

import math
from typing import Final

from fourhands.analysis.statistics.intervals import CONFIDENCE
from fourhands.model.agreement import Estimate

__all__ = ["is_informed", "rogan_gladen", "true_prevalence"]

_LEAST: Final = 1e-9
_ADDED: Final = 1
"""Items of either kind that Lang and Reiczigel add to what sensitivity and specificity were measured on."""


def is_informed(sensitivity: float, specificity: float) -> bool:
    """Whether a judge tells anything: it gives the label more often to what has it than to what has it not."""
    return sensitivity + specificity - 1 > _LEAST


def rogan_gladen(apparent: float, sensitivity: float, specificity: float) -> float | None:
    """The true share of a label of which a share ``apparent`` is given, cut off at 0 and 1 (Rogan and Gladen 1978).

    ``None`` where the judge tells nothing: sensitivity + specificity is 1 or less.
    """
    if not is_informed(sensitivity, specificity):
        return None
    return min(1.0, max(0.0, (apparent + specificity - 1) / (sensitivity + specificity - 1)))


def true_prevalence(
    judged: tuple[int, int], sensitive: tuple[int, int], specific: tuple[int, int]
) -> Estimate | None:
    """The same from three independent samples, with the interval of Lang and Reiczigel (2014).

    Args:
        judged: to how many of how many items the judge gives the label.
        sensitive: of those of another sample that have it, the same.
        specific: of those of a third that have it not, to how many the judge does not give it.

    Returns:
        ``None`` without items in one of them, or where the judge tells nothing. No ends, where no share of the label
        could be behind what the judge gives: it then errs otherwise than where that was measured.
    """
    if not (judged[1] and sensitive[1] and specific[1]):
        return None
    value = rogan_gladen(*(count / n for count, n in (judged, sensitive, specific)))
    if value is None:
        return None
    from scipy.special import ndtri  # noqa: PLC0415 - only tables need scipy

    z = float(ndtri((1 + CONFIDENCE) / 2))
    n = judged[1] + z**2
    apparent = (judged[0] + z**2 / 2) / n
    (se, n_se), (sp, n_sp) = (
        ((count + _ADDED) / (of + 2 * _ADDED), of + 2 * _ADDED) for count, of in (sensitive, specific)
    )
    informed = se + sp - 1
    if informed <= 0:  # with what was added the judge tells nothing: nothing is excluded
        return Estimate(value, 0.0, 1.0)
    share = (apparent + sp - 1) / informed
    noise = (se * (1 - se) / n_se, sp * (1 - sp) / n_sp)
    shift = 2 * z**2 * (share * noise[0] - (1 - share) * noise[1])
    half = (
        z
        * math.sqrt(apparent * (1 - apparent) / n + share**2 * noise[0] + (1 - share) ** 2 * noise[1])
        / informed
    )
    low, high = share + shift - half, share + shift + half
    if high <= 0 or low >= 1:
        return Estimate(value, None, None)
    return Estimate(value, min(max(low, 0.0), value), max(min(high, 1.0), value))
