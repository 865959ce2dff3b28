from __future__ import annotations

from decimal import Decimal

import pytest

from fourhands.analysis.findings.cost_performance import cost_performance
from fourhands.model.price import Cost

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_every_condition_is_a_shift_from_the_agents_vanilla() -> None:
    rows = [
        trial("a", cost=0.1, cost_at_least=0.1, tokens=100),
        trial("b", cost=0.3, cost_at_least=0.3, tokens=300),
        trial("a", "counter-edit", cost=0.5, cost_at_least=0.5, solved=False),
        trial("a", "co-edit", cost=None, cost_at_least=0.0),
        trial("a", "edit-only", solved=None),
    ]
    vanilla, touched, helped = cost_performance(study(rows))
    assert (vanilla.cost, vanilla.tokens, vanilla.rate) == (Cost(Decimal("0.2")), 200, 1.0)
    assert (vanilla.cost_shift, vanilla.rate_shift) == (None, None)
    assert (touched.cost_shift, touched.rate_shift) == (pytest.approx(0.3), -1.0)
    assert (helped.cost_shift, helped.rate_shift) == (None, 0.0)


def test_without_vanilla_there_are_points_and_no_shifts() -> None:
    (point,) = cost_performance(study([trial("a", "co-edit", benchmark="pro")]))
    assert (point.benchmark, point.cost_shift, point.rate_shift) == ("pro", None, None)
