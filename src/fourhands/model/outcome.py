"""An outcome has two axes: what the verifier found, and how the trial came to its end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Outcome", "Termination", "Verdict"]


class Verdict(StrEnum):
    """What the verifier found in the final state of the repository."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    NONE = "none"


class Termination(StrEnum):
    """How a trial ended. Time-outs and limits are verified all the same."""

    FINISHED = "finished"
    AGENT_TIMEOUT = "agent_timeout"
    STEP_LIMIT = "step_limit"
    BUDGET = "budget"
    PROTOCOL_FAILURE = "protocol_failure"
    INVALID = "invalid"
    """Our own set-up failed: never a loss of the agent's."""
    INFRASTRUCTURE_ERROR = "infrastructure_error"

    @property
    def is_scored(self) -> bool:
        """Whether a verdict under this termination counts."""
        return self not in {Termination.INVALID, Termination.INFRASTRUCTURE_ERROR}

    @property
    def is_cut(self) -> bool:
        """Whether a limit stopped the agent, be it in the middle of its work."""
        return self in {Termination.AGENT_TIMEOUT, Termination.STEP_LIMIT, Termination.BUDGET}


@dataclass(frozen=True, slots=True)
class Outcome:
    """``reward`` is the verifier's number, 0 to 1; ``None`` without a verdict."""

    verdict: Verdict
    termination: Termination
    reward: float | None = None

    @property
    def is_scored(self) -> bool:
        """Whether the trial enters a rate: it has a verdict and neither our set-up nor the machine failed."""
        return self.verdict is not Verdict.NONE and self.termination.is_scored
