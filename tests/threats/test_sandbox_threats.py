"""What an agent must not be able to do to, or learn through, the local sandbox."""

# ruff: noqa: ASYNC220, ASYNC230 - nothing else waits on a test's loop
from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import tarfile
import time
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.engine.sandbox.archive import unpack
from fourhands.model.sandbox import ExecResult, SandboxSpec


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    repository = tmp_path / "r"
    repository.mkdir()
    async with LocalSandbox(SandboxSpec(repository), tmp_path / "b") as started:
        yield started


async def sh(sandbox: LocalSandbox, script: str, **options: object) -> ExecResult:
    return await sandbox.run(["/bin/bash", "-c", script], **options)  # type: ignore[arg-type]


async def python(sandbox: LocalSandbox, program: str) -> ExecResult:
    return await sandbox.run([sandbox.python, "-I", "-S", "-c", program])


async def test_no_signal_ends_the_first_process(sandbox: LocalSandbox) -> None:
    await sh(sandbox, "for s in $(seq 1 64); do kill -$s 1; done; pkill -9 bash; pkill -9 -o .; sleep 0.2")
    assert (await sh(sandbox, "echo alive; cat /proc/1/comm")).stdout == b"alive\ninit\n"


async def test_killing_everything_ends_the_command_and_not_the_sandbox(sandbox: LocalSandbox) -> None:
    assert (await sh(sandbox, "kill -9 -1; sleep 60")).code == 137
    assert (await sh(sandbox, "echo alive")).stdout == b"alive\n"


async def test_a_supervisor_dies_by_kill_alone_and_takes_its_orphans_along(sandbox: LocalSandbox) -> None:
    for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
        assert (await sh(sandbox, f"kill -{int(number)} $PPID; echo spared")).stdout == b"spared\n"
    assert (await sh(sandbox, "(setsid sleep 51.1 &); kill -9 $PPID; sleep 52.2")).code == 137
    left = await sh(sandbox, 'for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p; echo; done')
    assert b"sleep 5" not in left.stdout


async def test_stopping_the_supervisor_does_not_escape_the_timeout(sandbox: LocalSandbox) -> None:
    began = time.monotonic()
    done = await sh(sandbox, "(setsid sleep 53.3 &); kill -STOP $PPID; sleep 54.4", timeout=0.5)
    assert done.timed_out
    assert time.monotonic() - began < 5
    left = await sh(sandbox, 'for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p; echo; done')
    assert b"sleep 5" not in left.stdout


async def test_killing_by_name_does_not_hit_the_helpers(sandbox: LocalSandbox) -> None:
    done = await sh(
        sandbox, "pkill -9 -f 'pyth[o]n'; pkill -9 -f 'help[e]r'; pkill -9 -f 'serv[e]r'; echo spared"
    )
    assert done.stdout == b"spared\n"


async def test_helpers_show_nothing(sandbox: LocalSandbox) -> None:
    """Neither process 1 nor a supervisor tells of the host: arguments, environment, files, memory."""
    os.environ["SECRET_OF_THE_HOST"] = "s3cret"
    try:
        program = """
import os
for pid in filter(str.isdigit, os.listdir("/proc")):
    if int(pid) == os.getpid():
        continue
    seen = {}
    for name in ("cmdline", "environ", "maps", "mem"):
        try:
            seen[name] = open(f"/proc/{pid}/{name}", "rb").read(4096)
        except OSError as error:
            seen[name] = type(error).__name__
    for name in ("exe", "cwd", "root", "fd/0", "fd/1"):
        try:
            seen[name] = os.readlink(f"/proc/{pid}/{name}")
        except OSError as error:
            seen[name] = type(error).__name__
    print(pid == "1", open(f"/proc/{pid}/comm").read().strip(), seen)
"""
        done = await python(sandbox, program)
    finally:
        del os.environ["SECRET_OF_THE_HOST"]
    lines = {line.split()[0]: line for line in done.stdout.decode().splitlines()}
    assert set(lines) == {"True", "False"}
    supervisor = lines["False"]
    assert supervisor.split()[1] == "exec"
    assert supervisor.count("PermissionError") >= 6, supervisor  # all but the wiped cmdline
    assert "'cmdline': b'\\x00" in supervisor
    assert set(supervisor.partition("'fd/0'")[2].split("'")[1::2]) <= {
        "fd/1",
        "PermissionError",
        "FileNotFoundError",
    }
    assert "python" not in supervisor
    assert lines["True"].count("PermissionError") == 8, lines["True"]  # all but its arguments
    assert "'cmdline': b'/init" in lines["True"]


