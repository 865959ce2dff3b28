"""What a judge said of a run reaches its results, marked as its word; what checks found stays as it was."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements, ShownAs
from fourhands.report.document import study_document
from fourhands.report.loading import load_study
from fourhands.report.record_stamp import record_stamp
from fourhands.report.rendering.summary import summary_markdown
from fourhands.report.summary import summary
from fourhands.trajectories.judgements import judgements_path, write_judgements
from fourhands.trajectories.run_folder import Attempt, Plan, PlannedTask, PlannedTrial, RunFolder, Settings


def _talk() -> Any:
    """The neighbour's module: tests are no package that could be imported from."""
    spec = importlib.util.spec_from_file_location(
        "talks", Path(__file__).parents[1] / "analysis" / "talks.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Talk()


def _held(folder: RunFolder) -> Attempt:
    """A run of one trial: a plan, work, another plan, the end."""
    trial = PlannedTrial(task="a", agent="thin", model="m", condition="interactive", repeat=1)
    task = PlannedTask(name="a", path=Path("a"), digest="d", record_status=None)
    folder.write_plan(Plan(run_id="r", settings=Settings(), tasks=(task,), users=(), trials=(trial,)))
    talk = _talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("plan", {"R1": True})
    talk.checkpoint("commit", {"R1": True}, lines=3)
    talk.checkpoint("plan", {"R1": False})
    talk.checkpoint("end", {"R1": True})
    lines = [{"v": 1, **asdict(event)} for event in talk.end()]
    attempt = folder.new_attempt(trial.key)
    attempt.events_path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return attempt


def _state(name: str, of: str, shown_as: ShownAs, score: float) -> JudgedState:
    return JudgedState(name, of, Judgement("k", shown_as, (CriterionScore("G1", score, score=score),), score))


def _without_judges(tables: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """What checks found: without the tables of judges' words, and without their rows in others."""
    return {
        name: [row for row in rows if not str(row.get("scores_by", "")).startswith("judge:")]
        for name, rows in tables.items()
        if name not in {"judged", "agreement"}
    }


def test_a_judges_scores_reach_the_document_and_the_summary_and_checks_keep_theirs(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    attempt = _held(folder)
    before, unjudged = record_stamp(attempt), study_document(load_study([folder.path]))
    states = (
        _state("c1", "plan", "plan", 70.0),
        _state("c3", "plan", "plan", 10.0),  # of a plan made after the work began
        _state("c4", "end", "implementation", 50.0),
    )
    write_judgements(judgements_path(attempt, "judge:j"), Judgements("judge:j", 2, states))
    assert record_stamp(attempt) != before  # so that what was kept of a large run is read anew
    study = load_study([folder.path])
    document = study_document(study)
    (row,) = document["tables"]["judged"]
    assert (row["judge"], row["audited"], row["judged_plan"], row["judged_final"]) == (
        "judge:j",
        False,
        70.0,
        50.0,
    )
    (trial,) = document["trials"]
    assert [(each["judge"], each["audited"]) for each in trial["judged"]] == [("judge:j", False)]
    assert trial | {"judged": None} == unjudged["trials"][0]
    assert _without_judges(document["tables"]) == unjudged["tables"]
    assert "judge:j, unaudited" in summary_markdown(summary(study), "r")


def test_a_spoiled_file_of_a_judge_is_told_and_hides_no_trial(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    path = judgements_path(_held(folder), "judge:j")
    path.parent.mkdir()
    path.write_text("{")
    trials = load_study([folder.path]).tables.trials
    assert trials["resolved"].to_list() == [True]
    assert "fourhands conversations score" in trials["record_problems"][0][0]
