"""Agents without tools: what they run stands in the text of a reply, in a form that their prompt explains."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Final, Protocol

import orjson

__all__ = ["UNPAGED", "TextForm", "keys", "text_form"]

_TYPED_BADLY: Final = re.compile(r"\t|![^\s=(]|^\^", re.MULTILINE)
"""What a shell at a terminal takes for more than text: completion, and words of its history."""
UNPAGED: Final = "export PAGER=cat GIT_PAGER=cat"
"""To be typed first: at a terminal, git would wait in a pager for a key."""
_JSON_COMMANDS: Final = re.compile(r'"keystrokes"\s*:')


class TextForm(Protocol):
    """One way to put commands, typed into a terminal, into a reply."""

    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        """A reply that types ``commands`` and waits ``seconds`` after each; ``done`` ends the work."""
        ...


class _Json:
    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        typed = [{"keystrokes": keys(command), "duration": seconds} for command in commands]
        reply = {"analysis": thought, "plan": thought, "commands": typed, "task_complete": done}
        return orjson.dumps(reply, option=orjson.OPT_INDENT_2).decode()


class _Xml:
    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        # What stands in an element is taken as it is: nothing is escaped.
        typed = "\n".join(
            f'<keystrokes duration="{seconds}">{keys(command)}</keystrokes>' for command in commands
        )
        parts = [
            f"<analysis>{thought}</analysis>",
            f"<plan>{thought}</plan>",
            f"<commands>\n{typed}\n</commands>" if typed else "<commands>\n</commands>",
            *(["<task_complete>true</task_complete>"] if done else []),
        ]
        return "\n".join(["<response>", *parts, "</response>"])


def text_form(instructions: str) -> TextForm | None:
    """The form that a prompt explains; ``None`` if it explains none."""
    if _JSON_COMMANDS.search(instructions) and '"task_complete"' in instructions:
        return _Json()
    if "<keystrokes" in instructions and "<task_complete>" in instructions:
        return _Xml()
    return None


def keys(command: str) -> str:
    """A command as it is typed; what a terminal would garble goes in disguise. Nothing typed is a wait."""
    if not command:
        return ""
    if _TYPED_BADLY.search(command):
        return f'eval "$(printf %s {base64.b64encode(command.encode()).decode()} | base64 -d)"\n'
    return f"{command.rstrip()}\n"
