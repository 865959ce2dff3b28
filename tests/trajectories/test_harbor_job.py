"""Folders as ``harbor run`` leaves them, read without Harbor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.trajectories.harbor_job import (
    HarborTrial,
    harbor_outcome,
    is_harbor_job,
    read_harbor_job,
)

TIMED_OUT = {"exception_type": "AgentTimeoutError", "exception_message": "600 s", "exception_traceback": ""}


def config(name: str, task: str, /, **agent: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "task": {"path": f"/tasks/{task}", "name": None, "git_url": None},
        "trial_name": name,
        "trials_dir": "/jobs/j",
        "agent": {"name": "codex", "import_path": None, "model_name": "openai/gpt-5", "kwargs": {}} | agent,
        "environment": {"type": "docker"},
    }


def result(name: str, task: str = "hello", **changed: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": "8f870440-c4f0-41a9-8239-6bbbe7dc1bf7",
        "task_name": f"harbor/{task}",
        "trial_name": name,
        "trial_uri": f"file:///jobs/j/{name}",
        "task_id": {"path": f"/tasks/{task}"},
        "task_checksum": "d5",
        "config": config(name, task),
        "agent_info": {
            "name": "codex",
            "version": "0.161.0",
            "model_info": {"name": "gpt-5", "provider": "openai"},
        },
        "agent_result": {
            "n_input_tokens": 20980,
            "n_cache_tokens": 17468,
            "n_output_tokens": 988,
            "cost_usd": 0.25,
            "metadata": None,
        },
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-11-30T06:33:09.685502Z",
        "finished_at": "2026-11-30T06:33:22.147405Z",
        "step_results": None,
        "reward_valid": True,
    } | changed


class Job:
    """Writes a job's folder."""

    def __init__(self, path: Path, *, total: int | None = None) -> None:
        self.path = path
        path.mkdir(parents=True)
        (path / "job.log").write_text("")
        (path / "config.json").write_text(
            json.dumps({"job_name": path.name, "jobs_dir": str(path.parent), "n_attempts": 2})
        )
        if total is not None:
            (path / "result.json").write_text(json.dumps({"n_total_trials": total, "stats": {}}))

    def trial(self, name: str, *, task: str = "hello", **changed: Any) -> Path:
        folder = self.begun(name, task=task)
        (folder / "result.json").write_text(json.dumps(result(name, task, **changed)))
        return folder

    def begun(self, name: str, /, *, task: str = "hello", **agent: Any) -> Path:
        folder = self.path / name
        (folder / "agent").mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(config(name, task, **agent)))
        return folder


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path / "jobs" / "2026-11-30__06-33-09")


def only_trial(job: Job) -> HarborTrial:
    found = read_harbor_job(job.path)
    assert found.problems == ()
    (trial,) = found.trials
    return trial


def test_a_trial_is_read_with_all_that_its_result_tells(job: Job) -> None:
    folder = job.trial("hello__tw7dG6m")
    steps = [{"step_id": n, "source": s} for n, s in enumerate(("system", "user", "agent", "agent"))]
    (folder / "agent" / "trajectory.json").write_text(
        json.dumps({"schema_version": "ATIF-v1.8", "steps": steps})
    )
    assert only_trial(job) == HarborTrial(
        job="2026-11-30__06-33-09",
        name="hello__tw7dG6m",
        task="hello",
        agent="codex",
        agent_version="0.161.0",
        model="openai/gpt-5",
        id="8f870440-c4f0-41a9-8239-6bbbe7dc1bf7",
        ended=True,
        reward=1.0,
        steps=2,
        tokens_input=20980,
        tokens_cache=17468,
        tokens_output=988,
        cost_usd=0.25,
        started="2026-11-30T06:33:09.685Z",
        finished="2026-11-30T06:33:22.147Z",
    )


def test_a_model_that_the_config_does_not_name_is_the_one_that_the_agent_told(job: Job) -> None:
    asked = config("a", "hello", model_name=None)
    job.trial("a", config=asked)
    job.trial("b", config=asked, agent_info={"name": "oracle", "version": "unknown", "model_info": None})
    first, second = read_harbor_job(job.path).trials
    assert (first.model, second.model) == ("openai/gpt-5", None)
    assert (second.agent, second.agent_version) == ("oracle", None)


