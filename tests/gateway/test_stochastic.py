from __future__ import annotations

import math

import pytest
from scipy import stats

from fourhands.gateway.playbook import Move, Playbook, Temperament, Turn
from fourhands.gateway.stochastic import Odds, StochasticPlayer, draw
from fourhands.model.condition import Condition
from fourhands.model.errors import InputError
from fourhands.model.trial import AgentSpec, TrialKey

DRAWS = 2_000
GOOD, BAD = Move(thought="good", submit=True), Move(thought="bad", submit=True)
PLAYBOOK = Playbook(
    schema_version=1,
    moves=(Move(thought="look", command="ls"), Move(thought="end", submit=True)),
    temperaments={"stochastic": Temperament(on_message=(Move(thought="glance", command="git diff"),))},
)


def _key(repeat: int = 1, task: str = "t", model: str = "m", condition: str = "vanilla") -> TrialKey:
    return TrialKey(task, AgentSpec("thin", model), Condition.parse(condition), repeat)


def _end(odds: Odds, drawn: float, *turns: Turn) -> str:
    return StochasticPlayer(PLAYBOOK, "stochastic", odds, drawn, GOOD, BAD).reply(turns).thought


def test_a_draw_can_be_repeated_and_hangs_on_the_seed_and_every_part_of_the_key() -> None:
    keys = [_key(), _key(2), _key(task="u"), _key(model="n"), _key(condition="counter-edit")]
    drawn = [draw(seed, key) for seed in (0, 1) for key in keys]
    assert drawn == [draw(seed, key) for seed in (0, 1) for key in keys]
    assert len(set(drawn)) == len(drawn)
    assert draw(0, _key()) == 0.6181217142218236  # fixed for ever: an old run can be run again


def test_draws_are_even_and_those_of_one_trial_under_two_conditions_have_nothing_to_do_with_each_other() -> (
    None
):
    alone = [draw(7, _key(repeat)) for repeat in range(1, DRAWS + 1)]
    touched = [draw(7, _key(repeat, condition="counter-edit")) for repeat in range(1, DRAWS + 1)]
    assert all(0 <= each < 1 for each in alone)
    assert stats.kstest(alone, "uniform").pvalue > 0.001
    assert abs(stats.pearsonr(alone, touched).statistic) < 4 / math.sqrt(DRAWS)


@pytest.mark.parametrize("p", [0.0, 0.05, 0.4, 0.8, 1.0])
def test_the_share_that_resolves_is_near_p_left_alone_and_near_touched_once_spoken_to(p: float) -> None:
    odds = Odds(p, 1 - p)
    drawn = [draw(7, _key(repeat)) for repeat in range(1, DRAWS + 1)]
    for turns, wanted in (((), p), (("model", "user", "model"), 1 - p)):
        ends = [_end(odds, each, "model", *turns) for each in drawn]
        spread = math.sqrt(wanted * (1 - wanted) / DRAWS)
        assert abs(ends.count("good") / DRAWS - wanted) <= 4 * spread  # exact for 0 and 1
        assert set(ends) <= {"good", "bad"}


def test_on_the_way_it_does_what_the_temperament_does() -> None:
    assert _end(Odds(), 0.1) == "look"
    assert _end(Odds(), 0.1, "model", "user") == "glance"


def test_odds_are_read_from_the_models_name() -> None:
    assert Odds.parse("stochastic[p=0.8,touched=0.4]") == Odds(0.8, 0.4)
    assert Odds.parse("stochastic[touched=1, p=0]") == Odds(0, 1)
    assert Odds.parse("stochastic[p=0.8]") == Odds(0.8, 0.8)
    assert Odds.parse("stochastic") == Odds(0.5, 0.5)


@pytest.mark.parametrize(
    ("label", "what"),
    [
        ("stochastic[p=2]", "from 0 to 1"),
        ("stochastic[p=nan]", "from 0 to 1"),
        ("stochastic[touched=x]", "number"),
        ("stochastic[p=0.1,p=0.2]", "each once"),
        ("stochastic[q=0.1]", "give p and touched"),
        ("stochastic[p]", "number"),
        ("stochastic[p=0.1", "write stochastic"),
    ],
)
def test_wrong_odds_say_what_is_right(label: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        Odds.parse(label)
