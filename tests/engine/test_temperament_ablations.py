"""Temperament × causal ablation, with real trials: only what an edit did is laid at its door."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from fourhands.analysis.findings.causal import causal_table
from fourhands.model.ablation import Ablation, Cause, Conclusion, ProbeName
from fourhands.model.outcome import Verdict
from fourhands.report.loading import load_study
from fourhands.tasks.find import bundled_tasks
from fourhands.trajectories.ablations import read_ablation
from fourhands.trajectories.run_folder import RunFolder

from .thin_runs import models_of, run_trials, without_playbook

pytestmark = pytest.mark.slow

SUBMIT: Final = '[[moves]]\nthought = "The change is made and the suite passes. I am done."\nsubmit = true\n'
PLANTED: Final = """\
[[moves]]
thought = "One more thing, in another file."
command = "echo 'raise ImportError' >> src/tally/money.py"

"""


def _ablated(folder: Path, task: Path, temperaments: Sequence[str], conditions: str) -> RunFolder:
    return run_trials(
        folder, [task], "--model", models_of(temperaments), "--condition", conditions, "--ablate"
    )


def _ablations(run: RunFolder) -> dict[tuple[str, str], Ablation]:
    found = {}
    for trial in run.plan().trials:
        attempt = run.final_attempt(trial.key)
        assert attempt
        ablation = read_ablation(attempt)
        if ablation:
            found[trial.model.removeprefix("scripted/"), trial.condition] = ablation
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("temperaments")
    task = without_playbook(folder)
    temperaments = ("keeps", "gives-up", "loops", "reverts")
    return _ablated(folder, task, temperaments, "vanilla,counter-edit,edit-only")


@pytest.fixture(scope="module")
def ablations(run: RunFolder) -> dict[tuple[str, str], Ablation]:
    return _ablations(run)


def test_all_failures_after_an_edit_are_ablated_and_no_others(
    ablations: dict[tuple[str, str], Ablation],
) -> None:
    told = {("keeps", "counter-edit"), ("gives-up", "counter-edit"), ("loops", "counter-edit")}
    untold = {(each, "edit-only") for each in ("keeps", "gives-up", "loops", "reverts")}
    assert ablations.keys() == told | untold


def test_work_that_is_done_but_for_the_edit_fails_because_of_it(
    ablations: dict[tuple[str, str], Ablation],
) -> None:
    for trial in {("keeps", "counter-edit"), *(each for each in ablations if each[1] == "edit-only")}:
        assert (ablations[trial].conclusion, ablations[trial].by) == (Conclusion.EDIT_CAUSED, Cause.REMOVAL)


@pytest.mark.parametrize("temperament", ["gives-up", "loops"])
def test_work_that_was_never_done_is_no_cause_by_removal(
    ablations: dict[tuple[str, str], Ablation], temperament: str
) -> None:
    """This task's Counter-Edit spoils the reference as well: that, and no more, is what execution shows."""
    found = ablations[temperament, "counter-edit"]
    assert [(probe.name, probe.scope, probe.verdict) for probe in found.probes] == [
        (ProbeName.WITHOUT_EDIT, None, Verdict.UNRESOLVED),
        (ProbeName.REFERENCE_INSTEAD, "place", Verdict.UNRESOLVED),
        (ProbeName.REFERENCE_INSTEAD, "files", Verdict.RESOLVED),
        (ProbeName.REFERENCE_BESIDE, "files", Verdict.UNRESOLVED),
    ]
    assert (found.conclusion, found.by) == (Conclusion.EDIT_CAUSED, Cause.REPLACEMENT)
    assert "the agent's own part is missing as well" in found.detail


def test_the_results_tell_causes_by_removal_from_causes_by_replacement(run: RunFolder) -> None:
    touched = {(row.model, row.condition): row.touched for row in causal_table(load_study([run.path]))}
    causes = {key: (found.by_removal, found.by_replacement) for key, found in touched.items()}
    assert causes["scripted/keeps", "counter-edit"] == (1, 0)
    assert causes["scripted/gives-up", "counter-edit"] == (0, 1)
    shown = (run.path / "report.md").read_text()
    assert "0+1 of 1" in shown
    assert "1+0 of 1" in shown
    assert "replacement: resolved only once the reference stands in its place" in shown


def test_a_failure_planted_elsewhere_is_not_the_edits(tmp_path: Path) -> None:
    task = shutil.copytree(bundled_tasks()["ledger-rounding"], tmp_path / "ledger-rounding")
    playbook = task / "user" / "playbook.toml"
    text = playbook.read_text()
    assert text.count(SUBMIT) == 1
    playbook.write_text(text.replace(SUBMIT, PLANTED + SUBMIT))
    (found,) = _ablations(_ablated(tmp_path, task, ["keeps"], "counter-edit")).values()
    assert (found.conclusion, found.by, found.stood) == (Conclusion.ALSO_BROKEN_WITHOUT, None, True)
    assert found.probes[0].verdict is Verdict.UNRESOLVED
