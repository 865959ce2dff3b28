"""A table for the terminal: nothing is ever cut; what is too wide is folded, or goes on in a second table."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from fourhands.report.rendering.shown import brief, shown_rows
from fourhands.report.table import TableView
from fourhands.report.text import visible

__all__ = ["PlainTable", "Terminal", "plain_table", "terminal"]

_LEAST = 12
"""Columns of the screen that a folded column of names keeps."""
_NARROWEST = 4
"""The same, where no number would find room beside names of that width."""
_NUMBERS = 30
"""Columns of the screen that are left to numbers before names are folded."""
_MANY_NAMES = 3
"""With more columns of names, those of the trials that say the same in every row are told once, above."""
_OF_TRIALS = frozenset({"agent", "model", "simulator", "benchmark", "baseline", "disclosure", "coverage"})


def terminal(view: TableView) -> Terminal:
    """The table, to be printed by rich."""
    return Terminal(brief(view))


def plain_table(
    headers: Sequence[str],
    numeric: Sequence[bool],
    rows: Iterable[Sequence[str]],
    *,
    whole: Collection[int] = (),
) -> PlainTable:
    """A table of texts as they are: brackets are no markup, and what would act on the terminal is spelled out.

    ``whole`` are numbers of columns whose words are not folded either.
    """
    return PlainTable(tuple(headers), tuple(numeric), tuple(map(tuple, rows)), frozenset(whole))


@dataclass(frozen=True, slots=True)
class PlainTable:
    """As wide as the terminal; columns of numbers that find no place stand in further tables, with the names again.

    Columns of words are folded where they are too wide; numbers stand to the right, whole.
    """

    headers: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    whole: frozenset[int] = frozenset()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [
            max([_width(header), *(_width(row[i]) for row in self.rows)])
            for i, header in enumerate(self.headers)
        ]
        names = [i for i, is_number in enumerate(self.numeric) if not is_number]
        numbers = [i for i, is_number in enumerate(self.numeric) if is_number]
        least, room = _room(options.max_width, [widths[i] for i in names], [widths[i] for i in numbers])
        for part in _parts(numbers, widths, room):
            yield self._table(sorted(names + part), least)

    def _table(self, chosen: Sequence[int], least: int) -> Table:
        table = Table(box=SIMPLE_HEAD, padding=(0, 0))
        for i in chosen:
            is_number, header = self.numeric[i], self.headers[i]
            table.add_column(
                Text(header),
                justify="right" if is_number else "left",
                no_wrap=is_number or i in self.whole,
                overflow="fold",
                min_width=None if is_number else min(least, _width(header)),
            )
        for row in self.rows:
            table.add_row(*(Text(visible(row[i], keep="")) for i in chosen))
        return table


@dataclass(frozen=True, slots=True)
class Terminal:
    """A table with its title and its notes."""

    view: TableView
    title: str | None = None
    """In place of the table's own."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self.view.columns
        title = self.view.title if self.title is None else self.title
        if title:
            yield Text(visible(title, keep=""), style="bold")
        once = _once(self.view)
        if once:
            told = (f"{columns[i].title} {self.view.rows[0][i].text}" for i in once)
            yield Text(visible(" · ".join(told), keep=""))
        left = [i for i in range(len(columns)) if i not in once]
        yield plain_table(
            [columns[i].title for i in left],
            [columns[i].numeric for i in left],
            [[row[i] for i in left] for row in shown_rows(self.view)],
        )
        for note in self.view.notes:
            yield Text(f"· {visible(note, keep='')}")


def _once(view: TableView) -> list[int]:
    """Of many columns of names, those of what trials are of, where all rows say the same."""
    names = [i for i, column in enumerate(view.columns) if not column.numeric]
    if len(names) <= _MANY_NAMES:
        return []
    of_trials = [i for i in names if view.columns[i].name in _OF_TRIALS]
    return [i for i in of_trials if view.rows[0][i].text and len({row[i].text for row in view.rows}) == 1]


def _room(width: int, names: Sequence[int], numbers: Sequence[int]) -> tuple[int, int]:
    """How wide folded names stay at least, and what that leaves to numbers; of a screen so wide."""
    room = width - 2 - sum(each + 1 for each in names)
    if room >= _NUMBERS:
        return _LEAST, room
    # Names can be folded: they must not push numbers out.
    widest = max(numbers, default=0)
    for least in range(_LEAST, _NARROWEST - 1, -1):
        room = width - 2 - sum(min(each, least) + 1 for each in names)
        if room >= widest:
            break
    return least, room


def _parts(numbers: Sequence[int], widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns of numbers that stand side by side; of several parts each as wide as the others, or nearly."""
    parts = _filled(numbers, widths, room)
    if len(parts) > 1:  # then names have more room as well
        total = sum(widths[i] + 1 for i in numbers)
        evenly = (_filled(numbers, widths, limit) for limit in range(total // len(parts), room))
        parts = next((found for found in evenly if len(found) == len(parts)), parts)
    return parts


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