async def test_helpers_cannot_be_traced(sandbox: LocalSandbox) -> None:
    program = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid()):
    for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
        print(libc.ptrace(request, pid, 0, 0), ctypes.get_errno())
"""
    assert (await python(sandbox, program)).stdout == b"-1 1\n" * 4
    assert (await sh(sandbox, "chmod 755 /init; cat /init; cat /proc/1/exe")).stdout == b""


async def test_there_are_no_privileges_and_none_to_be_had(sandbox: LocalSandbox) -> None:
    status = (await sh(sandbox, "cat /proc/self/status")).stdout.decode()
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert f"{name}:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert (await sh(sandbox, "unshare --user true")).code != 0
    assert (await sh(sandbox, "unshare --mount true")).code != 0
    assert (await sh(sandbox, "mount -t tmpfs none /tmp")).code != 0
    assert (await sh(sandbox, "nsenter -t 1 -m true")).code != 0


@pytest.mark.parametrize(
    "path",
    ["kernel/core_pattern", "vm/swappiness", "kernel/hostname", "fs/file-max", "vm/drop_caches"],
)
async def test_the_kernels_switches_cannot_be_moved(sandbox: LocalSandbox, path: str) -> None:
    """Root's sandbox runs as root's own uid, which owns them in any namespace: core_pattern is a way out."""
    program = f"""
try:
    open("/proc/sys/{path}", "r+b", buffering=0)
except OSError as error:
    print(error.errno in (1, 13, 30))
"""
    assert (await python(sandbox, program)).stdout == b"True\n"


async def test_no_file_of_proc_outside_processes_can_be_written(sandbox: LocalSandbox) -> None:
    script = "find /proc -mindepth 1 -maxdepth 1 -regex '/proc/[a-z].*' -type f -writable; echo end"
    assert (await sh(sandbox, script)).stdout == b"end\n"
    assert (await sh(sandbox, "echo h > /proc/sysrq-trigger")).code != 0


@pytest.mark.parametrize(
    "script",
    [
        "rm /bin; mkdir /bin",
        "mv /lib64 /tmp/",
        "touch /x",
        "touch /etc/ld.so.preload",
        "cp /usr/bin/false /usr/bin/git",
        "rm -f /usr/bin/env",
        "touch /dev/x",
        "echo x > /etc/passwd",
    ],
)
async def test_programs_loader_and_settings_cannot_be_replaced(sandbox: LocalSandbox, script: str) -> None:
    assert (await sh(sandbox, script)).code != 0
    assert (await sh(sandbox, "/bin/env true")).code == 0


async def test_our_interpreter_cannot_be_replaced(sandbox: LocalSandbox) -> None:
    interpreter = sandbox.python
    assert (await sh(sandbox, f"rm -f {interpreter}")).code != 0
    assert (await sh(sandbox, f"touch $(dirname {interpreter})/x")).code != 0
    assert (await python(sandbox, "print(1)")).stdout == b"1\n"


async def test_the_hosts_files_are_not_there(sandbox: LocalSandbox, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret")
    assert (await sandbox.run(["cat", str(secret)])).code != 0
    assert (
        await sh(sandbox, "ls /root/.ssh /var /run /sys /mnt /home/*/..")
    ).stdout == b"/home/agent/..:\nagent\n"
    assert (
        await sh(sandbox, "cat /etc/shadow /etc/ssl/private/*; ls /etc/ssl")
    ).stdout == b"certs\nopenssl.cnf\n"
    assert (await sh(sandbox, "cat /etc/passwd")).stdout.count(b"\n") == 2


async def test_mounts_tell_nothing_but_where_things_lie(sandbox: LocalSandbox, tmp_path: Path) -> None:
    mounts = (await sh(sandbox, "cat /proc/self/mountinfo")).stdout.decode()
    known = {"etc", "home", "logs", "tests", "solution", "installed-agent", "upper", "work", "init", "empty"}
    base = str(tmp_path / "b")
    for _, _, after in (line.partition(base) for line in mounts.splitlines() if base in line):
        token, name = after.lstrip("/").split()[0].split(",")[0].split("/")[:2]
        assert len(token) == 12
        assert name in known


async def test_our_descriptors_do_not_reach_a_command(sandbox: LocalSandbox) -> None:
    with Path("/etc/hostname").open("rb"):
        assert (await sh(sandbox, "ls /proc/$$/fd; true")).stdout == b"0\n1\n2\n"


async def test_input_cannot_be_grown_or_changed(sandbox: LocalSandbox) -> None:
    """It is memory of ours, and the command may open it again for writing."""
    program = "open('/proc/self/fd/0', 'r+b', buffering=0).write(b'x' * 100)"
    done = await sandbox.run([sandbox.python, "-I", "-S", "-c", program], stdin=b"given")
    assert b"Error" in done.stderr


async def test_signals_do_not_reach_the_host(sandbox: LocalSandbox) -> None:
    with subprocess.Popen(["sleep", "60"]) as bystander:
        await sh(sandbox, f"kill -9 {bystander.pid} {os.getpid()}; kill -9 -1")
        assert bystander.poll() is None
        bystander.kill()


def archive(*members: tuple[str, bytes, str]) -> bytes:
    """Members as (name, type, content or link)."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        for name, kind, value in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.REGTYPE:
                member.size = len(value)
            else:
                member.linkname = value
            made.addfile(member, BytesIO(value.encode()))
    return buffer.getvalue()


