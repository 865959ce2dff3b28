"""T1: single → multi, with both intervals on both sides, paired by task, by benchmark and over simulators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fourhands.analysis.findings.arms import agents_of
from fourhands.analysis.findings.conversations import ALL, POOLED, TurnsRow, talk_table, turns_table
from fourhands.analysis.findings.conversations.measures import Rate, rate_of
from fourhands.analysis.statistics import paired_interval, paired_test, rate_interval, wilson
from fourhands.report.rendering.records import records
from fourhands.report.views import VIEWS

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named


def _paper(percent: float, resolved: int, n: int, single: float) -> list[dict[str, Any]]:
    """75 tasks, once told at once and ``n`` times in conversation, as many resolved as the paper prints."""
    assert round(100 * resolved / n, 1) == percent
    once = round(single * 75 / 100)
    return [
        *(trial(f"t{each}", "single-turn", solved=each < once) for each in range(75)),
        *(talk(f"t{each % 75}", solved=each < resolved, repeat=1 + each // 75) for each in range(n)),
    ]


def test_wilson_and_its_rounding_are_those_the_paper_prints(shared_data: Path) -> None:
    paper = json.loads((shared_data / "papers" / "swe-interact.json").read_bytes())
    assert len(paper["wilson95_multi"]) == 5
    for model, (single, multi, resolved, n) in paper["single_to_multi_percent"].items():
        of = study(_paper(multi, resolved, n, single))
        view = VIEWS["single-multi"](of)
        assert view is not None
        shown = {column.name: cell.text for column, cell in zip(view.columns, view.rows[0], strict=True)}
        low, high = paper["wilson95_multi"][model]
        assert shown["rate_multi"] == shown["rate_at_will"] == f"{multi}%"
        assert shown["rate_multi_low"] == f"{low}–{high}%", model
        (row,) = turns_table(of)
        assert row.multi.clustered is not None
        assert row.multi.clustered != row.multi.wilson


def test_both_sides_have_both_intervals_and_the_change_is_paired_by_task() -> None:
    once = [trial(task, "single-turn", solved=task != "d", repeat=each) for task in "abcd" for each in (1, 2)]
    told = [
        talk(task, solved=solved, repeat=each, resolved_at_will=False)
        for task, pair in {
            "a": (True, True),
            "b": (True, False),
            "c": (False, False),
            "d": (True, True),
        }.items()
        for each, solved in enumerate(pair, 1)
    ]
    only_once, unscored = trial("e", "single-turn"), talk("e", solved=None)
    (row,) = turns_table(study([*once, only_once, *told, unscored]))
    assert row.single == Rate(6, 8, 0.75, wilson(6, 8), rate_interval([1, 1, 1, 0]))
    assert row.multi == Rate(5, 8, 0.625, wilson(5, 8), rate_interval([1, 0.5, 0, 1]))
    assert row.at_will.count == 0
    differences = [0, -0.5, -1, 1]
    assert row.delta.delta == sum(differences) / 4 == -0.125
    assert row.delta.interval == paired_interval(differences)
    yes, no = (True, True), (False, False)
    assert row.delta.test == paired_test([yes, yes, yes, no], [yes, (True, False), no, yes])
    assert (row.delta.pairs, row.delta.incomplete_pairs) == (4, 1)
    assert row.delta_at_will.delta == -0.75
    assert (row.tasks, row.benchmark) == (4, ALL)


def test_the_change_is_of_unrounded_means() -> None:
    """85.1667 to 83.3333 is -1.8, not the -1.9 of the rounded rates."""
    once = [
        trial(f"t{each % 200}", "single-turn", solved=each < 511, repeat=1 + each // 200)
        for each in range(600)
    ]
    told = [talk(f"t{each % 200}", solved=each < 500, repeat=1 + each // 200) for each in range(600)]
    view = VIEWS["single-multi"](study([*once, *told]))
    assert view is not None
    shown = {column.name: cell.text for column, cell in zip(view.columns, view.rows[0], strict=True)}
    assert (shown["rate_single"], shown["rate_multi"], shown["delta"]) == ("85.2%", "83.3%", "−1.8")


def _crossed() -> list[dict[str, Any]]:
    """Two benchmarks of one and two tasks, each with two simulators; `y` solves nothing."""
    rows = []
    for task, benchmark in (("a", "pro"), ("b", "deep"), ("c", "deep")):
        rows.append(trial(task, "single-turn", benchmark=benchmark, steps=10))
        rows += [
            talk(
                task,
                f"interactive[simulator={simulator}]",
                solved=simulator == "x",
                benchmark=benchmark,
                steps=20 if simulator == "x" else 60,
            )
            for simulator in "xy"
        ]
    return rows


def test_rows_of_each_benchmark_follow_that_of_all_tasks_for_each_simulator_and_pooled() -> None:
    found = turns_table(study(_crossed()))
    assert [(row.simulator, row.benchmark, row.tasks, row.multi.n) for row in found] == [
        *(("x", ALL, 3, 3), ("x", "pro", 1, 1), ("x", "deep", 2, 2)),
        *(("y", ALL, 3, 3), ("y", "pro", 1, 1), ("y", "deep", 2, 2)),
        *((POOLED, ALL, 3, 6), (POOLED, "pro", 1, 2), (POOLED, "deep", 2, 4)),
    ]
    pooled = found[6]
    assert (pooled.multi.count, pooled.multi.n, pooled.multi.wilson) == (3, 6, wilson(3, 6))
    assert pooled.delta.delta == -0.5
    assert _ratio(pooled) == 4.0
    assert [_ratio(row) for row in found[:2]] == [2.0, 2.0]


def _ratio(row: TurnsRow) -> float:
    assert row.scored.steps is not None
    return row.scored.steps.value


def test_of_one_benchmark_there_is_no_row_but_that_of_all_tasks() -> None:
    rows = [trial("a", "single-turn", benchmark="pro"), talk("a", benchmark="pro")]
    assert [row.benchmark for row in turns_table(study(rows))] == [ALL]


def test_the_terminal_shows_the_rows_of_all_tasks_alone() -> None:
    from fourhands.report.summary import summary  # noqa: PLC0415 - as heavy as all views

    (section,) = summary(study(_crossed())).sections
    (turns,) = [table for table in section.tables if table.name == "single-multi"]
    assert [cells[0].text for cells in turns.rows] == [
        "interactive[simulator=x]",
        "interactive[simulator=y]",
        "interactive[simulator=*]",
    ]
    view = VIEWS["single-multi"](study(_crossed()))
    assert view is not None
    assert len(records(view)) == 9


def test_completed_trials_are_those_whose_agent_came_to_its_own_end() -> None:
    rows = [
        *(trial(task, "single-turn", steps=10) for task in "ab"),
        talk("a", steps=20),
        talk("b", steps=100, termination="step_limit"),
    ]
    (row,) = turns_table(study(rows))
    assert _ratio(row) == 6.0
    assert row.completed.steps is not None
    completed = row.completed
    # The task that has no completed conversation is on neither side: its trials told at once are no measure of it.
    assert (completed.steps.value, completed.tasks) == (2.0, 1)
    assert (completed.single.trials, completed.multi.trials) == (1, 1)


def test_means_of_completed_trials_are_of_the_same_tasks_and_a_slip_is_an_end_of_the_agents_own() -> None:
    slip = {"termination": "protocol_failure", "slips": ["uncommitted_end"]}
    broke_down = {"termination": "protocol_failure", "slips": []}

    def completed(how: dict[str, Any]) -> tuple[float, int, int]:
        rows = []
        for place in range(8):
            is_long = place >= 4
            steps = 100 if is_long else 10
            rows.append(trial(f"t{place}", "single-turn", steps=steps))
            rows.append(talk(f"t{place}", steps=2 * steps, **(how if is_long else {})))
        (row,) = turns_table(study(rows))
        assert _ratio(row) == 2.0
        assert row.completed.steps is not None
        assert row.completed.single.trials == row.completed.tasks
        return row.completed.steps.value, row.completed.tasks, row.completed.multi.trials

    assert completed(slip) == (2.0, 8, 8)
    assert completed(broke_down) == (2.0, 4, 4)


def test_the_rate_at_will_stands_beside_what_was_taken_until_then() -> None:
    rows = [
        *(trial(task, "single-turn", steps=10, tokens=100, cost=1.0, cost_at_least=1.0) for task in "ab"),
        *(
            talk(
                task,
                steps=60,
                tokens=900,
                cost=9.0,
                cost_at_least=9.0,
                said=7,
                said_at_will=5,
                steps_at_will=40,
                tokens_at_will=300,
                cost_at_will=4.0,
                cost_at_will_at_least=4.0,
                resolved_at_will=False,
            )
            for task in "ab"
        ),
    ]
    of = study(rows)
    (row,) = turns_table(of)
    found = [
        [ratio and ratio.value for ratio in (effort.steps, effort.tokens, effort.cost)]
        for effort in (row.scored_at_will, row.scored, row.completed)
    ]
    assert found == [[4.0, 3.0, 4.0], [6.0, 9.0, 9.0], [4.0, 3.0, 4.0]]
    (talked,) = talk_table(of)
    assert (talked.said.mean, talked.said_at_will.mean) == (7.0, 5.0)


def test_a_rate_at_will_is_set_against_that_of_the_tasks_that_have_one() -> None:
    rows = [
        *(trial(task, "single-turn", solved=task == "a") for task in "ab"),
        talk("a", resolved_at_will=True),
        talk("b", resolved_at_will=None),
    ]
    (row,) = turns_table(study(rows))
    assert row.ratio_at_will is not None
    assert row.ratio_at_will.value == 1.0


def test_a_ratio_has_an_interval_from_six_tasks_on() -> None:
    def rows(tasks: str) -> list[dict[str, Any]]:
        return [
            *(trial(task, "single-turn", steps=10 + place) for place, task in enumerate(tasks)),
            *(talk(task, steps=30 + 7 * place) for place, task in enumerate(tasks)),
        ]

    five, six = (turns_table(study(rows(tasks)))[0].scored.steps for tasks in ("abcde", "abcdef"))
    assert five is not None
    assert five.interval is None
    assert six is not None
    assert six.interval is not None
    assert six.interval.low < six.value < six.interval.high


@pytest.mark.parametrize("known", [None, 0.3])
def test_an_unknown_cost_of_one_trial_leaves_the_mean_unknown_and_says_what_is_known(
    known: float | None,
) -> None:
    rows = [
        trial("a", "single-turn", cost=0.1, cost_at_least=0.1),
        talk("a", cost=0.2, cost_at_least=0.2),
        talk("a", repeat=2, cost=known, cost_at_least=0.1 if known is None else known),
    ]
    (row,) = turns_table(study(rows))
    cost = row.scored.multi.cost
    assert cost is not None
    assert float(cost.known) == pytest.approx(0.15 if known is None else 0.25)
    assert (cost.usd is None) == (known is None)
    assert (row.scored.cost is None) == (known is None)


def test_a_rate_without_trials_is_unknown_and_not_zero() -> None:
    assert rate_of([]) == Rate(0, 0, None, None, None)
    assert agents_of(study([])) == ()
