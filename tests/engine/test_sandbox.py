# ruff: noqa: ASYNC220, ASYNC221, ASYNC240 - nothing else waits on a test's loop
from __future__ import annotations

import asyncio
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fourhands.engine.sandbox import LocalSandbox, probe, sweep
from fourhands.engine.sandbox.helper.trees import Host
from fourhands.engine.sandbox.root import Layering, visible_prefixes
from fourhands.model.errors import InputError, SandboxError
from fourhands.model.sandbox import ExecResult, SandboxSpec


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "r"
    path.mkdir()
    (path / "file.txt").write_text("base\n")
    return path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path / "b"


@pytest.fixture
async def sandbox(repository: Path, base: Path) -> AsyncIterator[LocalSandbox]:
    async with LocalSandbox(SandboxSpec(repository, env={"FROM_SPEC": "1"}), base) as started:
        yield started


async def sh(sandbox: LocalSandbox, script: str, **options: object) -> ExecResult:
    return await sandbox.run(["/bin/bash", "-c", script], **options)  # type: ignore[arg-type]


async def gone(sandbox: LocalSandbox, marker: str, *, within: float = 3.0) -> bool:
    """Whether no process inside has ``marker`` among its arguments."""
    script = (
        f'for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p; echo; done 2>/dev/null | grep -c "^{marker}"'
    )
    end = time.monotonic() + within
    while time.monotonic() < end:
        if (await sh(sandbox, script)).stdout == b"0\n":
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_command_runs_in_the_repository_with_a_clean_environment(sandbox: LocalSandbox) -> None:
    done = await sandbox.run(["/usr/bin/env"], env={"OWN": "2", "LANG": "C"})
    names = dict(line.split("=", 1) for line in done.stdout.decode().splitlines())
    assert names["FROM_SPEC"] == "1"
    assert (names["OWN"], names["LANG"], names["HOME"]) == ("2", "C", "/home/agent")
    assert set(names) - {"PWD", "SHLVL", "_"} == {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TMPDIR", "FROM_SPEC", "OWN"
    }  # fmt: skip
    assert (await sandbox.run(["pwd"])).stdout == b"/testbed\n"
    assert (await sandbox.run(["pwd"], cwd="/tmp")).stdout == b"/tmp\n"


async def test_the_repository_is_writable_and_the_original_stays(
    sandbox: LocalSandbox, repository: Path
) -> None:
    await sh(sandbox, "echo agent >> file.txt; echo new > new.txt")
    assert (await sh(sandbox, "cat file.txt new.txt")).stdout == b"base\nagent\nnew\n"
    assert (repository / "file.txt").read_text() == "base\n"
    assert [path.name for path in repository.iterdir()] == ["file.txt"]


@pytest.mark.parametrize(
    "folder",
    ["/tmp", "/dev/shm", "/home/agent", "/testbed", "/tests", "/solution", "/installed-agent"]
    + [f"/logs/{name}" for name in ("agent", "verifier", "artifacts")],
)
async def test_writable_folders(sandbox: LocalSandbox, folder: str) -> None:
    assert (await sh(sandbox, f"echo x > {folder}/x && cat {folder}/x")).stdout == b"x\n"


@pytest.mark.parametrize(
    ("script", "code"),
    [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137), ("no-such-program", 127)],
)
async def test_exit_codes(sandbox: LocalSandbox, script: str, code: int) -> None:
    assert (await sh(sandbox, script)).code == code


async def test_what_cannot_be_executed_says_why(sandbox: LocalSandbox) -> None:
    missing = await sandbox.run(["no-such-program"])
    assert missing.code == 127
    assert b"no-such-program" in missing.stderr
    assert (await sandbox.run(["/testbed/file.txt"])).code == 126
    lost = await sandbox.run(["true"], cwd="/no/such/folder")
    assert lost.code == 127
    assert b"/no/such/folder" in lost.stderr


