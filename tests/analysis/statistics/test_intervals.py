from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from fourhands.analysis.statistics.intervals import clopper_pearson, wilson


@settings(max_examples=40)
@given(st.integers(1, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_and_clopper_pearson_are_those_of_statsmodels(case: tuple[int, int]) -> None:
    successes, n = case
    for ours, name in ((wilson(successes, n), "wilson"), (clopper_pearson(successes, n), "beta")):
        low, high = proportion_confint(successes, n, method=name)
        assert ours
        assert ours.low == pytest.approx(low, abs=1e-9)
        assert ours.high == pytest.approx(high, abs=1e-9)


def test_no_trials_have_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clopper_pearson(0, 0) is None


def test_more_successes_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="3 successes in 2 trials"):
        wilson(3, 2)
