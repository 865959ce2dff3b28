"""Claude Code, from npm: its own binary, over Anthropic Messages."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Final, override

from fourhands.engine.agents.base import HOME
from fourhands.engine.agents.npm import CPU, MODULES
from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.session import Session
from fourhands.model.usage import Usage
from fourhands.trajectories.claude_code import reported_usage

__all__ = ["ClaudeCode"]

_LOGS: Final = "/logs/agent"
_STREAM: Final = "claude-code.jsonl"
_MCP_CONFIG: Final = f"{HOME}/.claude/mcp.json"
_WEB_TOOLS: Final = ("WebSearch", "WebFetch")
"""The first is the provider's, and would reach the network from outside the sandbox."""
_PATIENCE_MS: Final = 24 * 3600 * 1000
"""Longer than any trial: neither a thinking model nor a thinking user is cut off.

The program itself holds one of them, silence within a stream, to half an hour.
"""
_PATIENCE: Final = (
    "API_TIMEOUT_MS",
    "CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS",
    "CLAUDE_STREAM_IDLE_TIMEOUT_MS",
    "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS",
    "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT",
    "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS",
    "MCP_TOOL_TIMEOUT",
)
_MODELS: Final = (
    "ANTHROPIC_DEFAULT_FABLE_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)
"""Whatever the agent would ask of another model, such as a sub-agent's work, goes to the one under test."""
_QUIET: Final = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
}


class ClaudeCode(NpmAgent):
    """``claude --print`` with its own prompts, tools and limits, but for what reaches the network."""

    @staticmethod
    @override
    def name() -> str:
        return "claude-code"

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `SharedWorkspaceAgent.files`."""
        if not session.asking:
            return {}
        server = {
            "type": "http",
            "url": session.ask_url,
            "headers": {"Authorization": f"Bearer {session.token}"},
            "alwaysLoad": True,  # else the model must search for the tool before it knows of it
            "timeout": _PATIENCE_MS,
        }
        return {_MCP_CONFIG: json.dumps({"mcpServers": {"user": server}})}

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        """See `SharedWorkspaceAgent.launch`."""
        argv = [
            f"{self._prefix}/{MODULES}/@anthropic-ai/claude-code-linux-{CPU}/claude",
            "--print",
            "--verbose",
            "--output-format=stream-json",
            "--permission-mode=bypassPermissions",
            f"--model={session.seen_model}",
            *([f"--effort={session.reasoning_effort}"] if session.reasoning_effort else []),
            *([f"--mcp-config={_MCP_CONFIG}"] if session.asking else []),
            f"--disallowedTools={','.join(_WEB_TOOLS)}",
        ]
        env = {
            "ANTHROPIC_BASE_URL": session.gateway_root,
            "ANTHROPIC_API_KEY": session.token,
            "ANTHROPIC_MODEL": session.seen_model,
            "IS_SANDBOX": "1",  # it refuses to work without permissions as root, unless told that it is in a sandbox
            **dict.fromkeys(_MODELS, session.seen_model),
            **dict.fromkeys(_PATIENCE, str(_PATIENCE_MS)),
            **_QUIET,
        }
        # Its sessions lie among the logs as they grow, so that they are there however it ends.
        lay = f"mkdir -p {_LOGS}/projects ~/.claude && ln -sfn {_LOGS}/projects ~/.claude/projects"
        work = f"printf %s {shlex.quote(instruction)} | {shlex.join(argv)}"
        return f"{lay} && {work} > {_LOGS}/{_STREAM} 2> {_LOGS}/claude-code.err", env

    @override
    def reported_usage(self) -> Usage | None:
        """See `SharedWorkspaceAgent.reported_usage`."""
        stream = self.logs_dir / _STREAM
        return reported_usage(stream.read_bytes()) if stream.is_file() else None
