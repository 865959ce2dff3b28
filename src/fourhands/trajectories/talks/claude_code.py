"""What was said in a session of Claude Code: sub-agents and what its program puts into the user's mouth left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fourhands.trajectories.readers.documents import read_rows
from fourhands.trajectories.readers.fields import first_problems, items_of, map_of, text_of
from fourhands.trajectories.talks.talk import Said, SessionTalk

__all__ = ["read"]

_PUT_IN: Final = re.compile(
    r"<(system-reminder|local-command-[a-z]+|command-(?:name|message|args)|ide_[a-z_]+)>.*?</\1>", re.DOTALL
)
"""What the program puts into a person's turn."""
_INTERRUPTED: Final = "[Request interrupted by user"
"""How it tells that a person pressed a key."""
_SYNTHETIC: Final = "<synthetic>"


def read(path: Path) -> SessionTalk:
    """The talk of a session's file."""
    said: list[Said] = []
    problems: list[str] = []
    model = None
    for row in read_rows(path):
        if row.problem:
            problems.append(f"{path.name}:{row.number}: {row.problem}")
        record = map_of(row.value)
        message = map_of(record.get("message"))
        if record.get("isSidechain") or record.get("isMeta"):
            continue
        if record.get("type") == "user":
            said += (Said("user", text) for text in _turn(message))
        elif record.get("type") == "assistant" and message.get("model") != _SYNTHETIC:
            model = model or text_of(message.get("model"))
            said += (Said("agent", text) for text in _texts(message.get("content")))
    return SessionTalk("claude-code", tuple(said), "claude-code", model, first_problems(path, problems))


def _turn(message: dict[str, Any]) -> Iterator[str]:
    """A person's words; a row that holds a tool's result is none of theirs."""
    blocks = [map_of(block) for block in items_of(message.get("content"))]
    if any(block.get("type") == "tool_result" for block in blocks):
        return
    text = _PUT_IN.sub("", "\n".join(_texts(message.get("content")))).strip()
    if text and not text.startswith(_INTERRUPTED):
        yield text


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield from filter(str.strip, (content,))
        return
    for block in map(map_of, items_of(content)):
        text = text_of(block.get("text")) if block.get("type") == "text" else None
        if text and text.strip():
            yield text.strip()
