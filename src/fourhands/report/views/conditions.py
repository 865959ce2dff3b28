"""T5 and every sweep: resolved, and how much less than when left alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conditions import ConditionRow, condition_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views import notes
from fourhands.report.views.build import Field, agent_fields, field, table, unless_vanilla
from fourhands.report.views.deltas import delta_fields, delta_notes
from fourhands.report.views.numbers import UNKNOWN, count, dollars, interval_of, mean, percent, probability

__all__ = ["FIELDS", "conditions"]


def _scored(row: ConditionRow) -> Cell:
    text = f"{row.scored}" if row.scored == row.trials else f"{row.scored} of {row.trials}"
    return Cell(text, row.scored, (row.trials, row.not_applicable))


def _resolved(row: ConditionRow) -> Cell:
    text = UNKNOWN if row.rate is None else f"{row.resolved} = {row.rate:.0%}"
    return Cell(text, row.rate, (row.resolved,))


def _p_holm(row: ConditionRow) -> Cell:
    return replace(probability(row.p_holm), more=(row.family,))


def _tokens(mean_tokens: float | None, row: ConditionRow) -> Cell:
    return count(mean_tokens, mark="≥ " if row.uncounted_replies else "")


FIELDS: Final[tuple[Field[ConditionRow], ...]] = (
    *agent_fields(ConditionRow),
    field(
        "scored",
        "n",
        _scored,
        "trials that are scored, of those planned",
        more=("trials", "not_applicable"),
    ),
    field("resolve_rate", "resolved", _resolved, "of the scored trials", more=("resolved",)),
    field(
        "resolve_rate_low",
        "95 % CI",
        lambda row: interval_of(row.wilson),
        "Wilson's interval of it, trials as independent, as the papers do",
        more=("resolve_rate_high",),
    ),
    field(
        "clustered_low",
        "by task",
        lambda row: interval_of(row.clustered),
        "95 % interval of the mean over tasks of each task's rate",
        more=("clustered_high",),
    ),
    field(
        "resolve_rate_strict",
        "strict",
        lambda row: percent(row.strict_rate),
        "resolved, a protocol failure counted as unresolved whatever its verdict",
    ),
    *delta_fields(ConditionRow),
    field(
        "p_holm",
        "p (Holm)",
        unless_vanilla(_p_holm),
        "p, adjusted for all conditions of this agent and model against its vanilla",
        more=("family",),
    ),
    field("steps", "steps", lambda row: mean(row.steps), "mean over scored trials, of the agent's own"),
    field(
        "tokens",
        "tokens",
        lambda row: _tokens(row.tokens, row),
        "mean over scored trials, input and output, of the agent's own",
    ),
    field(
        "completed_steps",
        "steps (compl.)",
        lambda row: mean(row.completed_steps),
        "mean over the scored trials whose agent came to an end of its own, as in the paper",
    ),
    field(
        "completed_tokens",
        "tokens (compl.)",
        lambda row: _tokens(row.completed_tokens, row),
        "mean over the same trials",
    ),
    field(
        "cost",
        "cost",
        lambda row: dollars(row.cost),
        "mean over scored trials in US dollars, by the price table",
        more=("cost_at_least",),
    ),
    field(
        "cost_total",
        "cost in all",
        lambda row: dollars(row.cost_total),
        "of all trials, scored or not",
        more=("cost_total_at_least",),
    ),
)


def conditions(study: Study) -> TableView | None:
    """Each agent and model under each condition, vanilla first."""
    rows = condition_table(study)
    said = delta_notes(rows)
    if any(row.family > 1 for row in rows):
        said.append(notes.HOLM)
    if any(row.uncounted_replies for row in rows):
        said.append(notes.UNCOUNTED)
    return table("conditions", "Resolved, and the difference to being left alone", rows, FIELDS, notes=said)
