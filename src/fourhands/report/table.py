"""One table, ready to be shown anywhere: in a terminal, as Markdown, LaTeX, CSV or HTML."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "Column", "TableView"]


@dataclass(frozen=True, slots=True)
class Column:
    """``name`` is for machines, ``title`` for people, ``definition`` for whoever asks what it means.

    ``more`` names what its cells hold for machines beyond ``value``: of an interval, whose ``value`` is the low
    end, the high one. ``is_detail``: left out where a table must stay narrow enough to be read.
    """

    name: str
    title: str
    numeric: bool = True
    definition: str = ""
    more: tuple[str, ...] = ()
    is_detail: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """``text`` is for people; ``value`` is what it says, unrounded, for sorting and for machines.

    ``more`` has a value for each name of the column's ``more``; empty: all of them unknown.
    """

    text: str
    value: float | int | str | None = None
    more: tuple[float | int | str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class TableView:
    """Rows have a cell for each column. ``notes`` are sentences that a reader of the table must know.

    ``group`` is the number of leading columns (the agent, say) whose equal neighbours need to be shown once only.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    group: int = 0
