"""Intervals against numbers known in advance: they must cover what a stochastic model draws as often as they say."""

from __future__ import annotations

import math

import pytest
from scipy.stats import binom

from fourhands.analysis.findings.conditions import condition_table
from fourhands.analysis.statistics import wilson
from fourhands.analysis.study import Study
from fourhands.gateway.stochastic import Odds, draw
from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

from .frames import study, trial

RUNS, TASKS, REPEATS = 200, 8, 3


def _run(seed: int, odds: Odds) -> Study:
    """A run as the stochastic model draws it: each trial's verdict follows from its key and the seed."""
    agent = AgentSpec("thin", f"scripted/stochastic[p={odds.p},touched={odds.touched}]")
    rows = []
    for label, probability in (("vanilla", odds.p), ("counter-edit", odds.touched)):
        for task in range(TASKS):
            for repeat in range(1, REPEATS + 1):
                key = TrialKey(f"task-{task}", agent, Condition.parse(label), repeat)
                solved = draw(seed, key) < probability
                rows.append(
                    trial(key.task, label, agent=agent.name, model=agent.model, repeat=repeat, solved=solved)
                )
    return study(rows)


def _nominal(n: int, p: float) -> float:
    """How often Wilson's interval of n trials covers p, exactly: it is near 95 %, and not at it."""
    covers = [interval.low <= p <= interval.high for k in range(n + 1) if (interval := wilson(k, n))]
    return float(sum(binom.pmf(k, n, p) for k, covered in enumerate(covers) if covered))


@pytest.mark.parametrize("odds", [Odds(0.85, 0.5), Odds(0.6, 0.3)])
def test_the_intervals_cover_the_known_probabilities_as_often_as_they_say(odds: Odds) -> None:
    n = TASKS * REPEATS
    covered, deltas, delta_covered = {"vanilla": 0, "counter-edit": 0}, [], 0
    for seed in range(RUNS):
        vanilla, touched = condition_table(_run(seed, odds))
        for row, p in ((vanilla, odds.p), (touched, odds.touched)):
            assert row.wilson is not None
            covered[row.condition] += row.wilson.low <= p <= row.wilson.high
        assert touched.delta is not None
        assert touched.delta_interval is not None
        deltas.append(touched.delta)
        delta_covered += touched.delta_interval.low <= odds.touched - odds.p <= touched.delta_interval.high
    for label, p in (("vanilla", odds.p), ("counter-edit", odds.touched)):
        nominal = _nominal(n, p)
        assert nominal == pytest.approx(0.95, abs=0.03)
        noise = math.sqrt(nominal * (1 - nominal) / RUNS)
        assert covered[label] / RUNS == pytest.approx(nominal, abs=4 * noise)
    spread = math.sqrt((odds.p * (1 - odds.p) + odds.touched * (1 - odds.touched)) / n / RUNS)
    assert sum(deltas) / RUNS == pytest.approx(odds.touched - odds.p, abs=4 * spread)
    noise = math.sqrt(0.95 * 0.05 / RUNS)
    assert 0.93 - 3 * noise < delta_covered / RUNS < 0.97 + 3 * noise
