"""``sheet.csv``: items to answer, one a row, in a table that every spreadsheet opens."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

from fourhands.model.audit import Audit, Choice

__all__ = ["ANNOTATOR", "ANSWER", "ITEM", "NOTE", "blank_sheet", "label_columns"]

ITEM: Final = "item"
ANSWER: Final = "answer"
NOTE: Final = "note"
ANNOTATOR: Final = "annotator"
"""A column that may be there: who answers; else the file's name tells."""


def label_columns(audit: Audit) -> tuple[str, ...]:
    """The columns that hold an answer: one for each label where any may be given, else one for the one."""
    return audit.names if audit.choice is Choice.ANY else (ANSWER,)


def blank_sheet(audit: Audit, items: Sequence[str]) -> bytes:
    """The file without an answer. It holds names of items and labels only: nothing that anybody else wrote."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\r\n")
    columns = label_columns(audit)
    writer.writerow([ITEM, *columns, NOTE])
    writer.writerows([[item, *("" for _ in columns), ""] for item in items])
    return table.getvalue().encode(
        "utf-8-sig"
    )  # without its mark some spreadsheets take it for another encoding
