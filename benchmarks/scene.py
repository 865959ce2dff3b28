"""A conversation as a trial has it, without the trial: what the gateway's benchmarks measure."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from fourhands.gateway.conversation import Conversation
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.model.intervention import Intervention, Trigger, TriggerEvent
from fourhands.model.sandbox import Sandbox
from fourhands.model.text import LineRange, Region
from fourhands.trajectories.blobs import BlobStore
from fourhands.user.speaking import FixedSpeaker
from fourhands.user.touching import TouchingUser
from fourhands.workspace.store import ObjectStore

__all__ = ["TOOLS", "base_of", "open_conversation"]

TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": "bash",
            "description": "Execute a bash command",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The bash command to execute"}},
                "required": ["command"],
            },
        },
    }
]
"""What mini-swe-agent offers."""

_NO_LIMIT: Final = 1 << 30


def base_of(repository: Path, store: Path) -> str:
    """Store the files of ``repository`` as a base at ``store``; their tree."""
    return ObjectStore(store).import_directory(repository)


async def open_conversation(folder: Path, *, base: Path, tree: str, sandbox: Sandbox) -> Conversation:
    """A conversation recorded in ``folder``, with a user who waits for a region that is never touched."""
    await asyncio.to_thread(folder.mkdir, parents=True)
    workspace = SharedWorkspace(sandbox, ObjectStore(folder / "objects.git", base=base), tree)
    await workspace.start([])
    trigger = Trigger(TriggerEvent.READ, (Region("never/touched.py", LineRange(1, 9)),))
    idle = Intervention("i1", trigger, None, "I wish for something else.")
    return Conversation(
        log_path=folder / "events.jsonl",
        blobs=BlobStore(folder / "blobs"),
        users=[TouchingUser([idle], FixedSpeaker())],
        workspace=workspace,
        step_limit=_NO_LIMIT,
        on_limit=lambda: None,
        on_event=lambda _: None,
    )
