from __future__ import annotations

from decimal import Decimal

import pytest

from fourhands.analysis.findings.conditions import condition_table
from fourhands.analysis.statistics import holm, mcnemar, wilson
from fourhands.model.price import Cost

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_delta_comes_from_unrounded_rates_paired_by_task() -> None:
    # The paper's own example: 85.1667 − 83.3333 is −1.8 when printed, not −1.9.
    rows = [
        trial(f"t{task}", condition, solved=(task * 3 + repeat) < solved, repeat=repeat)
        for condition, solved in (("vanilla", 511), ("counter-edit", 500))
        for task in range(200)
        for repeat in range(3)
    ]
    vanilla, touched = condition_table(study(rows))
    assert vanilla.rate == pytest.approx(511 / 600)
    assert vanilla.delta is None
    assert touched.delta == pytest.approx(-11 / 600)
    assert f"{touched.delta * 100:+.1f}" == "-1.8"
    assert (touched.pairs, touched.incomplete_pairs, touched.tasks) == (200, 0, 200)


def test_a_pair_with_an_unscored_trial_is_incomplete_and_never_a_loss() -> None:
    rows = [
        trial("a"),
        trial("a", "counter-edit", solved=None),
        trial("b"),
        trial("b", "counter-edit", solved=False),
        trial("c", solved=None, termination="invalid"),
        trial("c", "counter-edit"),
    ]
    _, touched = condition_table(study(rows))
    assert (touched.trials, touched.scored, touched.resolved) == (3, 2, 1)
    assert touched.delta == -1.0
    assert (touched.pairs, touched.incomplete_pairs) == (1, 2)


def test_time_outs_and_limits_are_scored_all_the_same_and_are_not_completed() -> None:
    rows = [
        trial("a", termination="agent_timeout", steps=90, tokens=9),
        trial("b", solved=False, termination="step_limit", steps=100, tokens=9),
        trial("c", steps=20, tokens=3),
    ]
    (vanilla,) = condition_table(study(rows))
    assert (vanilla.scored, vanilla.resolved, vanilla.completed) == (3, 2, 1)
    assert (vanilla.steps, vanilla.completed_steps) == (70.0, 20.0)
    assert (vanilla.tokens, vanilla.completed_tokens) == (7.0, 3.0)


def test_a_task_without_the_edit_is_counted_and_not_scored() -> None:
    rows = [
        trial("a"),
        trial("a", "co-edit", solved=None, applicable=False),
        trial("b", solved=False),
        trial("b", "co-edit"),
    ]
    _, helped = condition_table(study(rows))
    assert (helped.not_applicable, helped.scored, helped.pairs, helped.incomplete_pairs) == (1, 1, 1, 0)
    assert helped.delta == 1.0


def test_a_trial_that_has_not_run_is_planned_and_not_scored() -> None:
    values = dict.fromkeys(("verdict", "termination", "steps", "tokens", "cost", "cost_at_least"))
    (vanilla,) = condition_table(study([trial(solved=None, attempt=0, **values)]))
    assert (vanilla.trials, vanilla.scored, vanilla.rate, vanilla.steps) == (1, 0, None, None)
    assert (vanilla.wilson, vanilla.clustered, vanilla.cost, vanilla.cost_total) == (None, None, None, Cost())


def test_a_protocol_failure_has_two_rates() -> None:
    (vanilla,) = condition_table(study([trial("a", termination="protocol_failure"), trial("b")]))
    assert (vanilla.rate, vanilla.strict_rate) == (1.0, 0.5)


def test_the_tests_of_all_conditions_of_an_agent_are_one_family() -> None:
    lost = {"counter-edit": 6, "edit-only": 5, "co-edit": 0}
    rows = [trial(f"t{task}", model=model) for task in range(8) for model in "mn"]
    rows += [trial(f"t{task}", label, solved=task >= n) for label, n in lost.items() for task in range(8)]
    rows += [trial(f"t{task}", "counter-edit", model="n", solved=task >= 6) for task in range(8)]
    found = {(row.model, row.condition): row for row in condition_table(study(rows))}
    ps = [mcnemar(n, 0) for n in lost.values()]
    for label, p, adjusted in zip(lost, ps, holm(ps), strict=True):
        row = found["m", label]
        assert row.test is not None
        assert (row.test.p, row.p_holm, row.family) == (p, adjusted, 3)
    alone = found["n", "counter-edit"]
    assert alone.test is not None
    assert (alone.p_holm, alone.family) == (alone.test.p, 1)
    assert (found["m", "vanilla"].test, found["m", "vanilla"].p_holm) == (None, None)


def test_both_intervals_are_told() -> None:
    rows = [trial(task, solved=task == "a", repeat=repeat) for task in "abcd" for repeat in (1, 2, 3)]
    (vanilla,) = condition_table(study(rows))
    assert vanilla.wilson == wilson(3, 12)
    assert vanilla.clustered is not None
    # Repeats of a task are alike here, so that the trials tell less than if they were independent.
    assert vanilla.clustered.high - vanilla.clustered.low > vanilla.wilson.high - vanilla.wilson.low


def test_costs_are_exact_and_a_part_that_is_unknown_makes_them_a_lower_bound() -> None:
    rows = [
        trial("a", cost=0.1, cost_at_least=0.1, user_cost=0.01, user_cost_at_least=0.01),
        trial("b", cost=0.2, cost_at_least=0.2),
        trial("c", solved=None, cost=None, cost_at_least=0.4),
    ]
    (vanilla,) = condition_table(study(rows))
    assert vanilla.cost == Cost(Decimal("0.15"))
    assert vanilla.cost_total == Cost(Decimal("0.7"), is_whole=False)
    assert vanilla.user_cost_total == Cost(Decimal("0.01"))


def test_a_condition_without_a_scored_trial_has_no_mean_cost() -> None:
    (vanilla,) = condition_table(study([trial(solved=None, cost=0.2, cost_at_least=0.2)]))
    assert (vanilla.cost, vanilla.cost_total) == (None, Cost(Decimal("0.2")))


def test_uncounted_replies_are_counted_over_all_trials() -> None:
    rows = [trial("a", uncounted_replies=2), trial("b", solved=None, uncounted_replies=1)]
    (vanilla,) = condition_table(study(rows))
    assert vanilla.uncounted_replies == 3
