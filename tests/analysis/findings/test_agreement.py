"""Judges beside people, as that was measured, and beside execution, of what that decides alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fourhands.analysis.findings.agreement import AgreementRow, Source, agreement_table
from fourhands.analysis.statistics import wilson
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.failure import FailureLabel, FailureType, FoundBy

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named
from ..said import agreement, audited, audits, labelled, opinion, typed  # noqa: TID252

TECHNICAL, FORGOTTEN, REGRESSION, MISREAD, MISSING = FailureLabel
RETAINED, REPLACED, INCOMPLETE, OFF_TARGET, NO_EVIDENCE, BREAKDOWN, OTHER = FailureType
EXECUTION, EVENTS, _ = FoundBy
GOALS, INTERACT, TOUCH = AuditName.GOALS, AuditName.SWE_INTERACT, AuditName.SWE_TOUCH


def _told(row: AgreementRow) -> tuple[str, str, str, int, str]:
    return row.voice.audit, row.voice.judge, row.source, row.items, row.trust.told


def _talk(task: str, found: dict[str, Any], *given: FailureLabel, judge: str = "judge:j") -> dict[str, Any]:
    said = audits(opinion(*((label, None) for label in given), judge=judge))
    return talk(task, solved=False, **found, **said)


def test_a_judge_who_has_spoken_is_there_though_nobody_has_compared_it() -> None:
    scores = {"prompt_version": 3, "plan": 1.0, "final": 2.0, "unscored": 0, "points": 1}
    row = talk("a", judged=json.dumps([{"judge": "judge:g", **scores}]), **audits(opinion()))
    assert [_told(each) for each in agreement_table(study([row]))] == [
        (INTERACT, "judge:j", "people", 0, "unaudited"),
        (GOALS, "judge:g", "people", 0, "unaudited"),
    ]
    known = audited(study([row]), agreement(0.8, judge="judge:g", audit=GOALS, prompt=3))
    assert [_told(each) for each in agreement_table(known)] == [
        (INTERACT, "judge:j", "people", 0, "unaudited"),
        (GOALS, "judge:g", "people", 100, "κ 0.80"),
    ]


def test_of_another_version_it_stands_apart_and_the_one_who_spoke_is_unaudited() -> None:
    rows = agreement_table(audited(study([talk("a", **audits(opinion()))]), agreement(0.8, prompt=2)))
    assert [
        (row.voice.prompt_version, row.trust.told, row.trust.is_outdated, row.is_heard) for row in rows
    ] == [
        (1, "unaudited", True, True),
        (2, "κ 0.80", False, False),
    ]


def test_one_agreement_that_was_written_into_several_runs_is_told_once() -> None:
    rows = [talk("a", run=run, **audits(opinion())) for run in ("x", "y")]
    (row,) = agreement_table(audited(study(rows), agreement(0.8), runs=("x", "y")))
    assert row.runs == ("x", "y")
    half = audited(study(rows), agreement(0.8), runs=("x", "y"))
    half = replace(half, runs=(half.runs[0], replace(half.runs[1], agreements=())))
    assert [(each.runs, each.trust.told) for each in agreement_table(half)] == [
        (("x",), "κ 0.80"),
        (("x", "y"), "unaudited"),
    ]


def test_execution_tells_that_a_label_is_there_and_that_none_else_is_only_where_it_decides_all() -> None:
    broke = labelled((REGRESSION, EXECUTION, "R1"))
    rows = [
        _talk("a", broke, REGRESSION),
        _talk("b", broke, REGRESSION, TECHNICAL),
        _talk("c", broke, TECHNICAL),
        _talk("d", labelled((TECHNICAL, EXECUTION, None)), TECHNICAL),
        _talk("e", labelled((TECHNICAL, EXECUTION, None)), REGRESSION),
        # Not all is decided, or not by execution: it cannot tell that a label is not there.
        _talk("f", labelled((REGRESSION, EXECUTION, "R1"), left=["R2"]), REGRESSION, MISREAD),
        _talk("g", labelled((REGRESSION, EXECUTION, "R1"), (MISSING, EVENTS, "R2")), MISREAD),
        # It has nothing to say.
        _talk("h", labelled((MISSING, EVENTS, "R1")), TECHNICAL),
        _talk("i", labelled(left=["R1"]), TECHNICAL),
    ]
    people, execution = agreement_table(study(rows))
    assert (people.source, people.items, execution.source, execution.items) == (
        Source.PEOPLE,
        0,
        Source.EXECUTION,
        7,
    )
    classes = {each.label: each for each in execution.classes}
    regression, technical = classes[REGRESSION], classes[TECHNICAL]
    assert (regression.items, regression.positives) == (7, 5)
    assert (technical.items, technical.positives) == (5, 2)
    assert regression.sensitivity is not None
    assert regression.specificity is not None
    assert (regression.sensitivity.value, regression.specificity.value) == (3 / 5, 1 / 2)
    interval = wilson(3, 5)
    assert interval is not None
    assert (regression.sensitivity.low, regression.sensitivity.high) == (interval.low, interval.high)
    assert technical.sensitivity is not None
    assert technical.specificity is not None
    assert (technical.sensitivity.value, technical.specificity.value) == (1 / 2, 1 / 3)
    # κ of 3 right, 2 missed, 1 wrong, 1 right; and of 1, 1, 2, 1: (p_o − p_e) / (1 − p_e).
    assert regression.kappa is not None
    assert technical.kappa is not None
    assert round(regression.kappa.value, 9) == round((4 / 7 - 26 / 49) / (1 - 26 / 49), 9)
    assert round(technical.kappa.value, 9) == round((2 / 5 - 12 / 25) / (1 - 12 / 25), 9)
    assert classes[FORGOTTEN].sensitivity is None  # execution never gives it
    assert classes[FORGOTTEN].kappa is None
    assert execution.kappa is not None
    both = (regression.kappa.value + technical.kappa.value) / 2
    assert round(execution.kappa.value, 9) == round(both, 9)


def test_under_the_users_hands_one_type_is_compared_with_one() -> None:
    pairs = [(RETAINED, RETAINED)] * 3 + [(RETAINED, OTHER), (OTHER, OTHER), (OTHER, RETAINED)]
    rows = [trial("a", repeat=repeat) for repeat in range(1, 7)]
    rows += [
        trial(
            "a",
            "counter-edit",
            solved=False,
            repeat=repeat,
            **typed(shown, EXECUTION),
            **audits(opinion((given, None), audit=TOUCH)),
        )
        for repeat, (shown, given) in enumerate(pairs, 1)
    ]
    by_events = trial("a", "counter-edit", solved=False, repeat=7, **typed(OFF_TARGET, EVENTS))
    by_events |= audits(opinion((OFF_TARGET, None), audit=TOUCH))
    _, execution = agreement_table(study([*rows, by_events]))
    assert (execution.voice.audit, execution.items) == (TOUCH, 6)
    assert execution.kappa is not None
    assert round(execution.kappa.value, 9) == round((4 / 6 - 20 / 36) / (1 - 20 / 36), 9)
    assert [each.label for each in execution.classes] == [*AUDITS[TOUCH].names]
    retained = execution.classes[0]
    assert retained.sensitivity is not None
    assert (retained.positives, retained.sensitivity.value) == (4, 3 / 4)


def test_that_a_judge_agrees_with_execution_never_makes_it_trusted() -> None:
    rows = [_talk(task, labelled((REGRESSION, EXECUTION, "R1")), REGRESSION) for task in "abcd"]
    rows += [_talk(task, labelled((TECHNICAL, EXECUTION, None)), TECHNICAL) for task in "efgh"]
    _, execution = agreement_table(study(rows))
    assert execution.kappa is not None
    assert execution.kappa.value == 1
    assert (execution.trust.is_audited, execution.trust.is_trusted) == (False, False)
