"""A record for a reader: nothing in it can pose as a heading, and it is as long as it may be and no longer."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.judge.audit.blocks import SMALLEST_BUDGET, Block, Keep, lay_out
from fourhands.report.text import visible

HEADING = re.compile(r"^\[#(\d+)\] ", re.MULTILINE)
UNSEEN = "\u200b\u200e\ufeff\u061c\xad\ufe01\ufff0\ue000\U000e0041\U000e0100"
"""Of no width, of a direction, tags, of private use, of no use yet: a model reads them, and people do not."""
BODIES = st.text(
    st.sampled_from("ab[]#1| \n\r\t\x0b\x0c\x1b\x85\u2028\u2029\u202e\ud800é" + UNSEEN), max_size=300
)


def block(seq: int, body: str = "", keep: Keep = Keep.OUTPUT, most: int = 1_000) -> Block:
    return Block(seq, "somebody does something", body, keep, most)


def headings(text: str) -> set[int]:
    return {int(number) for number in HEADING.findall(text)}


@given(st.lists(st.tuples(BODIES, st.sampled_from(Keep)), max_size=12))
def test_every_line_is_a_heading_of_ours_or_is_marked_as_material(found: list[tuple[str, Keep]]) -> None:
    blocks = [block(seq, body, keep) for seq, (body, keep) in enumerate(found)]
    record = lay_out(blocks, 1 << 20)
    for line in record.text.splitlines():  # as Python sees lines: more ways to end one than a model may know
        assert line.startswith("| ") or re.fullmatch(r"\[#\d+\] somebody does something", line)
    assert headings(record.text) == set(record.shown) == {each.seq for each in blocks}
    assert not re.search(f"[{UNSEEN}]", record.text)
    record.text.encode()  # without anything that no request can carry


@given(
    st.lists(st.tuples(st.integers(0, 3_000), st.sampled_from(Keep)), max_size=40),
    st.integers(SMALLEST_BUDGET, 40_000),
)
def test_it_is_never_longer_than_it_may_be_and_says_what_is_missing(
    found: list[tuple[int, Keep]], budget: int
) -> None:
    # At most six blocks of a record are always kept.
    always = [at for at, (_, keep) in enumerate(found) if keep is Keep.ALWAYS]
    blocks = [
        block(seq, "x\n" * (size // 2), Keep.EDIT if seq in always[6:] else keep, 2_000)
        for seq, (size, keep) in enumerate(found)
    ]
    record = lay_out(blocks, budget)
    assert len(record.text) <= budget
    assert headings(record.text) == set(record.shown)
    assert {each.seq for each in blocks if each.keep is Keep.ALWAYS} <= record.shown
    assert ("[left out: " in record.text) == (record.left_out > 0 or len(record.shown) < len(blocks))
    assert lay_out(blocks, budget) == record


def test_outputs_of_the_middle_go_first_and_what_was_said_stays() -> None:
    blocks = [block(0, "task", Keep.ALWAYS)]
    for seq in range(1, 61, 2):
        blocks += [block(seq, "o" * 200), block(seq + 1, "w" * 80, Keep.WORDS)]
    blocks.append(block(61, "end", Keep.ALWAYS))
    record = lay_out(blocks, 8_000)
    gone = {each.seq for each in blocks} - record.shown
    assert gone
    assert all(number % 2 for number in gone)  # outputs alone
    assert {1, 3, 57, 59} <= record.shown  # the beginning, and the last part
    assert 31 in gone
    assert re.search(r"^\[left out: #31, 200 characters\]$", record.text, re.MULTILINE)
    assert record.left_out == 200 * len(gone)


def test_a_long_body_shows_its_beginning_and_its_end_or_its_end_alone() -> None:
    body = "first\n" + "x" * 2_000 + "\nlast"
    both = lay_out([block(1, body, most=100)], SMALLEST_BUDGET)
    assert "| first" in both.text
    assert both.text.endswith("| last")
    assert both.left_out == len(body) - 100
    assert f"[left out: {len(body) - 100:,} characters of #1]" in both.text
    tail = lay_out([Block(1, "printed", body, Keep.OUTPUT, 100, tail=True)], SMALLEST_BUDGET)
    assert "first" not in tail.text
    assert tail.text.endswith("| last")


def test_what_people_do_not_see_is_spelled_for_models_as_well_and_other_scripts_stay() -> None:
    tags = "".join(chr(0xE0000 + ord(each)) for each in "hi")
    text = lay_out([block(1, f"done{tags}\u200b\ufeff\x1b ünï 漢字 ✔️ \tb")], SMALLEST_BUDGET).text
    assert text.endswith(r"| done\U000e0068\U000e0069\u200b\ufeff\x1b ünï 漢字 ✔️ " + "\tb")
    assert visible(text) == text  # the page of people has nothing more to spell


def test_a_budget_in_which_nothing_could_be_shown_is_refused() -> None:
    with pytest.raises(ValueError, match="4000 characters at least"):
        lay_out([], SMALLEST_BUDGET - 1)
