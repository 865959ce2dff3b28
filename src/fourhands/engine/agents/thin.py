"""The thin agent: one file of our own, run by the sandbox's interpreter; for runs that must be cheap."""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import quote
from typing import Final, override

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.session import Session

__all__ = ["ThinAgent"]

_LOG: Final = "/logs/agent/thin.log"


class ThinAgent(SharedWorkspaceAgent):
    """A loop around one bash tool, with nothing to install and nothing to load."""

    @staticmethod
    @override
    def name() -> str:
        return "thin"

    @override
    def version(self) -> str:
        return AGENTS[self.name()].version

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        request = {
            "base_url": session.gateway_url,
            "model": session.seen_model,
            "token": session.token,
            "instruction": instruction,
        }
        program = AGENTS[self.name()].lock.read_text("utf-8")
        # Isolated: the task's own variables are for its commands, not for the agent's interpreter.
        python = self._shared.sandbox.python
        command = f"printf %s {quote(json.dumps(request))} | {quote(python)} -I -c {quote(program)}"
        return f"{command} > {_LOG} 2>&1", {}
