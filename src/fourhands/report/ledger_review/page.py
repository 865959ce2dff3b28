"""Ledgers to review -> the page's text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fourhands.report.html.own_page import OwnPage
from fourhands.report.ledger_review.model import ReviewedLedger, pieces

__all__ = ["ledger_page"]

_PAGE: Final = OwnPage(
    package=__package__,
    template="ledger.html.j2",
    shared=("page.css", "story.css", "narrow.css"),
    style="ledger.css",
    script="nameTheme();\n",
)


def ledger_page(title: str, ledgers: Sequence[ReviewedLedger]) -> str:
    """One HTML document that opens from disk, asks nothing of the network, and needs no script to be read."""
    return _PAGE.text(title=title, ledgers=ledgers, pieces=pieces)
