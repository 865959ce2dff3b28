"""A tool call of an agent -> what it claims to read. Edits are seen by what changed, not by what was claimed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourhands.model.sandbox import WORKDIR
from fourhands.model.touch import Touch
from fourhands.touch.code_search import code_search, is_code_search
from fourhands.touch.commands import shell_commands
from fourhands.touch.file_reads import file_reads, is_file_reader
from fourhands.touch.observation import Observation, read_observation
from fourhands.touch.shell import merge, shell_folder, shell_touches

__all__ = ["Observation", "action_touches", "folder_after", "read_observation"]


def action_touches(
    tool: str, arguments: Mapping[str, Any] | str, *, output: str | None = None, folder: str = WORKDIR
) -> tuple[Touch, ...]:
    """What a tool call reads of the repository; nothing for one that writes, lists or only names files.

    Tools are told apart by what their arguments hold and by the words in their names, not by their agent.

    Args:
        tool: its name, as offered to the model.
        arguments: of the call; a text is a script that calls tools, or a patch, which reads nothing; or, of the
            tool ``text``, a reply that acts by what it says.
        output: what it printed, when it has run, as `read_observation` unwraps it: a search names the lines it
            showed, a numbered file tells which lines they were, a refusal has shown none.
        folder: absolute path of where the agent's shell stands.
    """
    if isinstance(arguments, Mapping):
        deferred = arguments.get("arguments")
        if isinstance(deferred, Mapping) and isinstance(name := arguments.get("name"), str):
            # Qwen Code calls a tool that it has not loaded through another one.
            tool, arguments = name, deferred
        if is_file_reader(tool, arguments):
            return tuple(file_reads(tool, arguments, output))
        if is_code_search(tool, arguments):
            return tuple(code_search(tool, arguments, output))
    commands = shell_commands(tool, arguments, folder)
    touched = [
        touch for each in commands for touch in shell_touches(each.script, cwd=each.cwd, output=output)
    ]
    return merge(touched) if len(commands) > 1 else tuple(touched)


def folder_after(tool: str, arguments: Mapping[str, Any] | str, folder: str) -> str:
    """Where a shell that is kept between calls stands after this one; ``folder`` where that cannot be told."""
    for each in shell_commands(tool, arguments, folder):
        folder = shell_folder(each.script, folder)
    return folder
