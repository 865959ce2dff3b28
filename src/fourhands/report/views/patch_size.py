"""T2: how large the edits are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fourhands.analysis.findings.patch_size import PatchSizeRow, patch_size_table
from fourhands.analysis.study import Study
from fourhands.report.table import TableView
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import count, mean, word

__all__ = ["FIELDS", "patch_sizes"]

FIELDS: Final[tuple[Field[PatchSizeRow], ...]] = (
    field("benchmark", "benchmark", lambda row: word(row.benchmark), "that the tasks are of", numeric=False),
    field(
        "patch",
        "patch",
        lambda row: word(row.of),
        "the reference repair, or a condition's edits",
        numeric=False,
    ),
    field("tasks", "tasks", lambda row: count(row.tasks), "that have such a patch"),
    field("lines", "lines", lambda row: mean(row.lines, 2), "added and removed, mean over tasks"),
    field("files", "files", lambda row: mean(row.files, 2), "that the patch changes, mean over tasks"),
)


def patch_sizes(study: Study) -> TableView | None:
    """On each benchmark the reference, and each condition's edits."""
    rows: Sequence[PatchSizeRow] = patch_size_table(study)
    said = [
        "An edit that all interventions of a task repeat counts once; else the lines of all are added up."
    ]
    return table("patch-size", "Size of the edits", rows, FIELDS, notes=said, group=1)
