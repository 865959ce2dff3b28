"""OpenCode, from npm: its own binary, over Chat Completions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, Final, override

from fourhands.engine.agents.base import HOME
from fourhands.engine.agents.npm import MODULES
from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.session import Session
from fourhands.model.usage import Usage
from fourhands.trajectories.opencode import DATABASE_NAME, reported_usage

__all__ = ["OpenCode"]

_LOGS: Final = "/logs/agent"
_CONFIG: Final = f"{HOME}/.config/opencode/opencode.json"
_PACKAGE: Final = "opencode-linux-x64-baseline"
"""The build that runs on any processor: the other one needs AVX2."""
_KEY: Final = "GATEWAY_TOKEN"
"""The variable that holds the token."""
_AUTHORIZATION: Final = f"Bearer {{env:{_KEY}}}"
_PROVIDER: Final = "gateway"
_PATIENCE_MS: Final = 24 * 3600 * 1000
"""Longer than any trial: neither a thinking model nor a thinking user is cut off."""
_QUIET: Final = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


class OpenCode(NpmAgent):
    """``opencode run`` with its own prompts, tools and limits."""

    @staticmethod
    @override
    def name() -> str:
        return "opencode"

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `SharedWorkspaceAgent.files`."""
        effort = session.reasoning_effort
        provider = {
            "npm": "@ai-sdk/openai-compatible",  # built in
            "name": _PROVIDER,
            "options": {
                "baseURL": session.gateway_url,
                "apiKey": f"{{env:{_KEY}}}",
                "timeout": False,
                "headerTimeout": False,
                "chunkTimeout": _PATIENCE_MS,
            },
            "models": {session.seen_model: {"options": {"reasoningEffort": effort} if effort else {}}},
        }
        model = f"{_PROVIDER}/{session.seen_model}"
        config: dict[str, Any] = {
            "provider": {_PROVIDER: provider},
            "model": model,
            "small_model": model,
            "permission": "allow",
            "autoupdate": False,
            "share": "disabled",
            "snapshot": False,  # of the work tree at every step, for taking steps back
        }
        if session.asking:
            server = {
                "type": "remote",
                "url": session.ask_url,
                "headers": {"Authorization": _AUTHORIZATION},
                "oauth": False,
                "timeout": _PATIENCE_MS,
            }
            config["mcp"] = {"user": server}
        return {_CONFIG: json.dumps(config)}

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        argv = [
            f"{self._prefix}/{MODULES}/{_PACKAGE}/bin/opencode",
            "run",
            "--format=json",
            "--title=work",  # else a request of its own asks the model for one
            "--print-logs",
            "--log-level=WARN",
        ]
        # Its sessions lie among the logs as they grow, so that they are there however it ends.
        env = {_KEY: session.token, "OPENCODE_DB": f"{_LOGS}/{DATABASE_NAME}", **_QUIET}
        # As an argument the instruction would reach the model in quotation marks.
        work = f"printf %s {shlex.quote(instruction)} | {shlex.join(argv)}"
        return f"{work} > {_LOGS}/opencode.jsonl 2> {_LOGS}/opencode.err", env

    @override
    def reported_usage(self) -> Usage | None:
        """See `SharedWorkspaceAgent.reported_usage`."""
        return reported_usage(self.logs_dir / DATABASE_NAME)
