"""A table for machines: unrounded values under machine names, one record a row."""

from __future__ import annotations

from fourhands.report.table import TableView

__all__ = ["Value", "names", "records", "rows"]

Value = float | int | str | None
"""What a field holds; ``None``: unknown."""


def names(view: TableView) -> list[str]:
    """Of all fields, in order: a column that shows an interval has two."""
    return [name for column in view.columns for name in (column.name, *column.more)]


def rows(view: TableView) -> list[list[Value]]:
    """Of each row the values, in the order of `names`."""
    found = []
    for cells in view.rows:
        values: list[Value] = []
        for column, cell in zip(view.columns, cells, strict=True):
            more = (*cell.more, *[None] * len(column.more))
            values += (cell.value, *more[: len(column.more)])
        found.append(values)
    return found


def records(view: TableView) -> list[dict[str, Value]]:
    """Each row as a mapping."""
    keys = names(view)
    return [dict(zip(keys, values, strict=True)) for values in rows(view)]
