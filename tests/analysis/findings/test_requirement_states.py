"""Shares of the requirements by state over progress: values computed by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

from fourhands.analysis.discovery import GRID
from fourhands.analysis.findings.conversations import POOLED
from fourhands.analysis.findings.conversations.whole import whole
from fourhands.analysis.findings.requirement_states import states_table
from fourhands.model.ledger_state import RequirementState

from ..frames import study, talk  # noqa: TID252 - tests are no package that could be named

HELD, SATISFIED = RequirementState.HELD, RequirementState.SATISFIED


def _states(held: Sequence[int], of: int) -> str:
    """So many held at each entry, all others satisfied."""
    return json.dumps(
        [dict.fromkeys(map(str, RequirementState), 0) | {"held": n, "satisfied": of - n} for n in held]
    )


def test_shares_are_of_each_trials_requirements_and_then_averaged() -> None:
    rows = [
        talk("a", states=_states([4, 2, 0], 4)),  # changes at 0.5 and at the end
        talk("b", states=_states([1, 0], 1)),  # at the end alone
        talk("c", states="[]"),
        talk("d", solved=None, states=_states([9], 9)),
    ]
    found = states_table(study(rows))
    assert [row.progress for row in found] == list(GRID)
    assert {row.n for row in found} == {2}
    assert [row.shares[HELD] for row in found] == [1.0] * 5 + [0.75] * 5 + [0.0]
    assert [row.shares[SATISFIED] for row in found] == [0.0] * 5 + [0.25] * 5 + [1.0]
    assert all(abs(sum(row.shares.values()) - 1) < 1e-12 for row in found)


def test_who_tells_no_states_has_no_rows_and_simulators_are_pooled() -> None:
    assert states_table(study([talk("a", states=None)])) == ()
    rows = [talk("a"), talk("a", "interactive[simulator=x]", verifier_informed=True)]
    found = [row for row in states_table(study(rows)) if row.progress == 0]
    assert [(row.simulator, row.n, row.verifier_informed) for row in found] == [
        ("grounded", 1, 0),
        ("x", 1, 1),
        (POOLED, 2, 1),
    ]


def test_a_figure_shows_all_simulators_together_where_there_are_several_and_else_the_one() -> None:
    rows = [talk("a"), talk("a", "interactive[simulator=x]"), talk("a", "four-hands")]
    found = whole([row for row in states_table(study(rows)) if row.progress == 0])
    assert [(row.condition, row.simulator) for row in found] == [
        ("four-hands", "grounded"),
        ("interactive[simulator=*]", POOLED),
    ]
