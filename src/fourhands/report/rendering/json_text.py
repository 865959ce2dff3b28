"""A table as JSON."""

from __future__ import annotations

import orjson

from fourhands.report.rendering.records import records
from fourhands.report.table import TableView

__all__ = ["json_text"]


def json_text(view: TableView) -> str:
    """A list of objects, one a row, with unrounded values under their machine names."""
    return orjson.dumps(records(view), option=orjson.OPT_INDENT_2).decode() + "\n"
