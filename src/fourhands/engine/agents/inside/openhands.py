"""OpenHands: its SDK's own tools and sub-agents, without a browser.

Standard input holds the request, a JSON object: ``base_url``, ``model`` and ``token`` say where the model is;
``instruction`` is the task; ``effort`` and ``ask`` (a server of the Model Context Protocol) may be null; the
conversation is kept below ``log``. Exits with 0 once the agent says that it is done, with 3 when it gave up.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from openhands.sdk import LLM, Agent, Conversation
from openhands.sdk.conversation.state import ConversationExecutionStatus
from openhands.sdk.mcp.tool import MCPToolExecutor
from openhands.tools.preset.default import (
    get_default_condenser,
    get_default_tools,
    register_builtins_agents,
)

GAVE_UP = 3
NO_LIMIT = 1_000_000
"""Steps are counted, and limited, at the gateway."""
PATIENCE = 24 * 3600.0
"""Seconds that a question may wait for its answer: the user may be a person."""


def model(request: dict[str, Any]) -> LLM:
    """The model at the gateway, asked through Chat Completions."""
    effort = request["effort"]
    # The SDK goes by the model's name, which says nothing here, and would leave the effort out.
    known = {"reasoning_effort": effort, "capability_overrides": {"supports_reasoning_effort": True}}
    return LLM(
        model=f"openai/{request['model']}",
        api_key=request["token"],
        base_url=request["base_url"],
        api_mode="chat",
        usage_id="agent",
        **(known if effort else {}),
    )


def agent(request: dict[str, Any]) -> Agent:
    """What the SDK's default preset makes for a terminal, and the sub-agents that the preset brings along."""
    llm = model(request)
    register_builtins_agents(enable_browser=False)
    return Agent(
        llm=llm,
        tools=get_default_tools(enable_browser=False, enable_sub_agents=True),
        system_prompt_kwargs={"cli_mode": True},
        condenser=get_default_condenser(llm.model_copy(update={"usage_id": "condenser"})),
        mcp_config=request["ask"] or {},
    )


def work(request: dict[str, Any]) -> bool:
    """Carry out the instruction; whether the agent came to its own end."""
    conversation = Conversation(
        agent=agent(request),
        workspace=str(Path.cwd()),
        persistence_dir=request["log"],
        max_iteration_per_run=NO_LIMIT,
        visualizer=None,
        delete_on_close=False,
    )
    conversation.send_message(request["instruction"])
    for tool in conversation.agent.tools_map.values():
        if isinstance(tool.executor, MCPToolExecutor):
            tool.executor.timeout = PATIENCE
    conversation.run()
    finished: bool = conversation.state.execution_status == ConversationExecutionStatus.FINISHED
    conversation.close()
    return finished


if __name__ == "__main__":
    sys.exit(0 if work(json.load(sys.stdin)) else GAVE_UP)
