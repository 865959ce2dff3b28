"""How large a run must be, estimated from outcomes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import pytest

from fourhands.analysis.sizing import Sizing, needed, sizings
from fourhands.analysis.statistics import Variance, paired_test, power, tasks_needed
from fourhands.model.errors import InputError

from .frames import study, trial

DELTA = -0.2


def rows(outcomes: dict[str, dict[str, str]], repeats: Sequence[int] = (1, 3, 5)) -> list[Sizing]:
    """Condition -> task -> repeats, as ``1`` and ``0``."""
    trials = [
        trial(task, condition, solved=solved == "1", repeat=repeat)
        for condition, tasks in outcomes.items()
        for task, solves in tasks.items()
        for repeat, solved in enumerate(solves, start=1)
    ]
    return sizings(study(trials), DELTA, repeats, chance=0.8)


def drawn(tasks: int, repeats: int, *, loss: float, seed: int = 1) -> dict[str, dict[str, str]]:
    """Tasks of different difficulty, each ``loss`` harder under the condition."""
    dice = random.Random(seed)
    vanilla, edited = dict[str, str](), dict[str, str]()
    for number in range(tasks):
        rate = dice.betavariate(3, 1.5)
        for into, p in ((vanilla, rate), (edited, max(rate - loss, 0))):
            into[f"t{number}"] = "".join("1" if dice.random() < p else "0" for _ in range(repeats))
    return {"vanilla": vanilla, "counter-edit": edited}


def test_a_run_with_repeats_tells_both_variances_its_power_and_what_is_needed() -> None:
    (row,) = rows(drawn(60, 3, loss=0.2))
    assert row.variance is not None
    assert (row.tasks, row.repeats, row.variance.separated, row.lacks) == (60, 3, True, "")
    assert row.power == pytest.approx(power(DELTA, 60, 3, row.variance))
    assert [each.repeats for each in row.needed] == [1, 3, 5]
    assert [each.tasks for each in row.needed] == [
        tasks_needed(DELTA, count, row.variance) for count in (1, 3, 5)
    ]
    one, three, five = row.needed
    assert one.tasks > three.tasks > five.tasks
    assert (three.trials, three.is_most) == (2 * 3 * three.tasks, False)
    assert row.factors == (pytest.approx(0.72, abs=0.01), pytest.approx(1.49, abs=0.01))


def test_the_power_that_is_told_is_how_often_the_test_shows_it() -> None:
    told, shown, runs = [], 0, 100
    for seed in range(runs):
        outcomes = drawn(20, 3, loss=0.2, seed=seed)
        (row,) = rows(outcomes, repeats=())
        assert row.power is not None
        told.append(row.power)
        sides = (
            [[each == "1" for each in repeats] for repeats in outcomes[condition].values()]
            for condition in ("vanilla", "counter-edit")
        )
        test = paired_test(*sides)
        assert test is not None
        shown += test.p < 0.05
    assert sum(told) / runs == pytest.approx(shown / runs, abs=0.12)


def test_one_repeat_tells_tasks_at_one_repeat_and_no_more_than_a_bound_for_others() -> None:
    (row,) = rows(drawn(60, 1, loss=0.2))
    assert row.variance is not None
    assert not row.variance.separated
    assert [each.is_most for each in row.needed] == [False, True, True]
    assert len({each.tasks for each in row.needed}) == 1


def test_where_one_side_alone_has_repeats_fewer_than_there_were_are_not_told() -> None:
    outcomes = drawn(60, 3, loss=0.2)
    outcomes["counter-edit"] = {task: repeats[0] for task, repeats in outcomes["counter-edit"].items()}
    (row,) = rows(outcomes)
    assert row.repeats == pytest.approx(1.5), "2 / (1/3 + 1/1)"
    assert [(each.repeats, each.is_most) for each in row.needed] == [(3, True), (5, True)]


def test_repeats_that_are_missing_here_and_there_weigh_as_they_do_in_the_variance() -> None:
    outcomes = drawn(60, 3, loss=0.2)
    outcomes["counter-edit"] |= {f"t{number}": "10" for number in range(30)}
    (row,) = rows(outcomes)
    assert row.variance is not None
    assert row.repeats == pytest.approx(1 / ((60 / 3 + 30 / 3 + 30 / 2) / 120))
    assert power(DELTA, 60, 2, row.variance) < (row.power or 0) < power(DELTA, 60, 3, row.variance)


@pytest.mark.parametrize(
    ("outcomes", "lacks"),
    [
        ({"counter-edit": {"a": "1", "b": "0"}}, "no task is scored both"),
        ({"vanilla": {"a": "1"}, "counter-edit": {"b": "0"}}, "no task is scored both"),
        ({"vanilla": {"a": "111"}, "counter-edit": {"a": "010"}}, "one task is scored on both sides"),
        (
            {"vanilla": {"a": "11", "b": "11"}, "counter-edit": {"a": "00", "b": "00"}},
            "all 2 tasks came out alike",
        ),
    ],
)
def test_what_is_too_small_to_tell_says_why(outcomes: dict[str, dict[str, str]], lacks: str) -> None:
    (row,) = rows(outcomes)
    assert (row.variance, row.power, row.needed, row.factors) == (None, None, (), None)
    assert lacks in row.lacks


def test_each_agent_and_condition_is_sized_by_itself() -> None:
    made = [
        trial(task, condition, model=model, solved=(len(task) + repeat) % 2 == 0, repeat=repeat)
        for model, condition, task, repeat in product(
            ("m", "n"), ("vanilla", "counter-edit", "co-edit"), ("a", "bb", "ccc"), (1, 2)
        )
    ]
    found = sizings(study(made), DELTA, [1], chance=0.8)
    assert [(row.model, row.condition) for row in found] == [
        ("m", "counter-edit"),
        ("m", "co-edit"),
        ("n", "counter-edit"),
        ("n", "co-edit"),
    ]


def test_what_cannot_be_shown_is_refused() -> None:
    with pytest.raises(InputError, match="Δ is 0"):
        needed(0.0, [1], Variance(0.1, 0.1), chance=0.8)
