"""Rates of conversations, at will and with full coverage, per simulator and pooled, beside their baseline."""

from __future__ import annotations

import pytest

from fourhands.analysis.findings.arms import agents_of
from fourhands.analysis.findings.conversations import (
    POOLED,
    LabelCount,
    Many,
    Ratio,
    conversation_table,
    label_table,
    talk_table,
    turns_table,
)
from fourhands.analysis.findings.delivery import delivery_table
from fourhands.analysis.statistics import rate_interval, wilson

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named


def test_full_coverage_is_of_the_trials_that_were_told_everything_and_at_will_of_all() -> None:
    cut = {"held": ["R2"], "held_at_will": ["R2"], "missing": ["R2"], "missing_at_will": ["R2"]}
    rows = [
        talk("a", resolved_at_will=False, held_at_will=["R1"], missing_at_will=["R1"]),
        talk("b"),
        talk("c", solved=False, termination="step_limit", **cut),
        talk("d", solved=None),
    ]
    (row,) = conversation_table(study(rows))
    assert (row.trials, row.scored, row.cut) == (4, 3, 1)
    assert (row.at_will.count, row.at_will.n) == (1, 3)
    assert (row.full.count, row.full.n) == (2, 2)
    assert (row.lenient.count, row.lenient.n) == (2, 3)
    assert row.lenient.wilson == wilson(2, 3)
    assert row.lenient.clustered == rate_interval([1.0, 1.0, 0.0])
    assert row.held == (("c__mini-swe-agent-m__interactive__r1", ("R2",)),)
    assert [ids for _, ids in row.held_at_will] == [("R1",), ("R2",)]


def test_strict_counts_a_broken_agreement_as_unresolved_and_lenient_takes_its_verdict() -> None:
    rows = [talk("a", termination="protocol_failure", slips=["no_plan"]), talk("b")]
    (row,) = conversation_table(study(rows))
    assert (row.strict.count, row.lenient.count, row.slipped) == (1, 2, 1)
    assert (row.at_will_strict.count, row.at_will_strict.wilson) == (1, wilson(1, 2))


def test_simulators_are_told_apart_and_pooled_and_one_alone_is_not() -> None:
    rows = [
        talk("a"),
        talk("a", "interactive[simulator=x]", solved=False),
        talk("a", "interactive[persona=vague]"),
    ]
    found = conversation_table(study(rows))
    assert [(row.condition, row.simulator, row.lenient.n) for row in found] == [
        ("interactive", "grounded", 1),
        ("interactive[simulator=x]", "x", 1),
        ("interactive[persona=vague]", "grounded", 1),
        ("interactive[simulator=*]", POOLED, 2),
    ]


def test_labels_are_of_failed_trials_that_kept_the_agreement() -> None:
    rows = [
        talk("a", solved=False, forgotten=["R1"], misread=["R2"]),
        talk("b", solved=False, regressed=["R1", "R2"]),
        talk("c", solved=False, undecided=["R1"]),
        talk("f", solved=False, buggy=["*"], undecided=["*"]),
        talk("d", solved=False, forgotten=["R1"], termination="protocol_failure"),
        talk("e", forgotten=["R1"]),
    ]
    (row,) = label_table(study(rows))
    assert (row.failed, row.covered, row.missing_covered, row.unexplained) == (4, 4, 0, 1)
    assert (row.forgotten, row.misread) == (LabelCount(1, 1), LabelCount(1, 1))
    assert (row.buggy, row.undecided) == (LabelCount(1, 0), LabelCount(2, 1))
    assert (row.regressed, row.missing) == (LabelCount(1, 2), LabelCount(0, 0))


def test_how_it_went_has_shares_of_what_was_told_and_who_ended_early() -> None:
    early = {"held_at_will": ["R1", "R2"], "resolved_at_will": False}
    rows = [
        talk("a", said=4, looks=1),
        talk(
            "b",
            said=8,
            looks=5,
            corrections=2,
            corrections_at_will=2,
            **early,
            churn_overhead=None,
            final_lines=0,
        ),
        talk("c", said=3, corrections=9, corrections_at_will=1, **early, churn_overhead=1.5),
    ]
    (row,) = talk_table(study(rows))
    assert (row.said, row.looks) == (Many(5.0, 4, 8), Many(2.0, 1, 5))
    assert row.told_at_will == pytest.approx(1 / 3)
    assert row.told == 1.0
    assert [(rate.count, rate.n, rate.wilson) for rate in (row.early, row.premature)] == [
        (2, 3, wilson(2, 3)),
        (1, 3, wilson(1, 3)),
    ]
    assert (row.churn.median, row.churn.values, row.undefined) == (1.0, (0.5, 1.5), 1)


def test_a_conversation_is_compared_with_single_turn_and_with_vanilla_where_that_is_all_there_is() -> None:
    told = [talk("a", steps=30, cost=0.2, solved=False), talk("b", steps=30, cost=0.2), talk("c", steps=99)]
    once = [trial("a", "single-turn", k=None), trial("b", "single-turn", k=None)]
    alone = [trial("a", solved=False), trial("b"), trial("a", "counter-edit", solved=False)]
    (row,) = turns_table(study([*alone, *once, *told]))
    assert (row.baseline, row.tasks) == ("single-turn", 2)
    assert (row.single.rate, row.multi.rate, row.ratio) == (1.0, 0.5, Ratio(0.5, None))
    assert [each and each.value for each in (row.scored.steps, row.scored.tokens, row.scored.cost)] == [
        3.0,
        1.0,
        2.0,
    ]
    (row,) = turns_table(study([*alone, *told]))
    assert (row.baseline, row.single.rate, row.ratio) == ("vanilla", 0.5, Ratio(1.0, None))
    assert turns_table(study(told)) == ()


def test_each_arm_has_its_own_baseline_and_single_turn_stands_in_for_vanilla() -> None:
    rows = [
        trial("a"),
        trial("a", "single-turn"),
        trial("a", "counter-edit"),
        talk("a"),
        talk("a", "four-hands"),
    ]
    (agent,) = agents_of(study(rows))
    found = {arm.condition: agent.baseline_of(arm) for arm in agent.arms}
    assert {name: baseline and baseline.condition for name, baseline in found.items()} == {
        "vanilla": None,
        "single-turn": None,
        "counter-edit": "vanilla",
        "interactive": "single-turn",
        "four-hands": "single-turn",
    }
    assert set(agent.pairings) == {"counter-edit", "interactive", "four-hands"}
    (alone,) = agents_of(study(rows[1:]))
    assert alone.vanilla is not None
    assert alone.vanilla.condition == "single-turn"
    assert set(alone.pairings) == {"counter-edit", "interactive", "four-hands"}


def test_nobody_delivers_anything_where_the_user_only_talks() -> None:
    rows = [trial("a", "single-turn"), talk("a"), talk("a", "four-hands")]
    assert [row.condition for row in delivery_table(study(rows))] == ["single-turn", "four-hands"]
