"""Codex, from npm: its own binary, over OpenAI Responses."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Final, override

from fourhands.engine.agents.base import HOME
from fourhands.engine.agents.npm import CPU, MODULES
from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.session import Session
from fourhands.model.sandbox import WORKDIR
from fourhands.model.usage import Usage
from fourhands.trajectories.codex import reported_usage

__all__ = ["Codex"]

_LOGS: Final = "/logs/agent"
_CONFIG: Final = f"{HOME}/.codex/config.toml"
_KEY: Final = "GATEWAY_TOKEN"
"""The variable that holds the token."""
_PATIENCE_SECONDS: Final = 24 * 3600
"""Longer than any trial: neither a thinking model nor a thinking user is cut off."""
_TARGETS: Final = {"x64": "x86_64-unknown-linux-musl", "arm64": "aarch64-unknown-linux-musl"}


class Codex(NpmAgent):
    """``codex exec`` with its own prompts, tools and limits, but for what reaches the network."""

    @staticmethod
    @override
    def name() -> str:
        return "codex"

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `SharedWorkspaceAgent.files`."""
        # A provider of its own: the built-in one speaks over a WebSocket first.
        tables = [
            _table(
                None,
                model=session.seen_model,
                model_provider="gateway",
                check_for_update_on_startup=False,
                allow_login_shell=False,  # a login shell sets PATH anew: it would lose the task's own interpreter
                web_search="disabled",  # the provider's, so it would reach the network from outside the sandbox
                **({"model_reasoning_effort": session.reasoning_effort} if session.reasoning_effort else {}),
            ),
            _table(
                "model_providers.gateway",
                name="gateway",
                base_url=session.gateway_url,
                env_key=_KEY,
                wire_api="responses",
                stream_idle_timeout_ms=_PATIENCE_SECONDS * 1000,
            ),
            _table("analytics", enabled=False),
            _table("feedback", enabled=False),
            # Else it would keep variables of the task's from its commands whose names look like a secret's.
            _table("shell_environment_policy", ignore_default_excludes=True, exclude=[_KEY]),
            _table(f"projects.{json.dumps(WORKDIR)}", trust_level="trusted"),
        ]
        if session.asking:
            tables += [
                _table(
                    "mcp_servers.user",
                    url=session.ask_url,
                    bearer_token_env_var=_KEY,
                    required=True,
                    tool_timeout_sec=_PATIENCE_SECONDS,
                ),
                # Else newer models must search for the tool before they know of it.
                _table("features.code_mode", direct_only_tool_namespaces=["mcp__user"]),
            ]
        return {_CONFIG: "\n".join(tables)}

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        target = _TARGETS[CPU]
        argv = [
            f"{self._prefix}/{MODULES}/@openai/codex-linux-{CPU}/vendor/{target}/bin/codex",
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "-",
        ]
        # Its sessions lie among the logs as they grow, so that they are there however it ends.
        lay = f"mkdir -p {_LOGS}/sessions && ln -sfn {_LOGS}/sessions ~/.codex/sessions"
        work = f"printf %s {shlex.quote(instruction)} | {shlex.join(argv)}"
        return f"{lay} && {work} > {_LOGS}/codex.jsonl 2> {_LOGS}/codex.err", {_KEY: session.token}

    @override
    def reported_usage(self) -> Usage | None:
        """See `SharedWorkspaceAgent.reported_usage`."""
        return reported_usage(path.read_bytes() for path in self.logs_dir.glob("sessions/**/rollout-*.jsonl"))


def _table(table: str | None, /, **values: object) -> str:
    """A table of TOML, whose strings, numbers, booleans and lists of them are written as JSON's."""
    head = f"[{table}]\n" if table else ""
    return head + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
