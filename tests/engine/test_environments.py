"""Harbor's environments: that what we configure is what Harbor accepts, and what is said where none can run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from harbor.constants import MAIN_SERVICE_NAME
from harbor.environments.docker.docker import DockerEnvironment
from harbor.environments.factory import EnvironmentFactory
from harbor.job import Job
from harbor.models.environment_type import EnvironmentType
from harbor.models.job.config import JobConfig
from harbor.models.task.config import NetworkMode, NetworkPolicy, VerifierEnvironmentMode
from harbor.models.task.task import Task as HarborTask
from harbor.models.trial.paths import TrialPaths
from harbor.trial.network_policy import resolve_trial_network_plan

from fourhands.edits.plan import plan_run
from fourhands.engine.containers.address import listen_for
from fourhands.engine.environments import (
    environment_config,
    see_that_harbor_has,
    see_that_it_runs,
    see_that_the_gateway_is_reached,
    see_that_the_network_is_held_back,
)
from fourhands.engine.jobs import harbor_configs
from fourhands.model.condition import Condition
from fourhands.model.errors import InputError, SandboxError
from fourhands.model.trial import AgentSpec
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.tasks.real import real_tasks
from fourhands.tasks.templates import dockerfile, task_toml
from fourhands.trajectories.run_folder import Settings

TYPES = [kind.value for kind in EnvironmentType]
BESIDE_US = ["docker", "podman"]
OPTIONS_NEEDED = {"ec2", "gke", "aca-sandbox"}
"""Environments that Harbor refuses without options of the user's own."""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Put a program of that name, a shell script, in front of all others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")

    def write(name: str, script: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)

    return write


@pytest.fixture
def docker(program: Callable[[str, str], None]) -> Iterator[None]:
    """A docker that says yes to everything: Harbor asks it whether the kernel can hold a network back."""
    program("docker", "exit 0")
    supported: Any = DockerEnvironment._egress_control_kernel_support
    supported.__func__.cache_clear()
    yield
    supported.__func__.cache_clear()


def config_of(name: str, task: str = "ledger-rounding", agent: str = "thin") -> JobConfig:
    plan = plan_run(
        tasks=[load_task(bundled_tasks()[task])],
        agents=[AgentSpec(agent, "scripted/keeps")],
        conditions=[Condition.parse("vanilla")],
        repeats=1,
        settings=Settings(environment=name),
        progress_steps={},
    )
    (config,) = harbor_configs(plan, Path("runs/a/jobs"), 2)
    return config


