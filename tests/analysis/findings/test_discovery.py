"""Goals over the course of a conversation, per source of scores, with their anchors: values computed by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fourhands.analysis.findings.conversations import POOLED
from fourhands.analysis.findings.discovery import AnchorMeans, DiscoveryRow, discovery_table
from fourhands.analysis.findings.scores import CHECKS, HIDDEN_TESTS, ScoreSource
from fourhands.analysis.statistics import rate_interval
from fourhands.analysis.study import Anchors, RunInfo, Study, TaskInfo

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named
from .talked import judged, scored


def _only(rows: Sequence[dict[str, Any]]) -> DiscoveryRow:
    (row,) = discovery_table(study(rows))
    return row


def _values(row: DiscoveryRow) -> list[float | None]:
    return [point and point.value for point in row.points]


def _with_anchors(of: Study, **tasks: Anchors) -> Study:
    infos = tuple(TaskInfo(name, "d", anchors=(anchors,)) for name, anchors in tasks.items())
    return replace(of, runs=(RunInfo("run", "/runs/a", "run", tasks=infos),))


def test_trials_are_put_on_the_grid_first_and_then_averaged() -> None:
    row = _only([scored("a", 50, [0, 100]), scored("b", 70, [20, 40, 60]), scored("c", 60, [10])])
    # a: 0 until the end, then 100. b: 20 until 0.5, 40 until the end, then 60. c: 10 all the time.
    assert _values(row) == [10.0] * 5 + [pytest.approx(50 / 3)] * 5 + [pytest.approx(170 / 3)]
    assert (row.trials, [point and point.n for point in row.points]) == (3, [3] * 11)
    assert row.plan is not None
    assert (row.plan.value, row.plan.n) == (60.0, 3)
    assert row.drop is not None
    assert (row.drop.value, row.drop.n) == (50.0, 3)
    assert row.revisions == 6


def test_repeats_count_as_trials_in_the_mean_and_as_one_task_in_the_interval() -> None:
    row = _only([scored("a", 0, [0]), scored("a", 0, [60], repeat=2), scored("b", 0, [90])])
    first = row.points[0]
    assert first is not None
    assert (first.value, first.n) == (50.0, 3)
    by_task = rate_interval([0.3, 0.9])
    assert by_task is not None
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == (by_task.low * 100, by_task.high * 100)
    assert first.interval.method == by_task.method


def test_a_trial_without_a_plan_and_one_without_a_scored_state_count_where_they_tell() -> None:
    row = _only([scored("a", None, [40]), scored("b", 80, [None, 20])])
    assert row.plan is not None
    assert (row.plan.value, row.plan.n) == (80.0, 1)
    assert [point and point.n for point in row.points] == [1] * 10 + [2]
    assert row.drop is None  # neither has both
    assert (row.unscored, row.revisions) == (1, 3)


def test_cut_trials_count_and_those_that_are_not_scored_do_not() -> None:
    rows = [
        scored("a", 10, [20], solved=False, termination="agent_timeout"),
        scored("b", 90, [90], solved=None),
    ]
    row = _only(rows)
    assert (row.trials, row.plan and row.plan.value) == (1, 10.0)


def test_only_arms_whose_user_talks_have_a_row_and_several_simulators_have_one_together() -> None:
    rows = [
        trial("a", "single-turn"),
        scored("a", 10, [20]),
        scored("a", 30, [40], condition="interactive[simulator=x]"),
    ]
    found = discovery_table(study(rows))
    assert [(row.condition, row.simulator, row.trials) for row in found] == [
        ("interactive", "grounded", 1),
        ("interactive[simulator=x]", "x", 1),
        ("interactive[simulator=*]", POOLED, 2),
    ]


def test_hidden_tests_are_a_source_of_their_own_and_marked() -> None:
    rows = [scored("a", 10, [20]), scored("b", 10, [90], source="hidden-tests")]
    checks, informed = discovery_table(study(rows))
    assert (checks.source, checks.trials, checks.verifier_informed) == (CHECKS, 1, 0)
    assert (informed.source, informed.trials, informed.verifier_informed) == (HIDDEN_TESTS, 1, 1)


def test_judges_are_told_apart_by_name_and_prompts_and_stand_after_the_checks() -> None:
    one, two, other = judged(80, 40), judged(60, 30, version=3), judged(50, 20, judge="judge:i")
    rows = discovery_table(study([scored("a", 10, [20], judges=[one, two, other])]))
    assert [row.source for row in rows] == [
        CHECKS,
        ScoreSource("judge:i", 2),
        ScoreSource("judge:j", 2),
        ScoreSource("judge:j", 3),
    ]
    assert [row.plan and row.plan.value for row in rows] == [10.0, 50.0, 80.0, 60.0]
    assert [row.trust and row.trust.told for row in rows] == [None, *["unaudited"] * 3]
    assert [row.told for row in rows] == [
        "checks",
        "judge:i, unaudited",
        "judge:j v2, unaudited",
        "judge:j v3, unaudited",
    ]


def test_a_judge_of_the_end_alone_says_nothing_of_what_was_before() -> None:
    end = {"states": [{"state": "c3", "of": "end", "score": 90.0}], "final": 90.0}
    _, row = discovery_table(study([scored("a", 10, [1, 2, 3], judges=[judged(None, **end)])]))
    assert _values(row) == [None] * 10 + [90.0]


def test_what_an_older_table_holds_of_a_judge_still_has_its_plan() -> None:
    old = judged(80, 40)
    del old["states"]
    _, row = discovery_table(study([scored("a", 10, [20], judges=[old])]))
    assert (row.plan and row.plan.value, _values(row)) == (80.0, [None] * 11)


def test_nothing_by_checks_is_what_the_record_tells_of_the_code_before_any_change() -> None:
    rows = [scored("a", 0, [50], base=14), scored("b", 0, [50]), scored("c", 0, [50], base=6)]
    row = _only(rows)
    assert row.anchors == AnchorMeans(2, 10.0, 100.0, None, None)  # of b nobody knows what no change is worth
    assert _only([scored("b", 0, [50])]).anchors.empty is None  # part of it may hold from the start


def test_a_judges_anchors_are_of_its_own_tasks_and_prompts() -> None:
    of = study([scored(task, 90, [40], judges=[judged(90, 40)]) for task in "ab"])
    made = _with_anchors(
        of,
        a=Anchors("judge:j", 2, 0, 80, 96),
        b=Anchors("judge:j", 2, 10, 60, None),
        c=Anchors("judge:j", 2, 99, 99, 99),
    )
    _, row = discovery_table(made)
    assert row.anchors == AnchorMeans(2, 5.0, 70.0, 96.0, 16.0)
    assert sorted(row.anchored) == ["a", "b"]
    older = _with_anchors(of, a=Anchors("judge:j", 1, 0, 80, 96))
    assert discovery_table(older)[1].anchors.tasks == 0


def test_anchors_that_come_later_are_seen_though_the_trials_are_the_same() -> None:
    of = study([scored("a", 90, [40], judges=[judged(90, 40)])])
    assert discovery_table(of)[1].anchors.reference is None
    told = _with_anchors(of, a=Anchors("judge:j", 2, 0, 80, 96))
    assert discovery_table(told)[1].anchors.reference == 80


def test_the_drop_is_negative_where_the_code_is_better_than_the_plan() -> None:
    row = _only([scored("a", 20, [60, 100]), scored("b", 20, [40, 0])])
    assert row.drop is not None
    assert row.drop.value == -30.0
    assert row.drop.interval is not None
    assert -100 <= row.drop.interval.low <= -30 <= row.drop.interval.high <= 100
