"""Jobs that Harbor ran without us: what each trial's ``result.json`` tells, in the product's words.

Harbor knows no user's hands, so a job is evidence of agents left alone. Read from Harbor 0.26, whose documents of
schema 1 name no version where they are older.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Final

from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.trajectories.harbor_documents import (
    JobConfig,
    JobResult,
    TrialConfig,
    TrialResult,
    agent_steps,
    read_document,
)

__all__ = ["HarborJob", "HarborTrial", "harbor_outcome", "is_harbor_job", "read_harbor_job"]

_AGENT_TIMEOUT: Final = "AgentTimeoutError"
_OF_THE_AGENT: Final = frozenset(
    {
        _AGENT_TIMEOUT,
        "AgentSafetyRefusalError",
        "ContentPolicyViolationError",
        "ContextLengthExceededError",
        "ContextWindowExceededError",
        "NonZeroAgentExitCodeError",
        "OutputLengthExceededError",
        "OutputTokenExceededError",
    }
)
"""Exceptions after which Harbor holds a reward to be the agent's own."""


@dataclass(frozen=True, slots=True)
class HarborTrial:
    """One trial. ``name`` is its folder's, ``job`` the job's; times are ISO 8601.

    ``task`` is without the name of its organisation, unless another task of the same name needs it. ``model`` is as
    it was asked for. ``reward`` is that named ``reward``; of a verifier that gives others, their mean. ``is_valid``
    says whether it is the agent's own. ``tokens_input`` counts ``tokens_cache`` too. ``steps`` are the agent's in
    its trajectory. ``id`` is Harbor's own, the same in every copy. A trial that has not ``ended`` was never run, was
    cut, or left a result that nobody can read.
    """

    job: str
    name: str
    task: str
    agent: str
    agent_version: str | None = None
    model: str | None = None
    id: str | None = None
    ended: bool = False
    reward: float | None = None
    is_valid: bool = True
    exception: str | None = None
    steps: int | None = None
    tokens_input: int | None = None
    tokens_cache: int | None = None
    tokens_output: int | None = None
    cost_usd: float | None = None
    started: str | None = None
    finished: str | None = None

    @property
    def timed_out(self) -> bool:
        """Whether the agent ran out of time; Harbor verifies what it left all the same."""
        return self.exception == _AGENT_TIMEOUT


@dataclass(frozen=True, slots=True)
class HarborJob:
    """A job, or a folder of jobs: its trials in order of job and trial, and what a reader should know of others."""

    name: str
    trials: tuple[HarborTrial, ...]
    problems: tuple[str, ...]


def harbor_outcome(trial: HarborTrial) -> Outcome | None:
    """How a trial ended; ``None`` if it has not.

    A reward of 1 or more is ``resolved``. An exception is the machine's fault unless its reward is the agent's own:
    then it is a time-out, or the agent broke its protocol.
    """
    if not trial.ended:
        return None
    if trial.exception is None:
        return Outcome(_verdict(trial.reward), Termination.FINISHED, trial.reward)
    if trial.reward is None or not trial.is_valid:
        return Outcome(Verdict.NONE, Termination.INFRASTRUCTURE_ERROR)
    termination = Termination.AGENT_TIMEOUT if trial.timed_out else Termination.PROTOCOL_FAILURE
    return Outcome(_verdict(trial.reward), termination, trial.reward)


def _verdict(reward: float | None) -> Verdict:
    if reward is None:
        return Verdict.NONE
    return Verdict.RESOLVED if reward >= 1 else Verdict.UNRESOLVED


def is_harbor_job(path: Path) -> bool:
    """Whether ``path`` is the folder of a Harbor job, or one that holds such folders."""
    return next(_jobs(path), None) is not None


def read_harbor_job(path: Path) -> HarborJob:
    """Read all trials of a job, or of the jobs in a folder; what cannot be read is a problem, and never an error."""
    problems: list[str] = []
    trials = [trial for job in _jobs(path) for trial in _trials(job, problems)]
    return HarborJob(path.name, tuple(_shortened(trials)), tuple(problems))


def _jobs(path: Path) -> Iterator[Path]:
    if _is_job(path):
        yield path
    else:
        yield from filter(_is_job, _folders(path))