@pytest.fixture
def real_task(tmp_path: Path) -> Path:
    """The part that Harbor reads of the folder of a real task, by our templates."""
    name, task = next(iter(real_tasks().items()))
    folder = tmp_path / name
    for path, text in {
        "task.toml": task_toml(name, task),
        "instruction.md": "Repair it.",
        "environment/Dockerfile": dockerfile(task.sdist, task.python, task.env),
        "tests/test.sh": "#!/bin/bash\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.parametrize("name", ["local", *TYPES])
@pytest.mark.parametrize("agent", ["thin", "mini-swe-agent"])
def test_every_configuration_is_valid_and_survives_json(name: str, agent: str) -> None:
    if name == "local" and agent != "thin":
        pytest.skip("installs the agent: a whole trial shows it")
    config = config_of(name, agent=agent)
    assert JobConfig.model_validate_json(config.model_dump_json()) == config
    environment = config.environment
    assert environment.type == (None if name == "local" else EnvironmentType(name))
    try:
        EnvironmentFactory.validate_resource_policies(environment)
    except ImportError as error:
        pytest.skip(f"Harbor looks no further without the provider's package: {error}".partition("\n")[0])
    if name in OPTIONS_NEEDED:
        with pytest.raises(ValueError, match="Field required"):
            EnvironmentFactory.validate_options(environment)
    else:
        EnvironmentFactory.validate_options(environment)


@pytest.mark.parametrize("name", ["local", "docker", "podman", "modal", "daytona"])
async def test_harbor_makes_a_job_of_a_bundled_and_a_real_task(
    name: str, real_task: Path, tmp_path: Path
) -> None:
    config = config_of(name)
    tasks = [*config.tasks, config.tasks[0].model_copy(update={"path": real_task})]
    job = await Job.create(config.model_copy(update={"jobs_dir": tmp_path / "jobs", "tasks": tasks}))
    assert len(job) == 2


@pytest.mark.parametrize("name", BESIDE_US)
def test_a_task_without_network_reaches_the_gateway_and_nothing_else_in_every_phase(
    name: str, real_task: Path
) -> None:
    for folder in (*bundled_tasks().values(), real_task):
        config = config_of(name)
        resolved = resolve_trial_network_plan(
            HarborTask(folder).config,
            config.agents[0],
            config.environment,
            config.verifier,
            None,
            verifier_mode=VerifierEnvironmentMode.SHARED,
        )
        only = NetworkPolicy(network_mode=NetworkMode.ALLOWLIST, allowed_hosts=["host.docker.internal"])
        assert resolved.agent_env_baseline == resolved.agent_phase == resolved.verifier_phase == only
        assert resolved.notices == ()


@pytest.mark.parametrize("name", BESIDE_US)
def test_a_task_that_shuts_its_agent_in_still_lets_the_gateway_through(name: str, real_task: Path) -> None:
    toml = real_task / "task.toml"
    toml.write_text(toml.read_text().replace("[agent]", '[agent]\nnetwork_mode = "no-network"'))
    config = config_of(name)
    resolved = resolve_trial_network_plan(
        HarborTask(real_task).config,
        config.agents[0],
        config.environment,
        config.verifier,
        None,
        verifier_mode=VerifierEnvironmentMode.SHARED,
    )
    assert resolved.agent_phase.allowed_hosts == ["host.docker.internal"]


@pytest.mark.parametrize("name", BESIDE_US)
def test_a_task_that_is_open_to_the_network_is_refused_where_nothing_would_hold_it_back(
    name: str, real_task: Path
) -> None:
    see_that_the_network_is_held_back(name, [*bundled_tasks().values(), real_task])
    toml = real_task / "task.toml"
    toml.write_text(toml.read_text().replace('network_mode = "no-network"\n', ""))
    with pytest.raises(InputError, match=rf'{toml} asks for the public network.*--env {name}.*"no-network"'):
        see_that_the_network_is_held_back(name, [real_task])
    see_that_the_network_is_held_back("local", [real_task])  # which refuses it itself, or is allowed to share


@pytest.mark.usefixtures("docker")
def test_harbors_docker_environment_takes_the_policy_and_the_name_of_this_machine(tmp_path: Path) -> None:
    config = config_of("docker").environment
    folder = bundled_tasks()["ledger-rounding"]
    environment = DockerEnvironment(
        environment_dir=folder / "environment",
        environment_name="ledger-rounding",
        session_id="s",
        trial_paths=TrialPaths(tmp_path),
        task_env_config=HarborTask(folder).config.environment,
        network_policy=NetworkPolicy(
            network_mode=NetworkMode.ALLOWLIST, allowed_hosts=config.extra_allowed_hosts
        ),
        extra_docker_compose=config.extra_docker_compose,
    )
    (overlay,) = config.extra_docker_compose
    assert overlay in environment._docker_compose_paths
    # Docker refuses names for a container that lies in another's namespace: they must be the other's.
    services = yaml.safe_load(overlay.read_text())["services"]
    assert services == {
        DockerEnvironment._EGRESS_CONTROL_SERVICE_NAME: {"extra_hosts": ["host.docker.internal:host-gateway"]}
    }
    assert environment._egress_controlled_service_names() == [MAIN_SERVICE_NAME]


@pytest.mark.parametrize("task", bundled_tasks())
def test_the_image_of_a_bundled_task_has_what_a_trial_needs(task: str) -> None:
    has_what_is_needed((bundled_tasks()[task] / "environment" / "Dockerfile").read_text())


def test_the_image_of_a_real_task_has_what_a_trial_needs(real_task: Path) -> None:
    text = (real_task / "environment" / "Dockerfile").read_text()
    has_what_is_needed(text)
    (name,) = re.findall(r"^COPY (\S+) /tmp/sdist", text, re.MULTILINE)
    assert name == next(iter(real_tasks().values())).sdist.filename


def has_what_is_needed(text: str) -> None:
    """Debian's images have bash and tar; the rest must be asked for."""
    assert re.search(r"^FROM (python|node):\S+-slim$", text, re.MULTILINE)
    assert re.search(r"apt-get install .*\bgit\b", text)
    assert "FROM python:" in text or re.search(r"apt-get install .*\bpython3\b", text)
    assert re.search(r"^WORKDIR /testbed$", text, re.MULTILINE)


def test_an_unknown_environment_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"unknown environment 'dokcer': choose from local, docker"):
        see_that_harbor_has("dokcer")