@pytest.mark.parametrize(
    ("rewards", "reward"),
    [
        ({"reward": 0.0}, 0.0),
        ({"reward": 1, "style": 0.2}, 1),
        ({"tests": 1.0, "rubric": 0.5}, 0.75),
        ({}, None),
        (None, None),
    ],
)
def test_the_reward_is_the_one_of_that_name_or_the_mean(
    job: Job, rewards: dict[str, float] | None, reward: float | None
) -> None:
    job.trial("a", verifier_result={"rewards": rewards})
    assert only_trial(job).reward == reward


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ({}, Outcome(Verdict.RESOLVED, Termination.FINISHED, 1.0)),
        (
            {"verifier_result": {"rewards": {"reward": 0.9}}},
            Outcome(Verdict.UNRESOLVED, Termination.FINISHED, 0.9),
        ),
        ({"verifier_result": None}, Outcome(Verdict.NONE, Termination.FINISHED)),
        ({"exception_info": TIMED_OUT}, Outcome(Verdict.RESOLVED, Termination.AGENT_TIMEOUT, 1.0)),
        (
            {"exception_info": TIMED_OUT, "verifier_result": None, "reward_valid": False},
            Outcome(Verdict.NONE, Termination.INFRASTRUCTURE_ERROR),
        ),
        (
            {"exception_info": {"exception_type": "NonZeroAgentExitCodeError"}},
            Outcome(Verdict.RESOLVED, Termination.PROTOCOL_FAILURE, 1.0),
        ),
        (
            {"exception_info": {"exception_type": "ApiRateLimitError"}, "reward_valid": False},
            Outcome(Verdict.NONE, Termination.INFRASTRUCTURE_ERROR),
        ),
        (
            {"exception_info": {"exception_type": "CancelledError"}, "verifier_result": None},
            Outcome(Verdict.NONE, Termination.INFRASTRUCTURE_ERROR),
        ),
    ],
)
def test_a_trial_ends_in_the_products_words(job: Job, changed: dict[str, Any], outcome: Outcome) -> None:
    job.trial("a", **changed)
    assert harbor_outcome(only_trial(job)) == outcome


@pytest.mark.parametrize(
    ("exception", "scored"), [("AgentTimeoutError", True), ("ApiOverloadedError", False)]
)
def test_older_results_do_not_say_whose_a_reward_is(job: Job, exception: str, *, scored: bool) -> None:
    job.trial("a", exception_info={"exception_type": exception}, reward_valid=None)
    outcome = harbor_outcome(only_trial(job))
    assert outcome
    assert outcome.is_scored is scored


def test_a_trial_of_several_steps_is_the_sum_of_them(job: Job) -> None:
    steps = [
        {"step_name": "one", "agent_result": {"n_input_tokens": 5, "cost_usd": 0.5}, "exception_info": None},
        {"step_name": "two", "agent_result": {"n_input_tokens": 7}, "exception_info": TIMED_OUT},
    ]
    job.trial("a", agent_result=None, step_results=steps)
    trial = only_trial(job)
    assert (trial.tokens_input, trial.tokens_output, trial.cost_usd) == (12, None, 0.5)
    assert trial.timed_out


def test_what_has_no_result_is_not_run_and_what_never_began_is_counted(tmp_path: Path) -> None:
    job = Job(tmp_path / "j", total=5)
    job.trial("b")
    job.begun("a", task="other", name=None, import_path="mine:Agent")
    (job.path / "notes").mkdir()
    found = read_harbor_job(job.path)
    cut, ended = found.trials
    assert (cut.task, cut.agent, harbor_outcome(cut)) == ("other", "mine:Agent", None)
    assert ended.ended
    assert found.problems == (
        f"{job.path / 'a'}: no result.json: the trial was cut, or runs still",
        f"{job.path}: 3 of its 5 trials never began",
    )


