from __future__ import annotations

from unicodedata import combining, east_asian_width
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.figures.labels import count, counts, label, names, signed


@given(st.text(st.characters()), st.integers(5, 40))
def test_a_label_is_one_line_that_fits_and_that_xml_can_hold(text: str, cells: int) -> None:
    shown = label(text, cells)
    width = sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in shown)
    assert width <= cells
    assert "\n" not in shown
    element = ET.Element("text")
    element.text = shown
    assert ET.fromstring(ET.tostring(element)).text == (shown or None)


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]), max_size=20))
def test_a_short_name_is_shown_as_it_is(text: str) -> None:
    assert label(text, 20) == text


def test_a_long_name_keeps_its_end_where_versions_are() -> None:
    assert label("a-model-with-a-very-long-name-v12", 16) == "a-model-wi…e-v12"


@given(st.lists(st.tuples(st.text(max_size=60), st.text(max_size=60)), max_size=12))
def test_two_agents_never_have_one_name(who: list[tuple[str, str]]) -> None:
    shown = names(who, 12)
    assert len(set(shown.values())) == len(set(who))


def test_what_all_share_is_left_out_of_names() -> None:
    assert names([("codex", "a"), ("codex", "b")]) == {("codex", "a"): "a", ("codex", "b"): "b"}
    assert names([("codex", "a"), ("thin", "a")]) == {("codex", "a"): "codex", ("thin", "a"): "thin"}
    assert names([("codex", "a"), ("thin", "b")])["thin", "b"] == "thin · b"


def test_numbers_read_as_people_write_them() -> None:
    assert [signed(value) for value in (-1.849, 0.5, -0.04, 0)] == ["−1.8", "+0.5", "0.0", "0.0"]
    assert count(1, "task") == "1\N{NO-BREAK SPACE}task"
    assert counts([200, 198, 1200], "task") == "198 to 1,200\N{NO-BREAK SPACE}tasks"
    assert counts([], "task") == "0\N{NO-BREAK SPACE}tasks"
