"""The formats that results come in. Light, since the command line needs it for its help."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

__all__ = ["ENDINGS", "FOR_MACHINES", "Format"]


class Format(StrEnum):
    """What ``fourhands results --format`` takes."""

    TERMINAL = "terminal"
    MARKDOWN = "markdown"
    LATEX = "latex"
    CSV = "csv"
    PARQUET = "parquet"
    JSON = "json"


ENDINGS: Final = {
    Format.MARKDOWN: "md",
    Format.LATEX: "tex",
    Format.CSV: "csv",
    Format.PARQUET: "parquet",
    Format.JSON: "json",
}
"""Of the files in each format that can be one."""

FOR_MACHINES: Final = frozenset({Format.CSV, Format.PARQUET, Format.JSON})
"""Formats with unrounded values under machine names; the tidy tables are exported in these."""
