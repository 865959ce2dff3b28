"""What judges have said of items, as their files tell it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.judge.people.population import JudgeAnswers, Unit, attempt_of, judge_named, judges_of
from fourhands.model.audit import AUDITS, AuditName, Opinion, OpinionLabel
from fourhands.model.errors import InputError
from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements
from fourhands.trajectories.audits import opinion_path, write_opinion
from fourhands.trajectories.judgements import judgements_path, write_judgements
from fourhands.trajectories.run_folder import RunFolder

INTERACT, TOUCH = AuditName.SWE_INTERACT, AuditName.SWE_TOUCH
ONE, OTHER = Unit(0, "t1", 1, "task"), Unit(0, "t2", 1, "task")


def said(
    folder: RunFolder,
    unit: Unit,
    *labels: str,
    audit: AuditName = INTERACT,
    version: int = 1,
    prompt: int = 1,
    problem: str | None = None,
) -> None:
    opinion = Opinion(
        audit,
        version,
        "judge:m",
        prompt,
        "k",
        tuple(OpinionLabel(label, (n,), "So.") for n, label in enumerate(labels)),
        problem=problem,
    )
    write_opinion(opinion_path(attempt_of(folder, unit), audit, "judge:m"), opinion)


def test_an_opinion_is_its_labels_each_once_and_none_is_one_as_well(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    bug = AUDITS[INTERACT].names[0]
    said(folder, ONE, bug, bug)
    said(folder, OTHER)
    found = judges_of([folder], INTERACT, [ONE, OTHER])
    assert found["judge:m"].answers == {ONE: frozenset({bug}), OTHER: frozenset()}
    assert judge_named(found, "m") is judge_named(found, "judge:m") is found["judge:m"]
    with pytest.raises(InputError, match="--judge n: has not answered here; have answered: judge:m"):
        judge_named(found, "n")


def test_no_opinion_is_one_of_another_question_or_one_that_never_came(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    said(folder, ONE, version=0)
    said(folder, OTHER, problem="nobody answered")
    assert judges_of([folder], INTERACT, [ONE, OTHER]) == {}


def test_of_opinions_by_several_prompts_the_newest_count(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    said(folder, ONE)
    said(folder, OTHER, prompt=2)
    assert judges_of([folder], INTERACT, [ONE, OTHER]) == {
        "judge:m": JudgeAnswers("judge:m", 2, {OTHER: frozenset()}, outdated=1, left_out={ONE: 0, OTHER: 0})
    }


def test_opinions_with_labels_that_are_none_are_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    said(folder, OTHER, "bad luck")
    with pytest.raises(InputError, match=r"swe-interact--m.json: labels: \['bad luck'\] is no answer"):
        judges_of([folder], INTERACT, [ONE, OTHER])
    said(folder, ONE, *AUDITS[TOUCH].names[:2], audit=TOUCH)
    with pytest.raises(InputError, match="is no answer to swe-touch; remove the file"):
        judges_of([folder], TOUCH, [ONE])


@pytest.mark.parametrize(
    ("score", "step"),
    [
        (0.0, "no"),
        (0.24, "no"),
        (0.25, "partly"),
        (0.5, "partly"),
        (0.75, "partly"),
        (0.76, "yes"),
        (1.0, "yes"),
    ],
)
def test_a_score_is_the_nearest_step_and_one_that_does_not_count_is_none(
    tmp_path: Path, score: float, step: str
) -> None:
    folder = RunFolder(tmp_path)
    scores = (CriterionScore("G1", score, ("q",), score), CriterionScore("G2", 1.0, problem="no quotation"))
    states = (JudgedState("c1", "plan", Judgement("k", "plan", scores, 50.0)),)
    write_judgements(judgements_path(attempt_of(folder, ONE), "judge:m"), Judgements("judge:m", 3, states))
    units = [Unit(0, "t1", 1, "task", "c1", goal) for goal in ("G1", "G2", "G9")]
    found = judges_of([folder], AuditName.GOALS, units)["judge:m"]
    assert (found.answers, found.prompt_version) == ({units[0]: frozenset({step})}, 3)
