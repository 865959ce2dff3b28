"""A table as a polars frame, which can be written as Parquet."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from fourhands.report.rendering.records import Value, names, rows
from fourhands.report.table import TableView

__all__ = ["view_frame"]


def view_frame(view: TableView) -> pl.DataFrame:
    """The unrounded values under their machine names; a column of nothing but unknown values is of text.

    Raises:
        TypeError: a column holds text beside numbers, so that a frame could not hold all of it.
    """
    columns = [*zip(*rows(view), strict=True)] or [()] * len(names(view))
    return pl.DataFrame(
        [
            pl.Series(name, values, dtype=_type_of(values), strict=True)
            for name, values in zip(names(view), columns, strict=True)
        ]
    )


def _type_of(values: Iterable[Value]) -> type[pl.DataType]:
    """The type that holds them all. Polars would go by the first: one name of ours, and no other text would fit."""
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known) or not known:
        return pl.String
    if any(isinstance(value, float) for value in known):
        return pl.Float64
    return pl.Boolean if all(isinstance(value, bool) for value in known) else pl.Int64
