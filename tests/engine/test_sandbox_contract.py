"""What the ``Sandbox`` protocol promises, of our sandbox and of the one over any environment of Harbor's.

A new sandbox is one line in ``SANDBOXES``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Final, override

import pytest
from harbor.environments.base import ExecResult as HarborResult
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

from fourhands.engine.containers.sandbox import EnvironmentSandbox
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import SandboxError
from fourhands.model.intervention import EditOutcome
from fourhands.model.sandbox import ExecResult, Sandbox, SandboxSpec
from fourhands.workspace.apply import ChangedUnderneath, Written, write
from fourhands.workspace.plan import EditPlan, FileWrite
from fourhands.workspace.snapshot import Snapshotter
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import REGULAR, Entry

ENV: Final = {"FROM_SPEC": "1", "LANG": "C"}
Maker = Callable[[Path], AbstractAsyncContextManager[Sandbox]]


class _Prepared(LocalEnvironment):
    """Skips the preparation of a task: its repository lies ready."""

    async def _spec(self) -> SandboxSpec:
        return SandboxSpec(self.environment_dir.parent / "repository", env=ENV)

    @override
    async def exec(self, *args: Any, **options: Any) -> HarborResult:
        """As with Docker's client, what is no longer waited for runs on."""
        return await asyncio.shield(super().exec(*args, **options))


@asynccontextmanager
async def local(folder: Path) -> AsyncIterator[Sandbox]:
    async with LocalSandbox(SandboxSpec(folder / "repository", env=ENV), folder / "base") as sandbox:
        yield sandbox


@asynccontextmanager
async def through_harbor(folder: Path) -> AsyncIterator[Sandbox]:
    environment = _Prepared(
        environment_dir=folder / "environment",
        environment_name="contract",
        session_id="contract",
        trial_paths=TrialPaths(folder / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("contract"),
    )
    await environment.start(force_build=False)
    try:
        sandbox = EnvironmentSandbox(environment)
        await sandbox.start()
        yield sandbox
    finally:
        await environment.stop(delete=True)


SANDBOXES: Final[dict[str, Maker]] = {"local": local, "through_harbor": through_harbor}


@pytest.fixture(params=SANDBOXES)
async def sandbox(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sandbox]:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SECRET_OF_THE_HOST", "s3cret")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "file.txt").write_text("base\n")
    async with SANDBOXES[request.param](tmp_path) as made:
        yield made


async def sh(sandbox: Sandbox, script: str, **options: Any) -> ExecResult:
    return await sandbox.run(["/bin/bash", "-c", script], **options)


async def alive(sandbox: Sandbox, marker: str) -> int:
    """How many processes inside have a command line that begins with ``marker``."""
    script = (
        f'for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p; echo; done 2>/dev/null | grep -c "^{marker}"'
    )
    return int((await sh(sandbox, script)).stdout)


async def until(sandbox: Sandbox, marker: str, count: int) -> None:
    for _ in range(100):
        if await alive(sandbox, marker) == count:
            return
    pytest.fail(f"there are not {count} of {marker}")


async def test_a_command_runs_in_the_repository_with_the_environment_asked_for(sandbox: Sandbox) -> None:
    done = await sandbox.run(["/usr/bin/env"], env={"OWN": "2", "FROM_SPEC": "3"})
    names = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert (names["OWN"], names["FROM_SPEC"], names["HOME"]) == ("2", "3", "/home/agent")
    assert not {"SECRET_OF_THE_HOST", "LC_CTYPE"} & set(names)
    assert (await sh(sandbox, "echo $FROM_SPEC")).stdout == b"1\n"
    assert (await sandbox.run(["pwd"])).stdout == f"{sandbox.workdir}\n".encode() == b"/testbed\n"
    assert (await sandbox.run(["pwd"], cwd="/tmp")).stdout == b"/tmp\n"


async def test_a_program_is_looked_up_on_the_path_given(sandbox: Sandbox) -> None:
    await sh(
        sandbox, "mkdir /tmp/bin; printf '#!/bin/sh\necho mine' > /tmp/bin/program; chmod +x /tmp/bin/program"
    )
    assert (await sandbox.run(["program"], env={"PATH": "/tmp/bin:/usr/bin:/bin"})).stdout == b"mine\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("no-such-program", 127)],
)
async def test_exit_codes(sandbox: Sandbox, script: str, code: int) -> None:
    assert (await sh(sandbox, script)).code == code


