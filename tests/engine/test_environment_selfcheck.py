"""What any environment of ours must do, asked through Harbor's interface alone. A new one is one line below."""

# ruff: noqa: ASYNC240 - nothing else waits on a test's loop
from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import pytest
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

from fourhands.engine.local import LocalEnvironment
from fourhands.model.sandbox import SandboxSpec

Factory = Callable[[Path], BaseEnvironment]


class _PreparedLocal(LocalEnvironment):
    """Skips the preparation of a task: its repository lies ready."""

    async def _spec(self) -> SandboxSpec:
        return SandboxSpec(self.environment_dir.parent / "repository")


def local(folder: Path) -> BaseEnvironment:
    (folder / "repository").mkdir(parents=True)
    return _PreparedLocal(
        environment_dir=folder / "environment",
        environment_name="selfcheck",
        session_id="selfcheck",
        trial_paths=TrialPaths(folder / "trial"),
        task_env_config=EnvironmentConfig(env={"FROM_TASK": "1"}),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("selfcheck"),
    )


ENVIRONMENTS: Final[dict[str, Factory]] = {"local": local}


@pytest.fixture(params=ENVIRONMENTS)
def factory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Factory:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SECRET_OF_THE_HOST", "s3cret")
    made: Factory = ENVIRONMENTS[request.param]
    return made


@pytest.fixture
async def environment(factory: Factory, tmp_path: Path) -> AsyncIterator[BaseEnvironment]:
    made = factory(tmp_path / "one")
    await made.start(force_build=False)
    yield made
    await made.stop(delete=True)


async def out(environment: BaseEnvironment, command: str, **options: Any) -> str:
    done: ExecResult = await environment.exec(command, **options)
    assert done.return_code == 0, done
    return done.stdout or ""


async def test_exec_gives_output_and_code(environment: BaseEnvironment) -> None:
    done = await environment.exec("echo out; echo err >&2; exit 3")
    assert (done.stdout, done.stderr, done.return_code) == ("out\n", "err\n", 3)
    assert (await environment.exec("true")).stdout in {None, ""}
    assert await out(environment, "echo {a,b} $((1+1))") == "a b 2\n"  # bash


async def test_cwd_and_environment(environment: BaseEnvironment) -> None:
    assert await out(environment, "pwd") == "/testbed\n"
    assert await out(environment, "pwd", cwd="/tmp") == "/tmp\n"
    assert await out(environment, "echo $FROM_TASK $A", env={"A": "2"}) == "1 2\n"
    with environment.scoped_exec_env({"A": "3"}):
        assert await out(environment, "echo $A", env={"A": "2"}) == "3\n"


@pytest.mark.parametrize("user", [None, "root", "agent"])
async def test_users_can_write_where_harbor_needs_it(environment: BaseEnvironment, user: str | None) -> None:
    folders = "/logs/agent /logs/verifier /logs/artifacts /tests /solution /tmp /testbed"
    assert (
        await out(environment, f"for d in {folders}; do touch $d/x || exit; done; echo ok", user=user)
        == "ok\n"
    )
    assert (
        await environment.reset_dirs(remove_dirs=[], create_dirs=["/logs/agent"], chmod_dirs=["/logs/agent"])
    ).return_code == 0
    emptied = await environment.empty_dirs(["/logs/agent", "/tests"])
    assert emptied is not None
    assert emptied.return_code == 0
    assert await out(environment, "ls /tests /logs/agent | grep -c x || true") == "0\n"


async def test_a_timeout_kills_what_was_started(environment: BaseEnvironment) -> None:
    began = time.monotonic()
    with pytest.raises(RuntimeError, match="timed out after 1 seconds"):
        await environment.exec("(trap '' TERM; setsid sleep 61.1) & sleep 62.2", timeout_sec=1)
    assert time.monotonic() - began < 10
    assert await out(environment, "pgrep -f 'sleep 6[12]' | wc -l") == "0\n"


async def test_cancellation_kills_what_was_started(environment: BaseEnvironment) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await environment.exec("setsid sleep 63.3 & sleep 64.4")
    assert await out(environment, "pgrep -f 'sleep 6[34]' | wc -l") == "0\n"


async def test_background_processes_live_on_and_do_not_block(environment: BaseEnvironment) -> None:
    began = time.monotonic()
    await out(environment, "sleep 65.5 & echo started")
    assert time.monotonic() - began < 5
    assert await out(environment, "pgrep -f 'sleep 65[.]5' | wc -l") == "1\n"


async def test_large_and_binary_output(environment: BaseEnvironment) -> None:
    assert len(await out(environment, "head -c 200000000 /dev/zero | tr '\\0' x")) == 200_000_000
    assert await out(environment, "printf 'a\\377b\\0c'") == "a\ufffdb\0c"


