"""What results are computed of: the tidy tables of one or several runs, what was run, and what could not be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fourhands.analysis.tidy import Tables
from fourhands.model.agreement import Agreement
from fourhands.model.price import NO_PRICES, PriceTable

__all__ = ["Anchors", "RunInfo", "Study", "TaskInfo"]


@dataclass(frozen=True, slots=True)
class Anchors:
    """What a judge gives, 0 to 100, for what a task's scores are to be read against; ``None``: nothing that counts.

    ``empty`` is no change at all, ``reference`` the reference repair, ``as_plan`` its difference shown as a plan.
    """

    judge: str
    prompt_version: int
    empty: float | None
    reference: float | None
    as_plan: float | None


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task of a run.

    ``patches`` are the planned edits by condition label, as git diffs, one for each intervention that has one, in
    order; ``reference`` is the reference repair where the task's folder still tells it. ``anchors`` are each judge's.
    """

    name: str
    digest: str
    benchmark: str | None = None
    record_status: str | None = None
    reference: str | None = None
    patches: dict[str, tuple[str, ...]] = field(default_factory=dict)
    anchors: tuple[Anchors, ...] = ()


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One run: where it is, and what it was run with. ``kind``: ours, or a plain Harbor job.

    ``agents`` maps each agent to its versions, ``packages`` what else was resolved; ``settings`` are the plan's.
    ``agreements`` are those of judges with people that were measured for it.
    """

    run: str
    path: str
    kind: str
    settings: dict[str, Any] = field(default_factory=dict)
    tasks: tuple[TaskInfo, ...] = ()
    agents: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    agreements: tuple[Agreement, ...] = ()
    repeats: int = 1
    started: str | None = None
    ended: str | None = None


@dataclass(frozen=True)
class Study:
    """Everything that a table, a figure or a report is a pure function of.

    ``skipped`` says, for people, what of the records was left out and why. ``prices`` is the table by which costs
    were told.
    """

    tables: Tables
    runs: tuple[RunInfo, ...] = ()
    skipped: tuple[str, ...] = ()
    prices: PriceTable = NO_PRICES
