"""Long texts keep their head and their tail, and say what is missing between them."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.story.clip import clip, clip_line, clip_text, one_line
from fourhands.report.story.model import Clipped


def test_a_short_text_is_whole_without_its_last_line_feed() -> None:
    assert clip(b"one\ntwo\n", most_bytes=100, most_lines=2) == Clipped("one\ntwo")
    assert clip(b"", most_bytes=100, most_lines=2) == Clipped("")
    assert Clipped("one").left_out is None


def test_lines_are_left_out_of_the_middle() -> None:
    text = b"".join(b"line %d\n" % number for number in range(1, 101))
    found = clip(text, most_bytes=10_000, most_lines=4)
    assert (found.head, found.tail) == ("line 1\nline 2", "line 99\nline 100")
    assert found.lines_left_out == 96
    assert found.left_out == "96 lines, 761 bytes left out"
    assert Clipped("", "", 1, 1).left_out == "1 line, 1 byte left out"


def test_without_a_line_to_show_all_is_left_out() -> None:
    assert clip(b"one\ntwo\n", most_bytes=100, most_lines=0) == Clipped("", "", 2, 8)
    assert clip(b"one\ntwo\n", most_bytes=100, most_lines=1) == Clipped("", "two", 1, 4)


def test_a_line_of_ten_megabytes_is_cut_at_once() -> None:
    data = "é".encode() * (5 << 20)
    start = time.process_time()
    found = clip(data, most_bytes=4096, most_lines=40)
    assert time.process_time() - start < 1
    assert found.head == "é" * 1024 == found.tail
    assert found.left_out == "10.0 MB left out"


@given(st.binary(max_size=300), st.integers(0, 80), st.integers(0, 8) | st.none())
def test_no_more_is_held_than_asked_for_and_nothing_is_lost_unsaid(
    data: bytes, most_bytes: int, most_lines: int | None
) -> None:
    found = clip(data, most_bytes=most_bytes, most_lines=most_lines)
    if found.left_out is None:
        assert found.head == data.decode("utf-8", "replace").removesuffix("\n")
        assert len(data) <= most_bytes
        return
    assert 0 < found.bytes_left_out <= len(data)
    assert len(data) - found.bytes_left_out <= most_bytes
    if most_lines is not None:
        shown = [part for part in (found.head, found.tail) if part]
        assert sum(part.count("\n") + 1 for part in shown) <= most_lines + len(shown)
    assert data.decode("utf-8", "replace").startswith(found.head[:-1])


@given(st.text(st.characters(codec=None), max_size=200), st.integers(0, 80))
def test_a_cut_splits_no_character(text: str, most: int) -> None:
    found = clip_text(text, most_bytes=most)
    told = text.encode("utf-8", "replace").decode()
    assert told.startswith(found.head)
    assert told.removesuffix("\n").endswith(found.tail)


def test_one_line_and_a_long_line_say_that_they_go_on() -> None:
    assert one_line("a\n  b\t c", 20) == "a b c"
    assert one_line("x" * 30, 10) == "x" * 10 + "…"
    assert one_line("short" + " " * 100 + "end", 10) == "short…"
    assert clip_line("x" * 30, 10) == "x" * 10 + " … 20 characters more"
    assert clip_line("x", 10) == "x"
