"""All tables described column by column, as ``docs/tables.md`` holds them."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.schema import TABLES, TABLES_SCHEMA
from fourhands.report.table import Column
from fourhands.report.views import DERIVED

__all__ = ["columns_markdown"]

_ROWS: Final = {
    "trials": "One row for each planned trial: the attempt that counts.",
    "interventions": "One row for each intervention that a trial's user, or under `vanilla` their shadow, planned.",
    "lines": "One row for each line that the user wrote or took out.",
    "events": "One row for each event of the attempts that count; made only where it is asked for.",
}

_HEAD: Final = f"""\
# The tidy tables

Everything that `fourhands` reports is computed from these. `fourhands results RUN --table trials --format csv` prints
one, `fourhands results RUN --format parquet --out FOLDER` writes all of them ([results](results.md)). This is schema
{TABLES_SCHEMA} of their columns.

Of whatever the record does not tell the value is null (in CSV, an empty field), never zero. In CSV a list is JSON.
`run` and `trial` are the key in each table.
"""

_DERIVED_HEAD: Final = """
# The derived tables

Their columns under the names that CSV, Parquet and JSON have, unrounded: rates and differences of rates are
fractions of 1, costs US dollars. Where a column has several names, the first is what it is sorted by; the others
belong to it: the other end of an interval, what a rate is of, the name of a test.
"""


def columns_markdown() -> str:
    """The page; it is written by this function alone, so that it cannot say what is not so."""
    parts = [_HEAD]
    for name, columns in TABLES.items():
        lines = [
            f"| `{column.name}` | {column.type} | {column.unit} | {_cell(column.definition)} |"
            for column in columns
        ]
        head = ["| column | type | unit | definition |", "| --- | --- | --- | --- |"]
        parts.append(f"\n## {name}\n\n{_ROWS[name]}\n\n" + "\n".join([*head, *lines]) + "\n")
    parts.append(_DERIVED_HEAD)
    for name, derived in DERIVED.items():
        lines = [
            f"| {_names(column)} | {_cell(column.title)} | {_cell(column.definition)} |" for column in derived
        ]
        head = ["| column | shown as | definition |", "| --- | --- | --- |"]
        parts.append(f"\n## {name}\n\n" + "\n".join([*head, *lines]) + "\n")
    return "".join(parts)


def _names(column: Column) -> str:
    return ", ".join(f"`{name}`" for name in (column.name, *column.more))


def _cell(definition: str) -> str:
    return definition.replace("|", "\\|")
