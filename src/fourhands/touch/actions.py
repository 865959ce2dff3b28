"""A tool call of an agent -> what it claims to read. Edits are seen by what changed, not by what was claimed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from fourhands.model.touch import Touch
from fourhands.touch.shell import shell_touches

__all__ = ["Observation", "action_touches", "read_observation"]


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of an action as the model reads it: what was printed, and the exit code where it is told."""

    output: str
    code: int | None = None


def read_observation(text: str) -> Observation:
    """Unwrap a result; text in no known wrapping is its own output."""
    if text.startswith(
        "{"
    ):  # mini-swe-agent: {"returncode": …, "output": … | "output_head": …, "output_tail": …}
        try:
            raw = orjson.loads(text)
        except orjson.JSONDecodeError:
            return Observation(text)
        if isinstance(raw, dict) and isinstance(raw.get("returncode"), int):
            head, tail = raw.get("output_head", ""), raw.get("output_tail", "")
            return Observation(str(raw.get("output", f"{head}\n{tail}")), raw["returncode"])
    return Observation(text)


def action_touches(
    tool: str, arguments: Mapping[str, Any] | str, *, output: str | None = None
) -> tuple[Touch, ...]:
    """What a tool call reads of the repository; nothing for a tool that is not a shell.

    Args:
        tool: its name, as offered to the model.
        arguments: of the call.
        output: what it printed, when it has run: a recursive search names the lines it showed.
    """
    del tool  # every tool that takes a command line is a shell, whatever it is called
    command = arguments.get("command") if isinstance(arguments, Mapping) else None
    if isinstance(command, str):
        return shell_touches(command, output=output)
    return ()
