"""Why conversations failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fourhands.analysis.findings.conversations import LabelCount, LabelRow, label_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import informed, simulator_field
from fourhands.report.views.conversations.notes import RULES
from fourhands.report.views.numbers import count

__all__ = ["FIELDS", "labels"]


def _label(name: str, title: str, of: Callable[[LabelRow], LabelCount], definition: str) -> Field[LabelRow]:
    def told(row: LabelRow) -> Cell:
        found = of(row)
        text = (
            f"{found.trials}"
            if found.trials == found.requirements
            else f"{found.trials} ({found.requirements})"
        )
        return Cell(text, found.trials, (found.requirements,))

    return field(name, title, told, definition, more=(f"{name}_requirements",))


FIELDS: Final[tuple[Field[LabelRow], ...]] = (
    *agent_fields(LabelRow),
    simulator_field(LabelRow),
    field(
        "failed", "failed", lambda row: count(row.failed), "unresolved in the end, without protocol failures"
    ),
    _label(
        "missing", "missing", lambda row: row.missing, "of them, with a requirement never said and not met"
    ),
    _label(
        "forgotten",
        "forgotten",
        lambda row: row.forgotten,
        "with one said, never met, and never taken up in the agent's words or lines",
    ),
    _label(
        "regressed",
        "regression",
        lambda row: row.regressed,
        "with one met at a checkpoint and not in the end",
    ),
    _label(
        "misread",
        "misread",
        lambda row: row.misread,
        "with one said, never met, and said otherwise in the agent's last words about it",
    ),
    _label("buggy", "bug", lambda row: row.buggy, "with one said and taken up, and wrong in the code"),
    _label(
        "undecided",
        "undecided",
        lambda row: row.undecided,
        "with one of which neither execution nor events tell why, be there labels or not",
    ),
    field(
        "unexplained",
        "unlabelled",
        lambda row: count(row.unexplained),
        "with no label at all",
    ),
    field(
        "covered",
        "told all",
        lambda row: count(row.covered),
        "failed trials in which everything was told: with full coverage",
    ),
    field(
        "missing_covered",
        "missing of these",
        lambda row: count(row.missing_covered),
        "missing requirements in them: none by construction",
    ),
    field(
        "at_will_failed",
        "failed at will",
        lambda row: count(row.at_will_failed),
        "unresolved when the agent first wanted to end, without protocol failures",
    ),
    _label(
        "missing_at_will",
        "missing at will",
        lambda row: row.missing_at_will,
        "of them, with a requirement not said by then and not met",
    ),
)


def labels(study: Study) -> TableView | None:
    """Why conversations failed."""
    rows = label_table(study)
    said = [RULES, "Of trials; in brackets the requirements, where they are more. A trial may have several."]
    return table("labels", "Why conversations failed", rows, FIELDS, notes=[*said, *informed(rows)])