def test_trials_come_in_order_of_job_and_name(tmp_path: Path) -> None:
    for name in ("later", "early"):
        job = Job(tmp_path / "jobs" / name)
        job.trial("hello__b")
        job.trial("hello__a")
    (tmp_path / "jobs" / "no-job").mkdir()
    found = read_harbor_job(tmp_path / "jobs")
    assert [(trial.job, trial.name) for trial in found.trials] == [
        *[("early", "hello__a"), ("early", "hello__b")],
        *[("later", "hello__a"), ("later", "hello__b")],
    ]
    assert (found.name, found.problems) == ("jobs", ())


def test_tasks_of_one_name_and_two_organisations_are_two(job: Job) -> None:
    job.trial("a", task_name="one/hello")
    job.trial("b", task_name="two/hello")
    job.trial("c", task_name="two/bye")
    assert [trial.task for trial in read_harbor_job(job.path).trials] == ["one/hello", "two/hello", "bye"]


def test_trials_of_our_own_runs_are_not_taken_for_agents_left_alone(job: Job) -> None:
    ours = config("a", "hello", import_path="fourhands.engine.agents.codex:Codex")
    job.trial("a", config=ours)
    job.trial("b")
    found = read_harbor_job(job.path)
    assert [trial.name for trial in found.trials] == ["b"]
    (problem,) = found.problems
    assert "1 of its trials were run by Fourhands and left out" in problem


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (b'{"task_na', "Invalid JSON"),
        (b"\0" * 100, "Invalid JSON"),
        (b"\xff\xfe", "Invalid JSON"),
        (b"[]", "Input should be an object"),
        (b"{}", "task_name: Field required"),
        (json.dumps(result("a", schema_version=2)).encode(), "schema_version: Input should be 1"),
        (json.dumps(result("a", agent_result={"n_input_tokens": -5})).encode(), "n_input_tokens"),
        (json.dumps(result("a", verifier_result={"rewards": {"reward": float("nan")}})).encode(), "reward"),
        (json.dumps(result("a", started_at="yesterday")).encode(), "started_at"),
    ],
)
def test_a_result_that_nobody_can_read_is_a_problem_and_its_trial_not_run(
    job: Job, spoiled: bytes, reason: str
) -> None:
    (job.trial("a") / "result.json").write_bytes(spoiled)
    found = read_harbor_job(job.path)
    (trial,), (problem,) = found.trials, found.problems
    assert harbor_outcome(trial) is None
    assert problem.startswith(f"{job.path / 'a' / 'result.json'}: cannot be read: ")
    assert reason in problem


def test_folders_in_the_place_of_files_are_problems(job: Job) -> None:
    folder = job.trial("a")
    (folder / "result.json").unlink()
    (folder / "result.json").mkdir()
    (job.path / "result.json").mkdir()
    assert [problem.split(": ")[1] for problem in read_harbor_job(job.path).problems] == [
        "cannot be read"
    ] * 2


@pytest.mark.parametrize("trajectory", [b"", b"{}", b'{"steps": 5}', b'{"steps": [{}]}', b"[" * 100_000])
def test_steps_are_unknown_where_the_trajectory_does_not_tell(job: Job, trajectory: bytes) -> None:
    (job.trial("a") / "agent" / "trajectory.json").write_bytes(trajectory)
    assert only_trial(job).steps is None


def test_what_is_no_job_is_none(tmp_path: Path, job: Job) -> None:
    trial = job.trial("a")
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "config.json").write_bytes(b'{"job_na')
    foreign = [tmp_path, tmp_path / "missing", tmp_path / "torn", trial, job.path / "job.log"]
    assert [path for path in foreign if is_harbor_job(path)] == []
    assert is_harbor_job(job.path)
    assert is_harbor_job(job.path.parent)


@given(
    st.sampled_from(["config.json", "result.json", "a/config.json", "a/result.json"]), st.binary(max_size=99)
)
def test_no_bytes_in_any_file_make_reading_fail(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    job = Job(tmp_path_factory.mktemp("jobs") / "j", total=1)
    job.trial("a")
    (job.path / name).write_bytes(data)
    assert is_harbor_job(job.path) is (name != "config.json")
    assert bool(read_harbor_job(job.path).problems) is (name != "config.json")
