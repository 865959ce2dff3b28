"""T10: which tasks change sides, by majority vote."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.transitions import TransitionRow, transition_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import count, probability

__all__ = ["FIELDS", "transitions"]

FIELDS: Final[tuple[Field[TransitionRow], ...]] = (
    *agent_fields(TransitionRow),
    field(
        "tasks",
        "tasks",
        lambda row: Cell(
            f"{row.tasks:,}{'†' * row.few_repeats}{'*' * bool(row.incomplete_pairs)}",
            row.tasks,
            (row.incomplete_pairs,),
        ),
        "tasks that are scored under both",
        more=("incomplete_pairs",),
    ),
    field(
        "solved_kept",
        "solved, kept",
        lambda row: count(row.solved_kept),
        "majority-solved under vanilla and under the condition",
    ),
    field(
        "solved_to_unresolved",
        "lost",
        lambda row: count(row.solved_to_unresolved),
        "majority-solved under vanilla only",
    ),
    field(
        "unresolved_to_solved",
        "gained",
        lambda row: count(row.unresolved_to_solved),
        "majority-solved under the condition only",
    ),
    field("unresolved_kept", "never", lambda row: count(row.unresolved_kept), "under neither"),
    field("ties", "ties", lambda row: count(row.ties), "tasks with a tie on a side, which is unsolved there"),
    field("p", "p", lambda row: probability(row.p), "McNemar's, exact, of the tasks that change sides"),
)


def transitions(study: Study) -> TableView | None:
    """Each agent and model, vanilla × each condition."""
    rows = transition_table(study)
    said = ["Solved: more than half of a task's scored repeats. p: McNemar's exact test."]
    if any(row.few_repeats for row in rows):
        said.append(notes.FEW_REPEATS)
    if any(row.incomplete_pairs for row in rows):
        said.append("*: tasks without an outcome that counts on one side are left out.")
    return table("transitions", "Tasks that change sides, by majority vote", rows, FIELDS, notes=said)
