"""Records to review -> the page's text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from fourhands.report.html.own_page import OwnPage, own_file
from fourhands.report.record_review.diffs import shown_diff
from fourhands.report.record_review.model import ReviewedRecord

__all__ = ["review_page"]

_PAGE: Final = OwnPage(
    package=__package__,
    template="review.html.j2",
    shared=("page.css", "story.css", "narrow.css"),
    style="review.css",
    script=own_file(__package__, "review.js"),
    filters={"shown_diff": shown_diff},
)


def review_page(title: str, records: Sequence[ReviewedRecord]) -> str:
    """One HTML document that opens from disk and asks nothing of the network.

    It keeps decisions in the browser, under a name that depends on the records, and saves them as a JSON file:
    ``{"schema": 1, "decisions": [{"record", "task", "decision", "note", "by", "at"}]}``.
    """
    data = {
        "page": hashlib.sha256(
            "".join(record.digest for record in records).encode("utf-8", "surrogatepass")
        ).hexdigest()[:20],
        "records": [
            {
                "record": record.digest,
                "task": record.task,
                "decision": record.decision,
                "note": record.note,
                "by": record.by,
                "at": record.at,
            }
            for record in records
        ],
    }
    return _PAGE.text(
        data=data,
        title=title,
        records=records,
        statuses=sorted({record.status for record in records}),
    )
