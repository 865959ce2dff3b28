"""A trial in an environment that is not ours: laid, installed, touched and verified by Harbor's interface alone."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, override

import pytest
from harbor.environments.base import ExecResult
from harbor.job import Job
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.config import EnvironmentConfig as TrialEnvironmentConfig
from harbor.models.trial.paths import TrialPaths

from fourhands.edits.plan import plan_run
from fourhands.engine.active import ActiveRun
from fourhands.engine.containers.packages import Platform, packed, read_platform, refuse_foreign
from fourhands.engine.containers.shared import SharedContainer, share
from fourhands.engine.jobs import harbor_configs
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.models import Models
from fourhands.engine.sandbox.archive import unpack
from fourhands.gateway.server import Gateway
from fourhands.model.condition import Condition
from fourhands.model.errors import InputError, MissingError, SandboxError
from fourhands.model.event import Event, EventKind
from fourhands.model.sandbox import SandboxSpec
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.tasks.repository import base_repository
from fourhands.trajectories.run_folder import RunFolder, Settings

HERE = Path(__file__).parent


class _Empty(LocalEnvironment):
    """An environment whose repository is not the task's: as an image has it that was made by somebody else."""

    async def _spec(self) -> SandboxSpec:
        folder = self.environment_dir.parent.parent / "image"
        (folder / "left").mkdir(parents=True)
        (folder / "left" / "over").write_text("by the image\n")
        return SandboxSpec(folder, env={"PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin"})


class _WithoutPython(_Empty):
    """Every shell command fails, as one does that finds no program."""

    @override
    async def exec(self, *args: Any, **options: Any) -> ExecResult:
        del args, options
        return ExecResult(return_code=127)


