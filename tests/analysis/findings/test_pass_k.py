from __future__ import annotations

import pytest

from fourhands.analysis.findings.pass_k import pass_k_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_k_repeats_in_a_row_are_estimated_without_bias_over_tasks_that_have_them() -> None:
    tasks = {"a": "+++", "b": "++-", "c": "+-"}
    rows = [
        trial(task, solved=mark == "+", repeat=repeat)
        for task, marks in tasks.items()
        for repeat, mark in enumerate(marks, 1)
    ]
    found = pass_k_table(study([*rows, trial("d", solved=None)]))
    assert [(row.k, row.tasks) for row in found] == [(1, 3), (2, 3), (3, 2)]
    assert [row.rate for row in found] == pytest.approx([(1 + 2 / 3 + 1 / 2) / 3, (1 + 1 / 3 + 0) / 3, 1 / 2])
    assert all(row.interval and row.interval.low <= (row.rate or 0) <= row.interval.high for row in found)


def test_nothing_scored_has_no_row() -> None:
    assert pass_k_table(study([trial(solved=None)])) == ()
