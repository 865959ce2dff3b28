"""Headings of different things never read alike, however little room they have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.figures.headings import LINES, conditions, fold
from fourhands.report.figures.labels import label

from .studies import HOSTILE

PROMPT = "disclosure=prompt"


def _fold(*texts: str, cells: int = 30) -> list[tuple[str, ...]]:
    return list(fold(texts, lambda text, spare: label(text, cells - spare)).values())


def test_short_labels_stand_as_they_are() -> None:
    known = ["interactive", "interactive[persona=neutral]", "counter-edit[k=5]"]
    assert list(conditions(known).values()) == known


def test_where_one_is_long_a_value_tells_its_parameter() -> None:
    known = {
        "interactive": "interactive",
        f"interactive[simulator=sim-good,{PROMPT}]": "interactive, sim-good, prompt",
        f"interactive[simulator=*,{PROMPT}]": "interactive, all simulators, prompt",
        "interactive[persona=vague,coverage=at-will]": "interactive, vague persona, at-will",
        "four-hands[k=5,persona=neutral]": "four-hands[k=5], neutral persona",
    }
    assert conditions(known) == known


def test_words_that_would_be_the_same_are_not_used() -> None:
    known = ["interactive[simulator=x,disclosure=prompt]", "interactive[simulator=vague persona]"]
    known += ["interactive[persona=vague]"]
    assert list(conditions(known).values()) == known


def test_a_line_ends_between_names_and_then_at_commas() -> None:
    assert _fold("hurries · interactive, neutral persona", cells=28) == [
        ("hurries", "interactive, neutral persona")
    ]
    assert _fold("interactive, sim-inventor, prompt") == [("interactive, sim-inventor,", "prompt")]
    assert _fold("interactive, sim-good, prompt") == [("interactive, sim-good, prompt",)]


def test_what_clipping_makes_equal_is_numbered() -> None:
    first, second, third = _fold("x" * 40 + "one" + "x" * 40, "x" * 40 + "two" + "x" * 40, "x" * 90, cells=20)
    assert first != second != third
    assert second[-1].endswith(" 2")
    assert third[-1].endswith(" 3")


@given(
    st.lists(st.text("ab,[ ·\n漢", max_size=40), max_size=12, unique=True),
    st.integers(min_value=8, max_value=30),
)
def test_no_two_texts_have_the_same_lines_and_all_fit(texts: list[str], cells: int) -> None:
    told = fold(texts, lambda text, spare: label(text, cells - spare))
    assert len(set(told.values())) == len(told) == len([text for text in texts if text])
    assert all(1 <= len(lines) <= LINES for lines in told.values())
    assert all(label(line, cells) == line for lines in told.values() for line in lines)


@pytest.mark.parametrize("cells", [9, 30])
def test_hostile_names_are_shown_as_anywhere(cells: int) -> None:
    (lines,) = _fold(HOSTILE, cells=cells)
    assert not any(char in line for line in lines for char in "\x1b\u202e\n")
