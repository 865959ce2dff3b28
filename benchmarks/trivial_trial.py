"""A trial in which nothing takes time but us: Harbor, the local environment, an agent of one command, the verifier.

What the trial takes is set against what its tests take, run alone in a sandbox that stands already; and the
sandbox's own start, command and stop are measured by themselves.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from fourhands.edits.plan import plan_run
from fourhands.engine.agents.registry import AGENTS, AgentEntry
from fourhands.engine.jobs import execute
from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.server import Gateway
from fourhands.gateway.upstream import Upstream
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.testrun import run_tests
from fourhands.trajectories.run_folder import RunFolder, Settings
from measure import Figure, Outcome, summary

__all__ = ["measure"]

_TASK: Final = Path(__file__).with_name("tiny_task")
_AGENT: Final = "reference"
_LOCK: Final = Path(__file__).with_name("reference_agent.txt")
_NOWHERE: Final = "http://127.0.0.1:9/v1"
"""The agent calls no model."""
_TRIALS: Final = 12
_SANDBOXES: Final = 20


def measure() -> Outcome:
    """Trials one after another, each a Harbor job of its own; then tests and sandboxes by themselves."""
    AGENTS[_AGENT] = AgentEntry("reference_agent:ReferenceAgent", "1", _LOCK)
    task = load_task(_TASK)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _trials(folder / "warm-up", task, 1)
        trials = _trials(folder / "run", task, _TRIALS)
        tests = asyncio.run(_tests(task, folder / "sandboxes"))
        parts = asyncio.run(_sandboxes(folder / "sandboxes"))
    beyond = [trial.whole - trial.tests for trial in trials]
    return Outcome(
        (
            Figure("a trivial trial", "ms", summary([t.whole for t in trials]), tests, "its tests alone"),
            Figure("a trivial trial beyond its test run", "ms", summary(beyond), target="≤ 600 ms"),
            Figure("of it from the job's start to ours", "ms", summary([t.before for t in trials])),
            Figure("of it the agent, from set-up to end", "ms", summary([t.agent for t in trials])),
            Figure("of it the verifier beyond its test run", "ms", summary([t.verifier for t in trials])),
            Figure("of it from the verdict to the job's end", "ms", summary([t.after for t in trials])),
            *(Figure(f"sandbox: {part}", "ms", value) for part, value in parts.items()),
        ),
        (
            f"wall time, medians of {_TRIALS} trials one at a time and {_SANDBOXES} sandboxes",
            "each trial is a Harbor job of its own, whose making counts",
        ),
    )


@dataclass(frozen=True, slots=True)
class _Trial:
    """Seconds of one trial: all of it, and where they went. ``tests`` is the run of its tests."""

    whole: float
    before: float
    agent: float
    tests: float
    verifier: float
    after: float


def _trials(folder: Path, task: Task, number: int) -> list[_Trial]:
    gateway = Gateway()
    gateway.start()
    try:
        return [asyncio.run(_trial(folder / str(n), task, gateway)) for n in range(number)]
    finally:
        gateway.close()


async def _trial(path: Path, task: Task, gateway: Gateway) -> _Trial:
    seen: dict[EventKind, tuple[float, Event]] = {}

    def watch(key: TrialKey, event: Event) -> None:
        del key
        seen[event.kind] = time.perf_counter(), event

    folder = RunFolder(path)
    with folder.locked():
        folder.write_plan(
            plan_run(
                tasks=[task],
                agents=[AgentSpec(_AGENT, "nobody")],
                conditions=[Condition.parse("vanilla")],
                repeats=1,
                settings=Settings(base_url=_NOWHERE),
            )
        )
        began = time.perf_counter()
        await execute(folder, gateway, lambda _: Upstream(_NOWHERE, "nobody"), watch, 1)
        ended = time.perf_counter()
    verified, verdict = seen[EventKind.VERIFIED]
    if verdict.body["verdict"] != "resolved":
        raise RuntimeError(f"the trivial trial came to {verdict.body['verdict']}: {verdict.body}")
    started, _ = seen[EventKind.TRIAL_STARTED]
    changed, _ = seen[EventKind.WORKSPACE_CHANGED]
    tests = verdict.body["seconds"]
    return _Trial(
        whole=ended - began,
        before=started - began,
        agent=changed - started,
        tests=tests,
        verifier=verified - changed - tests,
        after=ended - verified,
    )


async def _tests(task: Task, base: Path) -> float:
    """The median run of the task's tests, in milliseconds, each in a fresh sandbox that stands already."""
    seconds = []
    for _ in range(_TRIALS):
        async with LocalSandbox(await prepare(task.directory), base) as sandbox:
            seconds.append((await run_tests(sandbox, task)).seconds)
    return summary(seconds)


async def _sandboxes(base: Path) -> dict[str, float]:
    """Median milliseconds of a sandbox's start, a command that does nothing, and stop."""
    spec = await prepare(_TASK)
    times: dict[str, list[float]] = {"start": [], "one command": [], "stop": []}
    for _ in range(_SANDBOXES):
        sandbox = LocalSandbox(spec, base)
        marks = [time.perf_counter()]
        for step in (sandbox.start, partial(sandbox.run, ["true"]), sandbox.stop):
            await step()
            marks.append(time.perf_counter())
        for part, (start, end) in zip(times, pairwise(marks), strict=True):
            times[part].append(end - start)
    return {part: summary(seconds) for part, seconds in times.items()}
