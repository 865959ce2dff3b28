"""Agents with a planted fault, in one real run: each failure is found to be what it was planted as."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from fourhands.analysis.findings.arms import Trial, trials_of
from fourhands.model.ablation import ProbeName
from fourhands.report.loading import load_study
from fourhands.trajectories.ablations import ablation_path, read_ablation
from fourhands.trajectories.run_folder import RunFolder

from .thin_runs import models_of, run_trials

pytestmark = pytest.mark.slow

TASK = "config-layers"
PLANTED = ("replaces", "patches-locally", "wanders", "spoils")
BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        return importlib.import_module("planted_types")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, benchmark: ModuleType) -> RunFolder:
    folder = tmp_path_factory.mktemp("planted")
    task, possible = benchmark.prepared(folder / "tasks", TASK)
    assert set(PLANTED) <= set(possible)
    arguments = ("--model", models_of(PLANTED), "--condition", benchmark.CONDITION, "--ablate")
    return run_trials(folder, [task], *arguments)


@pytest.fixture(scope="module")
def trials(run: RunFolder) -> dict[str, Trial]:
    return {trial.model.removeprefix("scripted/"): trial for trial in trials_of(load_study([run.path]))}


@pytest.mark.parametrize("planted", PLANTED)
def test_each_failure_is_of_the_type_that_was_planted(
    trials: dict[str, Trial], benchmark: ModuleType, planted: str
) -> None:
    trial = trials[planted]
    assert trial.failure_type == benchmark.PLANTED[planted][0]
    assert trial.failure_type_by == ("events" if planted == "wanders" else "execution")


def test_the_events_that_show_it_are_in_the_record(run: RunFolder, trials: dict[str, Trial]) -> None:
    for planned in run.plan().trials:
        attempt = run.final_attempt(planned.key)
        assert attempt
        trial = trials[planned.model.removeprefix("scripted/")]
        assert trial.failure_typing
        shown = json.loads(trial.failure_typing)["events"]
        assert shown
        assert set(shown) <= {event.seq for event in attempt.read().events}


def test_an_older_file_is_read_and_gets_what_it_lacks_without_running_again_what_it_has(
    run: RunFolder, benchmark: ModuleType
) -> None:
    (planned,) = [trial for trial in run.plan().trials if trial.model == "scripted/patches-locally"]
    attempt = run.final_attempt(planned.key)
    assert attempt
    whole = read_ablation(attempt)
    path = ablation_path(attempt)
    older = json.loads(path.read_bytes())
    del older["reference_paths"], older["is_typed"]
    older["probes"] = [
        probe for probe in older["probes"] if probe["scope"] or probe["name"] == "without_edit"
    ]
    for probe in older["probes"]:
        del probe["seq"]
    path.write_text(json.dumps(older))
    before = read_ablation(attempt)
    assert before
    assert not before.is_typed
    assert before.probe(ProbeName.REFERENCE_ELSEWHERE) is None
    assert "ablated by an older version" in benchmark.typed(run.path)["patches-locally"][2]
    benchmark.fourhands("ablate", str(run.path))
    again = read_ablation(attempt)
    assert again
    assert whole
    assert [(p.name, p.tree, p.verdict) for p in again.probes] == [
        (p.name, p.tree, p.verdict) for p in whole.probes
    ]
    assert all(probe.source in {"cache", "trial"} for probe in again.probes)
