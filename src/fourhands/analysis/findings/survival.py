"""How long the user's lines stand: Kaplan–Meier over the agent's steps since each was written."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import polars as pl

from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study

__all__ = ["Curve", "Ending", "Lives", "Point", "kaplan_meier", "survival_table"]

Ending = Literal["revised", "gone"]
"""The agent first changed or removed the line; or the line went for good: it is absent at the end."""

_STEP: Final[dict[Ending, str]] = {"revised": "first_revised_step", "gone": "gone_step"}

_TRIAL: Final = ("run", "trial")
_ARM: Final = ("agent", "model", "condition")

Lives = Mapping[int, tuple[int, int]]
"""Duration -> how many were watched for so long and no longer, and how many of them ended then."""


@dataclass(frozen=True, slots=True)
class Point:
    """``step`` steps after they were written ``at_risk`` lines still stood and were watched; ``events`` ended then.

    ``share`` is the estimate from this step on. Lines that are not watched any longer leave without an event.
    """

    step: int
    at_risk: int
    events: int
    share: float


@dataclass(frozen=True)
class Curve:
    """The lines that users wrote for one agent and model under one condition, and how long they stood.

    A line that has not ended is watched up to its trial's last step. There is no interval: the lines of a trial share
    their fate, so that ``lines`` are far fewer observations than they look; ``trials`` says of how many trials they
    are. ``unknown`` lines are left out, for the steps of their trial are not known.
    """

    agent: str
    model: str
    condition: str
    ending: Ending
    trials: int
    lines: int
    ended: int
    unknown: int
    points: tuple[Point, ...]

    def share_at(self, step: int) -> float:
        """The share that still stands ``step`` steps after it was written."""
        reached = bisect_right(self.points, step, key=lambda point: point.step)
        return self.points[reached - 1].share if reached else 1.0

    def at_risk(self, step: int) -> int:
        """Lines that still stand and are watched right before that step."""
        found = bisect_left(self.points, step, key=lambda point: point.step)
        return self.points[found].at_risk if found < len(self.points) else 0


@kept
def survival_table(study: Study) -> tuple[Curve, ...]:
    """Per agent, model and condition with lines of the user two curves: until revised, and until gone."""
    arms = study.tables.trials.select(*_TRIAL, *_ARM, "steps")
    lines = study.tables.lines.filter(pl.col("kind") == "written").join(
        arms, on=_TRIAL, how="left", maintain_order="left"
    )
    found = {ending: _lives(lines, step) for ending, step in _STEP.items()}
    return tuple(
        _curve((agent, model, condition), trials, ending, found[ending])
        for agent, model, condition, trials in _arms(arms, lines)
        for ending in _STEP
    )


def kaplan_meier(lives: Lives) -> tuple[Point, ...]:
    """The product-limit estimate (Kaplan & Meier 1958): one point for each duration that occurs."""
    at_risk, share, points = sum(left for left, _ in lives.values()), 1.0, []
    for step, (left, ended) in sorted(lives.items()):
        share *= 1 - ended / at_risk
        points.append(Point(step, at_risk, ended, share))
        at_risk -= left
    return tuple(points)


def _arms(trials: pl.DataFrame, lines: pl.DataFrame) -> list[tuple[str, str, str, int]]:
    """The arms that have lines, in the order of the table of trials, and of how many trials these are."""
    counted = lines.group_by(_ARM).agg(pl.struct(_TRIAL).n_unique().alias("trials"))
    return (
        trials.select(_ARM).unique(maintain_order=True).join(counted, on=_ARM, maintain_order="left").rows()
    )


def _lives(lines: pl.DataFrame, step: str) -> dict[tuple[str, str, str], dict[int | None, tuple[int, int]]]:
    """Of each arm, how many lines were watched for how long, and how many of them ended then.

    Lines of a trial of unknown length are under ``None``.
    """
    last = pl.coalesce(step, "steps")
    lives = lines.select(
        *_ARM,
        (last - pl.col("written_step").fill_null(0)).clip(0).alias("duration"),
        pl.col(step).is_not_null().alias("ended"),
    )
    counts = lives.group_by(*_ARM, "duration").agg(pl.len(), pl.col("ended").sum())
    found: dict[tuple[str, str, str], dict[int | None, tuple[int, int]]] = defaultdict(dict)
    for agent, model, condition, duration, left, ended in counts.iter_rows():
        found[agent, model, condition][duration] = (left, ended)
    return found


def _curve(
    arm: tuple[str, str, str],
    trials: int,
    ending: Ending,
    found: Mapping[tuple[str, str, str], Mapping[int | None, tuple[int, int]]],
) -> Curve:
    lives = {duration: counts for duration, counts in found[arm].items() if duration is not None}
    return Curve(
        *arm,
        ending=ending,
        trials=trials,
        lines=sum(left for left, _ in lives.values()),
        ended=sum(ended for _, ended in lives.values()),
        unknown=found[arm].get(None, (0, 0))[0],
        points=kaplan_meier(lives),
    )