async def test_arguments_names_and_input_may_be_any_bytes(sandbox: LocalSandbox) -> None:
    name = os.fsdecode(b"\xff\n'$(x)")
    done = await sandbox.run(["tee", "--", name], stdin=bytes(range(256)))
    assert done.stdout == bytes(range(256))
    assert (await sandbox.run(["cat", "--", f"./{name}"])).stdout == bytes(range(256))


async def test_megabytes_of_input_and_output_arrive_whole(sandbox: LocalSandbox) -> None:
    data = os.urandom(1 << 20) * 16
    assert (await sandbox.run(["cat"], stdin=data)).stdout == data
    assert (await sandbox.run(["cat"])).stdout == b""


async def test_a_limit_caps_what_is_kept_and_counts_all(sandbox: LocalSandbox) -> None:
    done = await sh(sandbox, "head -c 200000000 /dev/zero; head -c 5000 /dev/zero >&2", limit=1000)
    assert (len(done.stdout), done.stdout_bytes) == (1000, 200_000_000)
    assert (len(done.stderr), done.stderr_bytes) == (1000, 5000)


async def test_a_timeout_kills_all_that_was_started(sandbox: LocalSandbox) -> None:
    script = """
    setsid sleep 61.1 & (trap "" TERM HUP INT; exec sleep 62.2) & (setsid bash -c "sleep 63.3 & sleep 64.4" &)
    echo started; exec sleep 65.5
    """
    began = time.monotonic()
    done = await sh(sandbox, script, timeout=0.5)
    assert time.monotonic() - began < 5
    assert (done.code, done.timed_out, done.stdout) == (124, True, b"started\n")
    assert await gone(sandbox, "sleep 6", within=0.1)


async def test_a_timeout_ends_a_fork_bomb(repository: Path, base: Path) -> None:
    async with LocalSandbox(SandboxSpec(repository), base, processes=64) as sandbox:
        done = await sh(sandbox, "bomb() { bomb | bomb & }; bomb; sleep 60", timeout=1)
        assert done.timed_out
        assert await gone(sandbox, "/bin/bash -c bomb")


_FORKS = """
import os, time
started = 0
try:
    while started < 200:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
except BlockingIOError:
    print(started)
"""


async def test_the_number_of_processes_is_limited(repository: Path, base: Path) -> None:
    limit = (await probe(base)).process_limit
    if limit is None:
        pytest.skip("root without a pids cgroup: nothing limits the number of processes")
    async with LocalSandbox(SandboxSpec(repository), base, processes=40) as sandbox:
        done = await sandbox.run([sandbox.python, "-I", "-S", "-c", _FORKS])
        assert 20 < int(done.stdout) < 40
        assert (await sandbox.run(["true"])).code == 0  # our own commands still start
        await sandbox.kill_all()
        assert (await sh(sandbox, "sleep 0 & wait $!; echo ok")).stdout == b"ok\n"


