"""A table as CSV, UTF-8; what is unknown is an empty field."""

from __future__ import annotations

from fourhands.report.rendering.frames import view_frame
from fourhands.report.table import TableView

__all__ = ["comma_separated"]


def comma_separated(view: TableView) -> str:
    """The unrounded values under their machine names."""
    return view_frame(view).write_csv()
