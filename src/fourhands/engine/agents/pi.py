"""pi, from npm: on Node.js, over Chat Completions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, ClassVar, Final, override

from fourhands.engine.agents.base import HOME
from fourhands.engine.agents.npm import MODULES
from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.session import Session
from fourhands.model.usage import Usage
from fourhands.trajectories.pi import reported_usage

__all__ = ["Pi"]

_LOGS: Final = "/logs/agent"
_SESSIONS: Final = "sessions"
_STREAM: Final = f"{_LOGS}/pi.jsonl"
_HOME: Final = f"{HOME}/.pi/agent"
_PROGRAM: Final = f"{MODULES}/@earendil-works/pi-coding-agent/dist/bundle/cli.js"
_KEY: Final = "GATEWAY_TOKEN"
"""The variable that holds the token."""
_PROVIDER: Final = "gateway"
_PATIENCE_SECONDS: Final = 24 * 3600
"""Longer than any trial: a thinking user is not cut off."""
_HIGHER_EFFORTS: Final = {"xhigh": "xhigh", "max": "max"}
"""Levels that are sent under their own names, and for a model that pi does not know only when it is told so."""
_FAILED: Final = (
    f"""grep '^{{"type":"message_end",' {_STREAM} | tail -n 1 | grep -qE '"stopReason":"(error|aborted)"'"""
)


class Pi(NpmAgent):
    """``pi --print`` with its own prompts, tools and limits."""

    needs_node: ClassVar[bool] = True

    @staticmethod
    @override
    def name() -> str:
        return "pi"

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `SharedWorkspaceAgent.files`."""
        effort = session.reasoning_effort
        model: dict[str, Any] = {"id": session.seen_model}
        settings: dict[str, Any] = {
            "defaultProvider": _PROVIDER,
            "defaultModel": session.seen_model,
            "enableInstallTelemetry": False,
            "cacheWarming": "off",
            "httpIdleTimeoutMs": "disabled",
        }
        if effort:
            model |= {"reasoning": True, "thinkingLevelMap": _HIGHER_EFFORTS}
            settings["defaultThinkingLevel"] = effort
        provider = {
            "baseUrl": session.gateway_url,
            "api": "openai-completions",
            "apiKey": f"${_KEY}",
            "models": [model],
        }
        files = {
            f"{_HOME}/models.json": json.dumps({"providers": {_PROVIDER: provider}}),
            f"{_HOME}/settings.json": json.dumps(settings),
        }
        if session.asking:
            server = {
                "url": session.ask_url,
                "headers": {"Authorization": f"Bearer ${{{_KEY}}}"},
                "exposure": "direct",  # else the model reaches it from scripts only
                "timeout": _PATIENCE_SECONDS,
            }
            files[f"{_HOME}/mcp.json"] = json.dumps({"mcpServers": {"user": server}})
        return files

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        argv = [
            f"{self._node}/bin/node",
            f"{self._prefix}/{_PROGRAM}",
            "--print",
            "--mode",
            "json",
            "--offline",
            "--no-approve",
            "--session-dir",
            f"{_LOGS}/{_SESSIONS}",
        ]
        # As an argument an instruction that begins with @ would be the name of a file.
        work = f"printf %s {shlex.quote(instruction)} | {shlex.join(argv)}"
        # It exits with 0 also when the model's server refuses it.
        return f"{work} > {_STREAM} 2> {_LOGS}/pi.err && ! {_FAILED}", {_KEY: session.token}

    @override
    def reported_usage(self) -> Usage | None:
        """See `SharedWorkspaceAgent.reported_usage`."""
        logs = sorted((self.logs_dir / _SESSIONS).rglob("*.jsonl"))
        return reported_usage(log.read_bytes() for log in logs)
