"""A table as CSV, UTF-8; what is unknown is an empty field."""

from __future__ import annotations

from fourhands.report.rendering.frames import view_frame
from fourhands.report.table import TableView

__all__ = ["comma_separated", "comma_separated_lines"]


def comma_separated(view: TableView) -> str:
    """The unrounded values under their machine names."""
    return view_frame(view).write_csv()


def comma_separated_lines(view: TableView) -> list[str]:
    """The same, the header and each row apart, with their line ends: a field in quotes may hold some as well."""
    frame = view_frame(view)
    rows = (frame.slice(row, 1).write_csv(include_header=False) for row in range(frame.height))
    return [frame.clear().write_csv(), *rows]
