"""What is run: agents, models, and the key of a trial."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from fourhands.model.condition import Condition

__all__ = [
    "DEFAULT_STEP_LIMIT",
    "RECORDED",
    "REPLAY",
    "SCRIPTED",
    "AgentSpec",
    "TrialKey",
]

DEFAULT_STEP_LIMIT: Final = 100
"""Accepted main-loop replies of the model, at most: the SWE-Touch paper's."""


SCRIPTED: Final = "scripted/"
"""Prefix of models that follow a task's playbook."""
RECORDED: Final = "recorded/"
"""Prefix of models that repeat a recorded trajectory."""
REPLAY: Final = "replay:"
"""Prefix of an upstream that answers with the recorded replies of a run or a cassette."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The program under test and the model it is pointed at."""

    name: str
    model: str

    @property
    def label(self) -> str:
        """``mini-swe-agent:scripted/reconciles``."""
        return f"{self.name}:{self.model}"


@dataclass(frozen=True, slots=True)
class TrialKey:
    """One agent on one task under one condition, one repeat (from 1)."""

    task: str
    agent: AgentSpec
    condition: Condition
    repeat: int = field(default=1)

    @property
    def slug(self) -> str:
        """A folder name; a plan refuses keys whose names would be equal."""
        parts = (self.task, self.agent.label, self.condition.label, f"r{self.repeat}")
        return "__".join(re.sub(r"[^A-Za-z0-9._=-]+", "-", part).strip("-") for part in parts)

    def __str__(self) -> str:
        return f"{self.task} · {self.agent.label} · {self.condition.label} · repeat {self.repeat}"
