"""The alternative-annotator test, held against scipy's and statsmodels' parts of it and cases that are clear."""

from __future__ import annotations

import random

import numpy as np
import pytest
from scipy.stats import ttest_rel
from statsmodels.stats.multitest import multipletests

from fourhands.analysis.statistics.agreement_alternative import alternative_test, why_no_alternative_test

ITEMS = [f"i{n}" for n in range(60)]


def same(one: int, other: int) -> float:
    return float(one == other)


def people(error: float, seed: int = 3, names: str = "abc") -> dict[str, dict[str, int]]:
    chance = random.Random(seed)
    truth = {item: chance.randrange(2) for item in ITEMS}
    return {name: {item: truth[item] ^ (chance.random() < error) for item in ITEMS} for name in names}


def majority(answers: dict[str, dict[str, int]]) -> dict[str, int]:
    return {item: int(sum(person[item] for person in answers.values()) >= 2) for item in ITEMS}


def test_the_majority_may_stand_in_for_anyone_and_its_opposite_for_nobody() -> None:
    answers = people(0.15)
    best = alternative_test(answers, majority(answers), same)
    worst = alternative_test(answers, {item: 1 - answer for item, answer in majority(answers).items()}, same)
    assert best
    assert worst
    assert (best.winning_rate, best.passed) == (1.0, True)
    assert best.advantage > 0.9
    assert (worst.winning_rate, worst.passed) == (0.0, False)
    assert worst.advantage < 0.4


@pytest.mark.parametrize("error", [0.1, 0.3, 0.5])
def test_it_is_a_paired_t_test_for_each_person_under_benjamini_and_yekutieli(error: float) -> None:
    answers, chance = people(0.2, names="abcd"), random.Random(7)
    judge = {item: answers["a"][item] ^ (chance.random() < error) for item in ITEMS}
    ps, advantages = [], []
    for name, own in answers.items():
        rest = [answers[other] for other in answers if other != name]
        agree = np.array(
            [
                [sum(same(own_answer[item], other[item]) for other in rest) for item in ITEMS]
                for own_answer in (judge, own)
            ]
        )
        judge_wins, person_wins = agree[0] >= agree[1], agree[1] >= agree[0]
        advantages.append(judge_wins.mean())
        ps.append(ttest_rel(person_wins - 0.2, judge_wins.astype(float), alternative="less").pvalue)
    found = alternative_test(answers, judge, same)
    assert found
    assert found.winning_rate == multipletests(ps, 0.05, method="fdr_by")[0].mean()
    assert found.advantage == pytest.approx(np.mean(advantages))


def test_what_stands_for_more_counts_for_more() -> None:
    answers = people(0.15)
    gold = majority(answers)
    judge = {item: gold[item] if place < 40 else 1 - gold[item] for place, item in enumerate(ITEMS)}
    weights = {item: 1.0 if place < 40 else 20.0 for place, item in enumerate(ITEMS)}
    even, heavy = (
        alternative_test(answers, judge, same),
        alternative_test(answers, judge, same, weights=weights),
    )
    assert even
    assert heavy
    assert even.advantage > heavy.advantage + 0.2


def test_too_few_people_or_items_are_said_and_not_given() -> None:
    answers = people(0.15)
    judge = majority(answers)
    two = {name: answers[name] for name in "ab"}
    assert "takes 3 annotators: there are 2" in (why_no_alternative_test(two, judge) or "")
    assert alternative_test(two, judge, same) is None
    few = answers | {"c": {item: answers["c"][item] for item in ITEMS[:29]}}
    assert "too few of c" in (why_no_alternative_test(few, judge) or "")
    assert alternative_test(few, judge, same) is None
    enough = answers | {"c": {item: answers["c"][item] for item in ITEMS[:30]}}
    assert why_no_alternative_test(enough, judge) is None
