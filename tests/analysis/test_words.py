from __future__ import annotations

import pytest

from fourhands.analysis.statistics import Interval
from fourhands.analysis.words import count, listed, p_value, percent, points, reach


@pytest.mark.parametrize(
    ("difference", "told"),
    [(-11 / 600, "−1.8"), (0.0, "0.0"), (-0.0001, "0.0"), (0.05, "+5.0"), (-1, "−100.0")],
)
def test_a_difference_is_signed_unless_it_is_none(difference: float, told: str) -> None:
    assert points(difference) == told


def test_an_interval_says_from_where_to_where() -> None:
    assert reach(Interval(-0.123, 0.0456, "")) == "−12.3 to +4.6"


@pytest.mark.parametrize(("rate", "told"), [(1.0, "100 %"), (0.8414, "84.1 %"), (0.0, "0 %")])
def test_a_rate_is_told_to_a_tenth_of_a_percent(rate: float, told: str) -> None:
    assert percent(rate) == told


@pytest.mark.parametrize(
    ("p", "told"), [(0.0004, "p < 0.001"), (0.0312, "p = 0.031"), (1.0, "p = 1"), (0.5, "p = 0.5")]
)
def test_a_p_is_told_to_two_digits(p: float, told: str) -> None:
    assert p_value(p) == told


def test_one_is_no_plural() -> None:
    assert (count(1, "task"), count(2, "task"), count(0, "reply", "replies")) == (
        "1 task",
        "2 tasks",
        "0 replies",
    )


def test_a_list_is_cut_after_five() -> None:
    assert listed(list("abcde")) == "a, b, c, d, e"
    assert listed(list("abcdef")) == "a, b, c, d, e and 1 more"
