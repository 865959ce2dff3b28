"""The shell commands in a tool call, whatever the tool and its argument are called."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fourhands.model.sandbox import WORKDIR
from fourhands.touch.arguments import text_of
from fourhands.touch.scripted_calls import scripted_calls
from fourhands.touch.text_actions import TEXT_TOOL, text_actions

__all__ = ["ShellCommand", "shell_commands"]

_COMMANDS: Final = ("command", "cmd")
_FOLDERS: Final = (
    "cwd",
    "workdir",
    "working_directory",
    "working_dir",
    "directory",
    "workingDirectory",
    "dir",
)
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_SHELL_AND_SCRIPT: Final = 3


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """What a shell is given, and the absolute folder it starts in."""

    script: str
    cwd: str = WORKDIR


def shell_commands(
    tool: str, arguments: Mapping[str, Any] | str, folder: str = WORKDIR
) -> tuple[ShellCommand, ...]:
    """The commands of a call, none if it holds none: a command line, or an argument list; or in a text.

    Keystrokes for a program that runs already are none. ``folder`` is where the shell stands, if it is told none.
    """
    calls: Iterable[Mapping[str, Any]]
    if isinstance(arguments, Mapping):
        calls = (arguments,)
    elif tool == TEXT_TOOL:
        calls = (action.arguments for action in text_actions(arguments))
    else:
        calls = scripted_calls(arguments)
    return tuple(command for call in calls if (command := _command(call, folder)) is not None)


def _command(arguments: Mapping[str, Any], folder: str) -> ShellCommand | None:
    inner = arguments.get("action")  # Codex's ``local_shell``
    given = inner if isinstance(inner, Mapping) else arguments
    if given.get("is_input") in (True, "true"):
        return None
    for name in _COMMANDS:
        script = _script(given.get(name))
        if script is not None:
            return ShellCommand(script, posixpath.join(folder, text_of(given, _FOLDERS) or ""))
    return None


def _script(command: object) -> str | None:
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return None
    return _inner_script(command) or shlex.join(command)


def _inner_script(argv: Sequence[str]) -> str | None:
    """What ``bash -lc SCRIPT`` runs."""
    if len(argv) != _SHELL_AND_SCRIPT or posixpath.basename(argv[0]) not in _SHELLS:
        return None
    return argv[2] if argv[1] in {"-c", "-lc"} else None
