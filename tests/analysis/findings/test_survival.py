from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from fourhands.analysis.findings.survival import Lives, kaplan_meier, survival_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named

LIVES = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=60)


def _counted(lives: list[tuple[int, bool]]) -> Lives:
    return {
        step: (sum(time == step for time, _ in lives), sum(life == (step, True) for life in lives))
        for step in {time for time, _ in lives}
    }


@given(LIVES)
def test_the_estimate_is_that_of_statsmodels(lives: list[tuple[int, bool]]) -> None:
    points = kaplan_meier(_counted(lives))
    # Steps start at 1 there: it takes no life of length zero.
    known = SurvfuncRight(np.array([time + 1 for time, _ in lives]), np.array([int(end) for _, end in lives]))
    ended = [point for point in points if point.events]
    assert [point.step + 1 for point in ended] == list(known.surv_times)
    assert [point.share for point in ended] == pytest.approx(list(known.surv_prob), abs=1e-9)
    assert [point.at_risk for point in ended] == list(known.n_risk)


@given(LIVES)
def test_shares_only_fall_and_everyone_leaves(lives: list[tuple[int, bool]]) -> None:
    points = kaplan_meier(_counted(lives))
    shares = [1.0, *(point.share for point in points)]
    assert shares == sorted(shares, reverse=True)
    assert points[0].at_risk == len(lives)
    assert sum(point.events for point in points) == sum(end for _, end in lives)


def _line(of: dict[str, Any], number: int, **values: Any) -> dict[str, Any]:
    return {"run": of["run"], "trial": of["trial"], "line": number, "kind": "written", **values}


def test_lines_are_watched_from_their_writing_to_the_end_of_their_trial() -> None:
    long, short = trial("a", "counter-edit", steps=12), trial("b", "counter-edit", steps=4)
    lines = [
        _line(long, 1, written_step=2),  # never touched: watched for 10 steps
        _line(long, 2, written_step=2, first_revised_step=5, gone_step=8),
        _line(long, 3, written_step=None, first_revised_step=3),  # written before the first step
        _line(short, 1, written_step=1),
        {**_line(long, 1), "kind": "taken_out", "first_revised_step": 4},
    ]
    revised, gone = survival_table(study([trial("a"), long, short], lines=lines))
    assert (revised.ending, revised.condition, revised.trials) == ("revised", "counter-edit", 2)
    assert (revised.lines, revised.ended) == (4, 2)
    assert [(p.step, p.at_risk, p.events) for p in revised.points] == [(3, 4, 2), (10, 1, 0)]
    assert (revised.share_at(2), revised.share_at(3), revised.share_at(99)) == (1.0, 0.5, 0.5)
    assert (revised.at_risk(0), revised.at_risk(4), revised.at_risk(11)) == (4, 1, 0)
    assert (gone.ending, gone.ended) == ("gone", 1)
    assert gone.share_at(6) == pytest.approx(2 / 3)


def test_lines_of_a_trial_of_unknown_length_are_left_out_and_counted() -> None:
    foreign = trial("a", "counter-edit", steps=None)
    revised, _ = survival_table(study([foreign], lines=[_line(foreign, 1, written_step=1)]))
    assert (revised.lines, revised.unknown, revised.points, revised.share_at(3)) == (0, 1, (), 1.0)