F, S, L, D = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize(
    "members",
    [
        [("../escaped", F, "x")],
        [("/tmp/../escaped", F, "x")],
        [("a", S, ".."), ("a/escaped", F, "x")],
        [("a", S, "{outside}"), ("a/escaped", F, "x")],
        [("a/b", S, "c"), ("a/c", S, ".."), ("a/b/../../escaped", F, "x")],
        [("d", D, ""), ("d/e", S, ".."), ("f", S, "d/e/.."), ("f/escaped", F, "x")],
        [("a", S, "{outside}/secret"), ("b", L, "a")],
        [("b", L, "../o/secret")],
        [("secret", S, "{outside}/secret")],
        [("secret", S, "../o/secret")],
        [("pipe", tarfile.FIFOTYPE, ""), ("device", tarfile.CHRTYPE, "")],
    ],
)
def test_a_download_stays_in_its_folder(tmp_path: Path, members: list[tuple[str, bytes, str]]) -> None:
    outside, target = tmp_path / "o", tmp_path / "t"
    outside.mkdir()
    (outside / "secret").write_text("s3cret")
    made = archive(*((name, kind, value.format(outside=outside)) for name, kind, value in members))
    for _ in range(2):  # the second time over what the first has left
        unpack(made, target)
        assert not list(tmp_path.rglob("*escaped")) or all(
            path.resolve().is_relative_to(target) for path in tmp_path.rglob("*escaped")
        )
        assert [path.name for path in outside.iterdir()] == ["secret"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["o", "t"]
        for path in target.rglob("*"):
            assert path.resolve().is_relative_to(target.resolve())
            assert path.is_file() or path.is_dir() or path.is_symlink()


def test_a_download_writes_through_no_link_that_was_there(tmp_path: Path) -> None:
    outside, target = tmp_path / "o", tmp_path / "t"
    outside.mkdir()
    target.mkdir()
    (outside / "file").write_text("mine")
    (target / "folder").symlink_to(outside)
    (target / "file").symlink_to(outside / "file")
    unpack(archive(("folder/file", F, "theirs"), ("file", F, "theirs")), target)
    assert (outside / "file").read_text() == "mine"
    assert (target / "folder" / "file").read_text() == (target / "file").read_text() == "theirs"


def test_a_download_keeps_no_special_bits(tmp_path: Path) -> None:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as made:
        member = tarfile.TarInfo("program")
        member.mode = 0o6755
        made.addfile(member, BytesIO())
    unpack(buffer.getvalue(), tmp_path)
    assert (tmp_path / "program").stat().st_mode & 0o7777 == 0o755


async def test_a_command_that_forks_while_all_is_killed_does_not_survive(sandbox: LocalSandbox) -> None:
    task = asyncio.create_task(sh(sandbox, "while :; do (setsid sleep 0.05 &); done"))
    await asyncio.sleep(0.5)
    await sandbox.kill_all()
    await task
    script = "ls -d /proc/[0-9]* | wc -l"
    assert int((await sh(sandbox, script)).stdout) <= 5
