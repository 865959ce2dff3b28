"""What the repeats of one task tell, and how two columns go together."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["is_majority", "pass_hat_k", "spearman"]


def is_majority(outcomes: Sequence[bool]) -> bool:
    """Whether more than half are solved; a tie is not."""
    return 2 * sum(outcomes) > len(outcomes)


def pass_hat_k(successes: int, n: int, k: int) -> float | None:
    """pass^k of τ-bench (Yao et al. 2024): the chance that k repeats of a task are all solved.

    Unbiased, C(successes, k) / C(n, k); ``None`` with fewer than ``k`` repeats. A table's is the mean over tasks.

    Raises:
        ValueError: ``k`` < 1, or more successes than repeats, or fewer than none.
    """
    if k < 1 or not 0 <= successes <= n:
        raise ValueError(f"pass^{k} of {successes} out of {n}: give k ≥ 1 and 0 … n successes")
    return math.comb(successes, k) / math.comb(n, k) if n >= k else None


def spearman(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Spearman's rank correlation (1904), ties by their mean rank; ``None`` when a side does not vary.

    Raises:
        ValueError: the sides have not the same length.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} and {len(ys)} values cannot be paired")
    if min(len(set(xs)), len(set(ys))) <= 1:
        return None
    from scipy.stats import spearmanr  # noqa: PLC0415 - takes a second, and only tables need it

    return float(spearmanr(xs, ys).statistic)
