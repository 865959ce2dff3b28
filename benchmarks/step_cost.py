"""What one step of an agent costs us as the history grows; and what a snapshot's walk costs as the tree grows.

A step is all that the gateway does for an exchange: take the request apart, with the whole history in it, ask the
user, put it together again, record it. Beside it stands what parsing that request and writing it out takes by
itself. The walk, which runs inside the sandbox, is told apart; it is measured on trees of three sizes.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.conversation import Conversation
from fourhands.gateway.exchanges import Received
from fourhands.model.sandbox import SandboxSpec
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.document import Document
from fourhands.wire.types import Json
from fourhands.workspace.snapshot import Snapshotter
from fourhands.workspace.store import ObjectStore
from measure import Figure, Outcome, child_cpu, summary
from scene import TOOLS, base_of, open_conversation
from trees import MeasuredWalk, grow

__all__ = ["measure"]

_WIRE: Final = ChatCompletions()
_MARKS: Final = (10, 100, 1000, 5000)
_WINDOW: Final = 12
"""Steps of each kind measured at each mark."""
_KINDS: Final = (("quiet", "≤ 3 ms, flat to 5,000 steps"), ("editing", ""), ("settling", ""))
"""What a step finds in the workspace: nothing new, a change, or a change so recent that it is looked at again."""
_FILES: Final = 200
_TREES: Final = (1000, 6000, 20000)
_WALKS: Final = 9
_OUTPUT: Final = "".join(f"{n:6}\tresult = compute(value_{n}, weight_{n})\n" for n in range(8))
"""What a command prints: so small that 5,000 steps, 5 MB, are still what the longest context windows hold."""


def measure() -> Outcome:
    """Both parts."""
    with tempfile.TemporaryDirectory() as folder:
        figures = [
            *asyncio.run(_steps(Path(folder, "steps"))),
            *(figure for files in _TREES for figure in asyncio.run(_walk(Path(folder, f"{files}"), files))),
        ]
    return Outcome(
        tuple(figures),
        (
            f"medians of {_WINDOW} steps of each kind from each mark on, {_WALKS} interleaved rounds for walks",
            f"a step's command prints {len(_OUTPUT)} bytes; an editing step changes a line of one file of {_FILES}",
            "a step's CPU is this process's and git's; without the walk, and without starting it",
        ),
    )


@dataclass
class _Dialogue:
    """An agent's side: a history that grows by a call and its result with every step."""

    messages: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"role": "system", "content": "You are a helpful assistant that works with a shell. " * 40},
            {"role": "user", "content": "Fix the rounding of shares in this repository. " * 40},
        ]
    )
    steps: int = 0

    def body(self) -> Json:
        """The next request, with the whole history."""
        return {"model": "m", "messages": list(self.messages), "tools": TOOLS, "stream": True}

    def reply(self) -> bytes:
        """The model's next reply, and what the agent then does."""
        self.steps += 1
        command = f"sed -n '1,8p' package_0/part_0/module_{self.steps}.py"
        call = {
            "id": f"call_{self.steps}",
            "type": "function",
            "function": {"name": "bash", "arguments": orjson.dumps({"command": command}).decode()},
        }
        message = {"role": "assistant", "content": f"Step {self.steps}: look further.", "tool_calls": [call]}
        usage = {"prompt_tokens": 1000, "completion_tokens": 40}
        self.messages += [
            message,
            {"role": "tool", "tool_call_id": call["id"], "content": _OUTPUT},
        ]
        return orjson.dumps({"choices": [{"message": message}], "usage": usage})


@dataclass(frozen=True, slots=True)
class _Cost:
    """CPU seconds of one step, all but the walk, and of its floor by itself: the JSON, in and out."""

    whole: float
    floor: float


async def _steps(folder: Path) -> list[Figure]:
    repository = folder / "repository"
    grow(repository, _FILES)
    base = folder / "base.git"
    tree = base_of(repository, base)
    walk = MeasuredWalk(repository, sys.executable)
    conversation = await open_conversation(folder / "trial", base=base, tree=tree, sandbox=walk)
    dialogue = _Dialogue()
    found: dict[tuple[str, int], list[_Cost]] = {}
    for mark in _MARKS:
        walk.still = True
        while dialogue.steps < mark:
            await _exchange(conversation, dialogue, orjson.dumps(dialogue.body()))
        walk.still = False
        for _ in range(_WINDOW):
            found.setdefault(("quiet", mark), []).append(await _step(conversation, dialogue, walk))
        for number in range(_WINDOW):
            changed = repository / "package_0" / "part_0" / f"module_{number}.py"
            changed.write_text(f"{changed.read_text()}step = {dialogue.steps}\n")
            found.setdefault(("editing", mark), []).append(await _step(conversation, dialogue, walk))
            found.setdefault(("settling", mark), []).append(await _step(conversation, dialogue, walk))
    conversation.log.close()
    return _figures(found)


