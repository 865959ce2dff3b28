"""What is resolved when agents first want to end, and what once they were told everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.conversations import Rate, conversation_table
from fourhands.analysis.study import Study
from fourhands.report.figures import rate_marks
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, label, names
from fourhands.report.figures.rate_marks import Marked
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, key_height
from fourhands.report.figures.style import BLUE, MUTED, PAGE, VERMILION, Look, styled

__all__ = ["Ends", "draw", "of_study"]

_TITLE: Final = "Resolved at will and with full coverage"
_PITCH: Final = 0.34
_BETWEEN: Final = 0.13
_NUMBERS: Final = 1.55
_AXIS: Final = 0.42
LOOKS: Final = (("at will", Look(BLUE, "o", "-")), ("full coverage", Look(VERMILION, "D", "-")))


@dataclass(frozen=True, slots=True)
class Ends:
    """One agent under one condition: the rate when it first wanted to end, and of the trials told everything."""

    name: str
    condition: str
    at_will: Rate
    full: Rate

    @property
    def marks(self) -> tuple[Marked, ...]:
        """In the order of the key."""
        rates = (self.at_will, self.full)
        return tuple(Marked(name, rate, look) for (name, look), rate in zip(LOOKS, rates, strict=True))


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation, and with several simulators of these together."""
    table = conversation_table(study)
    shown = names((row.agent, row.model) for row in table)
    where = conditions(row.condition for row in table)
    return draw(
        [Ends(shown[row.agent, row.model], where[row.condition], row.at_will, row.full) for row in table]
    )


def draw(rows: Sequence[Ends]) -> Figure | None:
    """Two marks a row; None where no trial is scored."""
    told = [row for row in rows if row.at_will.n or row.full.n]
    if not told:
        return None
    entries = [Entry(name, look) for name, look in LOOKS]
    with styled():
        lines = Rows.of(told, _PITCH)
        top = key_height(entries, PAGE) + 0.1
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        lines.write(sheet, top)
        panel = sheet.panel(lines.margin, top, PAGE - lines.margin - _NUMBERS, lines.height)
        rate_marks.frame(panel, lines.height)
        for at, row in lines.placed:
            rate_marks.mark_row(panel, row.marks, at, _BETWEEN)
            for place, marked in enumerate(row.marks):
                y = top + at + (place - 0.5) * _BETWEEN
                sheet.text(PAGE - 0.02, y, _number(marked), align="right", alpha=MUTED if place else 1)
        description = "Two marks a row. " + " ".join(map(_words, told))
        svg = sheet.svg(name="at-will", title=_TITLE, description=description)
    caption = (
        "Resolve rate in the state in which the agent first wanted to end, or was cut before it did, and in the "
        f"final state of the trials in which everything was told by then. {rate_marks.INTERVALS} "
        f"n = {counts((row.at_will.n for row in told), 'scored trial')} a row at will."
    )
    return Figure("at-will", _TITLE, caption, svg, description)


def _number(marked: Marked) -> str:
    return f"{marked.name} {marked.rate.count:,}/{marked.rate.n:,}"


def _words(row: Ends) -> str:
    return f"{row.name}, {label(row.condition, 80)}: {rate_marks.words(row.marks)}."
