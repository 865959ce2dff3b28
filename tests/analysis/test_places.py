from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.places import Place, carried, places_written, reaches
from fourhands.model.text import LineRange


def _file(*hunks: tuple[int, int, int, int], new: str | None = "b") -> dict[str, object]:
    return {"path": "f", "old": "a", "new": new, "hunks": [list(hunk) for hunk in hunks]}


def _place(start: int, end: int) -> Place:
    return Place("f", LineRange(start, end))


@given(st.data())
def test_a_place_holds_what_stands_between_its_first_and_last_line(data: st.DataObject) -> None:
    # The oracle: lists of numbers, and hunks between them that are known by construction.
    length = data.draw(st.integers(1, 12))
    start = data.draw(st.integers(1, length))
    end = data.draw(st.integers(start, length))
    hunks: list[tuple[int, int, int, int]] = []
    new: list[int | None] = []
    at = 1
    while at <= length + 1:
        kept = data.draw(st.integers(0, 3))
        new += range(at, min(at + kept, length + 1))
        at += kept
        if at > length + 1:
            break
        gone = data.draw(st.integers(0, min(2, length + 1 - at)))
        came = data.draw(st.integers(0 if gone else 1, 2))
        hunks.append((at, at + gone - 1, len(new) + 1, len(new) + came))
        new += [None] * came
        new += range(at + gone, min(at + gone + 1, length + 1))  # between two hunks stands a line
        at += gone + 1
    place = carried(_place(start, end), [_file(*hunks)])
    assert place
    assert place.lines
    survivors = [n for n, line in enumerate(new, 1) if line is not None and start <= line <= end]
    assert all(place.lines.start <= n <= place.lines.end for n in survivors)
    outside = [n for n, line in enumerate(new, 1) if line is not None and not start <= line <= end]
    if survivors:
        assert not any(place.lines.start <= n <= place.lines.end for n in outside)
    assert len(place.lines) >= 1


def test_a_place_of_which_nothing_is_left_is_the_lines_around_it() -> None:
    assert carried(_place(5, 6), [_file((5, 6, 5, 4))]) == _place(4, 5)
    assert places_written([_file((3, 4, 3, 2))]) == [_place(2, 3)]
    assert places_written([_file((1, 1, 1, 0))]) == [Place("f", LineRange(1, 1))]


def test_what_replaces_a_line_of_a_place_belongs_to_it() -> None:
    assert carried(_place(5, 6), [_file((4, 5, 4, 9))]) == _place(4, 10)
    assert carried(_place(5, 6), [_file((6, 8, 6, 6))]) == _place(5, 6)
    assert carried(_place(5, 6), [_file((6, 5, 6, 7))]) == _place(5, 8)
    assert carried(_place(5, 6), [_file((5, 4, 5, 6))]) == _place(7, 8)
    assert carried(_place(5, 6), [_file((7, 6, 7, 8))]) == _place(5, 6)


def test_a_file_that_is_gone_has_no_places_and_others_do_not_matter() -> None:
    assert carried(_place(5, 6), [_file((1, 9, 1, 0), new=None)]) is None
    assert carried(Place("g", LineRange(1, 1)), [_file((1, 9, 1, 0), new=None)]) == Place(
        "g", LineRange(1, 1)
    )


def test_a_binary_file_is_one_place() -> None:
    (place,) = places_written([_file()])
    assert place == Place("f", None)
    assert carried(place, [_file()]) == place
    assert reaches(place, "f", [LineRange(3, 3)])
    assert places_written([{**_file(), "new": "a"}]) == []


def test_unknown_lines_of_the_file_reach_a_place_other_lines_do_not() -> None:
    assert reaches(_place(5, 6), "f", None)
    assert reaches(_place(5, 6), "f", [LineRange(1, 1), LineRange(6, 9)])
    assert not reaches(_place(5, 6), "f", [LineRange(1, 4)])
    assert not reaches(_place(5, 6), "g", None)
