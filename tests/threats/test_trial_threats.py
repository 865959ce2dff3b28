"""What an agent must not see or fake in a whole trial: by disk, environment, processes, network and git objects.

Two trials run at once, of the real agent through the real command line; their model, behind a provider with a key,
is an attacker. Both search and knock; then one forges a success, and the other repairs the code.
"""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fourhands.model.event import EventKind

from .stage import Stage, Trial

pytestmark = pytest.mark.slow

SEARCHED = (
    "files",
    "names",
    "files, packed",
    "git files, packed",
    "git cat-file",
    "process environ",
    "network tables",
)


@pytest.fixture(params=["honest", "cheating"])
def trial(stage: Stage, request: pytest.FixtureRequest) -> Trial:
    assert set(stage.trials) == {"honest", "cheating"}
    return stage.trials[request.param]


def found(trial: Trial, *places: str) -> set[str]:
    """Secrets found inside, in places that begin so (in all, when none is named); without the trial's own marks."""
    report = trial.report("look")
    own = {trial.hidden.mark, trial.hidden.instruction}
    return {
        secret
        for place, secrets in report.items()
        for secret in secrets
        if not places or place.startswith(places)
        if secret not in own
    }


@pytest.mark.parametrize("place", SEARCHED)
def test_the_search_finds_what_is_there(trial: Trial, place: str) -> None:
    """The control: what the agent itself has planted is found in every place, and its task in its arguments."""
    assert trial.hidden.mark in trial.report("look")[place]
    assert trial.hidden.instruction in trial.report("look")["process cmdline"]


def test_what_is_hidden_of_the_task_is_nowhere(trial: Trial) -> None:
    """Tests, their ids, runner, reference, record with its planned edits, playbook, task file, the task's name."""
    assert found(trial).isdisjoint(trial.hidden.secrets.values())
    assert found(trial).isdisjoint({"the user's edit", "the reference", "a hidden test", "condition"})


def test_git_holds_neither_tests_nor_repair_nor_a_store_it_borrows_from(trial: Trial) -> None:
    assert found(trial, "git") == set()


def test_no_secret_of_the_run_is_on_disk(trial: Trial) -> None:
    assert found(trial, "files", "names", "links") == set()


def test_processes_mounts_and_environment_tell_nothing(stage: Stage, trial: Trial) -> None:
    """Neither the run's folder and id, nor the condition, nor the host's environment."""
    assert found(trial, "process", "open files", "environment", "machine") == set()
    assert stage.environment_secret not in found(trial)


def test_keyrings_of_the_host_and_of_other_trials_are_out_of_reach(trial: Trial) -> None:
    """The command line ran with a session keyring that held a key, as a login has it."""
    if trial.hidden.mark not in trial.report("look").get("keyring session", ()):
        pytest.skip("this kernel forbids keyrings to everybody")
    assert found(trial, "keyring") == set()


def test_the_other_trial_is_out_of_reach(stage: Stage, trial: Trial) -> None:
    """Its files, sockets and shared memory, while it was there: both had planted before either looked."""
    (other,) = (each for each in stage.trials.values() if each is not trial)
    assert trial.said["plant"].endswith("planted\n")
    assert found(trial).isdisjoint(
        {other.hidden.mark, other.hidden.instruction, *other.hidden.secrets.values()}
    )
    knocked = trial.report("knock")
    assert knocked["own"]
    assert knocked["sockets"] == [f"@{trial.hidden.mark}"]
    assert knocked["markers"] == [trial.hidden.mark]


def test_nothing_answers_but_the_gateway(trial: Trial) -> None:
    knocked = trial.report("knock")
    assert knocked["ports"] == [8123]
    assert knocked["interfaces"] == ["lo"]
    assert "connected" not in knocked["outside"]


def test_the_gateway_passes_nothing_on_but_what_an_agent_needs(stage: Stage) -> None:
    """Whatever was asked for, at the provider arrived the model's two addresses alone."""
    base = stage.provider.base
    asked = set(stage.provider.seen)
    assert asked == {("POST", f"{base}/chat/completions"), ("GET", f"{base}/models")}


