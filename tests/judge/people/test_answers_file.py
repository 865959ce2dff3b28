"""Answers as spreadsheets and people save them are read; what cannot be one is named by file, row and column."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from fourhands.judge.people.answers_file import read_answers
from fourhands.judge.people.sheet_csv import blank_sheet
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.errors import InputError

ANY, STEP = AUDITS[AuditName.SWE_INTERACT], AUDITS[AuditName.GOALS]
ITEMS = ["s1-001", "s1-002", "s1-003", "s1-004"]
BUG, FORGOTTEN = ANY.names[:2]
HEAD = ["item", *ANY.names, "note"]


def written(path: Path, *rows: list[str], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    table = io.StringIO()
    csv.writer(table, delimiter=delimiter).writerows(rows)
    path.write_bytes(table.getvalue().encode(encoding))
    return path


def row(item: str, *cells: str) -> list[str]:
    return [item, *cells, *[""] * (6 - len(cells))]


def test_a_blank_sheet_has_no_answers_and_nothing_that_a_spreadsheet_would_run(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(blank_sheet(ANY, ITEMS))
    assert path.read_bytes().startswith(b"\xef\xbb\xbfitem,technical implementation bug,")
    cells = [cell for line in path.read_text("utf-8-sig").splitlines() for cell in line.split(",")]
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t")]
    (person,) = read_answers(ANY, ITEMS, [path])
    assert (person.name, person.answers) == ("sheet", {})


@pytest.mark.parametrize(("delimiter", "encoding"), [(",", "utf-8"), (";", "utf-8-sig"), ("\t", "utf-16")])
def test_what_spreadsheets_save_is_read(tmp_path: Path, delimiter: str, encoding: str) -> None:
    path = written(
        tmp_path / "answers-Zoë.csv",
        ["Item", "minutes", *(name.upper() for name in ANY.names), "note"],
        [ITEMS[0], "3", "x", "", "", "", "", "=1+1; odd, but said"],
        [],
        [ITEMS[1], "", "No", "no", "no", "no", "no", ""],
        [ITEMS[2], "", "", "✓", "0", "FALSE", "-", ""],
        [ITEMS[3], "", "", "", "", "", "", "nothing to say yet"],
        ["", "", "", "", "", "", "", ""],
        delimiter=delimiter,
        encoding=encoding,
    )
    (person,) = read_answers(ANY, ITEMS, [path])
    assert person.name == "Zoë"
    assert person.answers == {ITEMS[0]: {BUG}, ITEMS[1]: frozenset(), ITEMS[2]: {FORGOTTEN}}


def test_one_of_several_answers_is_read_by_its_name(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.csv", ["item", "answer"], [ITEMS[0], " Yes "], [ITEMS[1], ""], [ITEMS[2], "partly"]
    )
    (person,) = read_answers(STEP, ITEMS, [path])
    assert person.answers == {ITEMS[0]: {"yes"}, ITEMS[2]: {"partly"}}


def test_a_column_may_name_the_annotators_and_a_file_hold_several(tmp_path: Path) -> None:
    head = ["item", "answer", "annotator"]
    one = written(tmp_path / "a.csv", head, [ITEMS[0], "yes", "bob"], [ITEMS[0], "no", "ann"])
    two = written(tmp_path / "b.csv", head, [ITEMS[1], "no", "ann"], [ITEMS[1], "no", ""])
    people = read_answers(STEP, ITEMS, [one, two])
    assert {person.name: dict(person.answers) for person in people} == {
        "ann": {ITEMS[0]: {"no"}, ITEMS[1]: {"no"}},
        "bob": {ITEMS[0]: {"yes"}},
        "b": {ITEMS[1]: {"no"}},
    }


def test_a_name_that_the_page_made_text_for_spreadsheets_is_the_name_that_was_given(tmp_path: Path) -> None:
    head = ["item", "answer", "annotator"]
    path = written(tmp_path / "a.csv", head, [ITEMS[0], "yes", "'=ann"], [ITEMS[1], "no", "'Ndrangheta"])
    assert [person.name for person in read_answers(STEP, ITEMS, [path])] == ["'Ndrangheta", "=ann"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([HEAD, row("s9-001", "x")], r"a.csv, row 2, column item: 's9-001' is no item of this sheet"),
        (
            [HEAD, row(ITEMS[0], "maybe")],
            r"row 2, column 'technical implementation bug': 'maybe' is no answer",
        ),
        (
            [HEAD, row(ITEMS[0], "x"), row(ITEMS[0], "x")],
            r"row 3, column item: a has answered s1-001 before \(.*row 2",
        ),
        ([HEAD, row("", "x")], r"row 2, column item: is empty"),
        ([HEAD[:-2]], r"row 1: there is no column 'missing user requirement': answers to swe-interact have"),
        ([[*HEAD, "ITEM"]], r"row 1: two columns are named 'item'"),
        ([], r"a.csv: is empty"),
    ],
)
def test_what_cannot_be_an_answer_is_named_with_its_place(
    tmp_path: Path, rows: list[list[str]], told: str
) -> None:
    path = written(tmp_path / "a.csv", *rows)
    with pytest.raises(InputError, match=told):
        read_answers(ANY, ITEMS, [path])


def test_an_answer_that_is_none_of_the_labels_and_files_that_are_no_tables_are_refused(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "a.csv", ["item", "answer"], [ITEMS[0], "mostly"])
    with pytest.raises(
        InputError, match=r"row 2, column answer: 'mostly' is no answer: give one of no, partly, yes"
    ):
        read_answers(STEP, ITEMS, [path])
    path.write_bytes(b"item,answer\n\xff\xfe\x00")
    with pytest.raises(InputError, match="is no text in UTF-8"):
        read_answers(STEP, ITEMS, [path])
    path.write_bytes(b'item,answer\n"' + b"x" * 200_000 + b'"\n')
    with pytest.raises(InputError, match="is no CSV"):
        read_answers(STEP, ITEMS, [path])
    with pytest.raises(InputError, match="no such file"):
        read_answers(STEP, ITEMS, [tmp_path / "nowhere.csv"])


def test_the_same_persons_answers_in_two_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    files = [
        written(folder / "answers-ann.csv", ["item", "answer"], [ITEMS[0], "yes"])
        for folder in (tmp_path, tmp_path / "old")
    ]
    with pytest.raises(
        InputError, match=r"ann has answered s1-001 before \(.*answers-ann.csv, row 2\): leave one"
    ):
        read_answers(STEP, ITEMS, files)