def _is_job(path: Path) -> bool:
    return isinstance(read_document(path / "config.json", JobConfig), JobConfig)


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(each for each in path.iterdir() if each.is_dir())
    except OSError:
        return []


def _trials(job: Path, problems: list[str]) -> Iterator[HarborTrial]:
    ours = found = 0
    for folder in _folders(job):
        config = read_document(folder / "config.json", TrialConfig)
        if config is None and not (folder / "result.json").exists():
            continue  # no trial: somebody's own folder
        found += 1
        trial, is_ours = _trial(job.name, folder, config, problems)
        ours += is_ours
        if trial is not None:
            yield trial
    if ours:
        problems.append(
            f"{job}: {ours} of its trials were run by Fourhands and left out: name their run's folder"
        )
    total = read_document(job / "result.json", JobResult)
    if isinstance(total, str):
        problems.append(total)
    elif total is not None and total.n_total_trials > found:
        problems.append(
            f"{job}: {total.n_total_trials - found} of its {total.n_total_trials} trials never began"
        )


def _trial(
    job: str, folder: Path, config: TrialConfig | str | None, problems: list[str]
) -> tuple[HarborTrial | None, bool]:
    """The trial in ``folder``, if there is one that counts, and whether it is one of ours."""
    result = read_document(folder / "result.json", TrialResult)
    problems.extend(what for what in (config, result) if isinstance(what, str))
    asked = result.config if isinstance(result, TrialResult) else config
    if not isinstance(asked, TrialConfig):
        return None, False
    if (asked.agent.import_path or "").startswith("fourhands."):
        return None, True
    if isinstance(result, TrialResult):
        return _ended(job, folder, result), False
    if result is None:
        problems.append(f"{folder}: no result.json: the trial was cut, or runs still")
    trial = HarborTrial(job, folder.name, asked.task.called, asked.agent.called, model=asked.agent.model_name)
    return trial, False


def _ended(job: str, folder: Path, result: TrialResult) -> HarborTrial:
    exceptions = [each.exception_type for each in result.exceptions]
    told, info, contexts = result.agent_info, result.agent_info.model_info, result.contexts
    return HarborTrial(
        job=job,
        name=folder.name,
        task=result.task_name,
        agent=told.name,
        agent_version=None if told.version in {"", "unknown"} else told.version,
        model=result.config.agent.model_name or (info.called if info else None),
        id=result.id,
        ended=True,
        reward=_reward(result.verifier_result.rewards if result.verifier_result else None),
        is_valid=_OF_THE_AGENT.issuperset(exceptions) if result.reward_valid is None else result.reward_valid,
        exception=exceptions[0] if exceptions else None,
        steps=agent_steps(folder / "agent" / "trajectory.json"),
        tokens_input=_sum(each.n_input_tokens for each in contexts),
        tokens_cache=_sum(each.n_cache_tokens for each in contexts),
        tokens_output=_sum(each.n_output_tokens for each in contexts),
        cost_usd=_sum(each.cost_usd for each in contexts),
        started=_iso(result.started_at),
        finished=_iso(result.finished_at),
    )


def _reward(rewards: Mapping[str, float] | None) -> float | None:
    if not rewards:
        return None
    return rewards["reward"] if "reward" in rewards else fmean(rewards.values())


def _sum[N: (int, float)](counts: Iterable[N | None]) -> N | None:
    """Of what is known; ``None`` if nothing is."""
    known = [count for count in counts if count is not None]
    return sum(known[1:], known[0]) if known else None


def _iso(time: datetime | None) -> str | None:
    """In UTC, as events have it; Harbor means UTC where it names no zone."""
    if time is None:
        return None
    aware = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _shortened(trials: Sequence[HarborTrial]) -> Iterator[HarborTrial]:
    """Name tasks without their organisation where that tells them apart."""
    organisations: dict[str, set[str]] = defaultdict(set)
    for trial in trials:
        organisation, _, name = trial.task.rpartition("/")
        if organisation:
            organisations[name].add(organisation)
    for trial in trials:
        name = trial.task.rpartition("/")[2]
        yield trial if len(organisations[name]) > 1 else replace(trial, task=name)
