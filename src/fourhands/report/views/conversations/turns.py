"""T1: what it comes to that the user says it little by little."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from fourhands.analysis.findings.conversations import ALL, Effort, Ratio, Side, TurnsRow, turns_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.measures import INTERVALS, difference_fields, share_fields, tests_of
from fourhands.report.views.numbers import UNKNOWN, count, dollars, mean, word

__all__ = ["FIELDS", "overall", "turns"]

_RATIOS: Final = (
    "×: mean in conversation / mean told at once, over the tasks that have a trial that counts on each side; "
    "its interval: bootstrap over tasks, none with fewer than six, nor where a mean is not known as a whole."
)
_WILL: Final = (
    "multi, at will: when the agent first wanted to end, with what was told by then; steps, tokens and cost at will: "
    "until then. The others: until the end, the last message with what was left included."
)
_NO_FAMILY: Final = "p is not adjusted here; the table of conditions has Holm's, of the final states."

_EFFORTS: Final[tuple[tuple[str, Callable[[Effort], Ratio | None], Callable[[Side], Cell]], ...]] = (
    ("steps", lambda effort: effort.steps, lambda side: mean(side.steps)),
    (
        "tokens",
        lambda effort: effort.tokens,
        lambda side: count(side.tokens, mark="≥ " if side.uncounted else ""),
    ),
    ("cost", lambda effort: effort.cost, lambda side: dollars(side.cost)),
)


def _times(ratio: Ratio | None) -> Cell:
    return Cell(UNKNOWN) if ratio is None else Cell(f"×{ratio.value:.2f}", ratio.value)


def _times_interval(ratio: Ratio | None) -> Cell:
    if ratio is None or ratio.interval is None:
        return Cell(UNKNOWN)
    low, high = ratio.interval.low, ratio.interval.high
    return Cell(f"{low:.2f}–{high:.2f}", low, (high,))


def _ratio_fields(
    name: str, title: str, of: Callable[[TurnsRow], Ratio | None], definition: str, *, detail: bool = False
) -> tuple[Field[TurnsRow], ...]:
    return (
        field(name, title, lambda row: _times(of(row)), definition, detail=detail),
        field(
            f"{name}_low",
            f"{title} 95 % CI",
            lambda row: _times_interval(of(row)),
            "of that ratio, bootstrap over tasks; none with fewer than six",
            more=(f"{name}_high",),
            detail=True,
        ),
    )


def _effort_fields(
    prefix: str, mark: str, of: Callable[[TurnsRow], Effort], trials: str, *, detail: bool
) -> tuple[Field[TurnsRow], ...]:
    found: list[Field[TurnsRow]] = []
    for name, ratio, cell in _EFFORTS:
        found += [
            field(
                f"{prefix}{name}_single",
                f"{name}{mark}, single → multi",
                _both(of, cell),
                f"mean {name} a trial told at once, and in conversation, {trials}",
                more=(f"{prefix}{name}_multi",),
                detail=detail,
            ),
            *_ratio_fields(
                f"{prefix}{name}_ratio",
                f"{name}{mark}",
                _ratio_of(of, ratio),
                f"mean {name} in conversation / mean {name} told at once, {trials}",
                detail=detail,
            ),
        ]
    return tuple(found)


def _both(of: Callable[[TurnsRow], Effort], cell: Callable[[Side], Cell]) -> Callable[[TurnsRow], Cell]:
    def told(row: TurnsRow) -> Cell:
        single, multi = cell(of(row).single), cell(of(row).multi)
        return Cell(f"{single.text} → {multi.text}", single.value, (multi.value,))

    return told


def _ratio_of(
    of: Callable[[TurnsRow], Effort], ratio: Callable[[Effort], Ratio | None]
) -> Callable[[TurnsRow], Ratio | None]:
    return lambda row: ratio(of(row))


FIELDS: Final[tuple[Field[TurnsRow], ...]] = (
    *agent_fields(TurnsRow),
    field("simulator", "user", lambda row: word(row.simulator), "as in `conversations`", numeric=False),
    field(
        "benchmark",
        "tasks of",
        lambda row: word(row.benchmark),
        "the benchmark; `all`: every task, whatever it is of",
        numeric=False,
    ),
    field(
        "baseline", "told at once", lambda row: word(row.baseline), "the baseline's condition", numeric=False
    ),
    field("tasks", "tasks", lambda row: count(row.tasks), "scored under both"),
    *share_fields(TurnsRow, "rate_single", "single", lambda row: row.single, "resolve rate of the baseline"),
    *share_fields(
        TurnsRow,
        "rate_at_will",
        "multi, at will",
        lambda row: row.at_will,
        "resolve rate when the agent first wanted to end",
    ),
    *share_fields(TurnsRow, "rate_multi", "multi, end", lambda row: row.multi, "resolve rate in the end"),
    *difference_fields(
        TurnsRow,
        "delta_at_will",
        "Δ at will",
        lambda row: row.delta_at_will,
        "mean over tasks of (rate at will − rate told at once)",
        suffix="_at_will",
    ),
    *difference_fields(
        TurnsRow,
        "delta",
        "Δ end",
        lambda row: row.delta,
        "mean over tasks of (rate in the end − rate told at once)",
    ),
    *_ratio_fields(
        "rate_ratio_at_will",
        "ratio at will",
        lambda row: row.ratio_at_will,
        "of the rate at will to the baseline's",
    ),
    *_effort_fields(
        "at_will_",
        " at will",
        lambda row: row.scored_at_will,
        "until the agent first wanted to end, over scored trials",
        detail=False,
    ),
    *_ratio_fields("rate_ratio", "ratio", lambda row: row.ratio, "of the rate in the end to the baseline's"),
    *_effort_fields("", "", lambda row: row.scored, "until the end, over scored trials", detail=True),
    field(
        "completed_single",
        "completed",
        lambda row: Cell(
            f"{row.completed.single.trials} → {row.completed.multi.trials}",
            row.completed.single.trials,
            (row.completed.multi.trials,),
        ),
        "scored trials whose agent came to an end of its own: told at once, and in conversation; of the tasks that "
        "have one on each side",
        more=("completed_multi",),
        detail=True,
    ),
    field(
        "completed_tasks",
        "tasks (compl.)",
        lambda row: count(row.completed.tasks),
        "that have such a trial told at once, and one in conversation",
        detail=True,
    ),
    *_effort_fields(
        "completed_",
        " (compl.)",
        lambda row: row.completed,
        "until the agent first wanted to end, over these completed trials, as the paper",
        detail=True,
    ),
)


def turns(study: Study) -> TableView | None:
    """Each kind of conversation beside its baseline: of all tasks, then of each benchmark where there are several."""
    rows = turns_table(study)
    differences = [each for row in rows for each in (row.delta_at_will, row.delta)]
    said = [INTERVALS, _WILL, *tests_of(differences), _NO_FAMILY, _RATIOS]
    if any(side.uncounted for row in rows for side in (row.scored.single, row.scored.multi)):
        said.append("≥: the provider did not tell the tokens of every reply; what it told is a lower bound.")
    return table("single-multi", "From told at once to told in conversation", rows, FIELDS, notes=said)


def overall(view: TableView) -> TableView:
    """The rows of all tasks alone."""
    at = [column.name for column in view.columns].index("benchmark")
    return replace(view, rows=tuple(cells for cells in view.rows if cells[at].value == ALL))
