"""Qwen Code, from npm: on Node.js, over Chat Completions."""

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
from fourhands.trajectories.qwen_code import RECORD_NAME, reported_usage

__all__ = ["QwenCode"]

_LOGS: Final = "/logs/agent"
_SETTINGS: Final = f"{HOME}/.qwen/settings.json"
_PROGRAM: Final = f"{MODULES}/@qwen-code/qwen-code/cli-entry.js"
_PATIENCE_MS: Final = 24 * 3600 * 1000
"""Longer than any trial: a thinking user is not cut off."""
_SILENCE_MS: Final = 3600 * 1000
"""How long the asking tool may say nothing: the most that is admitted. Progress is sent far more often."""


class QwenCode(NpmAgent):
    """``qwen --prompt`` with its own prompts, tools and limits, but for what it asks the model unasked."""

    needs_node: ClassVar[bool] = True

    @staticmethod
    @override
    def name() -> str:
        return "qwen-code"

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `SharedWorkspaceAgent.files`."""
        effort = session.reasoning_effort
        settings: dict[str, Any] = {
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
            "model": {
                "name": session.seen_model,
                "generationConfig": {"timeout": 0, "streamIdleTimeoutMs": 0},
                **({"reasoningEffort": effort} if effort else {}),
            },
            # What it learns of one trial is of no use to another, and costs requests.
            "memory": {
                "enableManagedAutoMemory": False,
                "enableManagedAutoDream": False,
                "enableAutoSkill": False,
            },
            "ui": {"enableFollowupSuggestions": False},
        }
        if session.asking:
            server = {
                "httpUrl": session.ask_url,
                "headers": {"Authorization": "Bearer ${OPENAI_API_KEY}"},
                "timeout": _PATIENCE_MS,
                "trust": True,
            }
            settings["mcpServers"] = {"user": server}
            settings["mcp"] = {"toolIdleTimeoutMs": _SILENCE_MS}
            # Else the model must search for the tool before it knows of it.
            settings["tools"] = {"toolSearch": {"enabled": False}}
        return {_SETTINGS: json.dumps(settings)}

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        argv = [
            f"{self._node}/bin/node",
            f"{self._prefix}/{_PROGRAM}",
            "--auth-type=openai",
            "--yolo",
            "--output-format=stream-json",
            f"--prompt={instruction}",
        ]
        env = {
            "OPENAI_BASE_URL": session.gateway_url,
            "OPENAI_API_KEY": session.token,
            "OPENAI_MODEL": session.seen_model,
            "QWEN_STREAM_MAX_LIFETIME_MS": "0",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        }
        # Its sessions lie among the logs as they grow, so that they are there however it ends.
        lay = (
            f"mkdir -p {_LOGS}/projects && touch {_LOGS}/{RECORD_NAME} && "
            f"ln -sfn {_LOGS}/projects ~/.qwen/projects && ln -sfn {_LOGS}/{RECORD_NAME} ~/.qwen/{RECORD_NAME}"
        )
        return f"{lay} && {shlex.join(argv)} > {_LOGS}/qwen-code.jsonl 2> {_LOGS}/qwen-code.err", env

    @override
    def reported_usage(self) -> Usage | None:
        """See `SharedWorkspaceAgent.reported_usage`."""
        record = self.logs_dir / RECORD_NAME
        return reported_usage(record.read_bytes()) if record.is_file() else None
