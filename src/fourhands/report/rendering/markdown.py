r"""A table as GitHub-flavoured Markdown. Whatever a cell holds is text: it is escaped where it would be markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fourhands.report.rendering.shown import brief, shown_rows
from fourhands.report.table import TableView
from fourhands.report.text import visible

__all__ = ["inline", "markdown", "pipe_table"]

_MARKUP: Final = re.compile(
    r"[\\`*<>|~]"
    r"|(?<![^\W_])_+|_+(?![^\W_])"  # inside of a word they are letters
    r"|\](?=[\[(:])"  # a pair of brackets is a link only before one of these
    r"|!(?=\[)"
    r"|&(?=#?\w+;)"
    r"|:(?=//)|(?<=www)\."  # addresses, which GitHub would make links of
    r"|^(?:#+|[+-]|\d+[.)])(?=\s|$)|^-(?=-)|^\s+|\s+$"  # only a block's beginning, or its end, gives these a meaning
)


def inline(text: str) -> str:
    """``text`` on one line, such that it reads as it is and is no markup, at a block's beginning too."""
    return _MARKUP.sub(_escaped, visible(text, keep=""))


def _escaped(found: re.Match[str]) -> str:
    text = found[0]
    if text[0].isdecimal():
        return f"{text[:-1]}\\{text[-1]}"
    if text.isspace():
        return "&#32;" * len(text)
    return "".join(f"\\{char}" for char in text)


def pipe_table(headers: Sequence[str], numeric: Sequence[bool], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts; a column of numbers stands to the right."""
    marks = ["---:" if number else "---" for number in numeric]
    lines = [[*map(inline, headers)], marks, *([*map(inline, row)] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def markdown(view: TableView) -> str:
    """The title as a heading, the table, and its notes."""
    view = brief(view)
    columns = view.columns
    table = pipe_table(
        [column.title for column in columns], [column.numeric for column in columns], shown_rows(view)
    )
    notes = "".join(f"- {inline(note)}\n" for note in view.notes)
    return f"### {inline(view.title)}\n\n{table}" + (f"\n{notes}" if notes else "")