async def test_what_cannot_be_executed_says_why(sandbox: Sandbox) -> None:
    missing = await sandbox.run(["no-such-program"])
    assert missing.code == 127
    assert b"no-such-program" in missing.stderr
    assert missing.stderr_bytes == len(missing.stderr)
    assert (await sandbox.run(["/testbed/file.txt"])).code == 126
    lost = await sandbox.run(["true"], cwd="/no/such/folder")
    assert lost.code == 127
    assert b"/no/such/folder" in lost.stderr


@pytest.mark.parametrize(
    "argument", ["$HOME $(id) `id`", "'\"'\"'", "a\nb\\", "*", "", "--", "; exit 9", os.fsdecode(b"\xff\xfe")]
)
async def test_no_shell_ever_reads_an_argument(sandbox: Sandbox, argument: str) -> None:
    done = await sandbox.run(["printf", "%s", argument])
    assert (done.code, done.stdout) == (0, os.fsencode(argument))
    assert (await sandbox.run(["printenv", "A"], env={"A": argument})).stdout == os.fsencode(argument) + b"\n"


async def test_arguments_names_and_input_may_be_any_bytes(sandbox: Sandbox) -> None:
    name = os.fsdecode(b"\xff\n'$(x)")
    done = await sandbox.run(["tee", "--", name], stdin=bytes(range(256)))
    assert done.stdout == bytes(range(256))
    assert (await sandbox.run(["cat", "--", f"./{name}"])).stdout == bytes(range(256))
    both = await sh(sandbox, "printf '\\0\\377'; printf '\\376\\0' >&2")
    assert (both.stdout, both.stderr) == (b"\0\xff", b"\xfe\0")


async def test_megabytes_of_input_output_and_arguments_arrive_whole(sandbox: Sandbox) -> None:
    data = os.urandom(1 << 20) * 16
    assert (await sandbox.run(["cat"], stdin=data)).stdout == data
    assert (await sandbox.run(["cat"])).stdout == b""
    incompressible = os.urandom(100_000).hex()[:120_000]
    assert (await sandbox.run(["printf", "%s", incompressible])).stdout == incompressible.encode()
    assert (await sh(sandbox, "ls -A /tmp")).stdout == b""  # nothing that carried it is left


async def test_a_limit_caps_what_is_kept_and_counts_all(sandbox: Sandbox) -> None:
    done = await sh(sandbox, "head -c 200000000 /dev/zero; head -c 5000 /dev/zero >&2", limit=1000)
    assert (len(done.stdout), done.stdout_bytes) == (1000, 200_000_000)
    assert (len(done.stderr), done.stderr_bytes) == (1000, 5000)


async def test_a_timeout_kills_all_that_was_started(sandbox: Sandbox) -> None:
    script = """
    setsid sleep 61.1 & (trap "" TERM HUP INT; exec sleep 62.2) & (setsid bash -c "sleep 63.3 & sleep 64.4" &)
    echo started; exec sleep 65.5
    """
    began = time.monotonic()
    done = await sh(sandbox, script, timeout=0.5)
    assert time.monotonic() - began < 5
    assert (done.code, done.timed_out, done.stdout) == (124, True, b"started\n")
    assert await alive(sandbox, "sleep 6") == 0


