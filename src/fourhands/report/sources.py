"""What results are read from: folders of our runs, and plain Harbor jobs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from fourhands.analysis.digest import Subject
from fourhands.analysis.study import RunInfo, TaskInfo
from fourhands.model.condition import Condition, ConditionName
from fourhands.model.errors import InputError
from fourhands.model.price import PriceTable
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.report.prices import prices_of
from fourhands.trajectories.harbor_job import (
    HarborTrial,
    harbor_outcome,
    is_harbor_job,
    read_harbor_job,
)
from fourhands.trajectories.run_folder import Plan, RunFolder

__all__ = ["ForeignTrial", "OwnTrial", "Source", "find_sources"]

_UNKNOWN_MODEL: Final = "unknown"


@dataclass(frozen=True, slots=True)
class OwnTrial:
    """A planned trial, and the folder with its attempts."""

    subject: Subject
    folder: Path


@dataclass(frozen=True, slots=True)
class ForeignTrial:
    """A trial of a Harbor job, as its row of ``trials``."""

    row: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """One run or job. ``skipped`` says what of it was left out, and why."""

    path: Path
    info: RunInfo
    own: tuple[OwnTrial, ...] = ()
    foreign: tuple[ForeignTrial, ...] = ()
    prices: PriceTable | None = None
    skipped: tuple[str, ...] = ()


def find_sources(paths: Sequence[Path], prices: PriceTable | None = None) -> tuple[list[Source], list[str]]:
    """The runs and jobs at ``paths``, each once, and what was left out because it is there twice.

    Raises:
        InputError: one of them is neither.
    """
    sources: list[Source] = []
    skipped: list[str] = []
    for path in dict.fromkeys(each.resolve() for each in paths):
        source = _source(path, prices)
        twin = next((each for each in sources if each.info.run == source.info.run), None)
        if twin is not None:
            skipped.append(
                f"{path}: is a copy of {twin.path} (run {source.info.run}); it was not counted again"
            )
            continue
        sources.append(source)
    return _without_replays(sources, skipped), skipped


def _without_replays(sources: list[Source], skipped: list[str]) -> list[Source]:
    """A replay shows again what its run has shown: beside it, it is no further evidence."""
    at = {source.path: source for source in sources}
    kept = []
    for source in sources:
        replayed = source.info.settings.get("replay")
        if replayed and (of := at.get(Path(replayed).resolve())) is not None:
            skipped.append(
                f"{source.path}: replays {of.path}, which is here as well; it was not counted again"
            )
        else:
            kept.append(source)
    return kept


def _source(path: Path, prices: PriceTable | None) -> Source:
    if (path / "plan.json").exists():
        return _own(RunFolder(path), prices)
    if is_harbor_job(path):
        return _foreign(path)
    if not path.exists():
        raise InputError(f"{path}: there is no such folder")
    raise InputError(
        f"{path} is no run: it has no plan.json, and it is no job of Harbor's either (config.json, and a folder for "
        "each trial)"
    )


def _own(folder: RunFolder, prices: PriceTable | None) -> Source:
    plan = folder.plan()
    lock, problem = _lock(folder)
    versions = {name: str(found.get("version", "")) for name, found in lock.get("agents", {}).items()}
    tasks = {task.name: task for task in plan.tasks}
    reasons = {(user.task, user.condition): user.not_applicable for user in plan.users if user.not_applicable}
    own = tuple(
        OwnTrial(
            Subject(
                run=plan.run_id,
                key=(key := trial.key),
                benchmark=tasks[trial.task].benchmark,
                record_status=tasks[trial.task].record_status,
                agent_version=versions.get(trial.agent),
                applicable=(trial.task, trial.condition) not in reasons,
            ),
            folder.path / "trials" / key.slug,
        )
        for trial in plan.trials
    )
    info = RunInfo(
        run=plan.run_id,
        path=str(folder.path),
        kind="run",
        settings=plan.settings.model_dump(mode="json"),
        tasks=tuple(_tasks(plan)),
        agents=versions,
        packages={**lock.get("packages", {}), "python": lock.get("python", "")} if lock else {},
        repeats=max((trial.repeat for trial in plan.trials), default=1),
    )
    told = prices if prices is not None else prices_of(folder)
    return Source(folder.path, info, own=own, prices=told, skipped=(problem,) if problem else ())


def _lock(folder: RunFolder) -> tuple[dict[str, Any], str | None]:
    """What was resolved last; nothing where that was not written yet, or cannot be read."""
    path = folder.path / "lock.json"
    try:
        resolved = json.loads(path.read_bytes())["resolved"][-1]
    except FileNotFoundError:
        return {}, None
    except (ValueError, KeyError, IndexError, TypeError):
        return {}, f"{path}: is no lock of a run; which versions were run is not known"
    return (resolved, None) if isinstance(resolved, dict) else ({}, f"{path}: is no lock of a run")


def _tasks(plan: Plan) -> Iterator[TaskInfo]:
    for task in plan.tasks:
        patches: dict[str, tuple[str, ...]] = {}
        for user in plan.users:
            if user.task == task.name and not user.shadow_of:
                patches[user.condition] = tuple(each.patch for each in user.interventions if each.patch)
        reference = task.path / "solution" / "reference.patch"
        yield TaskInfo(
            name=task.name,
            digest=task.digest,
            benchmark=task.benchmark,
            record_status=task.record_status,
            reference=reference.read_text("utf-8", "replace") if reference.is_file() else None,
            patches=patches,
        )


def _foreign(path: Path) -> Source:
    job = read_harbor_job(path)
    run = f"{job.name}-{hashlib.sha256(bytes(path)).hexdigest()[:8]}"
    repeats: dict[TrialKey, int] = {}
    trials = []
    for trial in sorted(job.trials, key=lambda each: (each.job, each.name)):
        first = TrialKey(
            trial.task,
            AgentSpec(trial.agent, trial.model or _UNKNOWN_MODEL),
            Condition(ConditionName.VANILLA),
        )
        repeats[first] = repeats.get(first, 0) + 1
        trials.append(ForeignTrial(_foreign_row(run, replace(first, repeat=repeats[first]), trial)))
    info = RunInfo(
        run=run,
        path=str(path),
        kind="Harbor job",
        tasks=tuple(TaskInfo(name, "") for name in dict.fromkeys(trial.task for trial in job.trials)),
        agents={trial.agent: trial.agent_version for trial in job.trials if trial.agent_version},
        repeats=max(repeats.values(), default=1),
    )
    return Source(path, info, foreign=tuple(trials), skipped=job.problems)


def _foreign_row(run: str, key: TrialKey, trial: HarborTrial) -> dict[str, Any]:
    """What a Harbor job tells; it knows neither steps of the main loop nor a user."""
    row = Subject(run, key, agent_version=trial.agent_version).row() | {"trial": f"{trial.job}/{trial.name}"}
    outcome = harbor_outcome(trial)
    if outcome is None:
        return row
    tokens = (trial.tokens_input, trial.tokens_output)
    return row | {
        "attempt": 1,
        "scored": outcome.is_scored,
        "verdict": outcome.verdict.value,
        "termination": outcome.termination.value,
        "resolved": outcome.verdict.value == "resolved" if outcome.is_scored else None,
        "reward": outcome.reward,
        "why": trial.exception,
        "steps": trial.steps,
        "tokens": None if None in tokens else sum(each or 0 for each in tokens),
        "tokens_input": None
        if trial.tokens_input is None
        else trial.tokens_input - (trial.tokens_cache or 0),
        "tokens_cache_read": trial.tokens_cache,
        "tokens_output": trial.tokens_output,
        "cost": trial.cost_usd,
        "cost_at_least": trial.cost_usd,
        "started": trial.started,
    }
