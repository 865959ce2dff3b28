"""What the agent did lately, as the user saw it: a pure fold over events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import orjson

from fourhands.model.event import Actor, Event, EventKind

__all__ = ["RecentActions"]

_COMMAND_CHARACTERS: Final = 300
_PATHS: Final = 5


@dataclass(slots=True)
class _Seen:
    call: str
    tool: str
    arguments: str
    reads: list[str] = field(default_factory=list)
    edits: list[str] = field(default_factory=list)
    returned: bool = False


class RecentActions:
    """The last ``size`` actions of the agent, with the files they read and edited."""

    def __init__(self, size: int) -> None:
        self._seen: deque[_Seen] = deque(maxlen=size)

    def observe(self, event: Event) -> None:
        """Fold one event into the state."""
        body = event.body
        match event.kind:
            case EventKind.ACTION_SEEN:
                self._seen.append(_Seen(body["call"], body["tool"], body["arguments"]))
            case EventKind.ACTION_RESULT:
                for action in self._seen:
                    if action.call == body["call"]:
                        action.returned = True
                        action.reads = _paths(touch["path"] for touch in body["touches"])
            case EventKind.WORKSPACE_CHANGED if event.actor is Actor.AGENT and self._seen:
                last = self._seen[-1]
                last.edits = _paths([*last.edits, *(file["path"] for file in body["files"])])
            case EventKind.NOTE if body.get("note") == "reply_not_accepted":
                kept = [action for action in self._seen if action.call not in body["calls"]]
                self._seen = deque(kept, self._seen.maxlen)
            case _:
                pass

    def lines(self, read_blob: Callable[[str], bytes]) -> list[str]:
        """One line an action, the oldest first; ``read_blob`` gives the bytes behind a hash."""
        return [_line(action, read_blob(action.arguments)) for action in self._seen]


def _paths(paths: Iterable[str]) -> list[str]:
    """Each once, in order."""
    return list(dict.fromkeys(paths))


def _line(action: _Seen, arguments: bytes) -> str:
    parts = [f"{action.tool}: {_command(arguments)}"]
    for did, paths in (("read", action.reads), ("edited", action.edits)):
        if paths:
            more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
            parts.append(f"{did} {', '.join(paths[:_PATHS])}{more}")
    if not action.returned:
        parts.append("not carried out yet")
    return "; ".join(parts)


def _command(arguments: bytes) -> str:
    """The command line of a shell call, else the arguments as they are; on one line, shortened."""
    text = arguments.decode("utf-8", "replace")
    try:
        raw = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        raw = None
    if isinstance(raw, dict) and isinstance(raw.get("command"), str):
        text = raw["command"]
    text = " ".join(text.split())
    return text if len(text) <= _COMMAND_CHARACTERS else f"{text[:_COMMAND_CHARACTERS]} …"
