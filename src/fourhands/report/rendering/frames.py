"""A table as a polars frame, which can be written as Parquet."""

from __future__ import annotations

import polars as pl

from fourhands.report.rendering.records import names, rows
from fourhands.report.table import TableView

__all__ = ["view_frame"]


def view_frame(view: TableView) -> pl.DataFrame:
    """The unrounded values under their machine names; a column of nothing but unknown values is of text."""
    columns = [*zip(*rows(view), strict=True)] or [()] * len(names(view))
    series = [
        pl.Series(name, values, strict=False) for name, values in zip(names(view), columns, strict=True)
    ]
    return pl.DataFrame([each.cast(pl.String) if each.dtype == pl.Null else each for each in series])
