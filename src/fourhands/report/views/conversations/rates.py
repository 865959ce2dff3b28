"""Resolved at will and with full coverage, and what was left untold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import ConversationRow, conversation_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import informed, simulator_field
from fourhands.report.views.conversations.measures import INTERVALS, interval_fields, rate_fields
from fourhands.report.views.numbers import UNKNOWN, count, percent

__all__ = ["FIELDS", "conversations"]


def _names(found: Sequence[tuple[str, Sequence[str]]]) -> Cell:
    text = "; ".join(f"{trial}: {', '.join(ids)}" for trial, ids in found)
    return Cell(text or UNKNOWN, text or None)


FIELDS: Final[tuple[Field[ConversationRow], ...]] = (
    *agent_fields(ConversationRow),
    simulator_field(ConversationRow),
    field(
        "scored",
        "n",
        lambda row: Cell(
            f"{row.scored}" if row.scored == row.trials else f"{row.scored} of {row.trials}",
            row.scored,
            (row.trials,),
        ),
        "trials that are scored, of those planned",
        more=("trials",),
    ),
    *rate_fields(
        ConversationRow,
        "at_will",
        "at will",
        lambda row: row.at_will,
        "resolved in the state in which the agent first wanted to end, or was cut before it did",
    ),
    *rate_fields(
        ConversationRow,
        "full",
        "full coverage",
        lambda row: row.full,
        "resolved in the end, of the trials in which everything was told by then",
    ),
    field(
        "cut",
        "untold",
        lambda row: count(row.cut),
        "scored trials that ended before everything was told: none of these has full coverage",
    ),
    field(
        "lenient",
        "lenient",
        lambda row: replace(percent(row.lenient.rate), more=(row.lenient.count,)),
        "resolved in the end, of all scored trials, whatever became of the working agreement",
        more=("lenient_resolved",),
    ),
    field(
        "strict",
        "strict",
        lambda row: replace(percent(row.strict.rate), more=(row.strict.count,)),
        "the same, a protocol failure counted as unresolved",
        more=("strict_resolved",),
    ),
    *interval_fields(ConversationRow, "lenient", "lenient", lambda row: row.lenient, detail=True),
    *interval_fields(ConversationRow, "strict", "strict", lambda row: row.strict, detail=True),
    field(
        "at_will_strict",
        "at will, strict",
        lambda row: replace(percent(row.at_will_strict.rate), more=(row.at_will_strict.count,)),
        "resolved at will, a protocol failure counted as unresolved",
        more=("at_will_strict_resolved",),
        detail=True,
    ),
    *interval_fields(
        ConversationRow, "at_will_strict", "at will, strict", lambda row: row.at_will_strict, detail=True
    ),
    field(
        "slipped", "slips", lambda row: count(row.slipped), "scored trials that broke the working agreement"
    ),
    field(
        "held_at_will",
        "untold at will",
        lambda row: _names(row.held_at_will),
        "requirements that the user had not said when the agent first wanted to end, by trial",
        numeric=False,
        detail=True,
    ),
    field(
        "held",
        "never told",
        lambda row: _names(row.held),
        "requirements that the user never said, by trial",
        numeric=False,
        detail=True,
    ),
)


def conversations(study: Study) -> TableView | None:
    """Each agent and model in each kind of conversation: its rates."""
    rows = conversation_table(study)
    said = [INTERVALS]
    if any(row.cut for row in rows):
        said.append("untold: trials that ended before everything was told; full coverage is of the others.")
    return table("conversations", "Conversations", rows, FIELDS, notes=[*said, *informed(rows)])
