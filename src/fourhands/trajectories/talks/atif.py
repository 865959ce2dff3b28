"""What was said in a run as Harbor keeps it: sub-agents, and what was copied into a context, left out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fourhands.trajectories.readers.documents import read_document
from fourhands.trajectories.readers.fields import items_of, map_of, spoken, text_of
from fourhands.trajectories.talks.talk import Said, SessionTalk, Who

__all__ = ["read"]

_SOURCES: Final[dict[str, Who]] = {"user": "user", "agent": "agent"}


def read(path: Path) -> SessionTalk:
    """The talk of a ``trajectory.json``."""
    raw, mended = read_document(path)
    document = map_of(raw)
    agent = map_of(document.get("agent"))
    said = []
    for step in map(map_of, items_of(document.get("steps"))):
        who = _SOURCES.get(str(step.get("source")))
        text = spoken(step.get("message")).strip()
        is_aside = (
            step.get("is_copied_context") is True or map_of(step.get("extra")).get("is_sidechain") is True
        )
        if who is not None and text and not is_aside:
            said.append(Said(who, text))
    return SessionTalk(
        "atif", tuple(said), text_of(agent.get("name")), text_of(agent.get("model_name")), mended
    )
