"""Four hands against their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import (
    FourHandsRow,
    Rate,
    four_hands_table,
    without_parts,
)
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.measures import difference_fields, interval_fields, tests_of
from fourhands.report.views.numbers import UNKNOWN, percent, points, points_interval_of, probability, word

__all__ = ["FIELDS", "four_hands"]

_SHOWN: Final = 3
_RULE: Final = (
    "Every Δ is to the same baseline, over the tasks that are scored in all four arms. Interaction: Δ(four hands) − "
    "[Δ(talks) + Δ(edits)]; below 0, the two together cost more than their sum."
)


def _rate(
    name: str, title: str, of: Callable[[FourHandsRow], Rate], definition: str
) -> tuple[Field[FourHandsRow], ...]:
    rate: Field[FourHandsRow] = field(
        name,
        title,
        lambda row: replace(percent(of(row).rate), more=(of(row).count, of(row).n)),
        definition,
        more=(f"{name}_resolved", f"{name}_trials"),
    )
    return rate, *interval_fields(FourHandsRow, name, title, of, detail=True)


def _tasks(row: FourHandsRow) -> Cell:
    done, lacking = len(row.complete), len(row.incomplete)
    text = f"{done} of {done + lacking}" if lacking else f"{done}"
    return Cell(text, done, (lacking,))


def _complete(row: FourHandsRow) -> Cell:
    return _listed(row.complete, ", ")


def _incomplete(row: FourHandsRow) -> Cell:
    return _listed([f"{task}: {', '.join(arms)}" for task, arms in row.incomplete], "; ")


def _listed(names: Sequence[str], between: str) -> Cell:
    """All of them for machines; for people the first and how many more."""
    if not names:
        return Cell(UNKNOWN)
    shown = between.join(names[:_SHOWN])
    if len(names) > _SHOWN:
        shown += f"{between}… {len(names) - _SHOWN:,} more"
    return Cell(shown, between.join(names))


def _interaction(row: FourHandsRow) -> Cell:
    return points(row.interaction.value if row.interaction else None)


def _p(row: FourHandsRow) -> Cell:
    if row.interaction is None:
        return Cell(UNKNOWN)
    test = row.interaction.test
    return replace(probability(test.p), more=(test.method,))


FIELDS: Final[tuple[Field[FourHandsRow], ...]] = (
    *agent_fields(FourHandsRow),
    field(
        "state",
        "state",
        lambda row: word(row.state),
        "which verdict counts of those who talk: `at will`, when the agent first wanted to end, or that of the `end`",
        numeric=False,
    ),
    field("baseline", "alone", lambda row: word(row.baseline), "the arm of neither", numeric=False),
    field(
        "talked",
        "talks",
        lambda row: word(row.talked),
        "the arm whose user only talks, with the same simulator, persona, disclosure and coverage",
        numeric=False,
        detail=True,
    ),
    field(
        "touched",
        "edits",
        lambda row: word(row.touched),
        "the arm whose user only edits, with the same K, trigger, moment and messages",
        numeric=False,
        detail=True,
    ),
    field(
        "tasks",
        "tasks",
        _tasks,
        "scored in all four arms, of those planned in any; and how many are not",
        more=("incomplete_tasks",),
    ),
    *_rate("rate_alone", "rate alone", lambda row: row.alone, "resolve rate of the baseline"),
    *_rate("rate_both", "rate, four hands", lambda row: row.both, "resolve rate under four hands"),
    *difference_fields(
        FourHandsRow,
        "delta_talked",
        "Δ talks",
        lambda row: row.delta_talked,
        "mean over tasks of (rate where the user talks − the baseline's)",
        suffix="_talked",
    ),
    *difference_fields(
        FourHandsRow,
        "delta_touched",
        "Δ edits",
        lambda row: row.delta_touched,
        "mean over tasks of (rate where the user edits − the baseline's)",
        suffix="_touched",
    ),
    *difference_fields(
        FourHandsRow,
        "delta_both",
        "Δ four hands",
        lambda row: row.delta_both,
        "mean over tasks of (rate under four hands − the baseline's)",
        suffix="_both",
    ),
    field(
        "interaction",
        "interaction",
        _interaction,
        "mean over tasks of Δ four hands − (Δ talks + Δ edits), in percentage points",
    ),
    field(
        "interaction_low",
        "interaction 95 % CI",
        lambda row: points_interval_of(row.interaction.interval if row.interaction else None),
        "95 % interval of it, clustered by task",
        more=("interaction_high",),
    ),
    field(
        "p_interaction",
        "interaction p",
        _p,
        "of no interaction, two-sided: exact sign-flip test over tasks",
        more=("p_interaction_method",),
    ),
    field(
        "complete_tasks", "complete", _complete, "the tasks that all of it is of", numeric=False, detail=True
    ),
    field(
        "lacking",
        "incomplete",
        _incomplete,
        "the others, each with the arms that have no outcome of it that counts",
        numeric=False,
        detail=True,
    ),
)


def four_hands(study: Study) -> TableView | None:
    """What the two hands cost one by one and together; ``None`` without all four arms of an agent."""
    rows = four_hands_table(study)
    said = [_RULE]
    said += tests_of(each for row in rows for each in (row.delta_talked, row.delta_touched, row.delta_both))
    if missing := without_parts(study):
        said.append(f"without both parts of the same parameters, and not here: {'; '.join(missing)}.")
    return table("four-hands", "Four hands against their parts", rows, FIELDS, notes=said)
