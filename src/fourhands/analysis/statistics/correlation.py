"""How far two numbers of a trial go together, where trials of one task are no independent ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from fourhands.analysis.statistics.intervals import CONFIDENCE, Interval

__all__ = ["FEWEST_TASKS", "spearman_interval"]

FEWEST_TASKS: Final = 8
"""With fewer there is no interval: too little is left when a task is left out."""


def spearman_interval(tasks: Sequence[Sequence[tuple[float, float]]]) -> Interval | None:
    """The interval of Spearman's correlation over all pairs, clustered by task: from -1 to 1.

    A jackknife that leaves out a task at a time, on Fisher's z, with Student's quantile. ``None`` of fewer than
    `FEWEST_TASKS`, and where the correlation is undefined, perfect, or so without one of the tasks: there it says
    nothing of what was not seen.
    """
    if len(tasks) < FEWEST_TASKS:
        return None
    whole = _z([pair for task in tasks for pair in task])
    parts = [
        _z([pair for task in (*tasks[:left], *tasks[left + 1 :]) for pair in task])
        for left in range(len(tasks))
    ]
    known = [part for part in parts if part is not None]
    if whole is None or len(known) < len(parts):
        return None
    from scipy.special import stdtrit  # noqa: PLC0415 - takes a second, and only tables need it

    n = len(known)
    middle = sum(known) / n
    error = math.sqrt((n - 1) / n * sum((part - middle) ** 2 for part in known))
    reach = float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * error
    return Interval(math.tanh(whole - reach), math.tanh(whole + reach), "jackknife over tasks")


def _z(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Fisher's transform of the correlation; ``None`` where it is undefined or perfect."""
    from scipy.stats import rankdata  # noqa: PLC0415 - see above

    ranks = rankdata(np.array(pairs), axis=0)
    if not ranks.std(axis=0).all():
        return None
    # Sums of ranks are exact up to halves: what is perfect comes out as 1, or just beside it.
    found = round(float(np.corrcoef(ranks, rowvar=False)[0, 1]), 12)
    return None if abs(found) >= 1 else math.atanh(found)
