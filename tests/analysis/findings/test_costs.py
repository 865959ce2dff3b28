from __future__ import annotations

from decimal import Decimal

import pytest

from fourhands.analysis.findings.costs import cost_table
from fourhands.model.price import Cost

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def _cost(amount: float | None, least: float | None = None) -> dict[str, float | None]:
    return {"cost": amount, "cost_at_least": amount if least is None else least}


def test_costs_are_told_per_trial_in_total_and_per_resolved_beside_vanilla() -> None:
    rows = [
        trial("a", **_cost(0.1)),
        trial("b", solved=False, **_cost(0.3)),
        trial("a", "counter-edit", **_cost(0.5), user_cost=0.02, user_cost_at_least=0.02),
        trial("b", "counter-edit", solved=None, **_cost(0.9)),
    ]
    vanilla, touched = cost_table(study(rows))
    assert (vanilla.per_trial, vanilla.total) == (Cost(Decimal("0.2")), Cost(Decimal("0.4")))
    assert (vanilla.per_resolved, vanilla.delta) == (Cost(Decimal("0.4")), None)
    assert (touched.per_trial, touched.total) == (Cost(Decimal("0.5")), Cost(Decimal("1.4")))
    assert touched.delta == pytest.approx(0.3)
    assert (touched.user_total, touched.scored, touched.resolved) == (Cost(Decimal("0.02")), 1, 1)


def test_an_unknown_part_is_never_zero() -> None:
    rows = [trial("a", **_cost(None, 0.25)), trial("a", "counter-edit", solved=False, **_cost(0.5))]
    vanilla, touched = cost_table(study(rows))
    assert vanilla.per_trial == Cost(Decimal("0.25"), is_whole=False)
    assert (touched.delta, touched.per_resolved) == (None, None)


def test_tokens_are_told_by_kind_and_an_unknown_kind_is_unknown() -> None:
    kinds = {"tokens_input": 10, "tokens_cache_read": 20, "tokens_cache_write": 5, "tokens_output": 65}
    rows = [trial("a", tokens=100, **kinds, tokens_reasoning=None, uncounted_replies=1)]
    (row,) = cost_table(study(rows))
    found = row.tokens
    assert (found.total, found.input, found.cache_read, found.cache_write, found.output) == (
        100,
        10,
        20,
        5,
        65,
    )
    assert (found.reasoning, row.uncounted_replies) == (None, 1)