async def test_cancellation_kills_all_that_was_started(sandbox: Sandbox) -> None:
    task = asyncio.create_task(sh(sandbox, "(setsid sleep 71.1 &) ; sleep 72.2"))
    await until(sandbox, "sleep 7", 2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await alive(sandbox, "sleep 7") == 0


async def test_a_daemon_outlives_its_command_and_a_later_timeout(sandbox: Sandbox) -> None:
    began = time.monotonic()
    await sh(sandbox, "nohup sleep 81.1 >/dev/null 2>&1 &")
    assert time.monotonic() - began < 3
    await sh(sandbox, "sleep 60", timeout=0.3)
    assert await alive(sandbox, "sleep 81.1") == 1
    await sandbox.kill_all()
    assert await alive(sandbox, "sleep 81.1") == 0


async def test_a_daemon_that_holds_the_pipe_neither_blocks_nor_breaks(sandbox: Sandbox) -> None:
    """Its output is drained after the return: no SIGPIPE, and no full pipe to stand still at."""
    writer = (
        "for i in $(seq 40); do head -c 100000 /dev/zero || exit 9; sleep 0.01; done; touch /tmp/finished"
    )
    began = time.monotonic()
    done = await sh(sandbox, f"echo first; ({writer}) & sleep 0.05; echo last >&2")
    assert time.monotonic() - began < 3
    assert done.stdout.startswith(b"first\n")
    assert done.stderr == b"last\n"
    for _ in range(100):
        if (await sh(sandbox, "test -e /tmp/finished")).code == 0:
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the daemon did not get to its end")


async def test_kill_all_ends_running_commands_and_returns_after_them(sandbox: Sandbox) -> None:
    task = asyncio.create_task(sh(sandbox, "trap '' TERM; setsid sleep 91.1 & sleep 92.2"))
    await until(sandbox, "sleep 9", 2)
    await sandbox.kill_all()
    done = await task
    assert (done.code, done.timed_out) == (137, False)
    assert await alive(sandbox, "sleep 9") == 0
    await sandbox.kill_all()  # with nothing to kill


async def test_kill_all_catches_what_forks_away_from_it(sandbox: Sandbox) -> None:
    await sh(sandbox, "runner() { (sleep 0.01; runner) & }; (runner; exec sleep 99.9) >/dev/null 2>&1 &")
    await until(sandbox, "sleep 99.9", 1)
    await sandbox.kill_all()
    for _ in range(3):
        assert await alive(sandbox, "/bin/bash -c runner") == await alive(sandbox, "sleep") == 0


async def test_two_loops_in_two_threads_use_it_at_once(sandbox: Sandbox) -> None:
    outputs: list[bytes] = []

    async def several() -> list[bytes]:
        done = await asyncio.gather(*(sh(sandbox, f"sleep 0.05; echo {i}") for i in range(4)))
        return [result.stdout for result in done]

    thread = threading.Thread(target=lambda: outputs.extend(asyncio.run(several())))
    thread.start()
    here = await several()
    await asyncio.to_thread(thread.join)
    assert here == outputs == [b"%d\n" % i for i in range(4)]


async def test_the_interpreter_is_an_absolute_path_and_young_enough(sandbox: Sandbox) -> None:
    assert Path(sandbox.python).is_absolute()
    done = await sandbox.run(
        [sandbox.python, "-I", "-S", "-c", "import sys; print(sys.version_info >= (3, 9))"]
    )
    assert done.stdout == b"True\n"


async def test_a_snapshot_sees_what_a_command_changed(sandbox: Sandbox, tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "store")
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(store.import_directory(tmp_path / "repository"))
    assert (await snapshotter.take()).changes == ()
    await sh(sandbox, "echo more >> file.txt; mkdir new; head -c 3000000 /dev/urandom > new/large")
    large = (await sh(sandbox, "git hash-object --no-filters new/large")).stdout.decode().strip()
    (more,) = store.put_blobs([b"base\nmore\n"])
    changes = {change.path: change.new_blob for change in (await snapshotter.take()).changes}
    assert changes == {"file.txt": more, "new/large": large}


async def test_an_edit_is_written_whole_or_not_at_all(sandbox: Sandbox, tmp_path: Path) -> None:
    store = ObjectStore(tmp_path / "store")
    base, edited, other = store.put_blobs([b"base\n", b"edited \xff\n", b"other\n"])
    writes = (
        FileWrite("file.txt", Entry(REGULAR, base), Entry(REGULAR, edited)),
        FileWrite("made/new.txt", None, Entry(REGULAR, other)),
    )
    plan = EditPlan(EditOutcome.APPLIED, "", "", writes)
    assert await write(sandbox, store, plan) == Written()
    assert (await sh(sandbox, "cat file.txt made/new.txt")).stdout == b"edited \xff\nother\n"
    assert await write(sandbox, store, plan) == ChangedUnderneath(("file.txt", "made/new.txt"))


async def test_a_sandbox_that_is_gone_says_so(sandbox: Sandbox) -> None:
    if isinstance(sandbox, LocalSandbox):
        await sandbox.stop()
    else:
        assert isinstance(sandbox, EnvironmentSandbox)
        await sandbox._environment.stop(delete=True)
    with pytest.raises(SandboxError, match=r"gone|not running"):
        await sandbox.run(["true"])
    with pytest.raises(SandboxError, match=r"gone|not running"):
        await sandbox.kill_all()
