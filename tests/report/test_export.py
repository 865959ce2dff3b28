"""Tables as text and as files: each format holds what the table holds."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import orjson
import polars as pl
import pytest

from fourhands.analysis.schema import TABLES
from fourhands.analysis.tidy import frame
from fourhands.model.errors import InputError
from fourhands.report.export import Exporter, see_that_there_is
from fourhands.report.formats import ENDINGS, FOR_MACHINES, Format
from fourhands.report.views import VIEWS

from .studies import everything, study, trial

EVENTS = frame(
    "events", [{"run": "run", "trial": "t", "seq": 0, "kind": "trial_started", "reads": ["a b", 'c"d']}]
)
EXPORTER = Exporter(everything(), lambda: EVENTS)
TEXTS = [form for form in ENDINGS if form is not Format.PARQUET]


@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize("name", VIEWS)
def test_every_table_can_be_had_in_every_format(form: Format, name: str) -> None:
    assert EXPORTER.text(name, form).endswith("\n")


@pytest.mark.parametrize("name", ["interventions", "lines", "events"])
def test_a_table_for_programs_is_refused_where_people_would_drown_in_it(name: str) -> None:
    for form in TEXTS:
        if form in FOR_MACHINES:
            assert EXPORTER.text(name, form).endswith("\n")
        else:
            with pytest.raises(InputError, match=f"{len(TABLES[name])} columns.*csv, json or parquet"):
                EXPORTER.text(name, form)


def test_a_tidy_table_for_machines_has_all_columns_and_a_list_is_json_in_csv() -> None:
    (row,) = csv.DictReader(io.StringIO(EXPORTER.text("events", Format.CSV)))
    assert list(row) == [column.name for column in TABLES["events"]]
    assert orjson.loads(row["reads"]) == ["a b", 'c"d']
    assert row["step"] == ""
    (same,) = orjson.loads(EXPORTER.text("events", Format.JSON))
    assert (same["reads"], same["step"]) == (["a b", 'c"d'], None)


def test_all_tables_are_written_and_parquet_reads_back_as_they_were(tmp_path: Path) -> None:
    written = EXPORTER.write(tmp_path / "out", Format.PARQUET)
    derived = [name for name in VIEWS if name not in TABLES]
    assert {path.relative_to(tmp_path / "out").as_posix() for path in written} == {
        *(f"{name}.parquet" for name in TABLES),
        *(f"tables/{name}.parquet" for name in derived),
    }
    tables = EXPORTER.study.tables
    for name, expected in (("trials", tables.trials), ("lines", tables.lines), ("events", EVENTS)):
        found = pl.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert found.equals(expected)
        assert found.schema == expected.schema
    assert pl.read_parquet_metadata(tmp_path / "out" / "trials.parquet")["fourhands.tables_schema"] == "2"
    delta = pl.read_parquet(tmp_path / "out" / "tables" / "conditions.parquet")["delta"]
    assert delta.to_list()[:3] == [None, -0.5, 0.0]


@pytest.mark.parametrize("form", TEXTS)
def test_files_hold_what_is_printed_and_tidy_ones_are_for_machines(form: Format, tmp_path: Path) -> None:
    written = EXPORTER.write(tmp_path, form)
    assert ((tmp_path / f"events.{ENDINGS[form]}") in written) == (form in FOR_MACHINES)
    for path in written:
        assert path.read_text("utf-8") == EXPORTER.text(path.stem, form)


def test_one_table_is_one_file(tmp_path: Path) -> None:
    (path,) = EXPORTER.write(tmp_path / "new", Format.CSV, "main")
    assert path == tmp_path / "new" / "main.csv"
    assert [each.name for each in path.parent.iterdir()] == ["main.csv"]


def test_without_a_name_all_derived_tables_are_told() -> None:
    texts = list(EXPORTER.texts(Format.LATEX))
    assert len(texts) == len(VIEWS) - 1
    assert all(text.count("\\begin{table}") == 1 for text in texts)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("condition", "did you mean conditions"),
        ("trails", "did you mean trials"),
        ("zzz", "there are main, conditions, "),
    ],
)
def test_an_unknown_table_is_told_with_those_that_are_most_like_it(name: str, says: str) -> None:
    with pytest.raises(InputError, match=f"no table '{name}': {says}"):
        see_that_there_is(name)


def test_a_table_that_these_runs_have_nothing_for_is_said_to_be_so() -> None:
    alone = Exporter(study([trial()]), lambda: EVENTS)
    with pytest.raises(InputError, match="nothing to show in the table 'pass-k'"):
        alone.text("pass-k", Format.MARKDOWN)
