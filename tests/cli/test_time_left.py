"""The estimate of how long a run still takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.cli.time_left import Durations, JobLeft, seconds_left
from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

KEEPS, RECONCILES = AgentSpec("thin", "scripted/keeps"), AgentSpec("thin", "scripted/reconciles")
VANILLA, TOUCHED = Condition.parse("vanilla"), Condition.parse("counter-edit")


def test_a_trial_is_expected_to_take_as_long_as_those_most_like_it_did() -> None:
    durations = Durations()
    assert durations.expected(KEEPS, VANILLA) is None
    durations.add(TrialKey("a", KEEPS, VANILLA), 10)
    durations.add(TrialKey("b", KEEPS, VANILLA), 20)
    durations.add(TrialKey("a", KEEPS, TOUCHED), 90)
    assert durations.expected(KEEPS, VANILLA) == 15
    assert durations.expected(KEEPS, Condition.parse("co-edit")) == 40, "of the agent"
    durations.add(TrialKey("a", RECONCILES, VANILLA), 200)
    assert durations.expected(RECONCILES, TOUCHED) == 200, "of the agent, not of the condition"
    assert durations.expected(AgentSpec("other", "model"), VANILLA) == 80, "of all"


@pytest.mark.parametrize(
    ("job", "at_once", "seconds"),
    [
        (JobLeft(expected=10, waiting=4), 2, 20),
        (JobLeft(expected=10, waiting=4), 8, 10),  # places that nothing fills speed nothing up
        (JobLeft(expected=10, waiting=1), 2, 10),
        (JobLeft(expected=10, waiting=0, running=(4, 9)), 2, 6),
        (JobLeft(expected=10, waiting=0, running=(25,)), 2, 0),  # overdue: it may end at any moment
        (JobLeft(expected=10, waiting=3, running=(5, 5)), 2, 20),
        (JobLeft(expected=10, waiting=0), 2, 0),
    ],
)
def test_trials_side_by_side(job: JobLeft, at_once: int, seconds: float) -> None:
    assert job.seconds(at_once) == seconds


def test_one_job_comes_after_the_other() -> None:
    assert seconds_left([JobLeft(10, 1), JobLeft(30, 1)], at_once=2) == 40
    assert seconds_left([], at_once=2) == 0


@given(
    expected=st.floats(0.1, 1e4),
    waiting=st.integers(0, 1000),
    running=st.lists(st.floats(0, 2e4), max_size=16),
    at_once=st.integers(1, 64),
)
def test_it_is_never_less_than_the_work_allows_nor_more_than_one_by_one(
    expected: float, waiting: int, running: list[float], at_once: int
) -> None:
    seconds = JobLeft(expected, waiting, running).seconds(at_once)
    work = sum(max(expected - spent, 0) for spent in running) + waiting * expected
    assert work / at_once - 1e-6 <= seconds <= work + 1e-6
    assert seconds >= (expected if waiting else 0)
    assert JobLeft(expected, waiting + 1, running).seconds(at_once) >= seconds - 1e-6