def make(kind: type[LocalEnvironment], task: Path, folder: Path) -> LocalEnvironment:
    return kind(
        environment_dir=task / "environment",
        environment_name="ledger-rounding",
        session_id="session",
        trial_paths=TrialPaths(folder / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("test"),
    )


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A bundled task that asks for the public network: then the local environment has the host's."""
    folder = shutil.copytree(bundled_tasks()["ledger-rounding"], tmp_path / "ledger-rounding")
    toml = folder / "task.toml"
    toml.write_text(toml.read_text().replace('"no-network"', '"public"'))
    return folder


@pytest.fixture
async def environment(task: Path, tmp_path: Path) -> AsyncIterator[LocalEnvironment]:
    made = make(_Empty, task, tmp_path)
    await made.start(force_build=False)
    yield made
    await made.stop(delete=True)


@pytest.fixture
async def container(environment: LocalEnvironment) -> SharedContainer:
    task = load_task(environment.environment_dir.parent)
    return SharedContainer(environment, SandboxSpec(base_repository(task), env=task.env))


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hashed lock for two small packages that only a folder of ours offers: one for every Python, one compiled."""
    index = tmp_path / "index"
    index.mkdir()
    pins = []
    tags = {
        "toy": ["py3-none-any"],
        "fast": ["cp312-cp312-manylinux_2_17_x86_64", "cp313-cp313-manylinux_2_17_x86_64"],
    }
    for name, each in tags.items():
        hashes = []
        for tag in each:
            wheel = index / f"{name}-1.0-{tag}.whl"
            info = f"{name}-1.0.dist-info"
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(f"{name}.py", f"def main():\n    print('{name} for {tag}')\n")
                archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
                archive.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n")
                archive.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
                archive.writestr(f"{info}/RECORD", "")
            hashes.append(f"--hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}")
        pins.append(f"{name}==1.0 {' '.join(hashes)}\n")
    for variable in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    path = tmp_path / "toys.txt"
    path.write_text("".join(pins))
    return path


async def test_the_repository_is_the_base_byte_for_byte_whatever_the_image_held(
    container: SharedContainer, environment: LocalEnvironment
) -> None:
    await container.start()
    listed = "find . -path ./.git -prune -o \\( -type f -o -type l \\) -printf '%P %m\\n' | LC_ALL=C sort"
    inside = await environment.exec(listed)
    at_home = await asyncio.create_subprocess_exec(
        "/bin/bash", "-c", listed, cwd=container.spec.repository, stdout=asyncio.subprocess.PIPE
    )
    assert inside.stdout == (await at_home.communicate())[0].decode()
    assert "left/over" not in (inside.stdout or "")
    status = await container.sandbox.run(["git", "status", "--short"])
    assert (status.code, status.stdout) == (0, b"")


async def test_our_own_environment_is_shared_as_it_is(environment: LocalEnvironment) -> None:
    assert await share(environment) is environment
    assert environment.gateway_host == "127.0.0.1"


async def test_an_image_without_python_is_refused(task: Path, tmp_path: Path) -> None:
    environment = make(_WithoutPython, task, tmp_path)
    container = SharedContainer(environment, SandboxSpec(tmp_path))
    with pytest.raises(InputError, match=r"the image of ledger-rounding has no Python 3\.9 or later"):
        await container.start()
    with pytest.raises(SandboxError, match="call start first"):
        _ = container.sandbox.python


async def test_packages_are_brought_in_without_pip_or_network_inside(
    container: SharedContainer, environment: LocalEnvironment, lock: Path
) -> None:
    await container.start()
    prefix = await container.packages(lock)
    done = await environment.exec(
        f"{prefix}/bin/python -I {prefix}/bin/toy; {prefix}/bin/python -I {prefix}/bin/fast"
    )
    assert done.stdout == "toy for py3-none-any\nfast for cp312-cp312-manylinux_2_17_x86_64\n"
    assert (await environment.exec(f"{prefix}/bin/python -m pip")).return_code != 0
    assert (
        await environment.exec("python3 -c 'import toy'")
    ).return_code != 0  # the task's own does not see it
    assert (await environment.exec("ls -A /tmp")).stdout is None


async def test_a_folder_of_programs_is_brought_in_with_its_links_and_permissions(
    container: SharedContainer, environment: LocalEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "the hash of it"
    (folder / "lib" / "deep").mkdir(parents=True)
    program = folder / "lib" / "deep" / "greet"
    program.write_text("#!/bin/sh\necho hello\n")
    program.chmod(0o755)
    (folder / "bin").symlink_to("lib/deep")
    await container.start()
    inside = await container.programs(folder, "greeter")
    done = await environment.exec(f"'{inside}/bin/greet' && readlink '{inside}/bin'")
    assert done.stdout == "hello\nlib/deep\n"
    assert (await environment.exec("ls -A /tmp")).stdout is None
    program.unlink()
    assert await container.programs(folder, "greeter") == inside  # packed once


@pytest.mark.parametrize(
    ("said", "match"),
    [
        (f"3 9 {os.uname().machine}", "greeter needs an image with glibc"),
        (
            "3 9 sparc64 glibc 2.41",
            "greeter is brought in as it runs on this machine .* environment's is sparc64",
        ),
    ],
)
def test_an_image_that_our_programs_do_not_run_in_is_refused(said: str, match: str) -> None:
    refuse_foreign(f"3 9 {os.uname().machine} glibc 2.36", "greeter")
    with pytest.raises(InputError, match=match):
        refuse_foreign(said, "greeter")


def test_the_wheels_are_those_of_the_containers_python(lock: Path, tmp_path: Path) -> None:
    archive = packed(lock, Platform(13, "x86_64", 36))
    unpack(archive.read_bytes(), tmp_path / "site")
    assert "cp313" in (tmp_path / "site" / "fast.py").read_text()
    assert packed(lock, Platform(13, "x86_64", 36)) == archive
    with pytest.raises(MissingError, match=r"toys\.txt: .* for Python 3\.12 on aarch64 with glibc 2\.36"):
        packed(lock, Platform(12, "aarch64", 36))
    with pytest.raises(MissingError, match=r"glibc 2\.16"):
        packed(lock, Platform(12, "x86_64", 16))


def test_platform_tags_hold_for_every_older_glibc() -> None:
    tags = Platform(12, "x86_64", 17).tags
    assert tags[0] == "manylinux_2_17_x86_64"
    assert {"manylinux_2_5_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64", "linux_x86_64"} < set(tags)
    assert "manylinux2014_aarch64" not in Platform(12, "aarch64", 16).tags


@pytest.mark.parametrize(
    ("said", "match"),
    [
        ("3 9 x86_64 glibc 2.36", r"toys needs Python 3\.12 .* has 3\.9"),
        ("3 12 x86_64", "needs an image with glibc"),
    ],
)
def test_an_image_that_an_agent_cannot_be_installed_for_is_refused(said: str, match: str) -> None:
    assert read_platform("3 13 aarch64 glibc 2.41", "toys") == Platform(13, "aarch64", 41)
    with pytest.raises(InputError, match=match):
        read_platform(said, "toys")


@pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")  # Harbor's own
async def test_a_whole_trial_is_touched_and_verified(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(HERE))
    plan = plan_run(
        tasks=[load_task(task)],
        agents=[AgentSpec("thin", "scripted/keeps")],
        conditions=[Condition.parse("counter-edit[k=1]")],
        repeats=1,
        settings=Settings(),
        progress_steps={},
    )
    folder = RunFolder(tmp_path / "run")
    folder.write_plan(plan)
    models, gateway = Models(plan), Gateway()
    gateway.start()
    try:
        models.serve_at(await gateway.serve(models.app))
        (config,) = harbor_configs(plan, folder.jobs_path, 1)
        config.environment = TrialEnvironmentConfig(
            import_path="fourhands.engine.local:LocalEnvironment", kwargs={"share_network": True}
        )
        config.agents[0].import_path = "elsewhere:ElsewhereThin"

        def ignore(key: TrialKey, event: Event) -> None:
            del key, event

        with ActiveRun(folder, plan, gateway, models.upstream, ignore, 1):
            await (await Job.create(config)).run()
    finally:
        gateway.close()
    (trial,) = plan.trials
    attempt = folder.final_attempt(trial.key)
    assert attempt
    assert attempt.ended
    assert (attempt.ended.body["verdict"], attempt.ended.body["termination"]) == ("unresolved", "finished")
    events = attempt.read().events
    delivered = [event.body for event in events if event.kind is EventKind.EDIT_APPLIED]
    assert len(delivered) == 1
    assert sum(attempt.ended.body["user_lines"].values()) > 0
