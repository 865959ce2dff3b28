"""mini-swe-agent, from an environment of its own that is installed once and bound read-only."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Final, override

from harbor.environments.base import BaseEnvironment, ExecResult

from fourhands.engine.agents.python_agent import PythonAgent
from fourhands.engine.session import Session
from fourhands.model.outcome import Termination

__all__ = ["MiniSweAgent"]

_TRAJECTORY: Final = "/logs/agent/trajectory.mini.json"
_SUBMITTED: Final = "Submitted"


class MiniSweAgent(PythonAgent):
    """``mini`` with its own default prompts, tool and limits but one: steps are counted at the gateway."""

    @staticmethod
    @override
    def name() -> str:
        return "mini-swe-agent"

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        # The task's own variables are for its commands. In the agent's interpreter a PYTHONPATH would put the
        # library under repair in front of the agent's own copy of it.
        task_env = session.task_env
        # ``mini`` reads a setting's value as JSON where it can: a variable that looks like a number must be quoted.
        settings = [f"environment.env.{name}={json.dumps(value)}" for name, value in task_env.items()]
        if session.reasoning_effort:
            # As a part of the body: the client knows of no model behind the gateway that takes an effort.
            effort = json.dumps(session.reasoning_effort)
            settings.append(f"model.model_kwargs.extra_body.reasoning_effort={effort}")
        argv = [
            "env",
            *(f"--unset={name}" for name in task_env),
            f"{self._prefix}/bin/python",
            "-I",
            f"{self._prefix}/bin/mini",
            "--yolo",
            "--exit-immediately",
            "--model",
            f"openai/{session.seen_model}",
            "--cost-limit",
            "0",
            "--output",
            _TRAJECTORY,
            *(part for setting in ["mini.yaml", *settings] for part in ("--config", setting)),
            "--task",
            instruction,
        ]
        env = {
            "OPENAI_API_BASE": session.gateway_url,
            "OPENAI_API_KEY": session.token,
            "MSWEA_CONFIGURED": "1",
            "MSWEA_SILENT_STARTUP": "1",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        return f"{shlex.join(argv)} > /logs/agent/mini.log 2>&1", env

    @override
    async def how_it_ended(self, result: ExecResult, environment: BaseEnvironment) -> Termination:
        """``mini`` exits with 0 also when it gave up; its trajectory says why it ended."""
        ended = await super().how_it_ended(result, environment)
        if ended is not Termination.FINISHED:
            return ended
        status = await environment.exec(f'grep -o \'"exit_status": "{_SUBMITTED}"\' {_TRAJECTORY}')
        return Termination.FINISHED if status.return_code == 0 else Termination.PROTOCOL_FAILURE
