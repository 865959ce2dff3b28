"""What a judge gives for a task's anchors is read with the run, and stands beside the scores of its trials."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from fourhands.analysis.findings.discovery import discovery_table
from fourhands.analysis.study import Anchors
from fourhands.model.event import Event
from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements, ShownAs
from fourhands.report.loading import load_study
from fourhands.report.rendering.records import records
from fourhands.report.views import VIEWS
from fourhands.trajectories.judgements import anchors_of, anchors_path, judgements_path, write_judgements
from fourhands.trajectories.run_folder import Plan, PlannedTask, PlannedTrial, RunFolder, Settings

from ..analysis.talks import Talk  # noqa: TID252 - tests are no package that could be named


def _state(name: str, of: str, shown_as: ShownAs, score: float) -> JudgedState:
    judgement = Judgement("k", shown_as, (CriterionScore("G1", score / 100, score=score / 100),), score)
    return JudgedState(name, of, judgement)


def _anchors(judge: str = "judge:j", reference: float = 80) -> Judgements:
    states = (
        _state("empty", "anchor", "implementation", 0),
        _state("reference", "anchor", "implementation", reference),
        _state("reference-as-plan", "anchor", "plan", 96),
    )
    return Judgements(judge, 2, states)


def _talked() -> list[Event]:
    """The plan is committed alone, then the work in two steps, then its tests."""
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1", "R2")
    talk.checkpoint("plan", {"R1": True, "R2": False})
    talk.checkpoint("commit", {"R1": False, "R2": False}, score=14.0)
    talk.checkpoint("commit", {"R1": True, "R2": False}, lines=3)
    talk.checkpoint("commit", {"R1": True, "R2": True}, lines=3)
    talk.checkpoint("commit", {"R1": True, "R2": True}, lines=9, tests_only=True)
    talk.checkpoint("end", {"R1": True, "R2": True})
    return talk.end()


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """Two tasks whose names are alike, a trial each."""
    folder = RunFolder(tmp_path / "run")
    names = ("a", "a--b")
    trials = tuple(
        PlannedTrial(task=name, agent="thin", model="m", condition="interactive", repeat=1) for name in names
    )
    tasks = tuple(PlannedTask(name=name, path=Path(name), digest="d", record_status=None) for name in names)
    folder.write_plan(Plan(run_id="r", settings=Settings(), tasks=tasks, users=(), trials=trials))
    for trial in trials:
        attempt = folder.new_attempt(trial.key)
        lines = [json.dumps({"v": 1, **asdict(event)}) for event in _talked()]
        attempt.events_path.write_text("".join(f"{line}\n" for line in lines))
        states = (_state("c1", "plan", "plan", 90), _state("c3", "commit", "implementation", 40))
        write_judgements(judgements_path(attempt, "judge:j"), Judgements("judge:j", 2, states))
    return folder


def test_they_are_of_their_task_alone_and_of_each_judge(run: RunFolder) -> None:
    for task, judge, reference in (("a", "judge:j", 80), ("a", "judge:k/1", 70), ("a--b", "judge:j", 60)):
        write_judgements(anchors_path(run, task, judge), _anchors(judge, reference))
    assert [each.judge for each in anchors_of(run, "a")] == ["judge:j", "judge:k/1"]
    first, second = load_study([run.path]).runs[0].tasks
    assert first.anchors == (Anchors("judge:j", 2, 0, 80, 96), Anchors("judge:k/1", 2, 0, 70, 96))
    assert second.anchors == (Anchors("judge:j", 2, 0, 60, 96),)


def test_they_stand_beside_the_course_of_the_trials_and_checks_have_their_own(run: RunFolder) -> None:
    write_judgements(anchors_path(run, "a", "judge:j"), _anchors())
    study = load_study([run.path])
    checks, judge = discovery_table(study)
    # By checks: half of it after the first step, all after the second; the tests and the end are no further steps.
    assert [point and point.value for point in checks.points] == [50.0] * 10 + [100.0]
    assert (checks.plan and checks.plan.value, checks.anchors.empty, checks.anchors.reference) == (
        50,
        14,
        100,
    )
    # The judge read the plan and the first step: what comes after is held.
    assert [point and point.value for point in judge.points] == [40.0] * 11
    assert judge.unscored == 2
    assert (judge.drop and judge.drop.value, judge.anchors.drop) == (50, 16)
    view = VIEWS["discovery"](study)
    assert view is not None
    told = records(view)[1]
    assert (told["scores_by"], told["audited"], told["reference_drop"]) == ("judge:j", False, 16)
    assert (told["plan"], told["code_0"], told["code_100"], told["code_0_trials"]) == (90, 40, 40, 2)
    assert told["anchor_tasks"] == 1


def test_a_spoiled_file_is_told_and_hides_nothing(run: RunFolder) -> None:
    path = anchors_path(run, "a", "judge:j")
    path.parent.mkdir(parents=True)
    path.write_text("{")
    study = load_study([run.path])
    assert [str(path) in each and "fourhands conversations score" in each for each in study.skipped] == [True]
    assert len(discovery_table(study)) == 2
