"""How the conversations went."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import Many, TalkRow, talk_table
from fourhands.analysis.study import Study
from fourhands.report.table import TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import informed, simulator_field
from fourhands.report.views.conversations.measures import share_fields
from fourhands.report.views.numbers import count, interval_of, mean, percent

__all__ = ["FIELDS", "talk"]


def _many(name: str, title: str, of: Callable[[TalkRow], Many], definition: str) -> Field[TalkRow]:
    return field(
        name,
        title,
        lambda row: replace(mean(of(row).mean), more=(of(row).median, of(row).most)),
        definition,
        more=(f"{name}_median", f"{name}_most"),
    )


FIELDS: Final[tuple[Field[TalkRow], ...]] = (
    *agent_fields(TalkRow),
    simulator_field(TalkRow),
    field("scored", "n", lambda row: count(row.scored), "scored trials"),
    field(
        "told_at_will",
        "told at will",
        lambda row: percent(row.told_at_will),
        "mean share of the requirements that were said when the agent first wanted to end",
    ),
    field(
        "told",
        "told",
        lambda row: percent(row.told),
        "mean share of the requirements that were said in the end",
    ),
    _many("said", "messages", lambda row: row.said, "of the user, mean a trial; median and most"),
    _many(
        "said_at_will",
        "messages at will",
        lambda row: row.said_at_will,
        "of the user before the agent first wanted to end, mean a trial; median and most",
    ),
    field("questions", "asked", lambda row: mean(row.questions), "questions of the agent, mean a trial"),
    field(
        "corrections",
        "corr.",
        lambda row: mean(row.corrections),
        "messages that say that something told before is not met, mean a trial",
    ),
    _many("looks", "looks", lambda row: row.looks, "of the user's own choice, mean a trial; median and most"),
    _many(
        "looks_at_will",
        "looks at will",
        lambda row: row.looks_at_will,
        "those before the agent first wanted to end, mean a trial; median and most",
    ),
    field(
        "blocked",
        "blocked",
        lambda row: mean(row.blocked),
        "wordings refused before they went out, mean a trial",
    ),
    *share_fields(
        TalkRow,
        "early",
        "early",
        lambda row: row.early,
        "trials that wanted to end, or were cut, with something untold, of the scored",
        detail=True,
    ),
    *share_fields(
        TalkRow,
        "premature",
        "after ≤ 1 corr.",
        lambda row: row.premature,
        "trials to which that happened after one correction or none, of the scored",
        detail=True,
    ),
    field(
        "plan_score",
        "plan",
        lambda row: mean(row.plan_score),
        "0 to 100, of the last plan before the agent's first changed line, by its words; mean",
    ),
    field(
        "final_score",
        "final",
        lambda row: mean(row.final_score),
        "0 to 100, weighted share of the goals that hold in the last state; mean",
    ),
    field(
        "churn_overhead",
        "churn",
        lambda row: replace(percent(row.churn.median), more=(row.undefined,)),
        "median of (Σ lines of revisions − final lines) / final lines; and trials that leave nothing, and have none",
        more=("churn_undefined",),
    ),
    field(
        "churn_overhead_low",
        "churn 95 % CI",
        lambda row: interval_of(row.churn.interval),
        "of the median, bootstrap over tasks; none with fewer than six",
        more=("churn_overhead_high",),
        detail=True,
    ),
    field(
        "late_change_share",
        "late",
        lambda row: percent(row.late.median),
        "median share of the changed lines that came after the first revision",
    ),
    field(
        "late_change_share_low",
        "late 95 % CI",
        lambda row: interval_of(row.late.interval),
        "of the median, bootstrap over tasks; none with fewer than six",
        more=("late_change_share_high",),
        detail=True,
    ),
)


def talk(study: Study) -> TableView | None:
    """How the conversations went."""
    rows = talk_table(study)
    said = [
        "early: wanted to end, or were cut, with something untold; after ≤ 1 corr.: after one correction or none.",
        "churn, late: medians; lines of the user's edits count among them where they touch the code.",
    ]
    return table("talk", "How the conversations went", rows, FIELDS, notes=[*said, *informed(rows)])
