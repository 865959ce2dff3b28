"""What results are read from: folders of our runs, and plain Harbor jobs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field, ValidationError

from fourhands.analysis.digest import Subject
from fourhands.analysis.study import Anchors, RunInfo, TaskInfo
from fourhands.model.agreement import Agreement
from fourhands.model.condition import Condition, ConditionName
from fourhands.model.errors import InputError
from fourhands.model.event import seconds_between
from fourhands.model.judgement import Judgements
from fourhands.model.price import PriceTable
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.report.prices import prices_of
from fourhands.trajectories.audits import agreements_of
from fourhands.trajectories.harbor_job import (
    HarborTrial,
    harbor_outcome,
    is_harbor_job,
    read_harbor_job,
)
from fourhands.trajectories.judgements import anchors_of
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
    """A trial of a Harbor job, as its row of ``trials``; ``identity`` is the same in every copy, if it is known."""

    row: dict[str, Any]
    identity: str | None


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
        else:
            sources.append(source)
    return _without_twins(_without_replays(sources, skipped), skipped), skipped


def _without_replays(sources: list[Source], skipped: list[str]) -> list[Source]:
    """Of a run and its replays one: what a replay shows was shown before, and is no further evidence."""
    kept: dict[str, Source] = {}
    for source in sorted(sources, key=lambda each: _replayed(each) is not None):  # what is no replay, first
        root = _root(source)
        if root in kept:
            skipped.append(
                f"{source.path}: replays what {kept[root].path} holds as well; it was not counted again"
            )
        else:
            kept[root] = source
    return [source for source in sources if source in kept.values()]


def _replayed(source: Source) -> Path | None:
    recording = source.info.settings.get("replay")
    return Path(recording).resolve() if recording else None


def _root(source: Source) -> str:
    """The run whose replies a run holds: itself, or what was recorded, through replays of replays."""
    run, path = source.info.run, _replayed(source)
    seen: set[Path] = set()
    while path is not None and path not in seen:
        seen.add(path)
        run = str(path)  # a cassette, or a run that is not there any more
        try:
            plan = RunFolder(path).plan()
        except InputError:
            break
        run = plan.run_id
        path = plan.settings.replay.resolve() if plan.settings.replay else None
    return run


def _without_twins(sources: list[Source], skipped: list[str]) -> list[Source]:
    """Each Harbor trial once, however many folders hold it: a job within another, or a copy of one."""
    seen: set[str] = set()
    found = []
    for source in sources:
        new = tuple(trial for trial in source.foreign if trial.identity not in seen)
        if twins := len(source.foreign) - len(new):
            skipped.append(
                f"{source.path}: {twins} of its trials are here already; they were not counted again"
            )
        seen |= {trial.identity for trial in new if trial.identity}
        if source.own or new or not twins:
            found.append(replace(source, foreign=new))
    return found


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
    shadows: dict[tuple[str, str], list[str]] = {}
    for user in plan.users:
        shadows.setdefault((user.task, user.condition), []).extend(user.shadow_of)
    tasks = {task.name: task for task in plan.tasks}
    reasons = {(user.task, user.condition): user.not_applicable for user in plan.users if user.not_applicable}
    own = tuple(
        OwnTrial(
            Subject(
                run=plan.run_id,
                key=(key := trial.key),
                benchmark=tasks[trial.task].benchmark,
                record_status=tasks[trial.task].record_status,
                agent_version=lock.agents.get(trial.agent),
                applicable=(trial.task, trial.condition) not in reasons,
                not_applicable=reasons.get((trial.task, trial.condition)),
                shadowed=tuple(shadows.get((trial.task, trial.condition), ())),
            ),
            folder.path / "trials" / key.slug,
        )
        for trial in plan.trials
    )
    agreements, spoiled = _agreements(folder)
    anchors, unread = _anchors(folder, plan)
    info = RunInfo(
        run=plan.run_id,
        path=str(folder.path),
        kind="run",
        settings=plan.settings.model_dump(mode="json"),
        tasks=tuple(replace(task, anchors=anchors.get(task.name, ())) for task in _tasks(plan)),
        agents=lock.agents,
        packages=lock.packages,
        agreements=agreements,
        repeats=max((trial.repeat for trial in plan.trials), default=1),
    )
    told = prices if prices is not None else prices_of(folder)
    return Source(folder.path, info, own=own, prices=told, skipped=(*problem, *spoiled, *unread))


def _agreements(folder: RunFolder) -> tuple[tuple[Agreement, ...], tuple[str, ...]]:
    """How far judges were measured to agree with people; where that cannot be read, why."""
    try:
        return tuple(agreements_of(folder)), ()
    except InputError as error:
        return (), (str(error),)


def _anchors(folder: RunFolder, plan: Plan) -> tuple[dict[str, tuple[Anchors, ...]], tuple[str, ...]]:
    """What judges gave for each task's anchors; where that cannot be read, why."""
    found: dict[str, tuple[Anchors, ...]] = {}
    problems = []
    for task in plan.tasks:
        try:
            found[task.name] = tuple(map(_anchor_scores, anchors_of(folder, task.name)))
        except InputError as error:
            problems.append(str(error))
    return found, tuple(problems)


def _anchor_scores(found: Judgements) -> Anchors:
    scores = {each.state: each.judgement.score for each in found.states}
    return Anchors(
        found.judge,
        found.prompt_version,
        *(scores.get(name) for name in ("empty", "reference", "reference-as-plan")),
    )


class _Agent(BaseModel):
    version: str = ""


class _Resolved(BaseModel):
    packages: dict[str, str] = {}
    agents: dict[str, _Agent] = {}
    python: str = ""


class _LockFile(BaseModel):
    resolved: tuple[_Resolved, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class _Lock:
    """What was resolved: of each agent all versions that the run has had, and of packages the last."""

    agents: dict[str, str] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)


def _lock(folder: RunFolder) -> tuple[_Lock, tuple[str, ...]]:
    """What was resolved, and what is wrong with that; nothing where it was not written yet, or cannot be read."""
    path = folder.path / "lock.json"
    try:
        resolved = _LockFile.model_validate_json(path.read_bytes()).resolved
    except FileNotFoundError:
        return _Lock(), ()
    except (ValidationError, OSError):
        return _Lock(), (f"{path}: is no lock of a run; which versions were run is not known",)
    versions: dict[str, dict[str, None]] = {}
    for each in resolved:
        for name, agent in each.agents.items():
            versions.setdefault(name, {})[agent.version] = None
    agents = {name: ", ".join(found) for name, found in versions.items()}
    return _Lock(agents, {**resolved[-1].packages, "python": resolved[-1].python}), ()


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
    if not job.trials:
        raise InputError(f"{path}: no trial to read: {'; '.join(job.problems) or 'it holds none'}")
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
        row = _foreign_row(run, replace(first, repeat=repeats[first]), trial)
        trials.append(ForeignTrial(row, trial.id))
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
    row = Subject(run, key, agent_version=trial.agent_version, shadowed=None).row() | {
        "trial": f"{trial.job}/{trial.name}"
    }
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
        "seconds": seconds_between(trial.started, trial.finished)
        if trial.started and trial.finished
        else None,
    }