async def test_files_go_in_and_out_with_modes_links_and_odd_names(
    environment: BaseEnvironment, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    (source / "deep" / "empty").mkdir(parents=True)
    (source / "program").write_bytes(b"#!/bin/sh\necho \xff\n")
    (source / "program").chmod(0o755)
    (source / "link").symlink_to("deep/target")
    (source / "deep" / "target").write_text("t")
    (source / "deep" / "target").chmod(0o640)
    odd = os.fsdecode(b"-odd \xff\n'name")
    (source / odd).write_bytes(bytes(range(256)))
    await environment.upload_dir(source, "/testbed/new/place")
    assert await out(environment, "./program | od -An -tx1", cwd="/testbed/new/place") == " ff 0a\n"
    await environment.download_dir("/testbed/new/place", tmp_path / "back")
    back = tmp_path / "back"
    assert sorted(os.fsencode(p.relative_to(back)) for p in back.rglob("*")) == sorted(
        os.fsencode(p.relative_to(source)) for p in source.rglob("*")
    )
    assert (back / "program").stat().st_mode & 0o777 == 0o755
    assert (back / "deep" / "target").stat().st_mode & 0o777 == 0o640
    assert (back / "link").readlink() == Path("deep/target")
    assert (back / odd).read_bytes() == bytes(range(256))


async def test_single_files_go_in_and_out(environment: BaseEnvironment, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"\0\xff")
    (tmp_path / "file").chmod(0o750)
    await environment.upload_file(tmp_path / "file", "/tmp/some/where/other")
    assert await out(environment, "stat -c %a /tmp/some/where/other") == "750\n"
    await environment.download_file("/tmp/some/where/other", tmp_path / "x" / "back")
    assert (tmp_path / "x" / "back").read_bytes() == b"\0\xff"
    with pytest.raises(FileNotFoundError):
        await environment.download_file("/tmp/no-such-file", tmp_path / "y")
    with pytest.raises(FileNotFoundError):
        await environment.download_dir("/tmp/no-such-folder", tmp_path / "z")


async def test_downloads_can_be_filtered(environment: BaseEnvironment, tmp_path: Path) -> None:
    await out(environment, "mkdir d; touch d/a.log d/b.txt d/keep; ln -s /etc/passwd out; mkfifo pipe")
    filtered, without = tmp_path / "f", tmp_path / "w"
    await environment.download_dir_filtered(
        source_dir="/testbed",
        target_dir=filtered,
        include=["*.log", "*.txt"],
        exclude=["*b*"],
        protect=["d/keep"],
    )
    assert sorted(path.name for path in filtered.rglob("*") if path.is_file()) == ["a.log", "keep"]
    await environment.download_dir_with_exclusions(
        source_dir="/testbed", target_dir=without, exclude=["*.log"]
    )
    assert sorted(path.name for path in without.rglob("*")) == ["b.txt", "d", "keep"]


async def test_there_is_no_network(environment: BaseEnvironment) -> None:
    assert (await environment.exec("exec 3<>/dev/tcp/192.0.2.1/80", timeout_sec=5)).return_code != 0
    assert "eth" not in await out(environment, "cat /proc/net/dev")


async def test_nothing_of_the_host_is_seen(environment: BaseEnvironment) -> None:
    told = await out(
        environment, "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; env"
    )
    assert "s3cret" not in told
    assert str(os.getpid()) not in (await out(environment, "ls /proc")).split()
    assert (await environment.exec(f"ls {Path(__file__).parent}")).return_code != 0


async def test_two_trials_do_not_see_each_other(
    environment: BaseEnvironment, factory: Factory, tmp_path: Path
) -> None:
    await out(environment, "touch /tmp/mark /testbed/mark /logs/agent/mark; sleep 66.6 >/dev/null 2>&1 &")
    other = factory(tmp_path / "two")
    await other.start(force_build=False)
    try:
        assert await out(other, "ls /tmp /testbed /logs/agent | grep -c mark || true") == "0\n"
        assert await out(other, "pgrep -f 'sleep 66[.]6' | wc -l") == "0\n"
    finally:
        await other.stop(delete=True)


async def test_nothing_is_left(factory: Factory, tmp_path: Path) -> None:
    made = factory(tmp_path / "three")
    before = Path("/proc/mounts").read_text()
    await made.start(force_build=False)
    await out(made, "sleep 67.7 >/dev/null 2>&1 & mkdir -m 0 locked")
    await made.stop(delete=True)
    assert Path("/proc/mounts").read_text() == before
    assert not [p for p in Path("/proc").glob("[0-9]*/cmdline") if b"sleep\x0067.7" in _read(p)]
    assert list((tmp_path / "cache" / "sandboxes").glob("*")) == []
    await made.stop(delete=True)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has just ended
        return b""
