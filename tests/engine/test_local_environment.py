# ruff: noqa: ASYNC240 - nothing else waits on a test's loop
from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

from fourhands.engine.local import LocalEnvironment
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import InputError, SandboxError
from fourhands.model.sandbox import SandboxSpec


class _Prepared(LocalEnvironment):
    async def _spec(self) -> SandboxSpec:
        return SandboxSpec(self.environment_dir.parent, env={"PATH": "/usr/bin"})


def allow(*hosts: str) -> NetworkPolicy:
    return NetworkPolicy(network_mode=NetworkMode.ALLOWLIST, allowed_hosts=list(hosts))


NOTHING = NetworkPolicy(network_mode=NetworkMode.NO_NETWORK)


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "task" / "environment").mkdir(parents=True)
    return tmp_path / "task"


def make(task: Path, policy: NetworkPolicy, **options: Any) -> LocalEnvironment:
    return _Prepared(
        environment_dir=task / "environment",
        environment_name="name",
        session_id="session",
        trial_paths=TrialPaths(task.parent / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=policy,
        logger=logging.getLogger("test"),
        **options,
    )


@pytest.mark.parametrize("policy", [NOTHING, allow("127.0.0.1"), allow("localhost", "127.0.0.1")])
async def test_a_restricted_network_reaches_the_gateway_alone(task: Path, policy: NetworkPolicy) -> None:
    environment = make(task, policy)
    await environment.start(force_build=False)
    try:
        listener = await environment.listen()
        assert (await environment.exec("exec 3<>/dev/tcp/127.0.0.1/8123")).return_code == 0
        assert listener.getsockname() == ("127.0.0.1", 8123)
        assert (await environment.exec("exec 3<>/dev/tcp/192.0.2.1/80", timeout_sec=5)).return_code != 0
    finally:
        await environment.stop(delete=True)


@pytest.mark.parametrize("host", ["api.openai.com", "10.0.0.1", "*.example.org"])
def test_another_host_is_refused_by_name(task: Path, host: str) -> None:
    with pytest.raises(InputError, match=host.replace("*", r"\*")):
        make(task, allow("127.0.0.1", host))


def test_a_phase_may_not_open_the_network_either(task: Path) -> None:
    with pytest.raises(InputError, match=r"api\.anthropic\.com"):
        make(task, allow("127.0.0.1"), phase_network_policies=[allow("127.0.0.1", "api.anthropic.com")])


async def test_public_shares_the_hosts_network(task: Path) -> None:
    public = NetworkPolicy(network_mode=NetworkMode.PUBLIC)
    with pytest.raises(InputError, match="no-network"):
        make(task, public)
    environment = make(task, public, share_network=True)
    await environment.start(force_build=False)
    try:
        inside = (await environment.exec("cat /proc/net/dev")).stdout or ""
        assert inside.count(":") == Path("/proc/net/dev").read_text().count(":")
    finally:
        await environment.stop(delete=True)


async def test_prefixes_are_seen_inside_and_in_the_spec(task: Path, tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "program").write_text("x")
    environment = make(task, NOTHING, prefixes=[str(tmp_path / "agent")])
    await environment.start(force_build=False)
    try:
        assert isinstance(environment.sandbox, LocalSandbox)
        assert environment.spec.prefixes == (tmp_path / "agent",)
        assert (await environment.exec(f"cat {tmp_path}/agent/program")).stdout == "x"
    finally:
        await environment.stop(delete=True)
    with pytest.raises(SandboxError, match="not running"):
        _ = environment.sandbox


async def test_an_unknown_user_is_refused(task: Path) -> None:
    environment = make(task, NOTHING)
    await environment.start(force_build=False)
    try:
        with pytest.raises(InputError, match="postgres"):
            await environment.exec("true", user="postgres")
    finally:
        await environment.stop(delete=True)


def test_mounts_are_refused(task: Path) -> None:
    with pytest.raises(InputError, match="mounts nothing"):
        make(task, NOTHING, mounts=[{"type": "bind", "source": str(task), "target": "/x"}])


def test_a_missing_task_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-task"):
        make(tmp_path / "no-task", NOTHING)


@pytest.mark.usefixtures("task")
async def test_preflight_passes_where_a_sandbox_runs() -> None:
    LocalEnvironment.preflight({"prefixes": []})


async def test_what_leads_out_stays_behind_and_is_said(task: Path, caplog: pytest.LogCaptureFixture) -> None:
    environment = make(task, NOTHING)
    await environment.start(force_build=False)
    try:
        await environment.exec(
            "cd /logs/agent; ln -s /etc/passwd out; ln -s log in; echo l > log; mkfifo pipe"
        )
        with caplog.at_level(logging.WARNING):
            await environment.download_dir("/logs/agent", task.parent / "logs")
    finally:
        await environment.stop(delete=True)
    assert sorted(path.name for path in (task.parent / "logs").iterdir()) == ["in", "log"]
    assert "out" in caplog.text
    assert "pipe" in caplog.text


async def test_many_environments_start_at_once(task: Path) -> None:
    environments = [make(task, NOTHING) for _ in range(12)]
    await asyncio.gather(*(environment.start(force_build=False) for environment in environments))
    began = time.monotonic()
    await asyncio.gather(*(environment.exec("sleep 1") for environment in environments))
    assert time.monotonic() - began < 6  # none waits for another's command
    await asyncio.gather(*(environment.stop(delete=True) for environment in environments))
    assert list((task.parent / "cache" / "sandboxes").iterdir()) == []
