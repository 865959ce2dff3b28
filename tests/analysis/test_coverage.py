"""Intervals against numbers known in advance: they must cover what a stochastic model draws as often as they say."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binom

from fourhands.analysis.table import condition_table, wilson
from fourhands.analysis.trials import TrialRow
from fourhands.gateway.stochastic import Odds, draw
from fourhands.model.condition import Condition
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.model.trial import AgentSpec, TrialKey

RUNS, TASKS, REPEATS = 600, 8, 3


def _rows(seed: int, odds: Odds) -> list[TrialRow]:
    """A run as the stochastic model draws it: each trial's verdict follows from its key and the seed."""
    agent = AgentSpec("thin", f"scripted/stochastic[p={odds.p},touched={odds.touched}]")
    rows = []
    for label, probability in (("vanilla", odds.p), ("counter-edit", odds.touched)):
        for task in range(TASKS):
            for repeat in range(1, REPEATS + 1):
                key = TrialKey(f"task-{task}", agent, Condition.parse(label), repeat)
                solved = draw(seed, key) < probability
                verdict = Verdict.RESOLVED if solved else Verdict.UNRESOLVED
                rows.append(TrialRow(key, 1, Outcome(verdict, Termination.FINISHED)))
    return rows


def _nominal(n: int, p: float) -> float:
    """How often Wilson's interval of n trials covers p, exactly: it is near 95 %, and not at it."""
    covers = [
        low <= p <= high for k in range(n + 1) if (interval := wilson(k, n)) for low, high in [interval]
    ]
    return float(sum(binom.pmf(k, n, p) for k, covered in enumerate(covers) if covered))


@pytest.mark.parametrize("odds", [Odds(0.85, 0.5), Odds(0.6, 0.3)])
def test_the_intervals_cover_the_known_probabilities_as_often_as_they_say(odds: Odds) -> None:
    n = TASKS * REPEATS
    covered, deltas = {"vanilla": 0, "counter-edit": 0}, []
    for seed in range(RUNS):
        vanilla, touched = condition_table(_rows(seed, odds))
        for row, p in ((vanilla, odds.p), (touched, odds.touched)):
            assert row.resolve_rate_low is not None
            assert row.resolve_rate_high is not None
            covered[row.condition] += row.resolve_rate_low <= p <= row.resolve_rate_high
        assert touched.delta is not None
        deltas.append(touched.delta)
    for label, p in (("vanilla", odds.p), ("counter-edit", odds.touched)):
        nominal = _nominal(n, p)
        assert nominal == pytest.approx(0.95, abs=0.03)
        noise = math.sqrt(nominal * (1 - nominal) / RUNS)
        assert covered[label] / RUNS == pytest.approx(nominal, abs=4 * noise)
    spread = math.sqrt((odds.p * (1 - odds.p) + odds.touched * (1 - odds.touched)) / n / RUNS)
    assert sum(deltas) / RUNS == pytest.approx(odds.touched - odds.p, abs=4 * spread)
