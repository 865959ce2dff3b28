"""What is run: agents, conditions, and the key of a trial."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

__all__ = [
    "DEFAULT_K",
    "DEFAULT_STEP_LIMIT",
    "RECORDED",
    "SCRIPTED",
    "AgentSpec",
    "Condition",
    "ConditionName",
    "TrialKey",
]

DEFAULT_K: Final = 3
"""Interventions a trial, at most: the SWE-Touch paper's."""
DEFAULT_STEP_LIMIT: Final = 100
"""Accepted main-loop replies of the model, at most: the SWE-Touch paper's."""


SCRIPTED: Final = "scripted/"
"""Prefix of models that follow a task's playbook."""
RECORDED: Final = "recorded/"
"""Prefix of models that repeat a recorded trajectory."""


class ConditionName(StrEnum):
    """How the user behaves in a trial."""

    VANILLA = "vanilla"
    COUNTER_EDIT = "counter-edit"
    CO_EDIT = "co-edit"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition with its parameters. ``k`` is the most interventions a trial may see."""

    name: ConditionName
    k: int = DEFAULT_K

    @property
    def label(self) -> str:
        """The name and every non-default parameter: ``counter-edit[k=5]``."""
        return self.name if self.k == DEFAULT_K else f"{self.name}[k={self.k}]"

    @classmethod
    def parse(cls, label: str) -> Condition:
        """Read a label.

        Raises:
            ValueError: the label names no condition or an unknown parameter; says which there are.
        """
        match = re.fullmatch(r"([a-z-]+)(?:\[k=([1-9]\d*)\])?", label.strip())
        names = ", ".join(ConditionName)
        if not match or match[1] not in list(ConditionName):
            raise ValueError(f"unknown condition {label!r}: choose from {names}, with [k=N] for another K")
        name = ConditionName(match[1])
        if match[2] and name is ConditionName.CO_EDIT:
            raise ValueError(f"{label!r}: a co-edit is made once, so it takes no K")
        return cls(name, int(match[2] or DEFAULT_K))


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
