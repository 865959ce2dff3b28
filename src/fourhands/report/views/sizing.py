"""How large a run must be, as tables: estimated from runs, or from rates that are assumed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from fourhands.analysis.sizing import Needed, Sizing
from fourhands.analysis.words import listed
from fourhands.analysis.words import points as points_told
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, count, mean, percent, points

__all__ = ["assumed_sizes", "sizes"]

_ROUGH = 30
"""With fewer tasks than that, a reader is told how rough the estimate is."""
_ONE_TEST = (
    "of one comparison by itself, two-sided at 5 %: where several are tested together, each is harder to show"
)


def sizes(rows: Sequence[Sizing], delta: float, repeats: Sequence[int], *, chance: float) -> TableView | None:
    """A row for each agent and condition; ``delta`` is what is to be shown, a fraction, with the ``chance``."""
    needs = [_needed_field(number) for number in repeats]
    return table(
        "power",
        "Power, and tasks needed",
        rows,
        (
            *agent_fields(Sizing),
            field("pairs", "tasks", lambda row: count(row.tasks), "tasks scored under both conditions"),
            field("repeats", "repeats", _repeats, "scored repeats of a task and condition, in the mean"),
            field("delta", "Δ seen", lambda row: points(row.delta), "the run's own Δ, in percentage points"),
            field(
                "power",
                "power",
                lambda row: percent(row.power),
                "the chance that so many tasks and repeats had to show the difference asked for",
            ),
            *needs,
        ),
        notes=(f"To show Δ = {points_told(delta)} points with a chance of {chance:.0%}.", *_notes(rows)),
    )


def assumed_sizes(rows: Sequence[Needed], delta: float, *, rate: float, chance: float) -> TableView | None:
    """A row for each number of repeats."""
    what = f"{rate:.0%} → {rate + delta:.0%} (Δ = {points_told(delta)} points)"
    return table(
        "power",
        "Tasks needed",
        rows,
        (
            field("repeats", "repeats", lambda row: count(row.repeats), "of each task and condition"),
            field("tasks", "tasks", lambda row: count(row.tasks), "needed, each under both conditions"),
            field("trials", "trials", lambda row: count(row.trials), "under both conditions together"),
        ),
        notes=(f"To show {what} with a chance of {chance:.0%}.", f"That is {_ONE_TEST}."),
        group=0,
    )


def _repeats(row: Sizing) -> Cell:
    is_whole = row.repeats is not None and abs(row.repeats - round(row.repeats)) < 1e-9  # noqa: PLR2004
    return mean(row.repeats, 0 if is_whole else 1)


def _needed_field(repeats: int) -> Field[Sizing]:
    times = f"{repeats} repeat{'s' if repeats > 1 else ''}"
    return field(
        f"tasks_at_{repeats}",
        f"tasks ×{repeats}",
        _tasks_at(repeats),
        f"tasks needed with {times} of each under each condition; ≤: at most so many",
    )


def _tasks_at(repeats: int) -> Callable[[Sizing], Cell]:
    def cell(row: Sizing) -> Cell:
        found = next((each for each in row.needed if each.repeats == repeats), None)
        return Cell(UNKNOWN) if found is None else count(found.tasks, mark="≤ " if found.is_most else "")

    return cell


def _notes(rows: Sequence[Sizing]) -> Iterator[str]:
    if any(row.variance for row in rows):
        yield f"Power is {_ONE_TEST}. The tasks needed are told from how much outcomes varied in the run."
    for lacks, names in _grouped(rows, lambda row: row.lacks).items():
        yield f"{names}: too small to tell: {lacks}."
    if any(row.variance and not row.variance.separated for row in rows):
        yield (
            "With one repeat of each task, how much tasks differ cannot be told from chance: what more repeats would "
            "spare is not known, so ≤ stands for at most so many tasks. Run some tasks again with --repeats 3."
        )
    for told, names in _grouped(rows, _roughness).items():
        yield f"{names}: {told}."


def _roughness(row: Sizing) -> str:
    if row.factors is None or row.tasks >= _ROUGH:
        return ""
    low, high = row.factors
    return (
        f"{row.tasks} tasks tell a variance roughly: the tasks needed may be {low:.2g} to {high:.2g} times what is "
        "told here"
    )


def _grouped(rows: Sequence[Sizing], told: Callable[[Sizing], str]) -> dict[str, str]:
    """What is to be said -> of whom, as a list of names; of most rows it is nothing."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if text := told(row):
            found[text].append(f"{row.agent} · {row.model} · {row.condition}")
    return {text: listed(names) for text, names in found.items()}
