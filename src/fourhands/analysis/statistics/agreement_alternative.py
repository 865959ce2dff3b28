"""The alternative-annotator test of Calderon, Reichart and Dror (2025): may a judge stand in for a person?

One person after the other is left out, and the judge put in the place: which of the two agrees better with the
others, item by item? People get a handicap, since a judge costs less: it must not be worse by more than ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.model.agreement import AlternativeTest

__all__ = ["EPSILON", "LEAST_ANNOTATORS", "LEAST_COMMON_ITEMS", "alternative_test", "why_no_alternative_test"]

EPSILON: Final = 0.2
"""The authors' for annotators who are experts; 0.15 for skilled ones, 0.1 for a crowd."""
LEAST_ANNOTATORS: Final = 3
LEAST_COMMON_ITEMS: Final = 30
"""Of each annotator, also answered by another one and by the judge: of fewer, the authors use no t test."""
_FALSE_DISCOVERIES: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Compared:
    """An item on which an annotator and the judge are held against the others: who agrees at least as well."""

    weight: float
    judge: bool
    person: bool


def why_no_alternative_test[A](people: Mapping[str, Mapping[str, A]], judge: Mapping[str, A]) -> str | None:
    """Why these answers, by person and item, and the judge's, give no test, in words; ``None`` when they do."""
    if len(people) < LEAST_ANNOTATORS:
        return f"the alternative-annotator test takes {LEAST_ANNOTATORS} annotators: there are {len(people)}"
    short = [name for name in sorted(people) if len(_common(name, people, judge)) < LEAST_COMMON_ITEMS]
    if short:
        return (
            f"the alternative-annotator test takes {LEAST_COMMON_ITEMS} items of each annotator that another one and "
            f"the judge have answered too: there are too few of {', '.join(short)}"
        )
    return None


def alternative_test[A](
    people: Mapping[str, Mapping[str, A]],
    judge: Mapping[str, A],
    likeness: Callable[[A, A], float],
    *,
    weights: Mapping[str, float] | None = None,
    epsilon: float = EPSILON,
) -> AlternativeTest | None:
    """The test; ``None`` as `why_no_alternative_test` says.

    Args:
        people: answers by person and item.
        judge: answers by item.
        likeness: of two answers; more is more alike.
        weights: how many items of the population each item stands for; default: all alike.
        epsilon: the handicap.
    """
    if why_no_alternative_test(people, judge):
        return None
    compared = [_compared(name, people, judge, likeness, weights or {}) for name in sorted(people)]
    rejected = _rejected([_p(items, epsilon) for items in compared])
    advantage = [_share(items, [item.judge for item in items]) for items in compared]
    return AlternativeTest(
        annotators=len(people),
        epsilon=epsilon,
        winning_rate=sum(rejected) / len(people),
        advantage=math.fsum(advantage) / len(people),
    )


def _common[A](name: str, people: Mapping[str, Mapping[str, A]], judge: Mapping[str, A]) -> list[str]:
    others = {item for other, answers in people.items() if other != name for item in answers}
    return sorted(item for item in people[name] if item in others and item in judge)


def _compared[A](
    name: str,
    people: Mapping[str, Mapping[str, A]],
    judge: Mapping[str, A],
    likeness: Callable[[A, A], float],
    weights: Mapping[str, float],
) -> list[_Compared]:
    found = []
    for item in _common(name, people, judge):
        rest = [answers[item] for other, answers in people.items() if other != name and item in answers]
        of_judge, of_person = (
            math.fsum(likeness(answer, other) for other in rest)
            for answer in (judge[item], people[name][item])
        )
        found.append(_Compared(weights.get(item, 1.0), of_judge >= of_person, of_person >= of_judge))
    return found


def _share(items: Sequence[_Compared], values: Sequence[float]) -> float:
    total = math.fsum(item.weight for item in items)
    return math.fsum(item.weight * value for item, value in zip(items, values, strict=True)) / total


def _p(items: Sequence[_Compared], epsilon: float) -> float:
    """One-sided, of Student's paired test: that the person is better than the judge by ``epsilon`` or more."""
    from scipy.special import stdtr  # noqa: PLC0415 - only tables need scipy

    worse = [float(item.person) - float(item.judge) for item in items]
    mean = _share(items, worse)
    total = math.fsum(item.weight for item in items)
    apart = math.fsum((item.weight * (value - mean)) ** 2 for item, value in zip(items, worse, strict=True))
    variance = apart / total**2 * len(items) / (len(items) - 1)
    if not variance:
        return 0.0 if mean < epsilon else 1.0
    return float(stdtr(len(items) - 1, (mean - epsilon) / math.sqrt(variance)))


def _rejected(ps: Sequence[float]) -> list[bool]:
    """Which of a family are rejected, at 5 % false discoveries, however they depend on each other.

    Benjamini and Yekutieli (2001).
    """
    scale = len(ps) * math.fsum(1 / place for place in range(1, len(ps) + 1))
    last = max(
        (p for place, p in enumerate(sorted(ps), start=1) if p <= place * _FALSE_DISCOVERIES / scale),
        default=-1.0,
    )
    return [p <= last for p in ps]
