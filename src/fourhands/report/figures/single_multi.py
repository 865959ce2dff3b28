"""What agents resolve told all at once, and told in conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.conversations import ALL, Difference, Rate, turns_table
from fourhands.analysis.study import Study
from fourhands.report.figures import rate_marks
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, label, names, signed
from fourhands.report.figures.rate_marks import Marked
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, key_height
from fourhands.report.figures.style import BLUE, GREEN, MUTED, PAGE, VERMILION, Look, styled

__all__ = ["Told", "draw", "of_study"]

_TITLE: Final = "Told at once and told in conversation"
_PITCH: Final = 0.46
_BETWEEN: Final = 0.13
_NUMBERS: Final = 1.9
_AXIS: Final = 0.42
LOOKS: Final = (
    ("told at once", Look(GREEN, "s", "-")),
    ("in conversation, at will", Look(BLUE, "o", "-")),
    ("in conversation, end", Look(VERMILION, "D", "-")),
)


@dataclass(frozen=True, slots=True)
class Told:
    """One agent in one kind of conversation, on the tasks that are scored on both sides; the Δ are to ``single``."""

    name: str
    condition: str
    single: Rate
    at_will: Rate
    end: Rate
    delta_at_will: Difference
    delta: Difference

    @property
    def marks(self) -> tuple[Marked, ...]:
        """In the order of the key."""
        rates = (self.single, self.at_will, self.end)
        return tuple(Marked(name, rate, look) for (name, look), rate in zip(LOOKS, rates, strict=True))


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation that has its baseline, over all benchmarks."""
    table = [row for row in turns_table(study) if row.benchmark == ALL]
    shown = names((row.agent, row.model) for row in table)
    where = conditions(row.condition for row in table)
    return draw(
        [
            Told(
                shown[row.agent, row.model],
                where[row.condition],
                row.single,
                row.at_will,
                row.multi,
                row.delta_at_will,
                row.delta,
            )
            for row in table
        ]
    )


def draw(rows: Sequence[Told]) -> Figure | None:
    """Three marks a row; None where no task is scored on both sides."""
    told = [row for row in rows if row.single.n and row.end.n]
    if not told:
        return None
    entries = [Entry(name, look) for name, look in LOOKS]
    with styled():
        lines = Rows.of(told, _PITCH)
        top = key_height(entries, PAGE) + 0.22
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        sheet.text(PAGE - _NUMBERS + 0.1, top - 0.08, "Δ and 95 % interval", alpha=MUTED)
        sheet.text(PAGE - 0.02, top - 0.08, "pairs", align="right", alpha=MUTED)
        lines.write(sheet, top)
        panel = sheet.panel(lines.margin, top, PAGE - lines.margin - _NUMBERS, lines.height)
        rate_marks.frame(panel, lines.height)
        for at, row in lines.placed:
            rate_marks.mark_row(panel, row.marks, at, _BETWEEN)
            for place, difference in enumerate((row.delta_at_will, row.delta)):
                y = top + at + place * _BETWEEN
                sheet.text(PAGE - _NUMBERS + 0.1, y, _delta(difference))
                sheet.text(PAGE - 0.02, y, f"{difference.pairs:,}", align="right", alpha=MUTED)
        description = "Three marks a row. " + " ".join(map(_words, told))
        svg = sheet.svg(name="single-multi", title=_TITLE, description=description)
    caption = (
        "Resolve rate told at once, and in conversation when the agent first wanted to end, and in the end, on the "
        "tasks that are scored on both sides; at the right the differences to told at once, in percentage points, "
        f"paired by task, at will above, in the end below. {rate_marks.INTERVALS} "
        f"n = {counts((row.end.n for row in told), 'trial')} in conversation a row."
    )
    return Figure("single-multi", _TITLE, caption, svg, description)


def _delta(difference: Difference) -> str:
    if difference.delta is None:
        return "no complete pair"
    told = signed(100 * difference.delta)
    if difference.interval:
        told += f" [{signed(100 * difference.interval.low)}, {signed(100 * difference.interval.high)}]"
    return told


def _words(row: Told) -> str:
    return f"{row.name}, {label(row.condition, 80)}: {rate_marks.words(row.marks)}."