def test_the_gateways_answers_reveal_nothing(stage: Stage, trial: Trial) -> None:
    answers = trial.report("call")
    assert len(answers) == len(stage.requests)
    for request, (status, body) in zip(stage.requests, answers, strict=True):
        if request.startswith(("GET /v1/models HTTP", "GET /v1/models?")) and "TOKEN" in request:
            assert (status, "live-model" in body) == (200, True), request
        else:
            assert 400 <= status < 500, (request, status, body)
        assert "kw7zq" not in body, (request, body)
        assert str(stage.provider.port) not in body, (request, body)


def test_nothing_is_answered_without_the_trials_own_token(stage: Stage, trial: Trial) -> None:
    answers = trial.report("call")
    without = [
        answer
        for request, answer in zip(stage.requests, answers, strict=True)
        if "Bearer TOKEN" not in request
    ]
    assert len(without) == 4
    assert {status for status, _ in without} == {401}


def everything_in(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            yield path, data
            try:
                yield path, zlib.decompress(data)
            except zlib.error:
                continue


def test_the_providers_key_is_not_in_the_run_and_not_inside(stage: Stage) -> None:
    key = stage.provider.key.encode()
    instruction = stage.trials["honest"].hidden.instruction.encode()
    holding = {path for path, data in everything_in(stage.out) if instruction in data}
    assert any("blobs" in path.parts for path in holding)  # the control: payloads are read through
    assert [path for path, data in everything_in(stage.out) if key in data] == []
    assert stage.provider.key not in stage.shown
    assert all(stage.provider.key not in found(trial) for trial in stage.trials.values())


def test_the_hosts_environment_is_not_recorded(stage: Stage) -> None:
    secret = stage.environment_secret.encode()
    assert [path for path, data in everything_in(stage.out) if secret in data] == []


def verdict(trial: Trial) -> tuple[str, str]:
    (ended,) = trial.bodies(EventKind.TRIAL_ENDED)
    return ended["verdict"], ended["termination"]


def test_an_honest_repair_is_resolved_after_all_these_attacks(stage: Stage) -> None:
    """The control: the same task, the same searches, and a repair; the user's edit came once, when it was due."""
    trial = stage.trials["honest"]
    assert verdict(trial) == ("resolved", "finished")
    assert len(trial.bodies(EventKind.EDIT_APPLIED)) == 1
    # Nothing to note but that the provider refused one request, and not a letter of its key.
    (note,) = trial.bodies(EventKind.NOTE)
    assert (note["note"], note["status"]) == ("provider_failed", 401)
    assert "(the provider's key)" in note["said"]


def test_a_forged_success_does_not_count(stage: Stage) -> None:
    """Reward files, replaced tests, hooks, a false pytest, printed PASSED lines."""
    trial = stage.trials["cheating"]
    assert "PASSED" in trial.said["forge"]
    assert verdict(trial) == ("unresolved", "finished")
    (verified,) = trial.bodies(EventKind.VERIFIED)
    assert set(verified["fail_to_pass"].values()) == {"failed"}
    assert {"conftest.py", "pytest.ini", "src/sitecustomize.py"} <= set(verified["restored"]["removed"])
    assert verified["missing"] == []


def test_a_process_that_outlives_the_agent_changes_nothing(stage: Stage) -> None:
    trial = stage.trials["cheating"]
    (verified,) = trial.bodies(EventKind.VERIFIED)
    git = [
        "git",
        "--git-dir",
        str(trial.attempt.objects_path),
        "ls-tree",
        "-r",
        "--name-only",
        verified["tree"],
    ]
    names = subprocess.run(git, check=True, capture_output=True, text=True).stdout.split()
    assert "pytest.ini" in names
    assert "after-the-end" not in names


def test_calls_beside_the_agents_own_are_no_steps(trial: Trial) -> None:
    (ended,) = trial.bodies(EventKind.TRIAL_ENDED)
    assert ended["steps"] == len(trial.said) + 1
