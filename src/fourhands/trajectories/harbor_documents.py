"""What is read of the JSON documents in a Harbor job's folders; whatever else they hold does not matter here."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path, PurePath
from typing import Annotated, Final, Literal

import msgspec
from pydantic import BaseModel, Field, FiniteFloat, ValidationError

__all__ = [
    "AgentContext",
    "ExceptionInfo",
    "JobConfig",
    "JobResult",
    "TrialConfig",
    "TrialResult",
    "agent_steps",
    "read_document",
]

_Tokens = Annotated[int, Field(ge=0, le=2**53)]
_UNPARSED: Final = "harbor-skip-parsing"
"""What stands for the provider of a model whose name Harbor was told not to take apart."""


class JobConfig(BaseModel):
    """``config.json`` of a job."""

    job_name: str
    jobs_dir: str


class JobResult(BaseModel):
    """``result.json`` of a job."""

    n_total_trials: Annotated[int, Field(ge=0)]


class _Task(BaseModel):
    path: str | None = None
    name: str | None = None

    @property
    def called(self) -> str:
        """As its result would call it, but for the organisation of a task in a local folder."""
        return self.name or (PurePath(self.path).name if self.path else "")


class _Agent(BaseModel):
    name: str | None = None
    import_path: str | None = None
    model_name: str | None = None

    @property
    def called(self) -> str:
        """Its name, or where it is imported from."""
        return self.name or self.import_path or "unknown"


class TrialConfig(BaseModel):
    """``config.json`` of a trial."""

    trial_name: str
    task: _Task
    agent: _Agent


class _Model(BaseModel):
    name: str
    provider: str | None = None

    @property
    def called(self) -> str:
        return self.name if self.provider in {None, _UNPARSED} else f"{self.provider}/{self.name}"


class _AgentInfo(BaseModel):
    name: str
    version: str
    model_info: _Model | None = None


class AgentContext(BaseModel):
    """What an agent told of its use of a model; input tokens count cached ones too."""

    n_input_tokens: _Tokens | None = None
    n_cache_tokens: _Tokens | None = None
    n_output_tokens: _Tokens | None = None
    cost_usd: Annotated[FiniteFloat, Field(ge=0)] | None = None


class _Verified(BaseModel):
    rewards: dict[str, FiniteFloat] | None = None


class ExceptionInfo(BaseModel):
    """An exception that ended a trial, or a step of one."""

    exception_type: str


class _Step(BaseModel):
    agent_result: AgentContext | None = None
    exception_info: ExceptionInfo | None = None


class TrialResult(BaseModel):
    """``result.json`` of a trial."""

    schema_version: Literal[1] = 1
    id: str | None = None
    task_name: str
    config: TrialConfig
    agent_info: _AgentInfo
    agent_result: AgentContext | None = None
    verifier_result: _Verified | None = None
    exception_info: ExceptionInfo | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    step_results: list[_Step] | None = None
    reward_valid: bool | None = None

    @property
    def exceptions(self) -> list[ExceptionInfo]:
        """The trial's own, then those of its steps, which a trial of several steps goes on after."""
        found = (self.exception_info, *(step.exception_info for step in self.step_results or ()))
        return [each for each in found if each is not None]

    @property
    def contexts(self) -> list[AgentContext]:
        """The trial's, or else those of its steps."""
        if self.agent_result is not None:
            return [self.agent_result]
        return [step.agent_result for step in self.step_results or () if step.agent_result is not None]


def read_document[T: BaseModel](path: Path, shape: type[T]) -> T | str | None:
    """Read one document; ``None`` if there is none, and a sentence if it cannot be read."""
    try:
        return shape.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}"
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        return f"{path}: cannot be read: {where + ': ' if where else ''}{first['msg']}"


class _TrajectoryStep(msgspec.Struct):
    source: str


class _Trajectory(msgspec.Struct):
    steps: list[_TrajectoryStep]


def agent_steps(trajectory: Path) -> int | None:
    """How many steps of a trajectory in Harbor's format are the agent's; ``None`` without one that can be read."""
    try:
        read = msgspec.json.decode(trajectory.read_bytes(), type=_Trajectory)
    except (OSError, msgspec.DecodeError, RecursionError):
        return None
    return sum(step.source == "agent" for step in read.steps)
