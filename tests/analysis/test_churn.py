"""Churn of a trial's revisions, as the paper defines it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.churn import churn


def _state(lines: int, of: str = "commit", *, final: int = 0, tests: int = 0, **more: Any) -> dict[str, Any]:
    whole = {"additions": final + tests, "deletions": 0, "tests": {"additions": tests, "deletions": 0}}
    marks = {"merge": False, "tests_only": False}
    return {"of": of, "additions": lines, "deletions": 0, "since_base": whole, **marks, **more}


def test_overhead_and_late_share_leave_plans_merges_and_tests_out_and_count_amendments() -> None:
    found = churn(
        [
            {"of": "plan", "additions": 0, "deletions": 0, "merge": False, "tests_only": False},
            _state(10),
            _state(4, amended=True),
            _state(50, merge=True),
            _state(7, tests_only=True),
            _state(6, "working"),
            _state(0, "end", final=10, tests=7),
        ]
    )
    assert found.lines == (10, 4, 6)
    assert found.final == 10
    assert found.overhead == pytest.approx((20 - 10) / 10)
    assert found.late_share == pytest.approx(10 / 20)


def test_tests_that_are_committed_with_code_are_in_neither_measure() -> None:
    tests = {"additions": 40, "deletions": 0}
    one = churn([_state(50, tests=40) | {"tests": tests}, _state(0, "end", final=10, tests=40)])
    assert (one.lines, one.final, one.overhead, one.late_share) == ((10,), 10, 0.0, 0.0)
    late = churn([_state(10), _state(41) | {"tests": tests}, _state(0, "end", final=11, tests=40)])
    assert (late.lines, late.overhead, late.late_share) == ((10, 1), 0.0, 1 / 11)
    # of a record that does not tell it
    assert churn([_state(50), _state(0, "end", final=10, tests=40)]).lines == (50,)


def test_churn_of_nothing_that_is_left_is_undefined() -> None:
    found = churn([_state(5), _state(5), _state(0, "end", final=0)])
    assert (found.final, found.overhead, found.late_share) == (0, None, 0.5)
    assert churn([]).overhead is churn([]).late_share is None


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6))
def test_a_trial_that_only_adds_has_no_overhead_however_it_is_cut_into_commits(lines: list[int]) -> None:
    found = churn([*map(_state, lines), _state(0, "end", final=sum(lines))])
    assert found.overhead == (0 if sum(lines) else None)
