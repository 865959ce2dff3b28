from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.comparison import Comparison, compare, lacking
from fourhands.analysis.gates import METRICS, check, parse_gate
from fourhands.model.errors import InputError
from fourhands.report.junit import junit
from fourhands.report.views.comparison import arms

from .frames import study, trial

Outcomes = dict[str, Sequence[bool | None]]


def _trials(outcomes: Outcomes, condition: str = "vanilla", **values: Any) -> list[dict[str, Any]]:
    return [
        trial(task, condition, solved=solved, repeat=repeat, **values)
        for task, repeats in outcomes.items()
        for repeat, solved in enumerate(repeats, start=1)
    ]


def _drawn(rng: random.Random, rates: Sequence[float], repeats: int = 3) -> Outcomes:
    return {f"t{n:02}": [rng.random() < rate for _ in range(repeats)] for n, rate in enumerate(rates)}


def _regression(comparison: Comparison) -> bool:
    return any(result.failed for result in check(comparison, [parse_gate("regression")]))


def test_noise_alone_is_called_a_regression_about_as_often_as_the_level_says() -> None:
    rng = random.Random(20261130)
    false = 0
    for _ in range(200):
        rates = [rng.betavariate(2, 1) for _ in range(30)]
        before, after = (study(_trials(_drawn(rng, rates))) for _ in range(2))
        false += _regression(compare(before, after))
    assert 3 <= false <= 18, "5 % of 200 is 10; binomial bounds of 99 %"


def test_over_several_conditions_noise_is_no_more_often_called_one() -> None:
    rng = random.Random(7)
    false = 0
    conditions = ("vanilla", "counter-edit", "co-edit")
    for _ in range(200):
        rates = [rng.betavariate(2, 1) for _ in range(20)]
        before, after = (
            study([row for name in conditions for row in _trials(_drawn(rng, rates), name)]) for _ in range(2)
        )
        false += _regression(compare(before, after))
    assert false <= 18


def test_a_planted_regression_is_found() -> None:
    rng = random.Random(1)
    rates = [rng.betavariate(4, 1) for _ in range(30)]
    found = 0
    for _ in range(20):
        before = study(_trials(_drawn(rng, rates)))
        after = study(_trials(_drawn(rng, [rate * 0.6 for rate in rates])))
        found += _regression(compare(before, after))
    assert found == 20


def test_an_improvement_is_no_regression() -> None:
    before = study(_trials({f"t{n}": [False] for n in range(12)}))
    after = study(_trials({f"t{n}": [True] for n in range(12)}))
    (arm,) = compare(before, after).changes
    assert arm.change == 1.0
    assert not arm.is_regression
    assert arm.p_worse == pytest.approx(1, abs=1e-3)


def test_tasks_are_paired_and_told_by_majority() -> None:
    before = study(_trials({"a": [True, True, False], "b": [False] * 3, "c": [True] * 3, "d": [None] * 3}))
    after = study(_trials({"a": [True, False, False], "b": [True] * 3, "c": [True] * 3, "d": [True] * 3}))
    (arm,) = compare(before, after).changes
    assert {task.task: task.kind for task in arm.tasks} == {"a": "lost", "b": "gained", "c": "solved"}
    assert arm.change == pytest.approx((-1 / 3 + 1 + 0) / 3)
    assert arm.retention == 0.5
    assert [missing.task for missing in arm.incomplete] == ["d"]


def test_a_task_of_one_run_alone_is_incomplete_whichever_run_that_is() -> None:
    larger = study(_trials({"a": [True], "b": [True], "c": [True], "d": [None]}))
    smaller = study(_trials({"a": [True], "d": [True]}))
    for before, after, lacks in ((larger, smaller, "second"), (smaller, larger, "first")):
        compared = compare(before, after)
        (arm,) = compared.changes
        assert [task.task for task in arm.tasks] == ["a"]
        told = {missing.task: lacking(missing) for missing in arm.incomplete}
        assert list(told) == ["b", "c", "d"]
        assert told["b"] == told["c"] == f"{lacks} run: not planned"
        assert told["d"].endswith("run: infrastructure_error")
        (result,) = check(compared, [parse_gate("incomplete>0")])
        assert result.failed
        table = arms(compared)
        assert table
        assert table.rows[0][2].text == "1*"
        assert f"b ({lacks} run: not planned)" in table.notes[-1]
        skipped = ET.fromstring(junit(compared, [])).findall(".//skipped")
        assert [each.get("message") for each in skipped] == list(told.values())