@pytest.mark.parametrize("name", ["local", *TYPES])
def test_what_harbor_starts_no_sandbox_in_is_refused(name: str) -> None:
    if name not in OPTIONS_NEEDED:
        see_that_the_gateway_is_reached(name)
        return
    with pytest.raises(InputError, match=rf"--env {name}: .*options of your account.*--dry-run"):
        see_that_the_gateway_is_reached(name)


@pytest.mark.parametrize("name", BESIDE_US)
def test_an_engine_that_is_not_there_or_does_not_answer_is_named(
    name: str, program: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(name, "exit 1")
    with pytest.raises(SandboxError, match=rf"--env {name} cannot run here: {name.title()}"):
        see_that_it_runs(name)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxError, match=rf"{name.title()} is not installed .*the same command goes on"):
        see_that_it_runs(name)


def test_where_the_gateway_listens_for_docker(program: Callable[[str, str], None]) -> None:
    program("docker", 'test "$1 $2 $3" = "network inspect bridge" && echo 127.0.0.2')
    with listen_for("docker") as first, listen_for("docker") as second:
        assert first.getsockname()[0] == second.getsockname()[0] == "127.0.0.2"
        assert first.getsockname()[1] != second.getsockname()[1]
    program("docker", "echo 192.0.2.1")  # in the virtual machine of Docker Desktop
    with listen_for("docker") as listener:
        assert listener.getsockname()[0] == "127.0.0.1"
    program("docker", "echo the daemon is gone >&2; exit 1")
    with pytest.raises(SandboxError, match="does not tell the address of its bridge"):
        listen_for("docker")


def test_where_the_gateway_listens_for_podman() -> None:
    with listen_for("podman") as listener:
        assert listener.getsockname()[0] == "0.0.0.0"


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("fourhands"), "run", "--tasks", "ledger-rounding", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_run_without_a_daemon_ends_at_once_and_can_be_gone_on_with(
    program: Callable[[str, str], None], tmp_path: Path
) -> None:
    program("docker", "echo no daemon >&2; exit 1")
    arguments = ("--agent", "thin", "--condition", "vanilla", "--out", tmp_path / "run")
    for _ in range(2):
        done = fourhands(*arguments, "--env", "docker")
        assert done.returncode == 4
        assert re.search(r"error: --env docker cannot run here: Docker daemon is not running", done.stderr)
        assert "Traceback" not in done.stderr
        assert (tmp_path / "run" / "plan.json").is_file()
        assert not (tmp_path / "run" / "trials").exists()
        assert not (tmp_path / "run" / "jobs").exists()


def test_a_remote_environment_is_refused_before_anything_is_written_but_can_be_looked_at(
    tmp_path: Path,
) -> None:
    refused = fourhands("--env", "ec2", "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert "options of your account" in refused.stderr
    assert not (tmp_path / "run" / "plan.json").exists()
    shown = fourhands("--env", "modal", "--dry-run", "--condition", "vanilla,counter-edit")
    assert shown.returncode == 0, shown.stderr
    jobs = orjson.loads(shown.stdout.partition("jobs:\n")[2])
    configs = [JobConfig.model_validate(job) for job in jobs]
    assert [config.environment.type for config in configs] == [EnvironmentType.MODAL] * 2
    assert [config.agents[0].kwargs["condition"] for config in configs] == ["vanilla", "counter-edit"]


def test_only_what_lies_beside_us_is_told_of_this_machine() -> None:
    for name in TYPES:
        config = environment_config(name)
        assert bool(config.extra_docker_compose) == bool(config.extra_allowed_hosts) == (name in BESIDE_US)
