"""Which trials of a task are worth putting side by side, as links: found from the table of trials alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote

from fourhands.analysis.study import Study
from fourhands.model.condition import ConditionName

__all__ = ["Exhibit", "ExhibitLink", "ExhibitShelf", "exhibits"]

_MOST_BESIDE: Final = 3
_MOST_PAIRS: Final = 4
"""Pairs of models whose plans are offered, of one task under one condition."""
_NEUTRAL: Final = "neutral"
_ALIKE: Final = ("agent", "model", "condition_name", "simulator", "disclosure", "coverage")
"""Columns that are the same in talks which differ in who talks."""

_Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ExhibitLink:
    """Of which trials, and at which ``address`` of the page, behind ``#``, they are side by side."""

    of: str
    address: str


@dataclass(frozen=True, slots=True)
class ExhibitShelf:
    """``what`` is put side by side, of each of some trials."""

    what: str
    links: tuple[ExhibitLink, ...]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """All of one task."""

    task: str
    shelves: tuple[ExhibitShelf, ...]


_COLUMNS: Final = (
    "run", "trial", "task", "agent", "model", "condition", "condition_name", "simulator", "persona", "disclosure",
    "coverage", "repeat", "attempt",
)  # fmt: skip


def exhibits(study: Study, sessions: int = 0) -> tuple[Exhibit, ...]:
    """By task, in the order of the study; only what has two sides.

    Args:
        study: what is reported.
        sessions: how many real sessions stand in the page.
    """
    ours = {run.run for run in study.runs if run.kind == "run"}
    rows = [
        row
        for row in study.tables.trials.select(_COLUMNS).iter_rows(named=True)
        if row["attempt"] and row["run"] in ours
    ]
    several = len(set(study.tables.trials["run"])) > 1
    by_task: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        by_task[row["task"]].append(row)
    found = (Exhibit(task, _shelves(some, several, sessions)) for task, some in by_task.items())
    return tuple(each for each in found if each.shelves)


def _shelves(rows: Sequence[_Row], several: bool, sessions: int) -> tuple[ExhibitShelf, ...]:
    first = _first_repeats(rows)
    links: dict[str, list[ExhibitLink]] = defaultdict(list)
    for what, link in (
        *_talks(first, several, sessions),
        *_conditions(first, several),
        *_plans(first, several),
    ):
        links[what].append(link)
    return tuple(ExhibitShelf(what, tuple(some)) for what, some in links.items())


def _first_repeats(rows: Sequence[_Row]) -> list[_Row]:
    """One trial of each agent, model and condition."""
    found: dict[tuple[str, ...], _Row] = {}
    for row in sorted(rows, key=lambda row: row["repeat"]):
        found.setdefault((row["agent"], row["model"], row["condition"]), row)
    return list(found.values())


def _talks(rows: Sequence[_Row], several: bool, sessions: int) -> Iterator[tuple[str, ExhibitLink]]:
    """One model's talks with several personas, the neutral one last; and a real session before them."""
    groups: dict[tuple[str, ...], list[_Row]] = defaultdict(list)
    for row in rows:
        if row["persona"] is not None:
            groups[tuple(str(row[name]) for name in _ALIKE)].append(row)
    reals = [f"session:{number}" for number in range(1, sessions + 1)][:1]
    for some in groups.values():
        ordered = sorted(some, key=lambda row: row["persona"] == _NEUTRAL)
        shown = _ends(ordered, _MOST_BESIDE - len(reals))
        if len(shown) + len(reals) > 1:
            sides = ["a real session"] * len(reals) + [row["persona"] for row in shown]
            names = [*reals, *(_name(row, several) for row in shown)]
            row = shown[0]
            of = f"{row['agent']} · {row['model']} · {row['condition_name']}"
            yield f"The talk, {_versus(sides)}", ExhibitLink(of, f"talk={','.join(names)}")


def _conditions(rows: Sequence[_Row], several: bool) -> Iterator[tuple[str, ExhibitLink]]:
    """One model alone, in a conversation, and with four hands."""
    order = (ConditionName.SINGLE_TURN, ConditionName.INTERACTIVE, ConditionName.FOUR_HANDS)
    groups: dict[tuple[str, ...], dict[str, _Row]] = defaultdict(dict)
    for row in rows:
        if row["condition_name"] in order:
            groups[row["agent"], row["model"]].setdefault(row["condition_name"], row)
    for (agent, model), by_name in groups.items():
        shown = [by_name[name] for name in order if name in by_name]
        if len(shown) > 1:
            address = ",".join(_name(row, several) for row in shown)
            what = f"The whole story, {_versus([row['condition'] for row in shown])}"
            yield what, ExhibitLink(f"{agent} · {model}", f"compare={address}")


def _plans(rows: Sequence[_Row], several: bool) -> Iterator[tuple[str, ExhibitLink]]:
    """The plans of two models under one condition."""
    groups: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for row in rows:
        if row["persona"] is not None:
            groups[row["agent"], row["condition"]].append(row)
    for (agent, condition), some in groups.items():
        for one, other in list(pairwise(some))[:_MOST_PAIRS]:
            address = f"{_name(one, several)},{_name(other, several)}"
            what = f"The plans, {_versus([one['model'], other['model']])}"
            yield what, ExhibitLink(f"{agent} · {condition}", f"plans={address}")


def _ends(rows: Sequence[_Row], most: int) -> list[_Row]:
    """At most so many, the last one among them."""
    return list(rows) if len(rows) <= most else [*rows[: most - 1], rows[-1]]


def _versus(names: Sequence[str]) -> str:
    return " × ".join(names)


def _name(row: _Row, several: bool) -> str:
    """A trial as an address names it."""
    return quote(f"{row['run']}/{row['trial']}" if several else str(row["trial"]), safe="")
