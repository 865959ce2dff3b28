"""What became of the tasks that an agent solved, and of those it did not, as flows from vanilla to a condition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.transitions import transition_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names
from fourhands.report.figures.sheet import Entry, Sheet, key_height, rectangle
from fourhands.report.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    HATCHES,
    INK,
    MUTED,
    PAGE,
    TEXT,
    VERMILION,
    Fill,
    face,
    styled,
)

__all__ = ["Flow", "draw", "of_study"]

_TITLE: Final = "Tasks solved and lost from vanilla to each condition"
_COLUMNS: Final = 3
_MOST: Final = 60
_CELL: Final = 1.62
_FLOWS: Final = 0.92
_BAR: Final = 0.09
_SIDE: Final = 0.36
_SOLVED: Final = Fill(BLUE, "")
_UNSOLVED: Final = Fill("none", "")
BANDS: Final = (
    ("solved in both", Fill(BLUE, "", 0.45)),
    ("lost", Fill(VERMILION, HATCHES[1])),
    ("gained", Fill(GREEN, HATCHES[2])),
    ("unsolved in both", Fill(INK, "", FAINT)),
)


@dataclass(frozen=True, slots=True)
class Flow:
    """Tasks of one agent by majority vote: solved under vanilla, under the condition, both or neither."""

    name: str
    condition: str
    kept: int
    lost: int
    gained: int
    never: int

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.kept + self.lost + self.gained + self.never


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition that pairs with vanilla."""
    table = transition_table(study)
    shown = names(((row.agent, row.model) for row in table), 22)
    return draw(
        [
            Flow(
                shown[row.agent, row.model],
                row.condition,
                kept=row.solved_kept,
                lost=row.solved_to_unresolved,
                gained=row.unresolved_to_solved,
                never=row.unresolved_kept,
            )
            for row in table
        ]
    )


def draw(flows: Sequence[Flow]) -> Figure | None:
    """A small diagram for each agent and condition; None where no task has a majority on both sides."""
    told = [flow for flow in flows if flow.tasks]
    if not told:
        return None
    shown = told[:_MOST]
    entries = [Entry(words, fill) for words, fill in BANDS]
    with styled():
        top = key_height(entries, PAGE) + 0.12
        sheet = Sheet(PAGE, top + math.ceil(len(shown) / _COLUMNS) * _CELL)
        sheet.key(entries, 0.05, 0, PAGE)
        width = PAGE / _COLUMNS
        for index, flow in enumerate(shown):
            _cell(sheet, flow, (index % _COLUMNS) * width, top + (index // _COLUMNS) * _CELL, width)
        description = "Flows of tasks from vanilla to the condition. " + " ".join(map(_words, shown))
        svg = sheet.svg(name="transitions", title=_TITLE, description=description)
    return Figure("transitions", _TITLE, _caption(told, shown), svg, description)


def _cell(sheet: Sheet, flow: Flow, left: float, top: float, width: float) -> None:
    middle = left + width / 2
    sheet.text(middle, top + 0.09, flow.name, size=TEXT, align="center", bold=True)
    sheet.text(
        middle, top + 0.24, f"lost {flow.lost:,} · gained {flow.gained:,}", align="center", alpha=MUTED
    )
    start, end = left + _SIDE, left + width - _SIDE
    _flows(sheet, flow, start, end, top + 0.36)
    below = top + 0.36 + _FLOWS + 0.14
    sheet.text(start, below, "vanilla", align="left", alpha=MUTED)
    sheet.text(end, below, label(flow.condition, 18), align="right", alpha=MUTED)


def _flows(sheet: Sheet, flow: Flow, start: float, end: float, top: float) -> None:
    """Solved above unsolved on either side, a gap between; each band starts and ends where its like is."""
    gap = 0.08
    scale = (_FLOWS - gap) / flow.tasks
    kept, lost, gained, never = (scale * part for part in (flow.kept, flow.lost, flow.gained, flow.never))
    left_low, right_low = top + kept + lost + gap, top + kept + gained + gap
    inner = (start + _BAR, end - _BAR)
    _band(sheet, inner, (top, top), kept, BANDS[0][1])
    _band(sheet, inner, (left_low + gained, right_low + lost), never, BANDS[3][1])
    _band(sheet, inner, (left_low, top + kept), gained, BANDS[2][1])
    _band(sheet, inner, (top + kept, right_low), lost, BANDS[1][1])
    for is_before, x, solved, below in (
        (True, start, flow.kept + flow.lost, left_low),
        (False, end - _BAR, flow.kept + flow.gained, right_low),
    ):
        beside = x - 0.05 if is_before else x + _BAR + 0.05
        for tasks, at, fill in ((solved, top, _SOLVED), (flow.tasks - solved, below, _UNSOLVED)):
            if tasks:
                sheet.area(rectangle(fill, x, at, _BAR, scale * tasks))
            sheet.text(beside, at + scale * tasks / 2, f"{tasks:,}", align="right" if is_before else "left")


def _band(
    sheet: Sheet, xs: tuple[float, float], tops: tuple[float, float], height: float, fill: Fill
) -> None:
    from matplotlib.patches import PathPatch  # noqa: PLC0415 - heavy
    from matplotlib.path import Path  # noqa: PLC0415

    if not height:
        return
    (left, right), (start, end) = xs, tops
    middle = (left + right) / 2
    corners = [
        (left, start),
        (middle, start), (middle, end), (right, end),
        (right, end + height),
        (middle, end + height), (middle, start + height), (left, start + height),
        (left, start),
    ]  # fmt: skip
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    plain = not fill.hatch
    sheet.area(
        PathPatch(
            Path(corners, codes),
            facecolor=face(fill),
            edgecolor="none" if plain else INK,
            hatch=fill.hatch or None,
            linewidth=0 if plain else 0.4,
        )
    )


def _caption(told: Sequence[Flow], shown: Sequence[Flow]) -> str:
    caption = (
        "Tasks by majority vote over their scored repeats: solved (upper bars) and unsolved (lower bars) under "
        "vanilla at the left and under the condition at the right. "
        f"n = {counts((flow.tasks for flow in told), 'task')} a diagram."
    )
    if len(told) > len(shown):
        caption += f" The first {len(shown)} of {len(told)} diagrams; the table of transitions has all."
    return caption


def _words(flow: Flow) -> str:
    return (
        f"{flow.name}, {label(flow.condition)}: {flow.kept:,} solved in both, {flow.lost:,} lost, "
        f"{flow.gained:,} gained, {flow.never:,} unsolved in both."
    )
