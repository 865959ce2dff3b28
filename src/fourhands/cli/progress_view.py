"""How a run stands, for people: a table in a terminal, a few words at the end of a line elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fourhands.analysis.costs import dollars
from fourhands.cli.tally import Counts, Ended, Row, Running, Standing
from fourhands.report.text import visible

__all__ = ["duration", "ended_line", "live_view"]

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_LEAST_LINES: Final = 3
"""Of the table and of what is under way, however low the terminal is."""
_FRAME: Final = 6
"""Lines around the two lists: the table's head, one for what is left out of each, the bar's two, the cursor's."""
_GAP: Final = 2
_BAR: Final = 30
_TITLES: Final = ("agent", "condition", "done", "resolved", "delivered", "cost")
_NAMES: Final = 2
"""How many of the columns hold names, which may be cut short; numbers may not."""


def ended_line(ended: Ended, standing: Standing) -> str:
    """What came of a trial, and how the run stands by it: one line, whatever the record holds."""
    counts = standing.counts
    outcome = f"{ended.outcome.verdict} ({ended.outcome.termination}), {ended.seconds:.0f} s"
    why = f": {ended.why}" if ended.why else ""
    so_far = " · ".join((_resolved(counts), _cost(counts), *_left(standing)))
    return _plain(f"[{counts.done}/{counts.total}] {ended.key}: {outcome}{why} · {so_far}")


def live_view(standing: Standing, width: int, height: int) -> RenderableType:
    """A table of agents and conditions, the trials under way, and a bar, in a terminal of that size."""
    room = max(height - _FRAME, 2 * _LEAST_LINES)
    trials = standing.running[: max(room - len(standing.rows), room // 2)]
    rows = _foremost(standing.rows, max(room - len(trials), _LEAST_LINES))
    return Group(
        _table(rows, width),
        *_left_out(len(standing.rows) - len(rows), "rows"),
        _under_way(trials, width),
        *_left_out(len(standing.running) - len(trials), "trials under way"),
        *_totals(standing, width),
    )


def duration(seconds: float) -> str:
    """As exact as an estimate is: ``40 s``, ``12 min``, ``3 h 20 min``, ``2 d 5 h``."""
    if seconds < _MINUTE:
        return f"{max(round(seconds), 1)} s"
    if seconds < _HOUR:
        return f"{round(seconds / _MINUTE)} min"
    minutes = round(seconds / _MINUTE)
    if seconds < _DAY:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / _HOUR)
    return f"{hours // 24} d {hours % 24} h"


def _totals(standing: Standing, width: int) -> list[RenderableType]:
    counts = standing.counts
    bar = Table.grid(padding=(0, _GAP))
    words = " · ".join((f"{counts.done} of {counts.total} trials", *_left(standing)))
    room = max(width - cell_len(words) - _GAP, 1)
    bar.add_row(ProgressBar(counts.total, counts.done, width=min(room, _BAR)), words)
    parts = [_resolved(counts)]
    if counts.intended:
        parts.append(f"delivered {counts.delivered} of {counts.intended}")
    if counts.done > counts.scored:
        parts.append(f"without outcome {counts.done - counts.scored}")
    return [bar, Text(" · ".join((*parts, _cost(counts))), no_wrap=True, overflow="ellipsis")]


def _resolved(counts: Counts) -> str:
    return f"resolved {counts.resolved} of {counts.scored}"


def _cost(counts: Counts) -> str:
    return f"cost {dollars(counts.cost + counts.user_cost)}"


def _left(standing: Standing) -> list[str]:
    if standing.seconds_left is None or standing.counts.done == standing.counts.total:
        return []
    return [f"about {duration(standing.seconds_left)} left"]


def _table(rows: Sequence[Row], width: int) -> Table:
    cells = [_cells(row) for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(_TITLES, *cells, strict=True)]
    names = _share(width - sum(widths[_NAMES:]) - _GAP * len(widths), widths[:_NAMES])
    table = Table(box=None, padding=(0, _GAP, 0, 0), header_style="bold")
    for index, (title, wide) in enumerate(zip(_TITLES, (*names, *widths[_NAMES:]), strict=True)):
        side: Literal["left", "right"] = "left" if index < _NAMES else "right"
        table.add_column(title, no_wrap=True, overflow="ellipsis", justify=side, width=wide)
    for row, texts in zip(rows, cells, strict=True):
        fitted = map(_fitted, texts[:_NAMES], names)
        table.add_row(*map(Text, (*fitted, *texts[_NAMES:])), style=None if row.running else "dim")
    return table


def _cells(row: Row) -> tuple[str, ...]:
    counts = row.counts
    return (
        _plain(f"{row.agent}:{row.model}"),
        _plain(row.condition),
        f"{counts.done} of {counts.total}",
        f"{counts.resolved} of {counts.scored}" if counts.scored else "–",
        f"{counts.delivered} of {counts.intended}" if counts.intended else "–",
        dollars(counts.cost + counts.user_cost) if counts.done or row.running else "–",
    )


def _share(room: int, wanted: Sequence[int]) -> list[int]:
    """Widths for two columns in ``room``: what one of them does not want, the other may have."""
    first, second = wanted
    half = max(room // 2, 1)
    return [min(first, max(half, room - second)), min(second, max(half, room - first))]


def _fitted(name: str, width: int) -> str:
    """Cut in its middle where it is too long: alike names differ at their ends."""
    if cell_len(name) <= width:
        return name
    tail = max(width // 2, 1)
    return f"{name[: max(width - tail - 1, 0)]}…{name[-tail:]}"


def _under_way(trials: Sequence[Running], width: int) -> Table:
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    others = (8, 22, 6)
    room = max(width - sum(others) - _GAP * (len(others) + 1), 1)
    for wide in (room, *others):
        grid.add_column(no_wrap=True, max_width=wide, overflow="ellipsis")
    for each in trials:
        name = _fitted(_plain(f"{each.key.task} · {each.key.condition.label}"), room)
        grid.add_row(Text(name), f"step {each.step}", each.says, f"{each.seconds:.0f} s")
    return grid


def _foremost(rows: Sequence[Row], count: int) -> list[Row]:
    """As many as there is room for, in their order: those under way first, then unfinished ones, then the rest."""
    ranked = sorted(rows, key=lambda row: (not row.running, row.counts.done == row.counts.total))
    chosen = {id(row) for row in ranked[:count]}
    return [row for row in rows if id(row) in chosen]


def _left_out(count: int, what: str) -> list[RenderableType]:
    return [Text(f"… and {count} more {what}", style="dim")] if count > 0 else []


def _plain(text: str) -> str:
    """On one line, and nothing that acts on a terminal: names of tasks and words of providers are data."""
    return visible(text, keep="")
