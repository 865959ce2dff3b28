"""Goals reached in the end against the verifier's verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.goals import NEAR_PERFECT, GoalsRow, Quadrants, goals_table
from fourhands.analysis.study import Study
from fourhands.report.table import TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import simulator_field
from fourhands.report.views.conversations.measures import INTERVALS, interval_fields
from fourhands.report.views.conversations.scored import score_field, scored_notes, source_field
from fourhands.report.views.numbers import count, mean, percent

__all__ = ["FIELDS", "goals"]

_FROM: Final = f"{NEAR_PERFECT:.0f}"


def _quadrant(name: str, title: str, of: Callable[[Quadrants], int], words: str) -> Field[GoalsRow]:
    return field(name, title, lambda row: count(of(row.quadrants)), f"trials {words}")


FIELDS: Final[tuple[Field[GoalsRow], ...]] = (
    *agent_fields(GoalsRow),
    simulator_field(GoalsRow),
    source_field(GoalsRow),
    field("trials", "n", lambda row: count(row.trials), "scored trials with a final score"),
    score_field(
        "final_score",
        "score",
        lambda row: row.score,
        "0 to 100, of the goals in the last state; mean, 95 % interval by task, and trials",
    ),
    field(
        "reward", "reward", lambda row: mean(row.reward, 2), "0 to 1, the verifier's; mean of the same trials"
    ),
    field(
        "resolve_rate",
        "resolved",
        lambda row: replace(percent(row.resolved.rate), more=(row.resolved.count,)),
        "share of the same trials",
        more=("resolved",),
    ),
    *interval_fields(GoalsRow, "resolve_rate", "resolved", lambda row: row.resolved),
    field(
        "correlation",
        "rank corr.",
        lambda row: replace(mean(row.correlation, 2), more=_ends(row)),
        "Spearman's, of score and reward over trials; with its 95 % interval, clustered by task, from eight tasks on",
        more=("correlation_low", "correlation_high"),
    ),
    _quadrant(
        "resolved_reached",
        f"resolved, ≥ {_FROM}",
        lambda found: found.resolved_reached,
        f"that are resolved, with a score of {_FROM} or more",
    ),
    _quadrant(
        "resolved_short",
        f"resolved, < {_FROM}",
        lambda found: found.resolved_short,
        "that are resolved, with less: goals that the verifier does not ask for, or a score that is too low",
    ),
    _quadrant(
        "unresolved_reached",
        f"unresolved, ≥ {_FROM}",
        lambda found: found.unresolved_reached,
        "that reach the goals by this score and fail all the same",
    ),
    _quadrant(
        "unresolved_short",
        f"unresolved, < {_FROM}",
        lambda found: found.unresolved_short,
        "that do neither",
    ),
)


def _ends(row: GoalsRow) -> tuple[float, ...]:
    found = row.correlation_interval
    return (found.low, found.high) if found else ()


def goals(study: Study) -> TableView | None:
    """Each agent and model in each kind of conversation, by each source of scores."""
    rows = goals_table(study)
    said = [INTERVALS]
    if informed := sum(row.verifier_informed for row in rows):
        said.append(
            f"{informed} verifier-informed trials are left out: hidden tests made their scores, which would agree "
            "with the verifier by construction."
        )
    return table(
        "goals-verifier",
        "Goals reached against the verifier",
        rows,
        FIELDS,
        notes=[*said, *scored_notes(rows)],
    )
