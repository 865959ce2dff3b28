"""Whatever log a session was kept in -> its talk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from fourhands.model.errors import InputError
from fourhands.trajectories.readers.documents import read_head
from fourhands.trajectories.readers.registry import find_logs
from fourhands.trajectories.talks import atif, claude_code, codex, opencode
from fourhands.trajectories.talks.opening import read_opening
from fourhands.trajectories.talks.talk import SessionTalk

__all__ = ["read_talk"]

_READERS: Final[Mapping[str, Callable[[Path], SessionTalk]]] = {
    "claude-code": claude_code.read,
    "codex": codex.read,
    "atif": atif.read,
}
"""Formats that tell a person's turns, by the names of the registry of logs."""


def read_talk(path: Path) -> SessionTalk:
    """What was said in a session, by its log: of any format that logs are read in, and OpenCode's.

    Raises:
        InputError: there is no such file, it is in no known format, or nothing is said in it; says what would do.
    """
    if not path.is_file():
        raise InputError(f"--session {path}: no such file: give the log of one session")
    if opencode.is_opencode(read_head(path)):
        talk = opencode.read(path)
    else:
        (log,) = find_logs(path)
        if log.format is None:
            raise InputError(
                f"--session {path}: {log.problem}; see `fourhands trajectories formats` for what is read"
            )
        reader = _READERS.get(log.format.name)
        talk = reader(path) if reader else read_opening(path, log.format)
    if not talk.said:
        raise InputError(f"--session {path}: nothing is said in this log ({talk.format})")
    return talk
