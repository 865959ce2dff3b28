"""A `TableView` in each format. What is not text, the terminal's and Parquet, has a module of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fourhands.report.rendering.comma_separated import comma_separated
from fourhands.report.rendering.json_text import json_text
from fourhands.report.rendering.latex import latex
from fourhands.report.rendering.markdown import markdown
from fourhands.report.table import TableView

__all__ = ["TEXTS"]

TEXTS: Final[Mapping[str, Callable[[TableView], str]]] = {
    "markdown": markdown,
    "latex": latex,
    "csv": comma_separated,
    "json": json_text,
}
"""By the name of the format, as ``fourhands results --format`` takes it."""