async def _step(conversation: Conversation, dialogue: _Dialogue, walk: MeasuredWalk) -> _Cost:
    """One exchange, and what it took."""
    raw = orjson.dumps(dialogue.body())
    floor = _cpu()
    orjson.dumps(orjson.loads(raw))
    began = _cpu()
    walked = walk.own + walk.child
    await _exchange(conversation, dialogue, raw)
    whole = _cpu() - began - (walk.own + walk.child - walked)
    return _Cost(whole, began - floor)


async def _exchange(conversation: Conversation, dialogue: _Dialogue, raw: bytes) -> None:
    """What `fourhands.gateway.server` does for one exchange, without sockets."""
    admitted = await conversation.before_call(Document.read(_WIRE, raw), {})
    assert admitted
    sent = admitted.document.with_fields({"model": b'"other"'})
    sent.encode()
    received = dialogue.reply()
    await conversation.after_call(
        admitted,
        sent=sent,
        received=Received(200, "application/json", received),
        reply=_WIRE.parse_reply(orjson.loads(received)),
        milliseconds=1.0,
        provider_failed=False,
    )


def _cpu() -> float:
    """CPU seconds of this process and of all children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _figures(found: dict[tuple[str, int], list[_Cost]]) -> list[Figure]:
    figures = []
    for kind, target in _KINDS:
        first = summary([cost.whole for cost in found[kind, _MARKS[0]]])
        figures += [
            Figure(
                f"step {mark}, {kind}: all but the walk",
                "ms CPU",
                summary([cost.whole for cost in found[kind, mark]]),
                first,
                f"at step {_MARKS[0]}",
                target,
            )
            for mark in _MARKS
        ]
    for mark in _MARKS:
        costs = found[_KINDS[0][0], mark]
        figures.append(
            Figure(
                f"step {mark}, quiet: beside the request's JSON parsed and written out",
                "ms CPU",
                summary([cost.whole for cost in costs]),
                summary([cost.floor for cost in costs]),
                "the JSON alone",
                "≤ 1: no parsed copy",
            )
        )
    return figures


async def _walk(folder: Path, files: int) -> list[Figure]:
    """A snapshot of a tree in which nothing has changed, beside git's own way to take one."""
    repository = folder / "repository"
    grow(repository, files)
    store = ObjectStore(folder / "base.git")
    tree = store.import_directory(repository)
    git = _git(repository)
    program = MeasuredWalk(repository, sys.executable)
    ours, peers, walls = [], [], []
    async with LocalSandbox(SandboxSpec(repository), folder / "sandboxes") as sandbox:
        inside, outside = Snapshotter(sandbox, store), Snapshotter(program, store)
        for snapshotter in (inside, outside):
            await snapshotter.start(tree)
            await asyncio.sleep(0.1)  # until no file is too young to trust its times
            await snapshotter.take()
        for _ in range(_WALKS):
            began = time.perf_counter()
            await inside.take()
            walls.append(time.perf_counter() - began)
            before = program.child
            await outside.take()
            ours.append(program.child - before)
            peers.append(
                sum(child_cpu([*git, *arguments])[0] for arguments in (["add", "-A"], ["write-tree"]))
            )
    return [
        Figure(
            f"walk of {files} files",
            "ms CPU",
            summary(ours),
            summary(peers),
            "git add -A and write-tree",
        ),
        Figure(f"walk of {files} files, per 1,000", "ms CPU", summary(ours) / files * 1000),
        Figure(f"snapshot of {files} files in a sandbox, wall", "ms", summary(walls)),
    ]


def _git(repository: Path) -> list[str]:
    """Git in ``repository``, with an index that knows all of its files."""
    git = ["git", "-C", str(repository), "-c", "gc.auto=0"]
    for arguments in (["init", "--quiet"], ["add", "-A"]):
        child_cpu([*git, *arguments])
    return git
