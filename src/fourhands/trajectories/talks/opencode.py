"""What was said in a session of OpenCode, as ``opencode export`` writes it: one document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fourhands.model.errors import InputError
from fourhands.trajectories.readers.documents import read_document
from fourhands.trajectories.readers.fields import items_of, map_of, text_of
from fourhands.trajectories.readers.outline import outlines
from fourhands.trajectories.talks.talk import Said, SessionTalk, Who

__all__ = ["is_opencode", "read"]

_ROLES: Final[dict[str, Who]] = {"user": "user", "assistant": "agent"}


def is_opencode(head: bytes) -> bool:
    """Whether a file that begins so is one."""
    found = outlines(head)
    return len(found) == 1 and found[0].has("messages[].info.role", "messages[].parts[].type")


def read(path: Path) -> SessionTalk:
    """The talk of an exported session.

    Raises:
        InputError: it cannot be read, or has no messages.
    """
    raw, mended = read_document(path)
    messages = map_of(raw).get("messages")
    if not isinstance(messages, list):
        raise InputError(f"{path}: not a session of OpenCode: messages is missing or no list")
    said: list[Said] = []
    model = None
    for message in map(map_of, messages):
        info = map_of(message.get("info"))
        who = _ROLES.get(str(info.get("role")))
        model = model or text_of(info.get("modelID"))
        if who is not None:
            said += (Said(who, text) for text in _texts(message))
    return SessionTalk("opencode", tuple(said), "opencode", model, mended)


def _texts(message: dict[str, Any]) -> Iterator[str]:
    for part in map(map_of, items_of(message.get("parts"))):
        text = text_of(part.get("text"))
        if part.get("type") == "text" and not part.get("synthetic") and text and text.strip():
            yield text.strip()
