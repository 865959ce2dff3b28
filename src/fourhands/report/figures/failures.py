"""Why trials failed: shares of each paper's labels, overall and per agent, and which of them are a judge's word."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.failures import ALL, FailureRow, failure_table
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Voice, trust_in
from fourhands.model.audit import AuditName
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height, text_width
from fourhands.report.figures.style import (
    BLUE,
    FAINT,
    GREEN,
    HATCHES,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    PURPLE,
    SKY,
    TEXT,
    VERMILION,
    Fill,
    styled,
)

__all__ = ["Composition", "Panel", "Part", "draw", "of_study"]

_TITLE: Final = "What failures are composed of"
_PITCH: Final = 0.21
_HEADING: Final = 0.22
_COUNT: Final = 0.55
_AXIS: Final = 0.42
_BETWEEN: Final = 0.16
_WHOLE: Final = 0.72
_BY_JUDGE: Final = 0.4
"""Shares of a row's height that a bar takes: what a judge alone says is half as thick, and paler."""
_PALE: Final = 0.35
_COLOURS: Final = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, "none")
FILLS: Final = tuple(Fill(*look) for look in zip(_COLOURS, HATCHES, strict=True))
"""Of the labels of a scheme, in their order."""
OPEN: Final = Fill(INK, "", FAINT)
"""Of what nobody decides."""
_SCHEMES: Final = {
    AuditName.SWE_INTERACT: "Conversations",
    AuditName.SWE_TOUCH: "Under the user's hands",
}


@dataclass(frozen=True, slots=True)
class Part:
    """One label: in how many trials execution or events show it, and in how many a judge alone says it."""

    label: str
    shown: int
    judged: int


@dataclass(frozen=True, slots=True)
class Composition:
    """One bar: ``n`` trials, and in ``undecided`` of them something is left open."""

    name: str
    n: int
    parts: tuple[Part, ...]
    undecided: int

    @property
    def total(self) -> int:
        """What the shares are of."""
        return sum(part.shown + part.judged for part in self.parts) + self.undecided


@dataclass(frozen=True, slots=True)
class Panel:
    """The bars of one scheme, with one judge or none; ``judge`` names it and how far it is to be trusted."""

    scheme: str
    judge: str | None
    bars: tuple[Composition, ...]
    is_of_talks: bool = False

    @property
    def title(self) -> str:
        """What stands above it, in one line."""
        return ", ".join(filter(None, (self.scheme, self.reading)))

    @property
    def reading(self) -> str:
        """What the thin, pale parts are; empty where there are none."""
        return f"thin and pale: left open, as {self.judge} reads it" if self.judge else ""


def of_study(study: Study) -> Figure | None:
    """All failures together and those of each agent over its conditions; each judge in a panel of its own."""
    table = failure_table(study)
    shown = names(((row.agent, row.model) for row in table if row.agent != ALL), 28)
    panels = []
    for scheme, coverage in dict.fromkeys((row.scheme, row.coverage) for row in table):
        title = _SCHEMES[scheme] + (f", coverage={coverage}" if coverage else "")
        rows = [row for row in table if (row.scheme, row.coverage) == (scheme, coverage)]
        # Where a judge was heard, its panel has all that one without it has.
        for voice in dict.fromkeys(row.voice for row in rows if row.voice) or [None]:
            bars = (
                _composition(row, "all" if row.agent == ALL else shown[row.agent, row.model])
                for row in _overall(rows, voice)
            )
            talks = scheme is AuditName.SWE_INTERACT
            panels.append(Panel(title, _told(study, rows, voice), tuple(bars), is_of_talks=talks))
    return draw(panels)


def _told(study: Study, rows: Iterable[FailureRow], voice: Voice | None) -> str | None:
    """A judge, and how far it is to be trusted in all runs that it spoke of; the first row of it counts most."""
    if voice is None:
        return None
    rows = list(rows)
    heard = next(row.heard for row in rows if row.voice == voice)
    versions = {row.voice.prompt_version for row in rows if row.voice and row.voice.judge == voice.judge}
    version = f" v{voice.prompt_version}" if len(versions) > 1 else ""
    return f"{label(voice.judge, 30)}{version} ({trust_in(study, voice, heard).told})"


def _overall(rows: Iterable[FailureRow], voice: Voice | None) -> Iterator[FailureRow]:
    """Of each agent the row over its conditions, with the judge where it has read any of it, else without one."""
    agents: dict[tuple[str, str], list[FailureRow]] = defaultdict(list)
    for row in rows:
        agents[row.agent, row.model].append(row)
    for own in agents.values():
        whole = [row for row in own if row.condition == own[0].condition]
        yield next((row for row in whole if row.voice == voice), own[0])


def _composition(row: FailureRow, name: str) -> Composition:
    *labels, _ = row.shares
    parts = (Part(each.label, each.execution + each.events, each.judge) for each in labels)
    return Composition(name, row.n, tuple(parts), row.undecided)


