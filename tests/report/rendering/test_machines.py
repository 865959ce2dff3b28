"""Tables for machines: CSV, JSON and frames hold unrounded values under machine names."""

from __future__ import annotations

import csv
import io

import orjson
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.failure import FailureLabel, FailureType
from fourhands.report.rendering.comma_separated import comma_separated, comma_separated_lines
from fourhands.report.rendering.frames import view_frame
from fourhands.report.rendering.json_text import json_text
from fourhands.report.rendering.records import Value, names, rows
from fourhands.report.table import Cell, Column, TableView
from fourhands.report.views import VIEWS

from ..studies import everything  # noqa: TID252 - tests are no package that could be named
from .views import VIEW, of_texts

EVERYTHING = everything()

NAMES = ["agent", "condition", "rate", "rate_low", "rate_high", "delta"]


def test_csv_holds_each_value_unrounded_and_an_interval_in_two_fields() -> None:
    assert comma_separated(VIEW).splitlines() == [
        "agent,condition,rate,rate_low,rate_high,delta",
        "thin,vanilla,0.6666666666666666,0.2,0.9,",
        "thin,counter-edit[k=1],0.3333333333333333,0.1,0.8,-0.3333333333333333",
        "pi_2,vanilla,,,,",
    ]


def test_json_is_one_object_a_row_with_null_for_what_is_unknown() -> None:
    document = orjson.loads(json_text(VIEW))
    assert [list(row) for row in document] == [NAMES] * 3
    assert document[0]["rate"] == 2 / 3
    assert document[2] == {**dict.fromkeys(NAMES), "agent": "pi_2", "condition": "vanilla"}


@pytest.mark.parametrize("name", VIEWS)
def test_no_value_is_lost_on_the_way_into_a_frame(name: str) -> None:
    view = VIEWS[name](EVERYTHING)
    assert view is not None
    frame = view_frame(view)
    for told, held in zip(rows(view), frame.rows(), strict=True):
        assert [*held] == told
        assert [type(each) for each in held if each is not None] == [
            frame.schema[field].to_python()
            for field, each in zip(names(view), told, strict=True)
            if each is not None
        ]


@given(
    st.lists(
        st.none()
        | st.sampled_from([*FailureLabel, *FailureType])
        | st.text(st.characters(exclude_categories=["Cs"]))
    )
    | st.lists(st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False))
    | st.lists(st.none() | st.booleans())
)
def test_whatever_comes_first_in_a_column_all_of_it_is_held(values: list[Value]) -> None:
    view = TableView("t", "t", (Column("c", "c"),), tuple((Cell("", value),) for value in values))
    assert view_frame(view)["c"].to_list() == values


def test_text_beside_numbers_is_refused_and_not_blanked() -> None:
    view = TableView("t", "t", (Column("c", "c"),), ((Cell("", 1),), (Cell("", "none"),)))
    with pytest.raises(TypeError):
        view_frame(view)


def test_a_frame_holds_the_same_typed() -> None:
    frame = view_frame(VIEW)
    assert frame.rows(named=True) == orjson.loads(json_text(VIEW))
    assert frame.schema["rate_high"] == pl.Float64
    empty = view_frame(TableView("none", "none", (Column("a", "a", more=("b",)),), ()))
    assert empty.schema == {"a": pl.String, "b": pl.String}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_any_text_comes_back_from_csv_as_it_was(texts: list[str]) -> None:
    written = comma_separated(of_texts(*texts))
    header, *rows = csv.reader(io.StringIO(written, newline=""))
    assert header == ["text"]
    assert [row[0] if row else "" for row in rows] == texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_the_lines_of_csv_are_a_header_and_one_for_each_row(texts: list[str]) -> None:
    view = of_texts(*texts)
    lines = comma_separated_lines(view)
    assert len(lines) == 1 + len(texts)
    assert "".join(lines) == comma_separated(view)