async def test_cancellation_kills_before_it_returns(sandbox: LocalSandbox) -> None:
    task = asyncio.create_task(sh(sandbox, "(setsid sleep 71.1 &) ; sleep 72.2"))
    await asyncio.sleep(0.5)
    assert not await gone(sandbox, "sleep 7", within=0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(sandbox, "sleep 7", within=0.1)


async def test_a_daemon_outlives_its_command_and_a_later_timeout(sandbox: LocalSandbox) -> None:
    began = time.monotonic()
    await sh(sandbox, "nohup sleep 81.1 >/dev/null 2>&1 &")
    assert time.monotonic() - began < 2
    await sh(sandbox, "sleep 60", timeout=0.3)
    assert not await gone(sandbox, "sleep 81.1", within=0.1)
    await sandbox.kill_all()
    assert await gone(sandbox, "sleep 81.1", within=0.1)


async def test_a_daemon_that_holds_the_pipe_neither_blocks_nor_breaks(sandbox: LocalSandbox) -> None:
    """Its output is drained after the return: no SIGPIPE, and no full pipe to stand still at."""
    writer = (
        "for i in $(seq 40); do head -c 100000 /dev/zero || exit 9; sleep 0.01; done; touch /tmp/finished"
    )
    began = time.monotonic()
    done = await sh(sandbox, f"echo first; ({writer}) & sleep 0.05; echo last >&2")
    assert time.monotonic() - began < 1.5
    assert done.stdout.startswith(b"first\n")
    assert done.stderr == b"last\n"
    for _ in range(100):
        if (await sh(sandbox, "test -e /tmp/finished")).code == 0:
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the daemon did not get to its end")


async def test_kill_all_ends_running_commands_and_returns_after_them(sandbox: LocalSandbox) -> None:
    task = asyncio.create_task(sh(sandbox, "trap '' TERM; sleep 60"))
    await asyncio.sleep(0.4)
    await sandbox.kill_all()
    assert (await task).code == 137
    inside = await sh(sandbox, "ls -d /proc/[0-9]* | wc -l")
    assert int(inside.stdout) <= 5  # process 1, and this command with its supervisor


async def test_two_loops_in_two_threads_use_it_at_once(sandbox: LocalSandbox) -> None:
    outputs: list[bytes] = []

    async def several() -> list[bytes]:
        done = await asyncio.gather(*(sh(sandbox, f"sleep 0.05; echo {i}") for i in range(8)))
        return [result.stdout for result in done]

    thread = threading.Thread(target=lambda: outputs.extend(asyncio.run(several())))
    thread.start()
    here = await several()
    await asyncio.to_thread(thread.join)
    assert here == outputs == [b"%d\n" % i for i in range(8)]


async def test_the_sandbox_outlives_the_thread_that_started_it(repository: Path, base: Path) -> None:
    sandbox = LocalSandbox(SandboxSpec(repository), base)
    thread = threading.Thread(target=lambda: asyncio.run(sandbox.start()))
    thread.start()
    await asyncio.to_thread(thread.join)
    await asyncio.sleep(0.2)
    assert (await sandbox.run(["true"])).code == 0
    await sandbox.stop()


async def test_the_interpreter_is_ours_and_runs(sandbox: LocalSandbox) -> None:
    done = await sandbox.run(
        [sandbox.python, "-I", "-S", "-c", "import sys, ssl; print(*sys.version_info[:3])"]
    )
    assert done.stdout.decode().split() == [str(part) for part in sys.version_info[:3]]


async def test_the_listener_is_reached_from_inside_alone(
    sandbox: LocalSandbox, repository: Path, base: Path
) -> None:
    listener = await sandbox.listen()
    call = "exec 3<>/dev/tcp/127.0.0.1/8123 && echo hello >&3 && head -1 <&3"
    task = asyncio.create_task(sh(sandbox, call))

    def answer() -> bytes:
        listener.settimeout(5)
        with listener.accept()[0] as connection:
            got = connection.recv(100)
            connection.sendall(b"hi\n")
            return got

    assert await asyncio.to_thread(answer) == b"hello\n"
    assert (await task).stdout == b"hi\n"
    async with LocalSandbox(SandboxSpec(repository), base) as other:
        assert (await sh(other, call)).code != 0
        await other.listen()  # the same port: each has its own
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", 8123), timeout=1)


async def test_a_taken_port_is_an_error(sandbox: LocalSandbox) -> None:
    await sandbox.listen(9000)
    with pytest.raises(SandboxError, match="cannot listen"):
        await sandbox.listen(9000)


async def test_the_network_is_shared_only_on_demand(repository: Path, base: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        call = f"exec 3<>/dev/tcp/127.0.0.1/{server.getsockname()[1]}"
        async with LocalSandbox(SandboxSpec(repository), base) as closed:
            assert (await sh(closed, call)).code != 0
            assert (await sh(closed, "cat /proc/net/dev")).stdout.count(b":") == 1  # lo
        async with LocalSandbox(SandboxSpec(repository), base, network=True) as opened:
            assert (await sh(opened, call)).code == 0
            assert (await opened.listen(0)).getsockname()[0] == "127.0.0.1"
            await opened.kill_all()


async def test_two_sandboxes_do_not_see_each_other(
    sandbox: LocalSandbox, repository: Path, base: Path
) -> None:
    await sh(
        sandbox, "echo secret | tee /tmp/s /testbed/s /home/agent/s /dev/shm/s; sleep 91.1 >/dev/null 2>&1 &"
    )
    async with LocalSandbox(SandboxSpec(repository), base) as other:
        assert (await sh(other, "ls /tmp/s /testbed/s /home/agent/s /dev/shm/s")).stdout == b""
        assert await gone(other, "sleep 91.1", within=0.1)


@pytest.mark.parametrize("layering", list(Layering))
async def test_each_way_to_lay_the_repository(repository: Path, base: Path, layering: Layering) -> None:
    try:
        async with LocalSandbox(SandboxSpec(repository), base, layerings=[layering]) as sandbox:
            assert (await sh(sandbox, "echo more >> file.txt; cat file.txt")).stdout == b"base\nmore\n"
    except SandboxError as error:
        if layering is Layering.COPY or "overlay" not in str(error):
            raise
        pytest.skip(f"no {layering} here: {error}")
    assert (repository / "file.txt").read_text() == "base\n"
    assert list(base.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting an overlay to lie on needs root")
async def test_state_on_an_overlay_falls_back(repository: Path, tmp_path: Path) -> None:
    """The kernel refuses an overlay whose upper layer lies on an overlay, as in a container."""
    lower, upper, work, merged = (tmp_path / name for name in ("l", "u", "w", "m"))
    for path in (lower, upper, work, merged):
        path.mkdir()
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, merged], check=True)
    try:
        async with LocalSandbox(SandboxSpec(repository), merged / "b") as sandbox:
            assert sandbox.layering is Layering.MEMORY
            assert (await sh(sandbox, "echo more >> file.txt; cat file.txt")).stdout == b"base\nmore\n"
    finally:
        subprocess.run(["umount", merged], check=True)


async def test_nothing_is_left_behind(repository: Path, base: Path) -> None:
    mounts = Path("/proc/mounts").read_text()
    sandbox = LocalSandbox(SandboxSpec(repository), base)
    await sandbox.start()
    init = sandbox._init
    await sh(sandbox, "mkdir -p d/e; touch d/e/f; chmod 000 d/e d; setsid sleep 95.5 >/dev/null 2>&1 &")
    group = sandbox._cgroup
    await sandbox.stop()
    assert list(base.iterdir()) == []
    assert Path("/proc/mounts").read_text() == mounts
    assert not Path(f"/proc/{init}").exists()
    assert group is None or not group.exists()
    await sandbox.stop()
    with pytest.raises(SandboxError, match="gone"):
        await sandbox.run(["true"])


async def test_many_at_once_leave_no_descriptor_and_no_process(repository: Path, base: Path) -> None:
    async def one() -> None:
        async with LocalSandbox(SandboxSpec(repository), base) as sandbox:
            await sandbox.listen()
            await asyncio.gather(*(sh(sandbox, "sleep 0.01 & echo $RANDOM") for _ in range(4)))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await sh(sandbox, "sleep 60")

    host = Host()

    async def used() -> tuple[int, int]:
        await asyncio.sleep(0.2)  # a helper that has answered is still on its way out
        return len(list(Path("/proc/self/fd").iterdir())), len(host.descendants(os.getpid()))

    await one()  # starts what all share
    before = await used()
    for _ in range(3):
        await asyncio.gather(*(one() for _ in range(4)))
    assert await used() == before
    assert list(base.iterdir()) == []


async def test_stop_ends_a_command_under_way(repository: Path, base: Path) -> None:
    sandbox = LocalSandbox(SandboxSpec(repository), base)
    await sandbox.start()
    task = asyncio.create_task(sandbox.run(["sleep", "60"]))
    await asyncio.sleep(0.3)
    await sandbox.stop()
    assert (await task).code == 137


_OWNER = """
import asyncio, sys
from pathlib import Path
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.sandbox import SandboxSpec

async def main():
    sandbox = LocalSandbox(SandboxSpec(Path(sys.argv[1])), Path(sys.argv[2]))
    await sandbox.start()
    await sandbox.run(["/bin/bash", "-c", "setsid sleep 97.7 >/dev/null 2>&1 &"])
    print(sandbox._init, sandbox._cgroup, flush=True)
    await sandbox.run(["sleep", "98.8"])

asyncio.run(main())
"""


async def test_death_of_its_owner_leaves_no_process_and_is_swept(repository: Path, base: Path) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, repository, base], stdout=subprocess.PIPE, text=True
    )
    with owner:
        assert owner.stdout is not None
        init, group = owner.stdout.readline().split()
        assert sweep(base) == 0  # it is alive
        await asyncio.sleep(0.5)
        below = Host().descendants(owner.pid)
        owner.send_signal(signal.SIGKILL)
    assert int(init) in below
    assert len(below) == 8  # server; keeper, bwrap, first process, daemon; runner, supervisor, command
    left = below
    for _ in range(100):
        left = {pid for pid in left if Path(f"/proc/{pid}").exists()}
        await asyncio.sleep(0.05 if left else 0)
    assert not left
    assert len(list(base.iterdir())) == 2
    async with LocalSandbox(SandboxSpec(repository), base):
        assert len(list(base.iterdir())) == 2  # the new one's, and only its
    assert list(base.iterdir()) == []
    assert group == "None" or not Path(group).exists()


