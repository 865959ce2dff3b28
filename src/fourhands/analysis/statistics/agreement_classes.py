"""One label, given or not: how much of it a judge finds, and how much there is of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from fourhands.analysis.statistics.agreement_prevalence import is_informed, rogan_gladen, true_prevalence
from fourhands.analysis.statistics.agreement_tables import DRAWS, Floats, Question
from fourhands.analysis.statistics.intervals import CONFIDENCE
from fourhands.model.agreement import Estimate

__all__ = ["ClassRates", "class_rates", "prevalence_elsewhere"]

_TAIL: Final = (1 - CONFIDENCE) / 2
_HALF: Final = 0.5
"""Of an item of either kind is added to a share: Jeffreys's."""
_EVEN: Final = 1.1
"""Times what one item stands for that another may: then they are taken to be drawn alike."""


@dataclass(frozen=True, slots=True)
class ClassRates:
    """``judged`` is the share of the population to which the judge gives the label, ``true`` to which it applies.

    ``sensitivity`` is ``None`` where it applies to none that was seen, ``specificity`` where it applies to all, both
    where nothing was seen of one of the judge's answers; ``true`` where the judge tells nothing: sensitivity +
    specificity is 1 or less.
    """

    judged: float
    sensitivity: Estimate | None
    specificity: Estimate | None
    true: Estimate | None


@dataclass(frozen=True, slots=True)
class _Rates:
    sensitivity: Floats
    specificity: Floats
    true: Floats


def class_rates(question: Question) -> ClassRates:
    """The rates of the population that the items were drawn of. Category 1 is: the label is given.

    ``true`` is what Rogan and Gladen's correction comes to where sensitivity and specificity are of the same
    population: the judge's flags that are right, and what it missed.
    """
    total = sum(question.population.values())
    judged = sum(n for (_, first), n in question.population.items() if first) / total
    if not question.seen or question.unseen:
        return ClassRates(judged, None, None, None)
    found, drawn = _rates(question.table), _drawn(question)
    seen = {item.second for item in question.seen}
    bounded = question.clusters > 1
    sensitivity = (
        _estimate(float(found.sensitivity), drawn.sensitivity, bounded=bounded) if 1 in seen else None
    )
    specificity = (
        _estimate(float(found.specificity), drawn.specificity, bounded=bounded) if 0 in seen else None
    )
    tells = sensitivity and specificity and is_informed(sensitivity.value, specificity.value)
    true = _estimate(float(found.true), drawn.true, bounded=bounded) if tells else None
    return ClassRates(judged, sensitivity, specificity, true)


def prevalence_elsewhere(question: Question, judged: int, of: int) -> Estimate | None:
    """How much there is of a label in another population, where the judge gives it to ``judged`` ``of`` all items.

    After Rogan and Gladen (1978), with what ``question`` tells of the judge; ``None`` where that is nothing. Where
    its items all stand for the same and no two are of one task, the interval is Lang and Reiczigel's (2014), else
    from draws.
    """
    rates = class_rates(question)
    if not (of and rates.true and rates.sensitivity and rates.specificity):
        return None
    value = rogan_gladen(judged / of, rates.sensitivity.value, rates.specificity.value)
    if value is None:
        return None
    if question.clusters == 1:
        return Estimate(value, None, None)
    if _is_even(question):
        counts = np.zeros((2, 2), dtype=np.intp)
        for item in question.seen:
            counts[item.first, item.second] += 1
        positives, negatives = (int(n) for n in (counts[:, 1].sum(), counts[:, 0].sum()))
        return true_prevalence((judged, of), (int(counts[1, 1]), positives), (int(counts[0, 0]), negatives))
    drawn = _drawn(question)
    apparent = np.random.default_rng(1).beta(judged + _HALF, of - judged + _HALF, DRAWS)
    informed = drawn.sensitivity + drawn.specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (apparent + drawn.specificity - 1) / informed
    # A draw by which the judge tells nothing leaves everything open: half of them at either end.
    shares = np.where(informed > 0, np.clip(shares, 0.0, 1.0), np.arange(DRAWS) % 2)
    found = _estimate(value, shares, bounded=True)
    return found if found.low != found.high else Estimate(value, None, None)


def _is_even(question: Question) -> bool:
    weights = [question.sizes[cell] / counts.sum() for cell, counts in question.cells.items()]
    return float(max(weights)) <= _EVEN * float(min(weights)) and question.clusters == len(question.seen)


def _drawn(question: Question) -> _Rates:
    """What the rates may be, each as alike as items of one cluster are in it."""
    found = _rates(question.table)
    given, applies = question.answers
    sensitive = applies * (given - _known(found.sensitivity))
    specific = (1 - applies) * (1 - given - _known(found.specificity))
    of_true, of_sensitivity, of_specificity = (
        _rates(question.drawn(question.weights * moves))
        for moves in (applies - float(found.true), sensitive, specific)
    )
    return _Rates(of_sensitivity.sensitivity, of_specificity.specificity, of_true.true)


def _known(rate: Floats) -> float:
    """0 of a rate of nothing: what nothing moves."""
    return float(np.nan_to_num(rate))


def _rates(tables: Floats) -> _Rates:
    true = tables[..., 1].sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = tables[..., 1, 1] / true, tables[..., 0, 0] / (1 - true), true
    return _Rates(*(np.minimum(each, 1.0) for each in rates))  # rounding may leave a little more


def _estimate(value: float, drawn: Floats, *, bounded: bool) -> Estimate:
    if not bounded:
        return Estimate(value, None, None)
    low, high = np.nanquantile(drawn, [_TAIL, 1 - _TAIL])
    # What lies at an end of what is possible may be just that, as Brown, Cai and DasGupta (2001) advise.
    return Estimate(
        value,
        0.0 if value <= 0 else min(float(low), value),
        1.0 if value >= 1 else max(float(high), value),
    )
