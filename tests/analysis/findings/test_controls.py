from __future__ import annotations

import pytest

from fourhands.analysis.findings.controls import control_table
from fourhands.analysis.statistics import paired_interval, sign_flip

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_the_mean_over_agents_weighs_each_alike_and_clusters_by_task() -> None:
    lost = {"m": "abc", "n": "a"}
    rows = [
        trial(task, label, model=model, solved=label == "vanilla" or task not in lost[model])
        for model in lost
        for label in ("vanilla", "neutral-edit")
        for task in "abcd"
    ]
    (row,) = control_table(study(rows))
    assert [(each.model, each.delta, each.pairs) for each in row.agents] == [("m", -0.75, 4), ("n", -0.25, 4)]
    by_task = (-1.0, -0.5, -0.5, 0.0)
    assert (row.condition_name, row.mean_delta, row.tasks) == ("neutral-edit", -0.5, 4)
    assert row.mean_interval == paired_interval(by_task)
    assert row.p == sign_flip(by_task)


def test_tasks_without_such_an_edit_are_counted_once() -> None:
    rows = [
        trial(
            task, label, model=model, repeat=repeat, **({} if task == "a" or label == "vanilla" else lacking)
        )
        for lacking in [{"applicable": False, "solved": None}]
        for model in "mn"
        for label in ("vanilla", "co-edit")
        for task in "abc"
        for repeat in (1, 2)
    ]
    (row,) = control_table(study(rows))
    assert (row.not_applicable, [each.not_applicable for each in row.agents]) == (2, [2, 2])
    assert (row.tasks, row.mean_delta) == (1, 0.0)


def test_an_agent_without_a_pair_leaves_the_mean_to_the_others() -> None:
    rows = [trial("a"), trial("a", "co-edit", solved=False)]
    rows += [trial("a", model="n"), trial("a", "co-edit", model="n", solved=None)]
    (row,) = control_table(study(rows))
    assert [each.delta for each in row.agents] == [-1.0, None]
    assert (row.mean_delta, row.tasks, row.agents[1].incomplete_pairs) == (-1.0, 1, 1)


def test_without_vanilla_there_is_nothing_to_control() -> None:
    assert control_table(study([trial("a", "co-edit")])) == ()


def test_agents_with_no_task_in_common_have_no_interval() -> None:
    rows = [
        trial(task, label, model=model) for task, model in ("am", "bn") for label in ("vanilla", "co-edit")
    ]
    (row,) = control_table(study(rows))
    assert (row.mean_delta, row.mean_interval, row.p, row.tasks) == (pytest.approx(0.0), None, None, 0)
