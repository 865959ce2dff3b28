"""A table for the terminal: nothing is ever cut; what is too wide is folded, or goes on in a second table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from fourhands.report.rendering.shown import brief, shown_rows
from fourhands.report.table import Column, TableView
from fourhands.report.text import visible

__all__ = ["Terminal", "plain_table", "terminal"]

_LEAST = 12
"""Columns of the screen that a folded column of names keeps."""
_NUMBERS = 30
"""Columns of the screen that are left to numbers before names are folded."""


def terminal(view: TableView) -> Terminal:
    """The table, to be printed by rich."""
    return Terminal(brief(view))


def plain_table(headers: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[str]]) -> Table:
    """A table of texts as they are: brackets are no markup, and what would act on the terminal is spelled out.

    Columns of words are folded where they are too wide; numbers stand to the right, whole.
    """
    table = Table(box=SIMPLE_HEAD, padding=(0, 0))
    for header, number in zip(headers, numeric, strict=True):
        table.add_column(
            Text(header),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            min_width=None if number else min(_LEAST, _width(header)),
        )
    for cells in rows:
        table.add_row(*(Text(visible(cell, keep="")) for cell in cells))
    return table


@dataclass(frozen=True, slots=True)
class Terminal:
    """As wide as the terminal; columns that find no place stand in further tables, with the names again."""

    view: TableView
    title: str | None = None
    """In place of the table's own."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        rows = list(shown_rows(self.view))
        columns = self.view.columns
        title = self.view.title if self.title is None else self.title
        if title:
            yield Text(visible(title, keep=""), style="bold")
        for chosen in _parts(columns, rows, options.max_width):
            yield plain_table(
                [columns[i].title for i in chosen],
                [columns[i].numeric for i in chosen],
                [[row[i] for i in chosen] for row in rows],
            )
        for note in self.view.notes:
            yield Text(f"· {visible(note, keep='')}")


def _parts(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[list[int]]:
    """Numbers of columns that stand side by side: those of names in each part, those of numbers in one."""
    widths = [
        max([_width(column.title), *(_width(row[i]) for row in rows)]) for i, column in enumerate(columns)
    ]
    names = [i for i, column in enumerate(columns) if not column.numeric]
    numbers = [i for i, column in enumerate(columns) if column.numeric]
    room = width - 2 - sum(widths[i] + 1 for i in names)
    if room < _NUMBERS:  # names can be folded: they must not push all numbers out
        room = width - 2 - sum(min(widths[i], _LEAST) + 1 for i in names)
    parts = _filled(numbers, widths, room)
    if len(parts) > 1:  # alike in width: then names have more room as well
        total = sum(widths[i] + 1 for i in numbers)
        limits = range(total // len(parts), room)
        evenly = (_filled(numbers, widths, limit) for limit in limits)
        parts = next((found for found in evenly if len(found) == len(parts)), parts)
    for part in parts:
        yield sorted(names + part)


def _filled(columns: Sequence[int], widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns in order, as many in each part as find room."""
    parts: list[list[int]] = [[]]
    for i in columns:
        if parts[-1] and sum(widths[j] + 1 for j in parts[-1]) + widths[i] > room:
            parts.append([])
        parts[-1].append(i)
    return parts


def _width(text: str) -> int:
    return cell_len(visible(text, keep=""))
