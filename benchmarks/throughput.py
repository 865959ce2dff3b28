"""How many trials a minute this machine runs at 1, 4 and 8 at once, beside the bare runs of the same tests.

Real trials through the product's own engine: Harbor, local sandboxes, the thin agent, a scripted model, a user who
edits in half of them, the verifier. Harbor overlaps the trials of one agent under one condition and repeat,
so there are as many copies of one bundled task as there are to be trials at once.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from fourhands.edits.plan import plan_run
from fourhands.engine.jobs import execute
from fourhands.engine.models import Models
from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.server import Gateway
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.testrun import run_tests
from fourhands.trajectories.run_folder import RunFolder, Settings
from measure import Figure, Outcome

__all__ = ["measure"]

_TASK: Final = "ledger-rounding"
_AT_ONCE: Final = (1, 4, 8)
_COPIES: Final = max(_AT_ONCE)
_CONDITIONS: Final = ("vanilla", "counter-edit")
_MODEL: Final = "scripted/keeps"


def measure() -> Outcome:
    """Each number at once in a run of its own, after one that fills the caches."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = [load_task(_copy(folder / "tasks" / f"{number}", number)) for number in range(_COPIES)]
        base = folder / "sandboxes"
        _trials(folder / "warm-up", tasks[:2], 2)
        rates = {number: _trials(folder / f"run-{number}", tasks, number) for number in _AT_ONCE}
        tests = {number: asyncio.run(_tests(tasks, base, number)) for number in _AT_ONCE}
    return Outcome((*_rates(rates, tests), *_ratios(rates)), _notes(rates))


@dataclass
class _Watch:
    """Which trials are under way, as their events come in: from several threads, one trial from one."""

    under_way: dict[str, str] = field(default_factory=dict)
    most: int = 0
    mixed: bool = False
    """Whether trials of two conditions ever overlapped."""
    steps: int = 0
    ended: int = 0

    def see(self, key: TrialKey, event: Event) -> None:
        if event.kind is EventKind.TRIAL_STARTED:
            self.under_way[key.slug] = key.condition.label
            self.most = max(self.most, len(self.under_way))
            self.mixed = self.mixed or len(set(self.under_way.values())) > 1
        elif event.kind is EventKind.MODEL_CALLED:
            self.steps += 1
        elif event.kind is EventKind.TRIAL_ENDED:
            del self.under_way[key.slug]
            if event.body["termination"] != "finished":
                raise RuntimeError(f"{key.slug} came to {event.body}")
            self.ended += 1


@dataclass(frozen=True, slots=True)
class _Rate:
    """``number`` of trials in ``seconds``, with ``cpu`` seconds of this process, its gateway among them."""

    number: int
    seconds: float
    cpu: float
    watch: _Watch

    @property
    def per_minute(self) -> float:
        return 60 * self.number / self.seconds


def _copy(place: Path, number: int) -> Path:
    """The bundled task under a name of its own."""
    shutil.copytree(bundled_tasks()[_TASK], place)
    file = place / "task.toml"
    text = file.read_text(encoding="utf-8")
    if text.count(f"/{_TASK}") != 1:
        raise RuntimeError(f"{file}: expected the task's name once")
    file.write_text(text.replace(f"/{_TASK}", f"/copy-{number}"), encoding="utf-8")
    return place


def _trials(path: Path, tasks: Sequence[Task], at_once: int) -> _Rate:
    folder = RunFolder(path)
    gateway = Gateway()
    gateway.start()
    try:
        with folder.locked():
            plan = plan_run(
                tasks=tasks,
                agents=[AgentSpec("thin", _MODEL)],
                conditions=[Condition.parse(label) for label in _CONDITIONS],
                repeats=1,
                settings=Settings(),
            )
            folder.write_plan(plan)
            models, watch = Models(plan), _Watch()

            async def work() -> None:
                models.serve_at(await gateway.serve(models.app))
                await execute(folder, gateway, models.upstream, watch.see, at_once)

            began, spent = time.perf_counter(), time.process_time()
            asyncio.run(work())
            rate = _Rate(len(plan.trials), time.perf_counter() - began, time.process_time() - spent, watch)
    finally:
        gateway.close()
    if watch.ended != rate.number:
        raise RuntimeError(f"{watch.ended} of {rate.number} trials ended")
    return rate


async def _tests(tasks: Sequence[Task], base: Path, at_once: int) -> float:
    """Runs of the tests a minute, each in a fresh sandbox whose start and stop count."""
    places = asyncio.Semaphore(at_once)

    async def run(task: Task) -> None:
        async with places, LocalSandbox(await prepare(task.directory), base) as sandbox:
            await run_tests(sandbox, task)

    runs = [run(task) for task in tasks for _ in _CONDITIONS]
    began = time.perf_counter()
    await asyncio.gather(*runs)
    return 60 * len(runs) / (time.perf_counter() - began)


def _rates(rates: dict[int, _Rate], tests: dict[int, float]) -> list[Figure]:
    return [
        Figure(
            f"trials a minute, {number} at once",
            "/min",
            rate.per_minute,
            tests[number],
            f"their tests alone, {number} at once",
        )
        for number, rate in rates.items()
    ]


def _ratios(rates: dict[int, _Rate]) -> list[Figure]:
    one = rates[_AT_ONCE[0]]
    found = []
    for number, rate in rates.items():
        if number != _AT_ONCE[0]:
            name = f"trials a minute, {number} at once, beside one at a time"
            found.append(Figure(name, "/min", rate.per_minute, one.per_minute, "1 at once"))
        cpu = rate.cpu / rate.number * 1000
        found.append(Figure(f"our process, a trial, {number} at once", "ms CPU", cpu))
    return found


def _notes(rates: dict[int, _Rate]) -> tuple[str, ...]:
    calls = sum(rate.watch.steps for rate in rates.values()) / sum(rate.number for rate in rates.values())
    most = ", ".join(f"{rate.watch.most} at {number}" for number, rate in rates.items())
    overlap = "never overlapped: each condition is a Harbor job, one after the other"
    if any(rate.watch.mixed for rate in rates.values()):
        overlap = "overlapped"
    return (
        f"{_COPIES} copies of {_TASK} under {' and '.join(_CONDITIONS)}, agent thin, model {_MODEL}",
        f"{calls:.1f} calls of the model a trial; wall time of the whole run, on {os.cpu_count()} CPUs",
        f"most trials under way: {most}; trials of different conditions {overlap}",
    )