def test_a_task_that_the_condition_does_not_apply_to_in_either_run_lacks_nothing() -> None:
    rows = _trials({"a": [True]}) + _trials({"b": [None]}, applicable=False)
    (arm,) = compare(study(rows), study(rows)).changes
    assert arm.incomplete == ()


def test_before_after_and_change_are_of_the_same_tasks() -> None:
    before = study(_trials({"a": [True, False], "b": [True], "gone": [False] * 4}, steps=20))
    after = study(_trials({"a": [False] * 3, "b": [True]}, steps=20) + _trials({"new": [True]}, steps=90))
    (arm,) = compare(before, after).changes
    assert (arm.rate_before, arm.rate_after, arm.change) == (0.75, 0.5, -0.25)
    assert arm.mean_change("steps") == 0, "what only the second run had is no change of what both had"
    table = arms(compare(before, after))
    assert table
    assert [cell.text for cell in table.rows[0][3:6]] == ["75%", "50%", "−25.0"]


@pytest.mark.parametrize(
    ("solved", "unsolved", "rows", "says"),
    [
        (4, 0, 1, "4 tasks cannot show a regression at 5 %: the smallest p they can give is 0.0625"),
        (1, 0, 1, "1 task cannot show a regression at 5 %: the smallest p they can give is 0.5"),
        (3, 5, 1, "8 tasks, of which the first run solved 3, cannot show a regression at 5 %: the smallest"),
        (0, 9, 1, "9 tasks that the first run never solved cannot show a regression: there is nothing to"),
        (5, 0, 2, "the smallest p they can give, adjusted by Holm's method, is 0.0625"),
        (5, 0, 1, None),
        (6, 0, 2, None),
    ],
)
def test_where_no_second_run_could_fail_the_gate_it_says_so(
    solved: int, unsolved: int, rows: int, says: str | None
) -> None:
    outcomes: Outcomes = {f"t{n}": [n < solved] for n in range(solved + unsolved)}
    conditions = ("vanilla", "counter-edit")[:rows]
    runs = study([row for name in conditions for row in _trials(outcomes, name)])
    compared = compare(runs, runs)
    results = check(compared, [parse_gate("regression")])
    assert len(results) == rows
    assert not any(result.failed for result in results)
    told = [case.text or "" for case in ET.fromstring(junit(compared, results)).findall(".//system-out")]
    for result, in_junit in zip(results, told, strict=False):
        assert in_junit == result.why
        assert ("cannot show" in result.why) is (says is not None)
        assert (says or "one-sided") in result.why


@given(st.lists(st.tuples(*[st.lists(st.booleans(), min_size=1, max_size=3)] * 2), min_size=1, max_size=6))
def test_no_second_run_has_a_smaller_p_than_the_least_and_the_worst_has_that(
    pairs: list[tuple[list[bool], list[bool]]],
) -> None:
    firsts: Outcomes = {f"t{n}": was for n, (was, _) in enumerate(pairs)}
    before = study(_trials(firsts))
    (arm,) = compare(before, study(_trials({f"t{n}": now for n, (_, now) in enumerate(pairs)}))).changes
    assert arm.p_worse is not None
    assert arm.least_p is not None
    assert arm.p_worse >= arm.least_p - 1e-12
    (worst,) = compare(before, study(_trials({task: [False] for task in firsts}))).changes
    assert worst.p_worse == pytest.approx(arm.least_p)
    assert worst.is_regression is arm.can_be_regression


def test_two_versions_may_have_two_names() -> None:
    before = study(_trials({"a": [True]}, model="m-1"))
    after = study(_trials({"a": [False]}, model="m-2"))
    (arm,) = compare(before, after).changes
    assert arm.name == "mini-swe-agent · m-1 → mini-swe-agent · m-2 · vanilla"


def test_among_several_agents_only_those_of_both_runs_are_compared() -> None:
    before = study(_trials({"a": [True]}, model="x") + _trials({"a": [True]}, model="y"))
    after = study(_trials({"a": [True]}, model="y") + _trials({"a": [True]}, "counter-edit", model="y"))
    compared = compare(before, after)
    assert [arm.after.model for arm in compared.changes] == ["y"]
    assert compared.unmatched == (
        "mini-swe-agent · x: in the first run only",
        "mini-swe-agent · y · counter-edit: in the second run only",
    )


