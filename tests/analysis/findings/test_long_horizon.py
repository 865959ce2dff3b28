from __future__ import annotations

import pytest

from fourhands.analysis.findings.long_horizon import long_horizon_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_rates_are_means_of_runs_of_unlike_size_and_steps_are_of_all_that_ran() -> None:
    not_run = {"termination": None, "verdict": None, "steps": None}
    rows = [
        trial("a", benchmark="pro", steps=100),
        trial("b", benchmark="pro", solved=False, steps=100),
        trial("a", benchmark="pro", repeat=2, steps=60),
        trial("b", benchmark="pro", repeat=2, solved=None, steps=20),
        trial("a", "counter-edit", benchmark="pro", solved=False, steps=90),
        trial("b", "counter-edit", benchmark="pro", solved=None, **not_run),
        trial("c", benchmark="deep"),
        trial("c", "counter-edit", benchmark="deep"),
    ]
    pro, deep = long_horizon_table(study(rows))
    assert (pro.benchmark, deep.benchmark) == ("pro", "deep")
    assert (pro.vanilla.rate, pro.vanilla.scored) == (0.75, (2, 1))  # of trials it is 2 of 3
    assert (pro.vanilla.observed, pro.vanilla.steps) == (4, 70.0)
    assert (pro.touched.observed, pro.touched.steps, pro.delta_steps) == (1, 90.0, 20.0)
    assert pro.delta == pytest.approx(-0.75)
    assert (pro.paired_delta, pro.pairs, pro.incomplete_pairs) == (-1.0, 1, 1)
    assert (deep.delta, deep.paired_delta) == (0.0, 0.0)
