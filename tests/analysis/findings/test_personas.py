"""Each persona against the neutral one: paired by task, adjusted over personas, nothing without a counterpart."""

from __future__ import annotations

from fourhands.analysis.findings.conversations import POOLED, persona_table, without_neutral
from fourhands.analysis.statistics import holm, mcnemar, paired_interval

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named


def test_personas_are_paired_with_the_neutral_one_and_adjusted_over_all_of_them() -> None:
    tasks = "abcdefgh"
    rows = [
        *(talk(task, "interactive[persona=neutral]", said=4) for task in tasks),
        *(talk(task, solved=task in "ab", resolved_at_will=True, said=6) for task in tasks),
        *(talk(task, "interactive[persona=vague]", solved=task != "h", said=8) for task in tasks),
    ]
    nitpicker, vague = persona_table(study(rows))
    assert [(row.persona, row.condition, row.simulator, row.tasks) for row in (nitpicker, vague)] == [
        ("nitpicker", "interactive", "grounded", 8),
        ("vague", "interactive", "grounded", 8),
    ]
    assert (nitpicker.delta.delta, vague.delta.delta) == (-0.75, -0.125)
    assert nitpicker.delta.interval == paired_interval([0, 0, -1, -1, -1, -1, -1, -1])
    assert nitpicker.delta.test
    assert vague.delta.test
    ps = [mcnemar(6, 0), mcnemar(1, 0)]
    assert [nitpicker.delta.test.p, vague.delta.test.p] == ps == [0.03125, 1.0]
    assert [nitpicker.p_holm, vague.p_holm] == holm(ps) == [0.0625, 1.0]
    assert (nitpicker.delta_at_will.delta, nitpicker.p_holm_at_will, nitpicker.family) == (0, 1.0, 2)
    assert (nitpicker.one.said, nitpicker.neutral.said, vague.one.said) == (6.0, 4.0, 8.0)


def test_only_tasks_with_both_personas_count_and_how_it_went_is_of_their_trials() -> None:
    early = {"held_at_will": ["R1"], "resolved_at_will": False}
    rows = [
        talk("a", "interactive[persona=neutral]", corrections=2),
        talk("b", "interactive[persona=neutral]", solved=None),
        talk("a", **early, corrections=1, corrections_at_will=1),
        talk("a", repeat=2, **early, corrections=3, corrections_at_will=2),
        talk("b", said=99),
        talk("c", said=99),
    ]
    (row,) = persona_table(study(rows))
    assert (row.tasks, row.delta.pairs, row.delta.incomplete_pairs) == (1, 1, 2)
    assert (row.one.said, row.one.corrections, row.neutral.corrections) == (3.0, 2.0, 2.0)
    assert (row.one.told_at_will, row.neutral.told_at_will) == (0.5, 1.0)
    assert [(each.premature.count, each.premature.n) for each in (row.one, row.neutral)] == [(1, 2), (0, 1)]
    assert (row.one.at_will.count, row.one.at_will.n, row.delta_at_will.delta) == (0, 2, -1.0)


def test_the_neutral_arm_is_that_of_the_same_simulator_and_condition() -> None:
    rows = [
        talk("a", "interactive[persona=neutral]"),
        talk("a", "interactive[simulator=x]", solved=False),
        talk("a", "four-hands", solved=False),
        talk("a", "interactive[coverage=at-will]", solved=False),
        talk("a", "interactive[persona=neutral]", model="other"),
    ]
    made = study([*rows, talk("a", "interactive[persona=vague]")])
    (row,) = persona_table(made)
    assert row.persona == "vague"
    assert [each.removeprefix("mini-swe-agent · m · ") for each in without_neutral(made)] == [
        "interactive[simulator=x]",
        "four-hands",
        "interactive[coverage=at-will]",
    ]
    assert persona_table(study(rows)) == ()


def test_simulators_that_met_both_personas_are_pooled() -> None:
    rows = [
        talk("a", f"interactive[simulator={simulator},persona={persona}]", solved=solved)
        for simulator, persona, solved in (
            ("x", "neutral", True),
            ("y", "neutral", True),
            ("x", "vague", False),
            ("y", "vague", True),
            ("z", "vague", False),
        )
    ]
    found = persona_table(study(rows))
    assert [(row.condition, row.simulator, row.one.end.n, row.delta.delta) for row in found] == [
        ("interactive[simulator=x]", "x", 1, -1.0),
        ("interactive[simulator=y]", "y", 1, 0.0),
        ("interactive[simulator=*]", POOLED, 2, -0.5),
    ]
    assert {row.family for row in found} == {1}


def test_who_does_not_talk_has_no_persona() -> None:
    assert persona_table(study([trial("a"), trial("a", "counter-edit")])) == ()
