"""Goals reached in the end against the verifier, never by scores that the verifier had a part in."""

from __future__ import annotations

import pytest

from fourhands.analysis.findings.conversations.measures import Rate
from fourhands.analysis.findings.goals import Quadrants, goals_table
from fourhands.analysis.findings.scores import CHECKS, ScoreSource
from fourhands.analysis.statistics import rate_interval, spearman, spearman_interval, wilson

from ..frames import study  # noqa: TID252 - tests are no package that could be named
from .talked import judged, scored


def test_trials_fall_into_four_and_90_is_reached() -> None:
    rows = [
        scored("a", 0, [100], solved=True),
        scored("b", 0, [90], solved=True),
        scored("c", 0, [89.99], solved=True),
        scored("d", 0, [95], solved=False),
        scored("e", 0, [10], solved=False),
        scored("f", 0, [20], solved=False),
        scored("g", 0, [None], solved=False),  # nobody can tell
        scored("h", 0, [100], solved=None),  # not scored
    ]
    (row,) = goals_table(study(rows))
    assert row.quadrants == Quadrants(2, 1, 1, 2)
    assert (row.trials, row.verifier_informed) == (6, 0)
    assert row.score is not None
    assert row.score.value == pytest.approx((100 + 90 + 89.99 + 95 + 10 + 20) / 6)
    assert row.reward == 0.5
    assert row.resolved == Rate(3, 6, 0.5, wilson(3, 6), rate_interval([1, 1, 1, 0, 0, 0]))


def test_scores_by_hidden_tests_are_left_out_and_counted() -> None:
    rows = [
        scored("a", 0, [40], solved=False),
        scored("b", 0, [100], solved=True, source="hidden-tests", judges=[judged(0, 70)]),
    ]
    checks, judge = goals_table(study(rows))
    assert (checks.source, checks.trials, checks.verifier_informed) == (CHECKS, 1, 1)
    assert checks.score is not None
    assert checks.score.value == 40.0
    # A judge reads the goals, which are the instruction's: its score is no word of the tests'.
    assert (judge.source, judge.trials, judge.verifier_informed) == (ScoreSource("judge:j", 2), 1, 0)


def test_where_all_are_left_out_the_row_says_so_and_nothing_else() -> None:
    (row,) = goals_table(study([scored("b", 0, [100], source="hidden-tests")]))
    assert (row.source, row.trials, row.verifier_informed, row.score) == (CHECKS, 0, 1, None)
    assert row.quadrants == Quadrants(0, 0, 0, 0)


def test_score_and_reward_are_correlated_over_trials_with_an_interval_over_tasks() -> None:
    pairs = [(10.0 * n, (0.0, 0.25, 1.0)[n * n % 3]) for n in range(10)]
    rows = [
        scored(f"t{n}", 0, [score], solved=reward == 1, reward=reward)
        for n, (score, reward) in enumerate(pairs)
    ]
    (row,) = goals_table(study(rows))
    assert row.correlation == spearman([score for score, _ in pairs], [reward for _, reward in pairs])
    assert row.correlation_interval == spearman_interval([[pair] for pair in pairs])
    assert row.correlation_interval is not None
    assert row.reward == pytest.approx(
        sum(reward for _, reward in pairs) / 10
    )  # not the share that is resolved
    assert row.resolved.rate == sum(reward == 1 for _, reward in pairs) / 10


def test_with_few_tasks_there_is_a_correlation_and_no_interval() -> None:
    (row,) = goals_table(study([scored("a", 0, [10], solved=False), scored("b", 0, [90], solved=True)]))
    assert (row.correlation, row.correlation_interval) == (pytest.approx(1.0), None)


def test_a_judges_last_word_is_of_the_last_state() -> None:
    _, row = goals_table(study([scored("a", 0, [10, 20], judges=[judged(0, 30, 95)])]))
    assert row.score is not None
    assert row.score.value == 95.0
    assert row.quadrants == Quadrants(1, 0, 0, 0)
    assert row.trust is not None
    assert row.trust.told == "unaudited"
