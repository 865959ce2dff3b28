"""Each persona of the user against the neutral one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import (
    PersonaRow,
    PersonaTalk,
    Rate,
    persona_table,
    without_neutral,
)
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.measures import difference_fields, interval_fields, tests_of, versus
from fourhands.report.views.numbers import count, mean, percent, probability, word

__all__ = ["FIELDS", "personas"]

_HOLM: Final = (
    "p (Holm): the family is all personas of one agent, model, user and condition against its neutral one; at will "
    "and in the end are two families."
)


def _versus(name: str, title: str, cell: Callable[[PersonaTalk], Cell], definition: str) -> Field[PersonaRow]:
    return field(
        name,
        title,
        lambda row: versus(cell(row.one), cell(row.neutral)),
        f"{definition}; and with the neutral persona",
        more=(f"{name}_neutral",),
    )


def _rates(
    name: str, title: str, of: Callable[[PersonaTalk], Rate], definition: str
) -> tuple[Field[PersonaRow], ...]:
    """A rate with both personas, the trials behind each, and both intervals of each."""

    def told(row: PersonaRow) -> Cell:
        one, neutral = of(row.one), of(row.neutral)
        shown = versus(percent(one.rate), percent(neutral.rate))
        return replace(shown, more=(*shown.more, one.count, one.n, neutral.count, neutral.n))

    sides = ("count", "trials", "neutral_count", "neutral_trials")
    return (
        field(
            name,
            title,
            told,
            f"{definition}; and with the neutral persona; and how many of how many trials with each",
            more=(f"{name}_neutral", *(f"{name}_{side}" for side in sides)),
        ),
        *interval_fields(PersonaRow, name, title, lambda row: of(row.one), detail=True),
        *interval_fields(
            PersonaRow, f"{name}_neutral", f"{title}, neutral", lambda row: of(row.neutral), detail=True
        ),
    )


def _holm(suffix: str, title: str, of: Callable[[PersonaRow], float | None], when: str) -> Field[PersonaRow]:
    return field(
        f"p_holm{suffix}",
        title,
        lambda row: replace(probability(of(row)), more=(row.family,)),
        f"that p, adjusted for all personas of this agent, model, user and condition {when}",
        more=(f"family{suffix}",),
    )


FIELDS: Final[tuple[Field[PersonaRow], ...]] = (
    *agent_fields(PersonaRow),
    field("simulator", "user", lambda row: word(row.simulator), "as in `conversations`", numeric=False),
    field(
        "persona",
        "persona",
        lambda row: word(row.persona),
        "how the user speaks; the condition's other parameters are the same for the neutral one",
        numeric=False,
    ),
    field("tasks", "tasks", lambda row: count(row.tasks), "scored with both personas"),
    *_rates("at_will", "at will", lambda talk: talk.at_will, "resolve rate at will"),
    *difference_fields(
        PersonaRow,
        "delta_at_will",
        "Δ at will",
        lambda row: row.delta_at_will,
        "mean over tasks of (rate at will − that with the neutral persona)",
        suffix="_at_will",
    ),
    _holm("_at_will", "at will p (Holm)", lambda row: row.p_holm_at_will, "at will"),
    *_rates("end", "end", lambda talk: talk.end, "resolve rate in the end"),
    *difference_fields(
        PersonaRow,
        "delta",
        "Δ end",
        lambda row: row.delta,
        "mean over tasks of (rate in the end − that with the neutral persona)",
    ),
    _holm("", "end p (Holm)", lambda row: row.p_holm, "in the end"),
    _versus("said", "messages", lambda talk: mean(talk.said), "of the user, mean a trial"),
    _versus(
        "told_at_will",
        "told at will",
        lambda talk: percent(talk.told_at_will),
        "mean share of the requirements that were said when the agent first wanted to end",
    ),
    _versus("corrections", "corr.", lambda talk: mean(talk.corrections), "corrections, mean a trial"),
    *_rates(
        "premature",
        "premature",
        lambda talk: talk.premature,
        "trials that wanted to end, or were cut, with something untold after one correction or none, of the scored",
    ),
)


def personas(study: Study) -> TableView | None:
    """Personas whose neutral counterpart was run too; ``None`` where none was."""
    rows = persona_table(study)
    said = [
        "Δ: the persona's rate less the neutral one's; a vs b: with the persona, and with the neutral one."
    ]
    said += [*tests_of(each for row in rows for each in (row.delta_at_will, row.delta)), _HOLM]
    if missing := without_neutral(study):
        said.append(f"without a neutral counterpart, and not here: {'; '.join(missing)}.")
    return table("personas", "Personas against the neutral one", rows, FIELDS, notes=said)
