"""The way to the gateway by exec alone: around a local environment whose own listener is never asked for."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
import socket
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, override

import pytest
from harbor.environments.base import ExecResult
from harbor.job import Job
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.config import EnvironmentConfig as TrialEnvironmentConfig
from harbor.models.trial.paths import TrialPaths

from fourhands.edits.plan import plan_run
from fourhands.engine.active import ActiveRun
from fourhands.engine.containers import inside, mailbox, tunnel
from fourhands.engine.containers.sandbox import EnvironmentSandbox
from fourhands.engine.containers.tunnel import WINDOW, Tunnel
from fourhands.engine.jobs import harbor_configs
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.models import Models
from fourhands.gateway.server import Gateway
from fourhands.model.condition import Condition
from fourhands.model.errors import MissingError, SandboxError
from fourhands.model.event import Event, EventKind
from fourhands.model.sandbox import ExecResult as SandboxResult
from fourhands.model.sandbox import SandboxSpec
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.trajectories.run_folder import Attempt, RunFolder, Settings

HERE = Path(__file__).parent
PORT: Final = 8123
MEGABYTE: Final = 1 << 20
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

PRELUDE: Final = """
import hashlib, os, socket, sys, threading
def connect():
    return socket.create_connection(("127.0.0.1", 8123), 60)
def everything(s):
    data = b""
    while more := s.recv(1 << 16):
        data += more
    return data
"""


class Elsewhere(LocalEnvironment):
    """Its repository lies ready; what goes wrong with its commands is a test's own."""

    trouble: Callable[[Callable[[], Awaitable[ExecResult]], str], Awaitable[ExecResult]] | None = None

    async def _spec(self) -> SandboxSpec:
        return SandboxSpec(self.environment_dir.parent / "repository")

    @override
    async def exec(self, command: str, *args: Any, **options: Any) -> ExecResult:
        def work() -> Awaitable[ExecResult]:
            return LocalEnvironment.exec(self, command, *args, **options)

        return await (self.trouble(work, command) if self.trouble else work())


