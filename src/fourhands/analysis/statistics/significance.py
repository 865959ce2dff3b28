"""Exact tests of paired outcomes, and what many tests at once ask for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

import numpy as np

__all__ = ["Test", "as_fractions", "holm", "mcnemar", "paired_test", "sign_flip"]

_FINEST: Final = 5040
"""Differences lie on a grid of 1 / this at the finest: all that tasks of up to ten repeats can show do."""


@dataclass(frozen=True, slots=True)
class Test:
    """A two-sided test: its ``p``, its ``method`` in words, and the ``n`` tasks that have both sides."""

    __test__: ClassVar = False  # pytest takes every class of this name for tests

    p: float
    method: str
    n: int


def mcnemar(lost: int, gained: int) -> float:
    """McNemar's test (1947), exact: two-sided p of the pairs that changed; 1 when none did.

    Raises:
        ValueError: a negative count.
    """
    if min(lost, gained) < 0:
        raise ValueError(f"{lost} lost and {gained} gained: counts are not negative")
    if lost + gained == 0:
        return 1.0
    from scipy.stats import binomtest  # noqa: PLC0415 - takes a second, and only tables need it

    return float(binomtest(lost, lost + gained).pvalue)


def as_fractions(values: Sequence[float]) -> list[Fraction]:
    """Rates or differences of rates as what they stand for: 1 - 2/3 and 2/3 - 1/3 differ as floats, here not.

    They are fractions of numbers of repeats; one without a denominator up to 5,040 becomes the nearest that has.
    """
    return [Fraction(value).limit_denominator(_FINEST) for value in values]


def sign_flip(differences: Sequence[float]) -> float:
    """Fisher's randomisation test (1935) of a mean difference of 0: two-sided p on its size; 1 without tasks.

    Under the null hypothesis each task's difference is as likely to have the other sign. The distribution over all
    2ⁿ signs is had by convolution, so it is exact for any number of tasks. Differences are fractions of numbers of
    repeats; where these have no common denominator up to 5,040, they are rounded to that.
    """
    fractions = as_fractions(differences)
    scale = min(math.lcm(*(fraction.denominator for fraction in fractions)), _FINEST)
    signed = [round(fraction * scale) for fraction in fractions]
    sizes = [abs(step) for step in signed if step]
    if not sizes:
        return 1.0
    # Which sizes get a plus: chances[s] of their sum being s. The signed sum is then 2 s - total.
    total = sum(sizes)
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    reach = 0
    for size in sizes:
        reach += size
        chances[size : reach + 1] += chances[: reach + 1 - size].copy()
        chances[: reach + 1] /= 2
    sums = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(chances[sums >= abs(sum(signed))].sum()))


def paired_test(before: Sequence[Sequence[bool]], after: Sequence[Sequence[bool]]) -> Test | None:
    """Whether outcomes differ between two arms; ``before[i]`` and ``after[i]`` are the repeats of one task.

    McNemar's test where every task has one outcome on both sides, else the sign-flip test of the differences
    of rates over tasks. Tasks without an outcome on one side are left out; ``None`` when none is left.

    Raises:
        ValueError: the two sides have not the same number of tasks.
    """
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a and b]
    if not pairs:
        return None
    if all(len(a) == len(b) == 1 for a, b in pairs):
        lost = sum(a[0] and not b[0] for a, b in pairs)
        gained = sum(b[0] and not a[0] for a, b in pairs)
        return Test(mcnemar(lost, gained), "McNemar, exact", len(pairs))
    differences = [sum(b) / len(b) - sum(a) / len(a) for a, b in pairs]
    return Test(sign_flip(differences), "sign-flip permutation over tasks, exact", len(pairs))


def holm(ps: Sequence[float]) -> list[float]:
    """The p-values of one family, adjusted after Holm (1979), in the order given.

    As statsmodels' ``multipletests``, which collects all garbage of the process at each call: with a large run in
    memory that takes seconds.
    """
    adjusted = [0.0] * len(ps)
    least = 0.0
    for left, (p, place) in zip(range(len(ps), 0, -1), sorted((p, n) for n, p in enumerate(ps)), strict=True):
        least = max(least, min(1.0, left * p))
        adjusted[place] = least
    return adjusted
