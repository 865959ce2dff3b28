"""A sheet -> the page's text."""

from __future__ import annotations

from typing import Final

from fourhands.report.audit_sheet.model import SheetPage
from fourhands.report.html.own_page import OwnPage, own_file
from fourhands.report.text import visible

__all__ = ["sheet_page"]

_PAGE: Final = OwnPage(
    package=__package__,
    template="sheet.html.j2",
    shared=("page.css", "narrow.css"),
    style="sheet.css",
    script=own_file(__package__, "sheet.js"),
    filters={"shown": lambda lines: visible("\n".join(lines))},
)


def sheet_page(page: SheetPage) -> str:
    """One HTML document that opens from disk and asks nothing of the network.

    It keeps answers in the browser, under the sheet's name and the person's, and saves them as ``answers-NAME.csv``,
    with the sheet's columns.
    """
    data = {
        "sheet": page.sheet,
        "any": page.any_of,
        "labels": [name for name, _ in page.labels],
        "columns": page.columns,
        "words": page.words,
        "items": [item.name for item in page.items],
    }
    return _PAGE.text(data=data, page=page)
