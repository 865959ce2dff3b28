"""OpenHands: its SDK, from an environment of its own, driven by a small program of ours that runs inside."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Final, override

import orjson

from fourhands.engine.agents.python_agent import PythonAgent
from fourhands.engine.session import Session
from fourhands.model.usage import Usage

__all__ = ["OpenHandsSdk"]

_PROGRAM: Final = Path(__file__).parent / "inside" / "openhands.py"
_KEPT: Final = "openhands"
"""Where, below the logs, the SDK keeps its conversations."""


class OpenHandsSdk(PythonAgent):
    """The SDK with its own prompts, tools, sub-agents and condenser; steps are counted at the gateway."""

    @staticmethod
    @override
    def name() -> str:
        return "openhands-sdk"

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        request = {
            "base_url": session.gateway_url,
            "model": session.seen_model,
            "token": session.token,
            "instruction": instruction,
            "effort": session.reasoning_effort,
            "ask": _asking_server(session) if session.asking else None,
            "log": f"/logs/agent/{_KEPT}",
        }
        # Isolated: the task's own variables are for its commands, not for the agent's interpreter.
        python = f"{quote(self._prefix)}/bin/python -I -c {quote(_PROGRAM.read_text('utf-8'))}"
        env = {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        return f"printf %s {quote(json.dumps(request))} | {python} > /logs/agent/openhands.log 2>&1", env

    @override
    def reported_usage(self) -> Usage | None:
        """What the SDK counted, over all models it spoke to: the agent's, its sub-agents' and the condenser's."""
        states = [path for path in self.logs_dir.glob(f"{_KEPT}/*/base_state.json") if path.is_file()]
        if not states:
            return None
        counted = (
            each["accumulated_token_usage"]
            for path in states
            for each in orjson.loads(path.read_bytes())["stats"]["usage_to_metrics"].values()
        )
        return sum((_usage(each) for each in counted if each), Usage())


def _asking_server(session: Session) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {session.token}"}
    return {"user": {"url": session.ask_url, "transport": "http", "headers": headers}}


def _usage(counted: Mapping[str, int]) -> Usage:
    """The SDK's prompt tokens include those that were read from a cache."""
    cached = counted["cache_read_tokens"]
    return Usage(
        input=counted["prompt_tokens"] - cached,
        cache_read=cached,
        output=counted["completion_tokens"],
        reasoning=counted["reasoning_tokens"],
    )
