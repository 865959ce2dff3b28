"""What the page of a sheet shows, raw: what becomes of it as markup is the page's business."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["RecordPart", "SheetItem", "SheetPage", "parts_of"]

_HEADING: Final = re.compile(r"\[#(\d+)\] (.*)")
_QUOTED: Final = "| "


@dataclass(frozen=True, slots=True)
class SheetItem:
    """One item.

    Attributes:
        name: of the item.
        asks: what it is asked about beyond the question, or nothing.
        text: that is read.
        is_record: whether the text is a record of ours, told by its events. In any other text what looks like a
            heading of ours is somebody's words.
        left_out: characters of it that are not shown.
    """

    name: str
    asks: str
    text: str
    is_record: bool
    left_out: int = 0

    @property
    def parts(self) -> tuple[RecordPart, ...]:
        """What is read, part by part: see `parts_of`."""
        return tuple(parts_of(self.text)) if self.is_record else _whole(self.text)


@dataclass(frozen=True, slots=True)
class SheetPage:
    """All of a page.

    Args:
        sheet: names the sheet: answers that a browser keeps are of it.
        question: of the audit.
        labels: names and meanings.
        any_of: whether any of the labels may be given, or none; else exactly one.
        columns: of the file that is saved: of the item, of what is answered, of the note, of who answers.
        words: as which a cell of a label is read: for yes, and for no.
        items: in the order in which they are shown.
    """

    sheet: str
    question: str
    labels: tuple[tuple[str, str], ...]
    any_of: bool
    columns: tuple[str, ...]
    words: tuple[tuple[str, ...], tuple[str, ...]]
    items: tuple[SheetItem, ...]


@dataclass(frozen=True, slots=True)
class RecordPart:
    """A part of a text: of event ``number``, with a title; what is no record is one part without either."""

    number: int | None
    title: str
    lines: tuple[str, ...]

    @property
    def is_diff(self) -> bool:
        """Whether its lines are those of a diff."""
        return any(line.startswith("@@ ") for line in self.lines)


def parts_of(text: str) -> Iterator[RecordPart]:
    """A record by its events. Lines that are quoted lose what marks them as such: the page shows that otherwise."""
    number: int | None = None
    title = ""
    lines: list[str] = []
    for line in text.split("\n"):
        heading = _HEADING.fullmatch(line)
        if heading is None:
            lines.append(line.removeprefix(_QUOTED))
            continue
        if title or any(lines):
            yield RecordPart(number, title, tuple(lines))
        number, title, lines = int(heading[1]), heading[2], []
    if title or any(lines):
        yield RecordPart(number, title, tuple(lines))


def _whole(text: str) -> tuple[RecordPart, ...]:
    return (RecordPart(None, "", tuple(text.split("\n"))),) if text else ()
