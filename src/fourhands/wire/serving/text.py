"""Agents without tools: what they run stands in the text of a reply, in a form that their prompt explains."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

__all__ = ["UNPAGED", "TextForm", "Typed", "keys", "text_form"]

_TYPED_BADLY: Final = re.compile(r"\t|![^\s=(]|^\^", re.MULTILINE)
"""What a shell at a terminal takes for more than text: completion, and words of its history."""
UNPAGED: Final = "export PAGER=cat GIT_PAGER=cat"
"""To be typed first: at a terminal, git would wait in a pager for a key."""
_XML_KEYSTROKES: Final = re.compile(r"<keystrokes[^>]*>(.*?)</keystrokes>", re.DOTALL)
_XML_DONE: Final = "<task_complete>true</task_complete>"
_JSON_COMMANDS: Final = re.compile(r'"keystrokes"\s*:')


@dataclass(frozen=True, slots=True)
class Typed:
    """What a reply types, one text a command, and whether it ends the work."""

    keystrokes: tuple[str, ...]
    done: bool


class TextForm(Protocol):
    """One way to put commands, typed into a terminal, into a reply."""

    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        """A reply that types ``commands`` and waits ``seconds`` after each; ``done`` ends the work."""
        ...

    def read(self, text: str) -> Typed:
        """The other way round; a text in another form types nothing."""
        ...


class _Json:
    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        typed = [{"keystrokes": keys(command), "duration": seconds} for command in commands]
        reply = {"analysis": thought, "plan": thought, "commands": typed, "task_complete": done}
        return orjson.dumps(reply, option=orjson.OPT_INDENT_2).decode()

    def read(self, text: str) -> Typed:
        try:
            raw = orjson.loads(text)
            return Typed(
                tuple(each["keystrokes"] for each in raw["commands"]), bool(raw.get("task_complete"))
            )
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return Typed((), done=False)


class _Xml:
    def write(self, thought: str, commands: Sequence[str], *, seconds: float, done: bool = False) -> str:
        # What stands in an element is taken as it is: nothing is escaped.
        typed = [f'<keystrokes duration="{seconds}">{keys(command)}</keystrokes>' for command in commands]
        parts = [
            f"<analysis>{thought}</analysis>",
            f"<plan>{thought}</plan>",
            *("<commands>", *typed, "</commands>"),
            *([_XML_DONE] if done else []),
        ]
        return "\n".join(["<response>", *parts, "</response>"])

    def read(self, text: str) -> Typed:
        return Typed(tuple(_XML_KEYSTROKES.findall(text)), _XML_DONE in text)


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