@pytest.fixture
async def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Elsewhere]:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "repository").mkdir()
    made = Elsewhere(
        environment_dir=tmp_path / "environment",
        environment_name="far-away",
        session_id="session",
        trial_paths=TrialPaths(tmp_path / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("test"),
    )
    await made.start(force_build=False)
    yield made
    await made.stop(delete=True)


@pytest.fixture
async def sandbox(environment: Elsewhere) -> AsyncIterator[EnvironmentSandbox]:
    made = EnvironmentSandbox(environment)
    await made.start()
    yield made
    environment.trouble = None
    with suppress(SandboxError):
        await made.kill_all()


@asynccontextmanager
async def served(sandbox: EnvironmentSandbox, handler: Handler) -> AsyncIterator[asyncio.Server]:
    """``handler`` answers what connects to the port inside."""

    answering: set[asyncio.Task[None] | None] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answering.add(asyncio.current_task())
        try:
            await handler(reader, writer)
        except ConnectionError:
            pass
        except asyncio.CancelledError:
            writer.transport.abort()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(answer, sock=await sandbox.listen(PORT))
    try:
        yield server
    finally:
        server.close()
        for task in answering:
            if task:
                task.cancel()
        await asyncio.gather(*filter(None, answering), return_exceptions=True)


async def client(sandbox: EnvironmentSandbox, script: str, *arguments: object) -> SandboxResult:
    """Run a Python script inside."""
    argv = [sandbox.python, "-I", "-c", PRELUDE + script, *map(str, arguments)]
    return await sandbox.run(argv, cwd="/", timeout=120)


async def said(sandbox: EnvironmentSandbox, script: str, *arguments: object) -> str:
    done = await client(sandbox, script, *arguments)
    assert done.code == 0, done.stderr.decode()
    return done.stdout.decode().strip()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(MEGABYTE):
        writer.write(data)
        await writer.drain()
    writer.write_eof()


ECHO: Final = """
def echo(size):
    data = os.urandom(size)
    with connect() as s:
        def send():
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
        sender = threading.Thread(target=send)
        sender.start()
        back = everything(s)
        sender.join()
    return back == data
"""


async def running(sandbox: EnvironmentSandbox) -> list[str]:
    """The command lines of all processes that have to do with a mailbox."""
    script = 'for p in /proc/[0-9]*/cmdline; do tr "\\0" " " <$p | head -c 60; echo; done 2>/dev/null'
    listed = (await sandbox.run(["bash", "-c", script])).stdout.decode(errors="replace")
    return [line for line in listed.splitlines() if line.startswith(("mailbox", "perl"))]


async def test_ten_megabytes_go_out_and_come_back_byte_for_byte(sandbox: EnvironmentSandbox) -> None:
    async with served(sandbox, echo):
        assert await said(sandbox, ECHO + "print(echo(10 << 20))") == "True"


async def test_sixteen_connections_at_once_keep_apart(sandbox: EnvironmentSandbox) -> None:
    many = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(16) as pool:
    print(*pool.map(echo, [1 << n for n in range(16)]))
"""
    async with served(sandbox, echo):
        assert await said(sandbox, ECHO + many) == " ".join(["True"] * 16)


async def test_each_event_of_a_stream_arrives_before_the_next_is_sent(sandbox: EnvironmentSandbox) -> None:
    """The stream goes on only once the client has told, by another connection, what it has of it."""
    seen: asyncio.Queue[bytes] = asyncio.Queue()
    script = """
with connect() as s:
    s.sendall(b"stream\\n")
    while event := s.recv(1 << 16):
        with connect() as other:
            other.sendall(event)
"""

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if line != b"stream\n":
            seen.put_nowait(line)
            return
        for number in range(8):
            event = b"data: %d\n" % number
            writer.write(event)
            async with asyncio.timeout(30):
                assert await seen.get() == event

    async with served(sandbox, stream):
        await said(sandbox, script)
    assert seen.empty()


async def test_either_side_may_end_first_and_still_hear_the_other(sandbox: EnvironmentSandbox) -> None:
    heard: asyncio.Queue[bytes] = asyncio.Queue()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.readline() == b"you first\n":
            writer.write(b"bye")
            writer.write_eof()
            heard.put_nowait(await reader.read())
        else:
            writer.write(hashlib.sha256(await reader.read()).hexdigest().encode())

    ends_first = """
with connect() as s:
    s.sendall(b"me first\\n" + b"x" * 100_000)
    s.shutdown(socket.SHUT_WR)
    print(everything(s).decode())
"""
    hears_the_end = """
with connect() as s:
    s.sendall(b"you first\\n")
    print(everything(s).decode())
    s.sendall(b"still here")
"""
    async with served(sandbox, handler):
        assert await said(sandbox, ends_first) == hashlib.sha256(b"x" * 100_000).hexdigest()
        assert await said(sandbox, hears_the_end) == "bye"
        async with asyncio.timeout(30):
            assert await heard.get() == b"still here"


async def test_what_breaks_off_outside_breaks_off_inside_and_the_other_way_round(
    sandbox: EnvironmentSandbox,
) -> None:
    gone = asyncio.Event()

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if line == b"break off\n":
            writer.write(b"data: half an ev")
            await writer.drain()
            await reader.readline()  # so that what was sent is there before the end
            with_reset = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, with_reset)
            writer.transport.abort()
            return
        writer.write(b"go")
        with suppress(ConnectionError):
            while await reader.read(100):
                pass
        gone.set()

    hears = """
with connect() as s:
    s.sendall(b"break off\\n")
    print(s.recv(100).decode())
    s.sendall(b"now\\n")
    try:
        print(s.recv(100))
    except ConnectionResetError:
        print("broken off")
"""
    breaks = """
import struct
s = connect()
s.sendall(b"wait\\n")
assert s.recv(2) == b"go"
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
s.close()
"""
    async with served(sandbox, handler) as server:
        assert (await said(sandbox, hears)).splitlines() == ["data: half an ev", "broken off"]
        await said(sandbox, breaks)
        async with asyncio.timeout(30):
            await gone.wait()
        server.close()  # as the gateway does at the end of a trial
        refused = await client(sandbox, "s = connect()\nprint(s.recv(1))")
        assert b"ConnectionResetError" in refused.stderr


async def test_a_side_that_does_not_read_stops_the_other_and_nobody_else(sandbox: EnvironmentSandbox) -> None:
    go = asyncio.Event()
    total = 3 * WINDOW
    fills = f"""
with connect() as s:
    s.sendall(b"f\\n" + bytes({total}))
    s.shutdown(socket.SHUT_WR)
    print(everything(s).decode())
"""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1) == b"f":
            await go.wait()
            writer.write(str(len(await reader.read())).encode())
        else:
            writer.write(b"served")

    async with served(sandbox, handler):
        slow = asyncio.create_task(said(sandbox, fills))
        for _ in range(3):  # while the first stands still
            assert (
                await said(sandbox, "s = connect(); s.sendall(b'q'); print(everything(s).decode())")
                == "served"
            )
        assert not slow.done()
        go.set()
        assert await slow == str(total + 1)


class Trouble:
    """Every third letter comes to grief, each in another way."""

    def __init__(self) -> None:
        self.letters = 0
        self.met = 0

    async def __call__(self, work: Callable[[], Awaitable[ExecResult]], command: str) -> ExecResult:
        if not command.startswith("perl"):
            return await work()
        self.letters += 1
        if self.letters % 3:
            return await work()
        self.met += 1
        kind = self.met % 4
        if kind == 0:
            raise RuntimeError("the provider does not answer")
        done = await work()
        if kind == 1:
            raise RuntimeError("the answer is lost")
        if kind == 2:
            done.stdout = (done.stdout or "")[: len(done.stdout or "") // 2]
        else:
            await work()  # the provider tried again by itself
        return done


async def test_no_byte_is_lost_or_doubled_by_execs_that_fail(
    environment: Elsewhere, sandbox: EnvironmentSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_PAUSES", (0.01,) * 6)
    async with served(sandbox, echo):
        trouble = Trouble()
        environment.trouble = trouble
        assert await said(sandbox, ECHO + "print(echo(1 << 20), echo(5), echo(300_000))") == "True True True"
        assert trouble.met > 8
    await sandbox.kill_all()


async def test_an_environment_that_does_no_work_any_more_is_the_trials_failure(
    environment: Elsewhere, sandbox: EnvironmentSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_PAUSES", (0.01, 0.02))
    monkeypatch.setattr(mailbox, "_LEASE", 2)

    async def refuse(work: Callable[[], Awaitable[ExecResult]], command: str) -> ExecResult:
        if command.startswith("perl"):
            raise RuntimeError("out of credits")
        return await work()

    async with served(sandbox, echo):
        environment.trouble = refuse
        done = await client(sandbox, "s = connect(); s.sendall(b'x'); print(s.recv(1))")
        assert b"ConnectionResetError" in done.stderr  # once the program inside has heard nothing for long
        with pytest.raises(
            SandboxError, match=r"far-away: the way to the gateway is closed: .*out of credits"
        ):
            await sandbox.kill_all()
    assert await running(sandbox) == []
    with pytest.raises(SandboxError, match="way to the gateway is closed"):
        await sandbox.kill_all()  # whoever asks again is told again


async def test_an_agent_that_kills_everything_has_closed_its_own_way_and_no_failure_is_ours(
    sandbox: EnvironmentSandbox,
) -> None:
    async with served(sandbox, echo):
        assert len(await running(sandbox)) >= 1
        with pytest.raises(SandboxError, match="left no result"):  # it has killed what runs it, too
            await sandbox.run(["bash", "-c", "kill -9 -1"])
        assert [line for line in await running(sandbox) if line.startswith("mailbox")] == []
        refused = await client(sandbox, "connect()")
        assert b"ConnectionRefusedError" in refused.stderr
        await sandbox.kill_all()


async def test_at_the_end_no_process_is_left(sandbox: EnvironmentSandbox) -> None:
    async with served(sandbox, echo):
        assert await said(sandbox, ECHO + "print(echo(10))") == "True"
        assert any(line.startswith("mailbox") for line in await running(sandbox))
        await sandbox.kill_all()
        assert await running(sandbox) == []
        assert (await sandbox.run(["ls", "-A", "/tmp"])).stdout == b""


async def test_inside_it_ends_by_itself_when_nobody_comes_any_more(
    sandbox: EnvironmentSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_LEASE", 1)
    async with served(sandbox, echo):
        assert sandbox._mailbox
        await sandbox._mailbox.close()
        for _ in range(100):
            if not await running(sandbox):
                return
            await asyncio.sleep(0.1)
        pytest.fail("it lives on")


async def test_an_image_without_perl_is_refused_with_the_remedy(
    environment: Elsewhere, sandbox: EnvironmentSandbox
) -> None:
    async def without_perl(work: Callable[[], Awaitable[ExecResult]], command: str) -> ExecResult:
        if command.startswith("perl"):
            return await LocalEnvironment.exec(environment, f"PATH=/nowhere; {command}")
        return await work()

    environment.trouble = without_perl
    with pytest.raises(MissingError, match=r"image of far-away has no perl.*apt-get install perl-base"):
        await sandbox.listen(PORT)


async def test_a_port_that_is_taken_inside_is_named(
    environment: Elsewhere, sandbox: EnvironmentSandbox
) -> None:
    with await environment.listen(PORT), pytest.raises(SandboxError, match=r"port 8123 cannot be had inside"):
        await sandbox.listen(PORT)


@pytest.mark.parametrize("program", ["mailbox", "letter"])
def test_perl_base_is_all_it_needs(program: str) -> None:
    perl = shutil.which("perl")
    if perl is None or not any(Path("/usr/lib").glob("*/perl-base")):
        pytest.skip("only Debian's perl has a folder of what is in perl-base")

    def compiled(source: str) -> subprocess.CompletedProcess[str]:
        only = "BEGIN { @INC = grep { m{/perl-base$} } @INC }\n"
        return subprocess.run([perl, "-c", "-e", only + source], capture_output=True, text=True, check=False)

    source = Path(inside.__file__).with_name(f"{program}.pl").read_text()
    done = compiled(source)
    assert done.returncode == 0, done.stderr
    assert compiled(f"use MIME::Base64;\n{source}").returncode != 0


@pytest.mark.parametrize(
    "frames",
    [
        b"\0\0\0\1D\xff\xff\xff\xff",
        b"\0\0\0\1O\0\0\0\0" * 2,
        b"\0\0\0\1O\0\0\0\0" + b"\0\0\0\1?\0\0\0\0",
        b"\0\0\0\1O\0\0\0\0" + (b"\0\0\0\1D\0\1\0\0" + bytes(1 << 16)) * (WINDOW // (1 << 16) + 1),
    ],
    ids=["a frame of 4 GB", "opened twice", "an unknown kind", "more than was allowed"],
)
async def test_what_somebody_else_says_in_its_place_is_refused(frames: bytes) -> None:
    end = Tunnel(("127.0.0.1", 1), lambda _: None)
    with pytest.raises(ValueError, match=r"a frame (of|that)|unasked"):
        end.feed(frames)
    await end.close()


async def test_connections_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "_CONNECTIONS", 2)
    told: list[bytes] = []
    held = asyncio.Event()

    async def hold(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await held.wait()
        writer.close()

    async with await asyncio.start_server(hold, "127.0.0.1", 0) as server:
        end = Tunnel(server.sockets[0].getsockname(), told.append)
        end.feed(b"".join(number.to_bytes(4) + b"O\0\0\0\0" for number in range(1, 4)))
        assert told == [b"\0\0\0\3R\0\0\0\0"]
        await end.close()
        held.set()


async def trial(
    folder: Path, environment: str, monkeypatch: pytest.MonkeyPatch, agent: str = "ByMailThin"
) -> Attempt:
    """A whole trial under a touching user, with a mailbox between the agent and the gateway."""
    monkeypatch.syspath_prepend(str(HERE))
    plan = plan_run(
        tasks=[load_task(bundled_tasks()["ledger-rounding"])],
        agents=[AgentSpec("thin", "scripted/keeps")],
        conditions=[Condition.parse("counter-edit[k=1]")],
        repeats=1,
        settings=Settings(),
        progress_steps={},
    )
    run = RunFolder(folder / "run")
    run.write_plan(plan)
    models, gateway = Models(plan), Gateway()
    gateway.start()
    try:
        models.serve_at(await gateway.serve(models.app))
        (config,) = harbor_configs(plan, run.jobs_path, 1)
        config.environment = TrialEnvironmentConfig(import_path=environment)
        config.agents[0].import_path = f"elsewhere:{agent}"

        def ignore(key: TrialKey, event: Event) -> None:
            del key, event

        with ActiveRun(run, plan, gateway, models.upstream, ignore, 1) as active:
            job = await Job.create(config)
            job.on_trial_ended(lambda event: _abandon(active, event))
            await job.run()
    finally:
        gateway.close()
    (planned,) = plan.trials
    attempt = run.final_attempt(planned.key)
    assert attempt
    assert attempt.ended
    return attempt


async def _abandon(active: ActiveRun, event: Any) -> None:
    """As a run does with a trial that Harbor has not brought to its verification."""
    session = active.sessions.pop(event.result.id)
    if not session.ended:
        await session.abandon(event.result.exception_info.exception_message)


@pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")  # Harbor's own
async def test_a_whole_trial_is_touched_and_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = await trial(tmp_path, "fourhands.engine.local:LocalEnvironment", monkeypatch)
    assert attempt.ended
    assert (attempt.ended.body["verdict"], attempt.ended.body["termination"]) == ("unresolved", "finished")
    events = attempt.read().events
    assert sum(event.kind is EventKind.EDIT_APPLIED for event in events) == 1
    assert sum(attempt.ended.body["user_lines"].values()) > 0


@pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")
async def test_a_trial_whose_mail_is_lost_for_good_is_the_machines_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mailbox, "_PAUSES", (0.01,))
    monkeypatch.setattr(mailbox, "_LEASE", 2)
    attempt = await trial(tmp_path, "elsewhere:LosesMail", monkeypatch)
    assert attempt.ended
    assert (attempt.ended.body["verdict"], attempt.ended.body["termination"]) == (
        "none",
        "infrastructure_error",
    )
    (note,) = [event.body for event in attempt.read().events if event.body.get("note") == "no_verdict"]
    assert "the way to the gateway is closed" in note["reason"]


@pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")
async def test_an_agent_that_kills_everything_has_failed_by_itself_and_is_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = "fourhands.engine.local:LocalEnvironment"
    attempt = await trial(tmp_path, local, monkeypatch, "KillsEverything")
    assert attempt.ended
    assert (attempt.ended.body["verdict"], attempt.ended.body["termination"]) == (
        "unresolved",
        "protocol_failure",
    )