def test_prefixes_are_bound_once(tmp_path: Path) -> None:
    inner = tmp_path / "p" / "q"
    inner.mkdir(parents=True)
    assert visible_prefixes([inner, tmp_path / "p", Path("/usr/bin"), inner]) == [tmp_path / "p"]
    for wrong in (tmp_path / "none", Path("/"), Path("relative")):
        with pytest.raises(InputError, match=str(wrong)):
            visible_prefixes([wrong])


async def test_prefixes_are_read_only_at_their_own_place(
    repository: Path, base: Path, tmp_path: Path
) -> None:
    prefix = tmp_path / "p"
    prefix.mkdir()
    (prefix / "tool").write_text("#!/bin/sh\necho tool\n")
    (prefix / "tool").chmod(0o755)
    spec = SandboxSpec(repository, (prefix,), {"PATH": f"{prefix}:/usr/bin"})
    async with LocalSandbox(spec, base) as sandbox:
        assert (await sandbox.run(["tool"])).stdout == b"tool\n"
        assert (await sh(sandbox, f"echo x >> {shlex.quote(str(prefix / 'tool'))}")).code != 0


async def test_a_missing_repository_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no-repository"):
        LocalSandbox(SandboxSpec(tmp_path / "no-repository"), tmp_path)


async def test_probe_says_what_works(base: Path) -> None:
    capability = await probe(base)
    assert capability.problem is None
    assert capability.layering in set(Layering)
    assert capability.user.startswith("root" if os.geteuid() == 0 else "ordinary user")


def test_where_namespaces_are_forbidden_the_error_names_the_switch_and_docker(base: Path) -> None:
    """In a user namespace of our own the switch is ours to set."""
    script = f"""
import asyncio, pathlib
from fourhands.engine.sandbox import probe
pathlib.Path("/proc/sys/user/max_user_namespaces").write_text("0")
print(asyncio.run(probe(pathlib.Path({str(base)!r}))).problem)
"""
    command = ["unshare", "--user", "--map-root-user", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "sysctl -w user.max_user_namespaces" in done.stdout
    assert "docker run --privileged" in done.stdout
    assert list(base.iterdir()) == []
