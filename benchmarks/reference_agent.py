"""An agent that calls no model: it makes the reference's change and is done. Harbor loads it by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import override

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.session import Session

__all__ = ["ReferenceAgent"]


class ReferenceAgent(SharedWorkspaceAgent):
    """Solves ``tiny_task``."""

    @staticmethod
    @override
    def name() -> str:
        return "reference"

    @override
    def version(self) -> str:
        return "1"

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        del instruction, session
        return "sed -i 's/ + 1$//' calc.py", {}
