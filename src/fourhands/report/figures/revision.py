"""How often agents revise the user's edit in the trials they fail, and whether those that do lose less."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.revision import revision_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points, signed
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height, text_width
from fourhands.report.figures.style import BLUE, HATCHES, INK, MUTED, ORANGE, PAGE, Fill, Look, look, styled

__all__ = ["Revised", "draw", "of_study"]

_TITLE: Final = "Revision of the user's edit in failed trials"
_PITCH: Final = 0.32
_BAR: Final = 0.125
_AXIS: Final = 0.42
_SCATTER: Final = 2.1
_LOWEST: Final = 1.8
_HIGHEST: Final = 3.0
_NOTE: Final = 0.18
_FEWEST: Final = 3
FILLS: Final = (
    ("ever revised", Fill(BLUE, "")),
    ("absent at the end", Fill(ORANGE, HATCHES[1])),
)


@dataclass(frozen=True, slots=True)
class Revised:
    """Of ``trials`` that failed with an edit: in how many it was revised, and in how many it was gone at the end.

    ``difference`` is Δ of the resolve rate in percentage points.
    """

    name: str
    condition: str
    revised: int
    absent: int
    trials: int
    difference: float | None

    @property
    def shares(self) -> tuple[float, float]:
        """Of the trials, in per cent: in which it was revised, and gone."""
        return 100 * self.revised / self.trials, 100 * self.absent / self.trials


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition whose user edits."""
    table = revision_table(study)
    shown = names((agent.agent, agent.model) for row in table for agent in row.agents)
    return draw(
        [
            Revised(
                shown[agent.agent, agent.model],
                row.condition,
                agent.revision.revised,
                agent.revision.absent,
                agent.revision.trials,
                None if agent.delta is None else 100 * agent.delta,
            )
            for row in table
            for agent in row.agents
        ],
        {row.condition: (row.rho, row.n) for row in table if row.rho is not None},
    )


def draw(rows: Sequence[Revised], rho: Mapping[str, tuple[float, int]]) -> Figure | None:
    """A block for each condition: two bars an agent and, of three agents and more, Δ against the share revised.

    ``rho`` is Spearman's rank correlation of the two by condition, with the number of its agents. None where no trial
    failed with an edit.
    """
    told = [row for row in rows if row.trials]
    if not told:
        return None
    blocks: dict[str, list[Revised]] = defaultdict(list)
    for row in told:
        blocks[row.condition].append(row)
    looks = {name: look(index) for index, name in enumerate(dict.fromkeys(row.name for row in told))}
    entries = [Entry(words, fill) for words, fill in FILLS]
    with styled():
        margin = Rows.of(told, _PITCH).margin
        lines = {condition: Rows.of(block, _PITCH, among=blocks) for condition, block in blocks.items()}
        heights = {
            condition: max(lines[condition].height, _LOWEST if _has_scatter(block) else 0)
            for condition, block in blocks.items()
        }
        top = key_height(entries, PAGE) + 0.1
        sheet = Sheet(PAGE, top + sum(heights.values()) + _AXIS * len(blocks))
        sheet.key(entries, 0.05, 0, PAGE)
        scattered = any(map(_has_scatter, blocks.values()))
        for condition, block in blocks.items():
            _bars(sheet, replace(lines[condition], margin=margin), top, wide=not scattered)
            if _has_scatter(block):
                _scatter(sheet, block, looks, top, height=heights[condition], rho=rho.get(condition))
                for at, row in lines[condition].placed:
                    sheet.mark(looks[row.name], margin + 0.02, top + at)
            top += heights[condition] + _AXIS
        description = "Bars of trials in which the edit was revised or gone. " + " ".join(map(_words, told))
        svg = sheet.svg(name="revision", title=_TITLE, description=description)
    return Figure("revision", _TITLE, _caption(told, rho, scattered=scattered), svg, description)


def _has_scatter(block: Sequence[Revised]) -> bool:
    return sum(row.difference is not None for row in block) >= _FEWEST


def _bars(sheet: Sheet, lines: Rows[Revised], top: float, *, wide: bool) -> None:
    right = PAGE - (0.05 if wide else _SCATTER + 0.75)
    left = lines.margin + (0.0 if wide else 0.14)
    lines.write(sheet, top)
    numbers = [f"{row.revised:,}, {row.absent:,} of {row.trials:,}" for _, row in lines.placed]
    width = right - left - max(map(text_width, numbers)) - 0.1
    panel = sheet.panel(left, top, width, lines.height)
    panel.set_xlim(0, 100)
    panel.set_ylim(lines.height, 0)
    panel.set_yticks([])
    panel.grid(axis="x")
    panel.set_xlabel("failed trials with an edit, %")
    for (at, row), told in zip(lines.placed, numbers, strict=True):
        for place, ((_, fill), share) in enumerate(zip(FILLS, row.shares, strict=True)):
            bar(panel, fill, y=at + (place - 0.5) * _BAR, length=share, height=0.9 * _BAR)
        sheet.text(right, top + at, told, align="right", alpha=MUTED)


def _scatter(
    sheet: Sheet,
    block: Sequence[Revised],
    looks: Mapping[str, Look],
    top: float,
    *,
    height: float,
    rho: tuple[float, int] | None,
) -> None:
    left = PAGE - _SCATTER - 0.05
    if rho is not None:
        words = f"\N{GREEK SMALL LETTER RHO} = {_decimal(rho[0])} ({rho[1]} agents)"
        sheet.text(PAGE - 0.05, top + _NOTE / 2, words, align="right")
    panel = sheet.panel(left, top + _NOTE, _SCATTER, min(height, _HIGHEST) - _NOTE)
    for row in block:
        if row.difference is not None:
            sample = looks[row.name]
            panel.plot(
                [row.shares[0]], [row.difference], color=sample.colour, marker=sample.marker, clip_on=False
            )
    panel.axhline(0, color=INK, linewidth=0.9)
    panel.margins(0.1, 0.1)
    panel.grid()
    panel.set_xlabel("ever revised, %")
    panel.set_ylabel("Δ resolve rate, points")
    panel.yaxis.set_major_formatter(lambda value, _: signed(value).removesuffix(".0"))


def _caption(told: Sequence[Revised], rho: Mapping[str, tuple[float, int]], *, scattered: bool) -> str:
    caption = (
        "Failed trials that an edit was delivered in: those in which the agent at some time changed or removed a "
        "line of it, and those in which none of it stood at the end (the user may have written it again in between). "
        f"n = {counts((row.trials for row in told), 'failed trial')} a row."
    )
    if scattered:
        caption += " At the right: Δ of the resolve rate against the share ever revised, by the marker beside a name."
    if rho:
        caption += (
            " \N{GREEK SMALL LETTER RHO} is Spearman's rank correlation of the two over agents: positive where those "
            "that revise more lose less."
        )
    return caption


def _words(row: Revised) -> str:
    return (
        f"{row.name}, {label(row.condition)}: revised in {points(row.revised / row.trials)}, gone in "
        f"{points(row.absent / row.trials)} of {row.trials:,}."
    )


def _decimal(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
