"""Numbers as people read them, with the unrounded value beside."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.statistics import Interval
from fourhands.model.price import Cost
from fourhands.report.table import Cell
from fourhands.report.views.numbers import (
    count,
    dollars,
    interval_of,
    mean,
    percent,
    points,
    points_interval_of,
    probability,
)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (points(-0.0333333), "−3.3"),
        (points(0.018), "+1.8"),
        (points(-0.0001), "+0.0"),
        (points(-0.5, mark="*"), "−50.0*"),
        (points(None), "–"),
        (percent(2 / 3), "67%"),
        (percent(0.8411, 1), "84.1%"),
        (count(15940.4), "15,940"),
        (count(1234, mark="≥ "), "≥ 1,234"),
        (mean(-1.25), "−1.2"),
        (mean(2.0, sign=True), "+2.0"),
        (mean(-0.01, sign=True), "+0.0"),
        (mean(12345.678, 0), "12,346"),
        (probability(0.00099), "<0.001"),
        (probability(0.0034), "0.003"),
        (probability(0.034), "0.03"),
        (probability(0.996), "1"),
        (probability(1.0), "1"),
        (probability(None), "–"),
        (interval_of(Interval(0.34, 1.0, "")), "34–100%"),
        (interval_of(None), "–"),
        (points_interval_of(Interval(-0.0434, -0.0021, "")), "−4.3 to −0.2"),
        (points_interval_of(Interval(-0.667, 0.342, "")), "−67 to +34"),
        (dollars(Cost(Decimal("0.0421"))), "$0.042"),
        (dollars(Cost(Decimal(1), is_whole=False)), "≥ $1.00"),
        (dollars(Cost(is_whole=False)), "unknown"),
        (dollars(None), "–"),
    ],
)
def test_it_is_told_as_people_read_it(cell: Cell, text: str) -> None:
    assert cell.text == text


def test_machines_get_it_unrounded_and_nothing_where_nothing_is_known() -> None:
    assert percent(2 / 3).value == 2 / 3
    assert points(None).value is None
    assert (interval_of(Interval(0.2, 0.9, "")).value, interval_of(Interval(0.2, 0.9, "")).more) == (
        0.2,
        (0.9,),
    )
    partial = dollars(Cost(Decimal("1.5"), is_whole=False))
    assert (partial.value, partial.more) == (None, (1.5,))


@given(st.floats(-1, 1))
def test_a_difference_has_a_sign_unless_it_rounds_to_nothing(difference: float) -> None:
    text = points(difference).text
    assert text[0] in "+−"
    assert float(text.replace("−", "-")) == pytest.approx(difference * 100, abs=0.0501)
    assert text != "−0.0"
