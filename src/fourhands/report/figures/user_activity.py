"""How much the user has to say and to look at, and how often agents end too early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.conversations import Many, TalkRow, talk_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height
from fourhands.report.figures.style import (
    BLUE,
    HATCHES,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    SKY,
    SMALL,
    TEXT,
    VERMILION,
    Fill,
    Look,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Activity", "draw", "of_study"]

_TITLE: Final = "What the user does, and how early agents end"
_PITCH: Final = 0.27
_BAR: Final = 0.15
_HEADING: Final = 0.22
_GAP: Final = 0.22
_COUNT: Final = 0.5
_AXIS: Final = 0.42
_ROOM: Final = 1.3
_MEAN: Final = Fill(BLUE, "", 0.75)
_MEDIAN: Final = Look(VERMILION, "D", "-")
_MOST: Final = Look(INK, "|", "-")
EARLY: Final = Fill(SKY, HATCHES[1])
PREMATURE: Final = Fill(ORANGE, HATCHES[5])


@dataclass(frozen=True, slots=True)
class Activity:
    """One agent in one kind of conversation.

    ``early`` is the share of its ``trials`` that wanted to end, or were cut, with something untold, ``premature`` of
    those to which that happened after one correction or none.
    """

    name: str
    condition: str
    messages: Many
    looks: Many
    early: float
    premature: float
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation, with each simulator, and with several of these together."""
    table = talk_table(study)
    shown = names((row.agent, row.model) for row in table)
    where = conditions(row.condition for row in table)
    return draw(
        [_activity(row, shown[row.agent, row.model], where[row.condition]) for row in table if row.scored]
    )


def _activity(row: TalkRow, name: str, condition: str) -> Activity:
    return Activity(
        name,
        condition,
        row.said_at_will,
        row.looks_at_will,
        row.early.rate or 0.0,
        row.premature.rate or 0.0,
        row.scored,
    )


def draw(rows: Sequence[Activity]) -> Figure | None:
    """Three panels side by side; None where no trial is scored."""
    if not rows:
        return None
    entries = [
        Entry("mean", _MEAN),
        Entry("median", _MEDIAN, line=False),
        Entry("most", _MOST),
        Entry("ended early", EARLY),
        Entry("after one correction or none", PREMATURE),
    ]
    with styled():
        lines = Rows.of(rows, _PITCH)
        top = key_height(entries, PAGE) + 0.08 + _HEADING
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        lines.write(sheet, top)
        width = (PAGE - lines.margin - _COUNT - 2 * _GAP) / 3
        headings = ("messages", "looks", "ended early")
        for place, heading in enumerate(headings):
            left = lines.margin + place * (width + _GAP)
            sheet.text(left, top - _HEADING / 2, heading, size=TEXT, bold=True)
            panel = sheet.panel(left, top, width, lines.height)
            panel.set_ylim(lines.height, 0)
            panel.set_yticks([])
            panel.grid(axis="x")
            if place == len(headings) - 1:
                _ends(panel, lines)
            else:
                _spreads(panel, [(at, (row.messages, row.looks)[place]) for at, row in lines.placed])
        for at, row in lines.placed:
            sheet.text(PAGE - 0.02, top + at, f"n = {row.trials:,}", align="right", alpha=MUTED)
        description = "Bars of what the user does a trial. " + " ".join(map(_words, rows))
        svg = sheet.svg(name="user-activity", title=_TITLE, description=description)
    caption = (
        "Messages of the user and looks of their own choice until the agent first wanted to end, a trial: mean, "
        "median and most; and the share of trials in which the agent wanted to end, or was cut, with something "
        "untold, and of those to which that happened after one correction or none. "
        f"n = {counts((row.trials for row in rows), 'scored trial')} a row."
    )
    return Figure("user-activity", _TITLE, caption, svg, description)


def _spreads(panel: Axes, spreads: Sequence[tuple[float, Many]]) -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - heavy

    most = max(1, *(spread.most or 0 for _, spread in spreads))
    panel.set_xlim(0, _ROOM * most)
    panel.xaxis.set_major_locator(MaxNLocator(4, integer=True))
    panel.set_xlabel("a trial")
    for at, spread in spreads:
        if spread.mean is None or spread.median is None or spread.most is None:
            continue
        bar(panel, _MEAN, y=at, length=spread.mean, height=_BAR)
        panel.plot([spread.mean, spread.most], [at, at], color=INK, linewidth=0.7)
        panel.plot(
            [spread.most], [at], marker=_MOST.marker, color=INK, markersize=6, linestyle="none", clip_on=False
        )
        panel.plot(
            [spread.median], [at], marker=_MEDIAN.marker, color=_MEDIAN.colour, markersize=3.6, clip_on=False
        )
        panel.text(_ROOM * most, at, f"{spread.mean:.1f}", va="center", ha="right", fontsize=SMALL - 0.5)


def _ends(panel: Axes, lines: Rows[Activity]) -> None:
    panel.set_xlim(0, 100)
    panel.set_xlabel("% of trials")
    for at, row in lines.placed:
        bar(panel, EARLY, y=at, length=100 * row.early, height=_BAR)
        bar(panel, PREMATURE, y=at, length=100 * row.premature, height=_BAR / 2)


def _words(row: Activity) -> str:
    told = [
        f"{spread.mean:.1f} {what}, median {spread.median:g}, at most {spread.most:,}"
        for what, spread in (("messages", row.messages), ("looks", row.looks))
        if spread.mean is not None and spread.median is not None and spread.most is not None
    ]
    told.append(f"{points(row.early)} ended early, {points(row.premature)} after one correction or none")
    return f"{row.name}, {label(row.condition, 80)}: {'; '.join(told)}."
