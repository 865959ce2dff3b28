"""The simulator card: counts per message, thresholds, and pairs of conversations that should be alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fourhands.analysis.cautions import cautions
from fourhands.analysis.findings.simulators import Counts, simulator_pair_table, simulator_table

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named


def card(
    blocked: dict[str, int] | None = None,
    out: dict[str, int] | None = None,
    *,
    blocked_leaks: int = 0,
    leaks: int = 0,
    unheard: int = 0,
) -> str:
    return json.dumps(
        {
            "blocked": blocked or {},
            "out": out or {},
            "blocked_leaks": blocked_leaks,
            "leaks": leaks,
            "unheard": unheard,
        }
    )


def fates(**turns: int | None) -> str:
    return json.dumps(
        [{"requirement": name, "told": turn is not None, "turn": turn} for name, turn in turns.items()]
    )


def test_a_card_sums_what_all_conversations_of_a_simulator_gave_away_and_held_back() -> None:
    rows = [
        trial("a"),
        talk("a", said=10, objected=card({"hidden": 2, "unsaid": 1}, blocked_leaks=2), blocked=3),
        talk(
            "b",
            said=10,
            objected=card({"canary": 1, "role": 1}, blocked_leaks=1, unheard=1),
            blocked=2,
            user_cost=0.3,
            user_cost_at_least=0.3,
        ),
        talk("b", "four-hands", said=5, objected=card(), user_cost=None, user_cost_at_least=0.6),
        talk("c", "interactive[persona=neutral]", said=7, objected=card()),
    ]
    nitpicker, neutral = simulator_table(study(rows))
    assert (nitpicker.persona, nitpicker.trials, nitpicker.said) == ("nitpicker", 3, 25)
    assert (nitpicker.leaks, nitpicker.unsaid, nitpicker.early) == (Counts(3, 0), Counts(1, 0), Counts(0, 0))
    assert (nitpicker.refused, nitpicker.unheard, nitpicker.covered) == (5, 1, 1.0)
    assert (nitpicker.cost.usd, float(nitpicker.cost.known)) == (None, pytest.approx(0.3))
    assert neutral.cost.usd == 0
    assert (neutral.persona, neutral.trials, neutral.over) == ("neutral", 1, ())
    assert nitpicker.over == ()


@pytest.mark.parametrize(
    ("values", "over"),
    [
        ({"objected": card(out={"role": 1, "obeys": 1}, leaks=1)}, "messages that leak: 1 to 10"),
        ({"objected": card(out={"early": 1})}, "messages that say a requirement before its time: 1 to 10"),
        ({"out_of_order": 2}, "requirements said before one that they depend on: 2"),
        ({"objected": card(out={"invented": 1})}, "messages with inventions: 1 to 10"),
        ({"fallbacks": 2}, "messages in fixed words: 2 to 10"),
        ({"objected": card(unheard=2)}, "requests without a reply: 2 to 10"),
        ({"held": ["R2"]}, "not everything was said in 100% of the finished conversations"),
    ],
)
def test_what_is_over_a_threshold_is_marked_and_said(values: dict[str, Any], over: str) -> None:
    found = study([talk("a", **{"said": 10, "objected": card(), **values})])
    (row,) = simulator_table(found)
    assert row.over == (over,)
    assert any("grounded (nitpicker) is marked" in each and over in each for each in cautions(found))


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ("interactive", {"fallbacks": 1}),  # a tenth, and no more
        ("interactive", {"held": ["R2"], "termination": "step_limit"}),  # it was cut: no fault of the user's
        ("interactive[coverage=at-will]", {"held": ["R2"]}),  # nobody was to say it
        ("interactive", {"objected": None}),  # of a record that tells no kinds
    ],
)
def test_what_is_no_fault_of_the_simulators_is_not_marked(condition: str, values: dict[str, Any]) -> None:
    (row,) = simulator_table(study([talk("a", condition, **{"said": 10, "objected": card(), **values})]))
    assert row.over == ()


def test_two_simulators_are_compared_where_all_else_is_the_same() -> None:
    first, second = "interactive[simulator=x]", "interactive[simulator=y]"
    rows = [
        talk("a", first, fates_at_will=fates(R1=1, R2=2, R3=3, R4=None), said=4),
        talk("a", second, fates_at_will=fates(R1=1, R2=3, R3=2, R4=None), said=6),
        talk("b", first, solved=False, fates_at_will=fates(R1=1, R2=None), said=4),
        talk("b", second, fates_at_will=fates(R1=1, R2=2), said=6),
        talk("c", first, repeat=2),
        talk("c", second, repeat=1),
    ]
    (row,) = simulator_pair_table(study(rows))
    assert (row.kind, row.one, row.other, row.pairs, row.tasks) == ("two simulators", "x", "y", 2, 2)
    assert (row.same_verdict, row.told, row.messages) == (0.5, 0.75, (4.0, 6.0))
    assert row.order == pytest.approx(1 / 3)  # of a: two of three pairs in order; of b there is no order
    assert row.identical == 0.0


def test_one_simulator_again_is_compared_with_itself() -> None:
    same, other = fates(R1=1, R2=2), fates(R1=1, R2=None)
    rows = [
        *(talk(task, repeat=n, fates_at_will=same) for task in "abc" for n in (1, 2)),
        talk("d", repeat=1, fates_at_will=same),
        talk("d", repeat=2, solved=False, fates_at_will=other),
    ]
    (row,) = simulator_pair_table(study(rows))
    assert (row.kind, row.pairs, row.identical, row.same_verdict) == ("again", 4, 0.75, 0.75)
    assert row.told == pytest.approx(0.875)
    assert row.over[-1] == "of what was said only 88% is the same again"


def test_a_pair_is_the_same_whichever_was_met_first_and_few_pairs_are_no_verdict_on_who_plays() -> None:
    x, y = "interactive[simulator=x]", "interactive[simulator=y]"
    rows = [talk("a", x), talk("a", y), talk("b", y, solved=False), talk("b", x)]
    (row,) = simulator_pair_table(study(rows))
    assert (row.one, row.other, row.pairs, row.same_verdict) == ("x", "y", 2, 0.5)
    assert row.kappa is not None
    assert (row.kappa.value, row.over) == (0.0, ())
    many = [
        talk(f"t{n}", condition, solved=(n % 2 == 0) == (condition == x))
        for n in range(30)
        for condition in (x, y)
    ]
    (row,) = simulator_pair_table(study(many))
    assert row.over[0].startswith("κ of the verdicts is -1.00")
