from __future__ import annotations

import pytest
from statsmodels.stats.contingency_tables import mcnemar

from fourhands.analysis.findings.transitions import transition_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_tasks_change_sides_by_majority_and_ties_are_unsolved() -> None:
    sides = {
        "kept": ("+++", "++-"),
        "lost": ("++-", "+--"),
        "tied": ("++-", "+-"),
        "gained": ("--+", "+++"),
        "unsolved": ("---", "---"),
    }
    rows = [
        trial(task, label, solved=mark == "+", repeat=repeat)
        for task, both in sides.items()
        for label, marks in zip(("vanilla", "counter-edit"), both, strict=True)
        for repeat, mark in enumerate(marks, 1)
    ]
    rows += [trial("broken"), trial("broken", "counter-edit", solved=None)]
    (row,) = transition_table(study(rows))
    assert (row.solved_kept, row.solved_to_unresolved) == (1, 2)
    assert (row.unresolved_to_solved, row.unresolved_kept) == (1, 1)
    assert (row.tasks, row.ties, row.incomplete_pairs, row.few_repeats) == (5, 1, 1, True)
    assert row.p == pytest.approx(mcnemar([[1, 2], [1, 1]], exact=True).pvalue)


def test_three_scored_repeats_of_every_task_are_not_marked() -> None:
    rows = [trial("a", label, repeat=r) for label in ("vanilla", "co-edit") for r in (1, 2, 3)]
    (row,) = transition_table(study(rows))
    assert not row.few_repeats


def test_without_a_pair_there_is_no_transition() -> None:
    rows = [trial("a", solved=None), trial("a", "counter-edit"), trial("a", "counter-edit", model="n")]
    assert transition_table(study(rows)) == ()