def test_the_change_of_the_difference_to_vanilla_is_paired_by_task() -> None:
    def runs(touched: Outcomes) -> list[dict[str, Any]]:
        return _trials({"a": [True], "b": [True]}) + _trials(touched, "counter-edit")

    compared = compare(study(runs({"a": [False], "b": [False]})), study(runs({"a": [True], "b": [False]})))
    arm = next(change for change in compared.changes if not change.before.is_vanilla)
    assert arm.delta_change == 0.5
    vanilla = next(change for change in compared.changes if change.before.is_vanilla)
    assert vanilla.delta_change is None


@pytest.mark.parametrize(
    ("text", "failed"),
    [
        ("retention<0.9", True),
        ("retention < 40%", False),
        ("vanilla:retention<=0.5", True),
        ("change>=-0.2", False),
        ("change<−0.3", True),
        ("resolve<0.5", True),
        ("incomplete>0", False),
        ("steps_change>0", False),
        ("delta_change<0", False),
    ],
)
def test_a_gate_holds_what_it_says(text: str, failed: bool) -> None:
    before = study(_trials({"a": [True], "b": [True], "c": [False]}))
    after = study(_trials({"a": [True], "b": [False], "c": [False]}))
    (result,) = check(compare(before, after), [parse_gate(text)])
    assert result.failed is failed, result


def test_a_number_that_nobody_can_tell_passes_no_gate() -> None:
    unscored = study(_trials({"a": [None]}))
    (result,) = check(compare(unscored, unscored), [parse_gate("retention<0.9")])
    assert result.failed
    assert result.why == "retention cannot be told"


def test_where_nothing_was_solved_nothing_can_be_lost() -> None:
    unsolved = study(_trials({"a": [False]}))
    (result,) = check(compare(unsolved, unsolved), [parse_gate("retention<0.9")])
    assert not result.failed
    assert "nothing to lose" in result.why


@pytest.mark.parametrize(
    "text", ["", "retention", "retentoin<0.9", "retention<", "regression<1", "<0.9", "retention=1"]
)
def test_what_is_no_gate_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(InputError, match="write METRIC<NUMBER"):
        parse_gate(text)


@pytest.mark.parametrize(
    ("text", "meant"), [("change<-5", "-5%"), ("retention<90", "90%"), ("p_worse<5", "5%")]
)
def test_a_bound_that_a_metric_cannot_reach_is_refused_with_what_was_meant(text: str, meant: str) -> None:
    with pytest.raises(InputError, match=f"did you mean {meant}"):
        parse_gate(text)


def test_a_metric_that_is_almost_right_is_suggested() -> None:
    with pytest.raises(InputError, match="did you mean 'retention'"):
        parse_gate("retentoin<0.9")


def test_a_gate_for_a_condition_that_is_not_compared_is_refused() -> None:
    runs = study(_trials({"a": [True]}))
    with pytest.raises(InputError, match="co-edit is not compared; there are vanilla"):
        check(compare(runs, runs), [parse_gate("co-edit:resolve<1")])


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_a_number_or_unknown(metric: str) -> None:
    before = study(_trials({"a": [True, False], "b": [True, True]}))
    (arm,) = compare(before, before).changes
    value = METRICS[metric].value(arm)
    assert value is None or isinstance(value, float | int)


def test_junit_fails_what_the_gates_fail_and_holds_no_character_that_xml_lacks() -> None:
    name = "t\x1b]0;x\x07<script>"
    before = study(_trials({name: [True] * 3, **{f"t{n}": [True] * 3 for n in range(12)}, "x": [None]}))
    after = study(_trials({name: [False] * 3, **{f"t{n}": [False] * 3 for n in range(12)}, "x": [True]}))
    compared = compare(before, after)
    document = junit(compared, check(compared, [parse_gate("regression"), parse_gate("resolve<0")]))
    root = ET.fromstring(document)
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("16", "14", "1")
    names = {case.get("name") for case in root.iter("testcase")}
    assert r"t\x1b]0;x\x07<script>" in names
    same = junit(compare(before, before), [])
    assert ET.fromstring(same).get("failures") == "0"
