"""Rows -> tidy polars tables, typed as `fourhands.analysis.schema` says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from fourhands.analysis.schema import TABLES, Type

__all__ = ["Row", "Tables", "concat", "frame", "polars_schema"]

Row = Mapping[str, Any]
"""Column -> value; a column that is left out is null."""

_DTYPES: Final[dict[Type, Any]] = {
    Type.TEXT: pl.String(),
    Type.TEXTS: pl.List(pl.String()),
    Type.INTEGER: pl.Int64(),
    Type.NUMBER: pl.Float64(),
    Type.BOOLEAN: pl.Boolean(),
}


def polars_schema(table: str) -> pl.Schema:
    """The columns of ``trials``, ``interventions``, ``lines`` or ``events``."""
    return pl.Schema({column.name: _DTYPES[column.type] for column in TABLES[table]})


def frame(table: str, rows: Iterable[Row]) -> pl.DataFrame:
    """The rows of a table as a frame; every column is there, whatever the rows hold.

    Raises:
        KeyError: a row has a column that the table has not.
    """
    schema = polars_schema(table)
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    for row in rows:
        if unknown := row.keys() - columns.keys():
            raise KeyError(f"{table} has no column {min(unknown)!r}")
        for name, values in columns.items():
            values.append(row.get(name))
    try:
        return pl.DataFrame(columns, schema=schema)
    except UnicodeEncodeError:  # lone surrogates: names of files that are not UTF-8, broken text from a model
        return pl.DataFrame(
            {name: [_encodable(value) for value in values] for name, values in columns.items()}, schema=schema
        )


def _encodable(value: Any) -> Any:
    """The value with each lone surrogate in its text escaped."""
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@dataclass(frozen=True)
class Tables:
    """The tables that all results derive from; ``events`` is made only where it is exported."""

    trials: pl.DataFrame
    interventions: pl.DataFrame
    lines: pl.DataFrame

    @classmethod
    def of(
        cls, trials: Iterable[Row] = (), interventions: Iterable[Row] = (), lines: Iterable[Row] = ()
    ) -> Tables:
        """Tables of such rows."""
        return cls(frame("trials", trials), frame("interventions", interventions), frame("lines", lines))


def concat(parts: Iterable[Tables]) -> Tables:
    """One below the other."""
    found = list(parts) or [Tables.of()]
    return Tables(
        trials=pl.concat([part.trials for part in found]),
        interventions=pl.concat([part.interventions for part in found]),
        lines=pl.concat([part.lines for part in found]),
    )
