"""Which failed trials a judge is asked about: those of the audit's population, or some of them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Literal

from fourhands.analysis.findings.evidence import Failure, failed_arms
from fourhands.analysis.study import Study
from fourhands.model.audit import AuditName

__all__ = ["On", "chosen", "population"]

On = Literal["undecided", "all", "sample"]
"""What execution and events left open, all of the population, or a stratified sample of it."""


def population(study: Study, audit: AuditName) -> tuple[Failure, ...]:
    """The failures that an audit is of, in the study's order; see `failed_arms`. None of `AuditName.GOALS`."""
    return tuple(failure for arm in failed_arms(study) if arm.scheme is audit for failure in arm.failures)


def chosen(failures: Sequence[Failure], on: On, *, size: int | None = None, seed: int = 0) -> list[Failure]:
    """Those that are to be asked about, in their order.

    A sample has ``size`` of them, strata (task × condition) in proportion; a larger one of the same seed holds the
    smaller. What execution and events have found has no part in it: an ablation would draw another sample, and
    opinions on the first be for nothing.
    """
    if on == "all":
        return list(failures)
    if on == "undecided":
        return [each for each in failures if each.left]
    drawn = {id(each) for each in _spread(failures, seed)[:size]}
    return [each for each in failures if id(each) in drawn]


def _spread(failures: Sequence[Failure], seed: int) -> list[Failure]:
    """In an order of which every beginning holds about the same share of each stratum."""
    strata: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for each in failures:
        strata[each.trial.task, each.trial.condition].append(each)
    placed: list[tuple[float, str, Failure]] = []
    for stratum, members in strata.items():
        draw = random.Random("\0".join((str(seed), *stratum)))  # noqa: S311 - a sample, and no secret
        draw.shuffle(members)
        first = draw.random()
        placed += ((((at + first) / len(members)), each.trial.trial, each) for at, each in enumerate(members))
    return [each for *_, each in sorted(placed, key=lambda one: one[:2])]
