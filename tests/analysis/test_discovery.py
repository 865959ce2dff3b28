"""States of the code as steps on a grid of progress: what stands at a point was there by then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.discovery import GRID, CodeState, held, revisions, score_at_base, step_hold

SCORES = st.lists(st.one_of(st.none(), st.floats(0, 100)), min_size=1, max_size=40)
STATES = st.lists(st.builds(CodeState, st.booleans(), st.one_of(st.none(), st.floats(0, 100))), max_size=20)


def test_two_states_are_the_first_until_the_end_and_three_change_half_way() -> None:
    assert step_hold([10, 90]) == (10,) * 10 + (90,)
    assert step_hold([0, 50, 100]) == (0,) * 5 + (50,) * 5 + (100,)


def test_a_single_state_stands_all_the_time_and_none_is_nothing() -> None:
    assert step_hold([70]) == (70,) * 11
    assert step_hold([]) == (None,) * 11


def test_more_states_than_points_are_met_where_they_stand() -> None:
    assert step_hold(list(range(21))) == tuple(range(0, 21, 2))


def test_what_nobody_scored_holds_the_last_known_and_never_the_next() -> None:
    assert step_hold([None, 50, None]) == (None,) * 5 + (50,) * 6
    assert step_hold([None, None]) == (None,) * 11


@given(st.integers(1, 300))
def test_time_goes_forward_and_no_state_stands_before_its_place(states: int) -> None:
    found = held(states)
    assert list(found) == sorted(found)
    assert (found[0], found[-1]) == (0, states - 1)
    for progress, index in zip(GRID, found, strict=True):
        assert index <= progress * (states - 1) + 1e-9
        assert index == states - 1 or index + 1 > progress * (states - 1) - 1e-9  # the next is later


@given(SCORES, st.data())
def test_what_comes_later_changes_nothing_before(scores: list[float | None], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(scores) - 1))
    other = [*scores[:place], *(data.draw(st.floats(0, 100)) for _ in scores[place:])]
    before = [index < place for index in held(len(scores))]
    for is_before, one, two in zip(before, step_hold(scores), step_hold(other), strict=True):
        assert one == two or not is_before


@given(st.lists(st.floats(0, 100), min_size=1, max_size=40))
def test_scores_that_never_fall_make_a_curve_that_never_falls(scores: list[float]) -> None:
    curve = [score for score in step_hold(sorted(scores)) if score is not None]
    assert curve == sorted(curve)
    assert curve[-1] == max(scores)


def test_revisions_begin_with_the_agents_first_and_states_of_the_same_code_are_one() -> None:
    base, first, tests_only, second, stop, end = (
        CodeState(is_new, score)
        for is_new, score in ((False, 14), (True, 30), (False, 31), (True, 80), (False, None), (False, 90))
    )
    assert revisions([base, first, tests_only, second, stop, end]) == (31, 90)
    assert score_at_base([base, first, end]) == 14
    assert score_at_base([first, base]) is None


def test_an_agent_that_changed_nothing_has_the_score_of_that() -> None:
    assert revisions([CodeState(False, 14), CodeState(False, 20)]) == (20,)
    assert revisions([]) == ()


def test_a_revision_that_could_not_be_scored_is_one_all_the_same() -> None:
    assert revisions([CodeState(True, None), CodeState(True, 60)]) == (None, 60)


@given(STATES)
def test_there_are_as_many_revisions_as_new_states_or_one(states: list[CodeState]) -> None:
    assert len(revisions(states)) == (sum(state.is_new for state in states) or min(1, len(states)))


@pytest.mark.parametrize("states", [1, 2, 11, 30])
def test_the_last_state_stands_at_the_end(states: int) -> None:
    assert step_hold(list(range(states)))[-1] == states - 1