def draw(panels: Sequence[Panel]) -> Figure | None:
    """The panels below each other, each with its key; None where nothing is known of why."""
    told = [panel for panel in panels if any(each.total > each.undecided for each in panel.bars)]
    if not told:
        return None
    with styled():
        keys = [_key(panel) for panel in told]
        heights = [
            _HEADING + key_height(key, PAGE) + 0.1 + _PITCH * len(panel.bars) + _AXIS
            for panel, key in zip(told, keys, strict=True)
        ]
        sheet = Sheet(PAGE, sum(heights) + _BETWEEN * (len(told) - 1))
        margin = max(text_width(each.name) for panel in told for each in panel.bars) + 0.14
        top = 0.0
        for panel, key, height in zip(told, keys, heights, strict=True):
            _panel(sheet, panel, key, margin, top)
            top += height + _BETWEEN
        description = "Stacked shares of labels. " + " ".join(map(_words, told))
        svg = sheet.svg(name="failures", title=_TITLE, description=description)
    trials = counts((each.n for panel in told for each in panel.bars), "failed trial")
    caption = f"{_caption(told)} n = {trials} a row."
    if left_out := [panel for panel in panels if panel not in told]:
        caption += " Not drawn, since all is undecided: " + "; ".join(map(_left_out, left_out)) + "."
    return Figure("failures", _TITLE, caption, svg, description)


def _left_out(panel: Panel) -> str:
    return f"{panel.scheme}, {counts((each.n for each in panel.bars), 'failed trial')} a row"


def _key(panel: Panel) -> list[Entry]:
    labels = [part.label for part in panel.bars[0].parts]
    entries = [Entry(each, fill) for each, fill in zip(labels, FILLS, strict=False)]
    return [*entries, Entry("undecided", OPEN)]


def _panel(sheet: Sheet, panel: Panel, key: Sequence[Entry], margin: float, top: float) -> None:
    middle = top + _HEADING / 2 - 0.02
    sheet.text(0.05, middle, panel.scheme, size=TEXT, bold=True)
    sheet.text(0.05 + text_width(panel.scheme, TEXT, bold=True) + 0.12, middle, panel.reading, alpha=MUTED)
    sheet.key(key, 0.05, top + _HEADING, PAGE)
    start = top + _HEADING + key_height(key, PAGE) + 0.1
    height = _PITCH * len(panel.bars)
    axes = sheet.panel(margin, start, PAGE - margin - _COUNT, height)
    axes.set_xlim(0, 100)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    axes.set_xlabel("share of labels, %")
    for index, each in enumerate(panel.bars):
        at = (index + 0.5) * _PITCH
        sheet.text(margin - 0.1, start + at, each.name, align="right", bold=each.name == "all")
        sheet.text(PAGE - 0.02, start + at, f"n = {each.n:,}", align="right", alpha=MUTED)
        left = 0.0
        for number, thickness, fill in _pieces(each):
            length = 100 * number / each.total
            bar(axes, fill, y=at, length=length, height=thickness * _PITCH, left=left)
            left += length


def _pieces(each: Composition) -> Iterator[tuple[int, float, Fill]]:
    """What is shown, then what a judge says, then what nobody decides."""
    looks = list(zip(each.parts, FILLS, strict=False))
    for part, fill in looks:
        yield part.shown, _WHOLE, fill
    for part, fill in looks:
        yield part.judged, _BY_JUDGE, fill if fill.colour == "none" else replace(fill, alpha=_PALE)
    yield each.undecided, _WHOLE, OPEN


def _caption(told: Sequence[Panel]) -> str:
    caption = (
        "Why trials failed, as shares of all labels; what is undecided counts as one more label of its trial. "
        "Of conversations a trial may have several; under the user's hands it has one, and the trials are those "
        "of tasks that were lost to the condition."
    )
    if any(panel.is_of_talks for panel in told):
        caption += (
            " Conversations count by their final state: where everything is told by then (full coverage) no "
            "requirement can be missing; the paper's shares are of the state at will, as with coverage=at-will."
        )
    if any(panel.judge for panel in told):
        caption += (
            " Full bars are shown by execution or events; the thin, pale ones are a judge's word on what these leave "
            "open, with its agreement with people (Cohen's κ) where that was measured."
        )
    return caption


def _words(panel: Panel) -> str:
    return f"{panel.title}: " + "; ".join(map(_bar_words, panel.bars)) + "."


def _bar_words(each: Composition) -> str:
    parts = [
        (part.label + suffix, number)
        for suffix, of in (("", "shown"), (" by the judge", "judged"))
        for part in each.parts
        if (number := getattr(part, of))
    ]
    parts += [("undecided", each.undecided)] if each.undecided else []
    shares = ", ".join(f"{name} {points(number / each.total)}" for name, number in parts)
    return f"{each.name}, {each.n:,} failed: {shares}"
