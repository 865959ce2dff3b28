"""What people answered: CSV files as spreadsheets and the page save them, one person each or several in one.

Read as tolerantly as is safe: any of the usual delimiters, encodings with or without a mark, more columns, other
capitals, other orders. What cannot be an answer is an error that names the file, the row and the column.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fourhands.judge.people.sheet_csv import ANNOTATOR, ANSWER, ITEM, NOTE, label_columns
from fourhands.model.audit import Audit, Choice
from fourhands.model.errors import InputError

__all__ = ["NO", "YES", "PersonsAnswers", "read_answers"]

YES: Final = ("x", "yes", "y", "1", "true", "✓", "✔")
NO: Final = ("no", "n", "0", "false", "-", "–")
_AS_TEXT: Final = re.compile(r"\A'(?=[=+\-@\t\r])")
"""What the page puts before a cell that a spreadsheet would take for a formula."""
_DELIMITERS: Final = ",;\t"
_PREFIX: Final = "answers-"


@dataclass(frozen=True, slots=True)
class PersonsAnswers:
    """One person's labels by item; an item that is not there was not answered."""

    name: str
    answers: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Row:
    where: str
    """The file and the row, counted from 1 with the head."""
    name: str
    item: str
    answer: frozenset[str] | None


def read_answers(audit: Audit, items: Sequence[str], paths: Sequence[Path]) -> list[PersonsAnswers]:
    """The answers in these files, by the persons' names.

    Args:
        audit: what was asked.
        items: names of the sheet's items.
        paths: files; a person's name is the file's, without ``answers-``, unless a column ``annotator`` has it.

    Raises:
        InputError: a file is none of answers to this sheet, or answers an item twice; names the place and the remedy.
    """
    known = set(items)
    found: dict[str, dict[str, tuple[_Row, frozenset[str] | None]]] = {}
    for row in (row for path in paths for row in _rows(audit, path)):
        if row.item not in known:
            raise InputError(
                f"{row.where}, column {ITEM}: {row.item!r} is no item of this sheet: give answers to the sheet that "
                "its key.json is of"
            )
        own = found.setdefault(row.name, {})
        if row.item in own:
            raise InputError(
                f"{row.where}, column {ITEM}: {row.name} has answered {row.item} before ({own[row.item][0].where}): "
                "leave one answer"
            )
        own[row.item] = (row, row.answer)
    return [
        PersonsAnswers(name, {item: answer for item, (_, answer) in own.items() if answer is not None})
        for name, own in sorted(found.items())
    ]


def _rows(audit: Audit, path: Path) -> Iterator[_Row]:
    table = _table(path)
    head = next(table, None)
    if head is None:
        raise InputError(f"{path}: is empty: give a file that the page saved, or sheet.csv filled in")
    columns = _columns(audit, path, head[1])
    name = path.stem.removeprefix(_PREFIX)
    for number, cells in table:
        row = dict.fromkeys(columns, "")
        row |= {column: cells[place].strip() for column, place in columns.items() if place < len(cells)}
        if not any(row.values()):
            continue
        where = f"{path}, row {number}"
        if not row[ITEM]:
            raise InputError(f"{where}, column {ITEM}: is empty: name the item, or remove the row")
        who = _AS_TEXT.sub("", row.get(ANNOTATOR, ""))
        yield _Row(where, who or name, row[ITEM], _answer(audit, row, where))


def _table(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows that are not blank, with their numbers."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(f"{path}: no such file: give files of answers") from None
    try:
        text = data.decode("utf-16" if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no text in UTF-8 ({error}): save it as CSV in UTF-8") from None
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    try:
        for number, cells in enumerate(
            csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), start=1
        ):
            if any(cell.strip() for cell in cells):
                yield number, cells
    except csv.Error as error:
        raise InputError(f"{path}: is no CSV ({error}): save the table as CSV") from None


def _columns(audit: Audit, path: Path, head: Sequence[str]) -> dict[str, int]:
    """The columns that are read, with their places; other columns may be there."""
    wanted = {each.casefold(): each for each in (ITEM, *label_columns(audit), ANNOTATOR)}
    found: dict[str, int] = {}
    for place, cell in enumerate(head):
        name = wanted.get(" ".join(cell.split()).casefold())
        if name in found:
            raise InputError(f"{path}, row 1: two columns are named '{name}': leave one")
        if name:
            found[name] = place
    for name in (ITEM, *label_columns(audit)):
        if name not in found:
            raise InputError(
                f"{path}, row 1: there is no column '{name}': answers to {audit.name} have the columns "
                f"{', '.join((ITEM, *label_columns(audit), NOTE))}"
            )
    return found


def _answer(audit: Audit, row: Mapping[str, str], where: str) -> frozenset[str] | None:
    if audit.choice is Choice.ANY:
        given = {label: _yes_or_no(row[label], f"{where}, column '{label}'") for label in audit.names}
        # Of a row in which anything stands, what is blank was not ticked.
        return (
            frozenset(label for label, yes in given.items() if yes) if set(given.values()) != {None} else None
        )
    if not row[ANSWER]:
        return None
    names = {name.casefold(): name for name in audit.names}
    label = names.get(" ".join(row[ANSWER].split()).casefold())
    if label is None:
        raise InputError(
            f"{where}, column {ANSWER}: {row[ANSWER]!r} is no answer: give one of {', '.join(audit.names)}"
        )
    return frozenset({label})


def _yes_or_no(cell: str, where: str) -> bool | None:
    word = cell.casefold()
    if word in (*YES, *NO):
        return word in YES
    if word:
        raise InputError(f"{where}: {cell!r} is no answer: give yes or no, or leave it blank")
    return None
