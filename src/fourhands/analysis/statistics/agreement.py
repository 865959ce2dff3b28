"""Agreement of two annotators beyond chance: Cohen's κ and Gwet's AC.

Both are (p_o - p_e) / (1 - p_e), with p_o the agreement seen and p_e what chance would give. κ takes chance from each
one's own use of the categories (Cohen 1960, with weights 1968), AC1 and AC2 from how evenly both use them together
(Gwet 2008; with weights 2014).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from fourhands.analysis.statistics.agreement_tables import Floats, Question
from fourhands.analysis.statistics.intervals import CONFIDENCE
from fourhands.model.agreement import Estimate

__all__ = ["cohen_kappa", "gwet_ac", "kappa_alone", "standard_error"]

_LEAST: Final = 1e-12
"""Below, a chance of disagreement or a variance is what rounding left of 0."""
_TAIL: Final = (1 - CONFIDENCE) / 2

type _Chance = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Tables and the worth of each pair of answers -> the agreement that chance gives, and its slope by pair."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The coefficient of one question, its interval, and the middle of what was drawn.

    ``moves`` are of the places of all its items, 0 where there is none.
    """

    value: float
    low: float
    middle: float
    high: float
    moves: Floats


def cohen_kappa(questions: Sequence[Question]) -> Estimate | None:
    """Cohen's κ, with quadratic weights where categories have an order; of several questions its unweighted mean.

    A question in which both always give the same one answer has none, and is left out of the mean: there is nothing
    to tell apart. ``None`` if none is left. Where one of the two never varies it is 0: whoever gives a label that the
    other never gives does not gain by it. The interval is
    from draws (`Question.drawn`); of a mean, after Zou and Donner (2008), from those of its parts and how they go
    together. It has no ends where all items are of one cluster.
    """
    return _mean(questions, _cohen)


def kappa_alone(questions: Sequence[Question]) -> float | None:
    """`cohen_kappa` without its interval, which takes the time."""
    usable = _usable(questions)
    values = [float(_coefficients(each.table, each.worth, _cohen)) for each in usable]
    return float(np.mean(values)) if values else None


def gwet_ac(questions: Sequence[Question]) -> Estimate | None:
    """Gwet's AC1, or AC2 with quadratic weights where categories have an order; otherwise as `cohen_kappa`."""
    return _mean(questions, _gwet)


def standard_error(question: Question, coefficient: Literal["kappa", "ac"]) -> float:
    """The large-sample standard error of κ or AC, of items that are all drawn alike.

    κ's is that of Fleiss, Cohen and Everitt (1969), AC's Gwet's but for a factor √(n / (n - 1)).
    """
    moves = _moves(question, _cohen if coefficient == "kappa" else _gwet)
    return float(np.sqrt(moves @ moves))


def _mean(questions: Sequence[Question], chance: _Chance) -> Estimate | None:
    usable = _usable(questions)
    if not usable:
        return None
    found = [_one(each, chance) for each in usable]
    value = float(np.mean([each.value for each in found]))
    if min(each.clusters for each in usable) == 1:
        return Estimate(value, None, None)
    if len(found) == 1:
        return Estimate(value, found[0].low, found[0].high)
    together = _together([each.moves for each in found])
    below = np.array([each.value - each.low for each in found])
    # What is drawn lies a little low: in a mean that would add up, while the spread does not.
    above = np.array([each.high - min(each.middle, each.value) for each in found])
    down, up = (float(np.sqrt(ends @ together @ ends)) / len(found) for ends in (below, above))
    return Estimate(value, value - down, min(1.0, value + up))


def _usable(questions: Sequence[Question]) -> list[Question]:
    return [each for each in questions if each.seen and len(_answers(each)) > 1]


def _answers(question: Question) -> set[int]:
    """All that either of the two answers; the first of the whole population."""
    firsts = {first for (_, first), n in question.population.items() if n}
    return firsts | {item.second for item in question.seen}


def _one(question: Question, chance: _Chance) -> _Found:
    value = float(_coefficients(question.table, question.worth, chance))
    own = _moves(question, chance)
    drawn = _coefficients(question.drawn(own), question.worth, chance)
    low, middle, high = map(float, np.quantile(drawn, [_TAIL, 0.5, 1 - _TAIL]))
    moves = np.zeros(len(question.items))
    places = [place for place, item in enumerate(question.items) if item]
    moves[places] = question.within_cells(own)
    return _Found(value, min(value, low), middle, 1.0 if value >= 1 else max(value, high), moves)


def _coefficients(tables: Floats, worth: Floats, chance: _Chance) -> Floats:
    observed = (tables * worth).sum(axis=(-2, -1))
    expected, _ = chance(tables, worth)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (observed - expected) / (1 - expected)
    # Both always the same: chance explains it all. And 0 and 1 are themselves, without what rounding leaves of them.
    nothing = (1 - expected < _LEAST) | (np.abs(found) < _LEAST)
    return np.where(nothing, 0.0, np.where(found > 1 - _LEAST, 1.0, found))


def _moves(question: Question, chance: _Chance) -> Floats:
    """By how much each item that was seen moves the coefficient, to first order; they sum to 0."""
    table, worth = question.table, question.worth
    expected, slope = chance(table, worth)
    room = max(1 - float(expected), _LEAST)
    observed = (table * worth).sum()
    value = (observed - expected) / room
    pull = (worth - observed) - (1 - value) * (slope - (slope * table).sum())
    return np.asarray(question.weights * pull[*question.answers] / room, dtype=np.float64)


def _cohen(tables: Floats, worth: Floats) -> tuple[Floats, Floats]:
    first, second = tables.sum(axis=-1), tables.sum(axis=-2)
    expected = np.einsum("...i,ij,...j->...", first, worth, second)
    return expected, (second @ worth)[..., :, None] + (first @ worth)[..., None, :]


def _gwet(tables: Floats, worth: Floats) -> tuple[Floats, Floats]:
    used = (tables.sum(axis=-1) + tables.sum(axis=-2)) / 2
    k = used.shape[-1]
    scale = float(worth.sum()) / (k * (k - 1))
    slope = 1 - 2 * used
    return scale * (used * (1 - used)).sum(axis=-1), scale * (slope[..., :, None] + slope[..., None, :]) / 2


def _together(moves: Sequence[Floats]) -> Floats:
    """How the errors of several coefficients go together, 0 to 1; wholly, where one of them shows no spread."""
    sums = np.stack(moves) @ np.stack(moves).T
    sizes = np.sqrt(np.diag(sums))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.clip(sums / (sizes[:, None] * sizes[None, :]), 0.0, 1.0)
    found[~np.isfinite(found)] = 1.0
    np.fill_diagonal(found, 1.0)
    return np.asarray(found, dtype=np.float64)
