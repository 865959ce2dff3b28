"""What a terminal or a browser would act on, or a reader would not see, is made visible."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\rb\x00\x7f", "a\\x0db\\x00\\x7f"),
        ("\x9b2J", "\\x9b2J"),
        ("safe\u202eexe.txt", "safe\\u202eexe.txt"),
        ("in\u2066side\u2069", "in\\u2066side\\u2069"),
        ("no\u200bwidth\ufeff", "no\\u200bwidth\\ufeff"),
        ("one\u2028line", "one\\u2028line"),
        ("half\ud83d", "half\\ud83d"),
        (b"latin-1 \xe9".decode("utf-8", "surrogateescape"), "latin-1 \\udce9"),
        ("tag\U000e0041", "tag\\U000e0041"),
    ],
)
def test_what_acts_or_hides_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["", "plain", "tab\tand\nlines", "Zürich 東京 👩‍👧 עברית", "<script>&amp;"])
def test_what_is_seen_anyway_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_a_text_of_one_line_keeps_no_line_feed() -> None:
    assert visible("one\ntwo\tthree", keep="") == "one\\x0atwo\\x09three"


@given(st.text(st.characters(codec=None)))
def test_nothing_that_acts_is_left_and_all_is_utf_8(text: str) -> None:
    shown = visible(text)
    assert shown.encode().decode() == shown
    assert visible(shown) == shown
    acting = {"Cc", "Cs", "Zl", "Zp"}
    assert not [each for each in shown if each not in "\n\t" and unicodedata.category(each) in acting]
    assert not [
        each for each in shown if unicodedata.bidirectional(each) in {"LRE", "RLE", "LRO", "RLO", "PDF"}
    ]
