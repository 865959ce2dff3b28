"""The page's text: what may run in it, and what stands in it."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.html.page import Page, page_text
from fourhands.report.table import Cell, Column, TableView

NO_DATA: dict[str, Any] = {"folder": None}
PAGE = Page(
    title="Report of a",
    headline=("One.", "Two."),
    cautions=(),
    runs=(),
    skipped=(),
    views=(),
    figures=(),
    data=NO_DATA,
)


def _assets() -> dict[str, str]:
    folder = files("fourhands.report.html") / "assets"
    return {each.name: each.read_text("utf-8") for each in folder.iterdir()}


def test_no_script_of_ours_makes_markup_of_text_or_runs_it() -> None:
    scripts = {name: text for name, text in _assets().items() if name.endswith(".js")}
    assert len(scripts) > 5
    forbidden = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc"
        r"|\beval\b|new Function"
    )
    assert {name: found.group() for name, text in scripts.items() if (found := forbidden.search(text))} == {}


def test_nothing_in_the_page_names_another_host() -> None:
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//|@import|url\(""", page_text(PAGE)) == []


def test_only_scripts_of_this_page_may_run() -> None:
    text = page_text(PAGE)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy
    allowed = set(re.findall(r"'sha256-([^']+)'", policy[1]))
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert {base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in scripts} == allowed
    assert len(scripts) == 2
    assert "default-src 'none'" in policy[1]
    assert "unsafe-eval" not in policy[1]
    assert "strict-dynamic" not in policy[1]
    assert "strict-dynamic" in page_text(replace(PAGE, data={"folder": "report_stories"}))


@given(st.text())
def test_no_text_of_a_run_can_end_the_script_element_that_holds_it(text: str) -> None:
    page = page_text(
        replace(
            PAGE, data={"folder": None, "name": text.encode("utf-8", "replace").decode() + "</script><b>"}
        )
    )
    stored = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert stored
    assert "<" not in stored[1]


@given(st.text(alphabet=st.sampled_from("<>&\"'`=\x00\x1b\u202e/ab")))
def test_texts_in_tables_are_never_markup(text: str) -> None:
    view = TableView(
        "v", text, (Column("c", text, numeric=False, definition=text),), ((Cell(text, text),),), (text,)
    )
    page = page_text(
        replace(PAGE, title=text, headline=(text,), cautions=(text,), skipped=(text,), views=(view,))
    )
    bare = page_text(replace(PAGE, title="", headline=("",), cautions=("",), skipped=("",), views=(
        TableView("v", "", (Column("c", "", numeric=False, definition="x"),), ((Cell("", ""),),), ("",)),
    )))  # fmt: skip
    if text:
        assert re.findall(r"<[a-z]+", page) == re.findall(r"<[a-z]+", bare)
    assert not re.search("[\x00\x1b\u202e]", page)


def test_equal_inputs_give_equal_text() -> None:
    assert page_text(PAGE) == page_text(PAGE)


@pytest.mark.parametrize("value", [1.5, -0.1234567890123, 3, None])
def test_a_number_is_sorted_by_its_value_and_shown_as_its_text(value: float | None) -> None:
    view = TableView("v", "t", (Column("c", "c"),), ((Cell("shown", value),),))
    cell = re.search(
        r'<td class="number" data-value="([^"]*)">shown</td>', page_text(replace(PAGE, views=(view,)))
    )
    assert cell
    assert (float(cell[1]) if cell[1] else None) == value
