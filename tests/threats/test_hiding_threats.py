"""Secrets that happen to lie in what the sandbox shows: below the interpreter, the agent's prefix, or ``/usr``."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

import fourhands
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import InputError
from fourhands.model.sandbox import SandboxSpec


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "r").mkdir()
    return tmp_path / "r"


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    for name in ("p/secret/inner", "p/beside"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "file").write_text("s3cret" if "secret" in name else "public")
    return tmp_path / "p"


async def test_a_hidden_folder_is_empty_and_cannot_be_written(
    repository: Path, prefix: Path, tmp_path: Path
) -> None:
    spec = SandboxSpec(repository, (prefix,))
    hidden = [prefix / "secret", prefix / "secret" / "inner", tmp_path / "not-there", tmp_path / "r"]
    async with LocalSandbox(spec, tmp_path / "b", hidden=hidden) as sandbox:
        listed = await sandbox.run(
            ["/bin/bash", "-c", f"ls -A {prefix}/secret | wc -l; cat {prefix}/beside/file"]
        )
        assert listed.stdout == b"0\npublic"
        assert (await sandbox.run(["touch", f"{prefix}/secret/x"])).code != 0
        mounts = (await sandbox.run(["cat", "/proc/self/mounts"])).stdout.decode()
        assert "inner" not in mounts
    async with LocalSandbox(spec, tmp_path / "b") as sandbox:  # the control
        assert "s3cret" in (await sandbox.run(["cat", f"{prefix}/secret/inner/file"])).stdout.decode()


async def test_a_folder_behind_a_link_is_hidden_too(repository: Path, prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(prefix)
    spec = SandboxSpec(repository, (tmp_path / "link",))
    async with LocalSandbox(spec, tmp_path / "b", hidden=[prefix / "secret"]) as sandbox:
        assert (await sandbox.run(["cat", f"{tmp_path}/link/secret/inner/file"])).code != 0
        assert (await sandbox.run(["cat", f"{tmp_path}/link/beside/file"])).stdout == b"public"


async def test_our_own_package_is_hidden_with_the_answers_that_it_ships(
    repository: Path, tmp_path: Path
) -> None:
    """It may be installed into the very interpreter that is shown."""
    package = Path(fourhands.__file__).parent
    async with LocalSandbox(SandboxSpec(repository, (package.parent,)), tmp_path / "b") as sandbox:
        assert (await sandbox.run(["ls", "-A", str(package)])).stdout == b""
        assert (await sandbox.run(["ls", str(package.parent)])).stdout.split() != []


def test_what_must_be_hidden_may_not_hold_what_must_be_seen(repository: Path, prefix: Path) -> None:
    with pytest.raises(InputError, match="keep them apart"):
        LocalSandbox(SandboxSpec(repository, (prefix / "beside",)), repository, hidden=[prefix])


class _Prepared(LocalEnvironment):
    async def _spec(self) -> SandboxSpec:
        return SandboxSpec(self.environment_dir / "repository")


async def test_the_task_and_the_run_are_hidden_wherever_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    for name in ("shown/task/environment/repository", "shown/task/solution", "shown/run/jobs/job/trial"):
        (tmp_path / name).mkdir(parents=True)
    secrets = [tmp_path / "shown/task/solution/reference.patch", tmp_path / "shown/run/plan.json"]
    for secret in secrets:
        secret.write_text("s3cret")
    environment = _Prepared(
        environment_dir=tmp_path / "shown/task/environment",
        environment_name="name",
        session_id="session",
        trial_paths=TrialPaths(tmp_path / "shown/run/jobs/job/trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("test"),
        prefixes=[str(tmp_path / "shown")],
    )
    await environment.start(force_build=False)
    try:
        for secret in secrets:
            assert (await environment.exec(f"cat {secret}")).return_code != 0
        assert (await environment.exec(f"ls {tmp_path}/shown")).stdout == "run\ntask\n"
    finally:
        await environment.stop(delete=True)
