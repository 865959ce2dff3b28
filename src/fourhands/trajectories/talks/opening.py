"""Logs of agents that nobody talks with: what they were told at first, and what they said as they worked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from fourhands.model.errors import InputError
from fourhands.trajectories.readers.documents import read_document, read_rows
from fourhands.trajectories.readers.fields import items_of, map_of, spoken
from fourhands.trajectories.readers.format import Format
from fourhands.trajectories.readers.registry import read_trajectories
from fourhands.trajectories.talks.talk import Said, SessionTalk
from fourhands.trajectories.trajectory import MAIN

__all__ = ["read_opening"]

_LISTS: Final = ("messages", "history", "trajectory")
_UNTOLD: Final = "of this format only what the agent was told at first is told as the user's words"


def read_opening(path: Path, form: Format) -> SessionTalk:
    """The talk of the first run in a log of ``form``.

    Raises:
        InputError: it holds no words.
    """
    trajectory = next(read_trajectories(path, form.name), None)
    if trajectory is None or not trajectory.steps:
        raise InputError(f"--session {path}: nothing is said in a log in the format {form.name}")
    first = _first_words(path)
    agent = tuple(
        Said("agent", step.thought.strip())
        for step in trajectory.steps
        if step.thread == MAIN and step.thought.strip()
    )
    return SessionTalk(
        form.name,
        (*((Said("user", first),) if first else ()), *agent),
        trajectory.agent,
        trajectory.model,
        (_UNTOLD, *trajectory.problems),
    )


def _first_words(path: Path) -> str | None:
    try:
        value, _ = read_document(path)
    except InputError:  # a document a line
        value = next((row.value for row in read_rows(path) if row.value is not None), None)
    return next(filter(None, map(str.strip, _user_texts(value))), None)


def _user_texts(value: Any) -> Iterator[str]:
    """The texts of messages that are the user's."""
    document = map_of(value)
    if isinstance(instruction := document.get("instruction"), str):
        yield instruction
    lists = [value] if isinstance(value, list) else [document.get(name) for name in _LISTS]
    for message in (map_of(each) for some in lists for each in items_of(some)):
        if message.get("role") == "user" or message.get("source") == "user":
            yield spoken(message.get("content")) or spoken(map_of(message.get("args")).get("content"))
        for prompt in map(map_of, items_of(message.get("task_prompt"))):
            if prompt.get("role") == "user":
                yield spoken(prompt.get("content"))
