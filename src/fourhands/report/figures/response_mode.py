"""How agents first responded to the user's edit: shares of the trials that it was delivered in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.after import after_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height
from fourhands.report.figures.style import (
    BLUE,
    GREEN,
    HATCHES,
    MUTED,
    ORANGE,
    PAGE,
    PURPLE,
    SKY,
    Fill,
    styled,
)

__all__ = ["Modes", "draw", "of_study"]

_TITLE: Final = "First response to the user's edit"
_PITCH: Final = 0.21
_COUNT: Final = 0.5
_AXIS: Final = 0.42
FILLS: Final = {
    "ignores": Fill("none", ""),
    "notices_only": Fill(SKY, HATCHES[3]),
    "re_reads": Fill(BLUE, ""),
    "asks": Fill(PURPLE, HATCHES[5]),
    "adapts": Fill(GREEN, HATCHES[1]),
    "reverts": Fill(ORANGE, HATCHES[2]),
}
"""By mode, from the one that takes least notice."""
_WORDS: Final = {"notices_only": "notices only", "re_reads": "re-reads"}


@dataclass(frozen=True, slots=True)
class Modes:
    """How many responses of an agent were of each mode."""

    name: str
    condition: str
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition whose user edits or speaks."""
    table = after_table(study)
    shown = names((row.agent, row.model) for row in table)
    return draw([Modes(shown[row.agent, row.model], row.condition, row.modes) for row in table])


def draw(rows: Sequence[Modes]) -> Figure | None:
    """A bar of shares for each row; None where no edit was delivered."""
    told = [row for row in rows if row.total]
    if not told:
        return None
    entries = [Entry(_WORDS.get(mode, mode), fill) for mode, fill in FILLS.items()]
    with styled():
        lines = Rows.of(told, _PITCH)
        top = key_height(entries, PAGE) + 0.1
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        lines.write(sheet, top)
        panel = sheet.panel(lines.margin, top, PAGE - lines.margin - _COUNT, lines.height)
        panel.set_xlim(0, 100)
        panel.set_ylim(lines.height, 0)
        panel.set_yticks([])
        panel.set_xlabel("share of delivered edits, %")
        for at, row in lines.placed:
            left = 0.0
            for mode, fill in FILLS.items():
                share = 100 * row.counts.get(mode, 0) / row.total
                if share:
                    bar(panel, fill, y=at, length=share, height=0.72 * _PITCH, left=left)
                left += share
            sheet.text(PAGE - 0.02, top + at, f"n = {row.total:,}", align="right", alpha=MUTED)
        description = "Stacked shares of responses. " + " ".join(map(_words, told))
        svg = sheet.svg(name="response-mode", title=_TITLE, description=description)
    caption = (
        "What the agent first did after an edit of the user was delivered: ignored it, spoke of it only, read its "
        "place again, asked, worked it into its own code, or took it back. n = "
        f"{counts((row.total for row in told), 'delivered edit')} a row."
    )
    return Figure("response-mode", _TITLE, caption, svg, description)


def _words(row: Modes) -> str:
    shares = [
        f"{_WORDS.get(mode, mode)} {points(row.counts[mode] / row.total)}"
        for mode in FILLS
        if row.counts.get(mode)
    ]
    return f"{row.name}, {label(row.condition)}: {', '.join(shares)}."
