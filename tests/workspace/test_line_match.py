from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.workspace.line_likeness import compared, most_similar, without_white_space
from fourhands.workspace.line_match import Block, Run, match_runs

LONG = b"a_line_that_can_be_recognised_anywhere()\n"


def _run(*lines: bytes, path: str = "f", is_file: bool = False) -> Run:
    return Run(path, lines, is_file)


def test_a_line_that_occurs_once_decides_where_its_equal_neighbours_belong() -> None:
    old = [_run(b"else:\n", b"stop()\n")]
    new = [_run(b"else:\n"), _run(b"else:\n", b"stop()\n")]
    assert match_runs(old, new) == [Block(0, 0, 1, 0, 2)]


def test_of_equal_lines_those_of_the_same_file_are_matched_first() -> None:
    old = [_run(LONG, path="g"), _run(LONG)]
    assert match_runs(old, [_run(LONG)]) == [Block(1, 0, 0, 0, 1)]
    assert match_runs(old, [_run(LONG, path="h")]) == [Block(0, 0, 0, 0, 1)]


def test_lines_that_prove_nothing_go_along_and_never_alone() -> None:
    assert match_runs([_run(b"\n", b"}\n")], [_run(b"\n", b"}\n")]) == []
    old, new = [_run(b"\n", b"go()\n", b"}\n")], [_run(b"{\n", b"\n", b"go()\n", b"}\n")]
    assert match_runs(old, new) == [Block(0, 0, 0, 1, 3)]


def test_a_short_line_of_another_file_is_matched_only_as_the_whole_file() -> None:
    old = [_run(b"x = 1\n", is_file=True)]
    assert match_runs(old, [_run(b"x = 1\n", path="g")]) == []
    assert match_runs(old, [_run(b"x = 1\n", b"y\n", path="g", is_file=True)]) == []
    assert match_runs(old, [_run(b"x = 1\n", path="g", is_file=True)]) == [Block(0, 0, 0, 0, 1)]


_RUNS = st.lists(
    st.builds(Run, st.sampled_from("fg"), st.lists(st.sampled_from([b"", b"a", b"b", LONG])).map(tuple)),
    max_size=4,
)


@given(_RUNS, _RUNS)
def test_blocks_are_equal_lines_each_matched_once(old: list[Run], new: list[Run]) -> None:
    taken: set[tuple[str, int, int]] = set()
    for block in match_runs(old, new):
        for offset in range(block.length):
            before = "old", block.old_run, block.old_at + offset
            after = "new", block.new_run, block.new_at + offset
            assert old[before[1]].lines[before[2]] == new[after[1]].lines[after[2]]
            assert not taken & {before, after}
            taken |= {before, after}
    for line in (b"a", b"b", LONG):  # in one file, nothing that could be matched is left
        for path in "fg":
            left = [
                [
                    (side, n, at)
                    for n, run in enumerate(runs)
                    for at, found in enumerate(run.lines)
                    if run.path == path and found == line and (side, n, at) not in taken
                ]
                for side, runs in (("old", old), ("new", new))
            ]
            assert not (left[0] and left[1])


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (b"    f(a,\r\n", b"f(a,"),
        (b"f(\n    a,\n    b,\n)\n", b"f(a,b)"),
        (b"\t\n", b""),
    ],
)
def test_what_formatters_leave_alone(text: bytes, bare: bytes) -> None:
    assert without_white_space(text) == bare


def test_the_most_similar_candidate_is_found_and_none_below_the_threshold() -> None:
    candidates = [(0, b"limit = 3\n"), (1, b"limit = 10\n"), (2, b"limit = 10\n"), (3, b"print(rows)\n")]
    assert most_similar(b"limit = 11\n", candidates, 0, 50) == 1
    assert most_similar(b"yield from ()\n", candidates, 0, 50) is None


def test_of_many_candidates_those_near_are_compared() -> None:
    candidates = [(n, b"limit = %d\n" % n) for n in range(100)]
    assert most_similar(b"limit = 90\n", candidates, 10, 5) != 90
    assert most_similar(b"limit = 90\n", candidates, 89, 5) == 90
    assert most_similar(b"limit = 90\n", candidates, 1000, 50) == 90
    assert [compared(lines) for lines in (1, 40, 100, 10_000)] == [50, 50, 20, 3]
