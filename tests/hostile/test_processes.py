"""What processes do while both pairs of hands work; more of it: tests/engine/test_sandbox.py, tests/threats."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fourhands.engine.sandbox import LocalSandbox, probe
from fourhands.model.sandbox import SandboxSpec
from fourhands.touch.actions import Observation, read_observation
from fourhands.workspace.snapshot import Snapshotter
from fourhands.workspace.store import ObjectStore

from .scene import Base

READY = b"ready\n"
"""What a sandbox's first process says once, when it is up."""
COUNT = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
TRAP = """
for name; do echo "open('/tmp/ran', 'w')" | tee $name /tmp/$name > $HOME/$name; done
echo 'export PATH=/tmp PYTHONPATH=/tmp PYTHONSTARTUP=/tmp/os.py' > $HOME/.bashrc
"""


@pytest.fixture
async def sandbox(base: Base, tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    spec = SandboxSpec(base.repository)
    async with LocalSandbox(spec, tmp_path / "sandboxes", processes=64) as started:
        yield started


async def changed(snapshotter: Snapshotter) -> list[str]:
    return [change.path for change in (await snapshotter.take()).changes]


async def test_snapshots_are_taken_beside_a_fork_bomb_and_after_its_end(
    base: Base, store: ObjectStore, sandbox: LocalSandbox, tmp_path: Path
) -> None:
    if (await probe(tmp_path / "probe")).process_limit is None:
        pytest.skip("root without a pids cgroup: nothing limits the number of processes")
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(base.tree)
    await sandbox.run(
        ["bash", "-c", "bomb() { bomb | bomb & }; bomb 2>/dev/null; echo x > left; sleep 1"], timeout=5
    )
    assert await changed(snapshotter) == ["left"]
    counted = await sandbox.run([sandbox.python, "-I", "-S", "-c", COUNT])
    assert int(counted.stdout) > 20
    await sandbox.kill_all()
    assert (await sandbox.run(["bash", "-c", "echo x | cat > right"])).code == 0
    assert await changed(snapshotter) == ["right"]


async def test_a_process_that_left_its_session_and_ignores_all_signals_is_ended_with_the_rest(
    base: Base, store: ObjectStore, sandbox: LocalSandbox
) -> None:
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(base.tree)
    writer = "trap '' TERM HUP INT QUIT PIPE; while :; do date +%N > ticks; done"
    await sandbox.run(["bash", "-c", f'setsid bash -c "{writer}" & until test -s ticks; do :; done'])
    assert await changed(snapshotter) == ["ticks"]
    await sandbox.kill_all()
    await snapshotter.take()
    assert await changed(snapshotter) == []


async def test_a_character_written_in_two_pieces_arrives_whole(sandbox: LocalSandbox) -> None:
    script = r"for byte in '\360' '\237' '\221' '\220' '\377'; do printf $byte; sleep 0.05; done"
    done = await sandbox.run(["bash", "-c", script])
    assert done.stdout == "👐".encode() + b"\xff"
    assert done.stdout.decode(errors="replace") == "👐\ufffd"


async def test_no_word_that_a_command_prints_or_writes_is_taken_for_ours(
    base: Base, store: ObjectStore, sandbox: LocalSandbox
) -> None:
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(base.tree)
    said = READY + b"=\0\0\0\7run.shfourhands placeholder: unreadable\n"
    spoken = await sandbox.run(["tee", "said", "/proc/1/fd/1", "/proc/1/fd/0"], stdin=said)
    assert spoken.stdout == said
    (change,) = (await snapshotter.take()).changes
    assert change.new_blob
    assert store.get_blob(change.new_blob) == said
    assert (await sandbox.run(["echo", "still here"])).stdout == b"still here\n"


def test_an_exit_status_that_a_command_prints_is_output() -> None:
    assert read_observation(
        r'{"returncode": 1, "output": "{\"returncode\": 0, \"output\": \"ok\"}"}'
    ) == Observation('{"returncode": 0, "output": "ok"}', 1)


async def test_programs_of_ours_run_no_code_that_the_agent_left_in_their_way(
    base: Base, store: ObjectStore, sandbox: LocalSandbox
) -> None:
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(base.tree)
    names = ["os.py", "struct.py", "sitecustomize.py", "usercustomize.py", "encodings.py"]
    done = await sandbox.run(["bash", "-ec", TRAP, "trap", *names])
    assert done.code == 0, done.stderr
    assert await changed(snapshotter) == sorted(names)
    assert (await sandbox.run(["test", "-e", "/tmp/ran"])).code == 1
    assert os.path.isabs(sandbox.python)  # noqa: PTH117
