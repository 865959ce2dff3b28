"""What was said in a session of Codex."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fourhands.trajectories.readers.documents import read_rows
from fourhands.trajectories.readers.fields import first_problems, map_of, spoken, text_of
from fourhands.trajectories.talks.talk import Said, SessionTalk, Who

__all__ = ["read"]

_PUT_IN: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<permissions",
    "<turn_aborted>",
    "# AGENTS.md",
)
"""How those messages begin which the program sends in the user's name."""
_EVENTS: Final[dict[str, Who]] = {"user_message": "user", "agent_message": "agent"}
_ROLES: Final[dict[str, Who]] = {"user": "user", "assistant": "agent"}


def read(path: Path) -> SessionTalk:
    """The talk of a rollout. What a person typed is told by events; older rollouts have the model's items alone."""
    typed: list[Said] = []
    items: list[Said] = []
    problems: list[str] = []
    model = None
    for row in read_rows(path):
        if row.problem:
            problems.append(f"{path.name}:{row.number}: {row.problem}")
        record = map_of(row.value)
        payload = map_of(record.get("payload"))
        model = model or text_of(payload.get("model"))
        if record.get("type") == "event_msg" and (who := _EVENTS.get(str(payload.get("type")))):
            typed += _said(who, text_of(payload.get("message")))
        elif record.get("type") == "response_item" and payload.get("type") == "message":
            items += _item(payload)
    has_both = {each.who for each in typed} == {"user", "agent"}
    if not has_both and any(each.who == "user" for each in typed):
        # Some versions tell the user's turns alone by events: then the items have both.
        has_both = not any(each.who == "agent" for each in items)
    said = typed if has_both else items
    return SessionTalk("codex", tuple(said), "codex", model, first_problems(path, problems))


def _item(payload: dict[str, Any]) -> list[Said]:
    who = _ROLES.get(str(payload.get("role")))
    text = spoken(payload.get("content")).strip()
    return [] if who is None or (who == "user" and text.startswith(_PUT_IN)) else _said(who, text)


def _said(who: Who, text: str | None) -> list[Said]:
    return [Said(who, text.strip())] if text and text.strip() else []
