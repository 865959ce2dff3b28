"""Intervals, tests and power: plain numbers in, frozen dataclasses out; explained in ``docs/statistics.md``."""

from __future__ import annotations

from fourhands.analysis.statistics.clustered import paired_interval, rate_interval, retention_interval
from fourhands.analysis.statistics.correlation import spearman_interval
from fourhands.analysis.statistics.intervals import Interval, clopper_pearson, wilson
from fourhands.analysis.statistics.planning import (
    Variance,
    assumed_variance,
    power,
    tasks_needed,
    variance_of,
)
from fourhands.analysis.statistics.repeats import is_majority, pass_hat_k, spearman
from fourhands.analysis.statistics.resampled import median_interval, ratio_interval
from fourhands.analysis.statistics.retention import (
    ExcessLoss,
    NullRetention,
    excess_loss,
    null_retention,
    why_no_null,
)
from fourhands.analysis.statistics.significance import Test, holm, mcnemar, paired_test, sign_flip

__all__ = [
    "ExcessLoss",
    "Interval",
    "NullRetention",
    "Test",
    "Variance",
    "assumed_variance",
    "clopper_pearson",
    "excess_loss",
    "holm",
    "is_majority",
    "mcnemar",
    "median_interval",
    "null_retention",
    "paired_interval",
    "paired_test",
    "pass_hat_k",
    "power",
    "rate_interval",
    "ratio_interval",
    "retention_interval",
    "sign_flip",
    "spearman",
    "spearman_interval",
    "tasks_needed",
    "variance_of",
    "why_no_null",
    "wilson",
]
