from __future__ import annotations

from typing import Any

import pytest

from fourhands.analysis.findings.revision import revision_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def _agent(model: str, *, revised: int, lost: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Ten tasks, of which ``lost`` fail under the condition, ``revised`` of them after a revision."""
    trials = [trial(f"t{task}", model=model) for task in range(10)]
    trials += [trial(f"t{task}", "counter-edit", model=model, solved=task >= lost) for task in range(10)]
    found = [
        {
            **{name: row[name] for name in ("run", "trial")},
            "intervention": "i",
            "shadow_of": [],
            "delivered": True,
            "has_edit": True,
            "written": 1,
            "ever_revised": int(task < revised),
        }
        for task, row in enumerate(trials[10:])
    ]
    return trials, found


def _rho(*agents: tuple[int, int]) -> tuple[float | None, int]:
    parts = [_agent(f"m{n}", revised=revised, lost=lost) for n, (revised, lost) in enumerate(agents)]
    trials, found = ([row for part in parts for row in part[side]] for side in (0, 1))
    (row,) = revision_table(study(trials, found))
    return row.rho, row.n


def test_agents_that_revise_more_and_lose_less_make_a_positive_correlation() -> None:
    assert _rho((1, 1), (1, 2), (1, 5)) == (pytest.approx(1.0), 3)
    assert _rho((1, 5), (2, 4), (0, 2)) == (pytest.approx(-0.5), 3)


def test_there_is_no_correlation_of_two_agents_or_of_equal_ones() -> None:
    assert _rho((1, 1), (1, 2)) == (None, 2)
    assert _rho((0, 1), (0, 2), (0, 3)) == (None, 3)


def test_an_agent_without_a_failed_trial_has_no_rate() -> None:
    assert _rho((0, 0), (1, 2), (1, 3), (1, 4)) == (pytest.approx(1.0), 3)


def test_nothing_that_was_delivered_is_nothing_to_revise() -> None:
    assert revision_table(study([trial("a"), trial("a", "counter-edit", solved=False)])) == ()
