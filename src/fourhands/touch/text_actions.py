"""Actions in the text of a reply, of agents that offer their model no tools.

mini-swe-agent (first version) and SWE-agent take a fenced block, terminus-2 takes keystrokes as JSON or XML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["TEXT_TOOL", "TextAction", "text_actions"]

TEXT_TOOL: Final = "text"
"""The tool of an action that is a reply's whole text."""

_SHELL_FENCES: Final = frozenset({"bash", "sh", "shell", "mswea_bash_command"})
_FENCE: Final = "```"
_KEYSTROKES: Final = re.compile(r"<keystrokes[^<>]{0,200}>")
_KEYSTROKES_END: Final = "</keystrokes>"
_MOST_OBJECTS: Final = 16
"""Braces at which a JSON object is looked for: a model may write some in words before it answers."""
_REQUIRED: Final = frozenset({"analysis", "plan", "commands"})
_ENTER: Final = frozenset({"Enter", "C-m", "C-j", "KPEnter"})
_KEY: Final = re.compile(
    r"[CMS]-\S{1,10}|Escape|Tab|BTab|BSpace|Up|Down|Left|Right|Home|End|PageUp|PageDown|F\d{1,2}"
)


@dataclass(frozen=True, slots=True)
class TextAction:
    """What a reply does, as if it had called ``tool``; ``arguments`` hold a shell's ``command``."""

    tool: str
    arguments: Mapping[str, Any]


def text_actions(text: str) -> tuple[TextAction, ...]:
    """The action in a reply, at most one; none where its agent finds none either, or more than it allows.

    All keystrokes of a reply are one action, for they have one result: the screen after them.
    """
    keystrokes = _xml_keystrokes(text)
    if keystrokes is None:
        keystrokes = _json_keystrokes(text)
    if keystrokes is not None:
        return (TextAction("terminal", {"command": _typed(keystrokes)}),) if keystrokes else ()
    command = _fenced(text)
    return () if command is None else (TextAction("bash", {"command": command}),)


def _xml_keystrokes(text: str) -> list[str] | None:
    """terminus-2's XML, whose text is taken as it stands; ``None`` if the reply is none."""
    start = text.find("<response>")
    first = text.find("<commands>", start) if start >= 0 else -1
    if first < 0:
        return None
    last = text.find("</commands>", first)
    keystrokes: list[str] = []
    while opening := _KEYSTROKES.search(text, first, max(first, last)):
        end = text.find(_KEYSTROKES_END, opening.end(), last)
        if end < 0:
            break
        keystrokes.append(text[opening.end() : end])
        first = end
    return keystrokes


def _json_keystrokes(text: str) -> list[str] | None:
    """terminus-2's JSON; ``None`` if the reply is none, no keystrokes if it is one that terminus-2 refuses."""
    if '"commands"' not in text:
        return None
    missing = text.count("{") - text.count("}")
    for body in (text, text + "}" * missing) if 0 < missing <= _MOST_OBJECTS else (text,):
        for raw in _objects(body):
            if raw.keys() >= _REQUIRED:
                return _keystrokes(raw["commands"])
    return None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            return
        try:
            raw, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield raw
        at = text.find("{", end)


def _keystrokes(commands: object) -> list[str]:
    if not isinstance(commands, list):
        return []
    keystrokes = [each.get("keystrokes") if isinstance(each, dict) else None for each in commands]
    typed = [each for each in keystrokes if isinstance(each, str)]
    return typed if len(typed) == len(commands) else []


def _typed(keystrokes: list[str]) -> str:
    """The lines that reach the shell: one that is not ended is not run yet."""
    text = "".join(map(_pressed, keystrokes))
    return text[: text.rfind("\n") + 1]


def _pressed(keys: str) -> str:
    name = keys.strip()
    if name in _ENTER:
        return "\n"
    return "" if _KEY.fullmatch(name) else keys


def _fenced(text: str) -> str | None:
    """The one block that is marked as shell; else the last that is not marked at all."""
    shell: list[str] = []
    unmarked: list[str] = []
    mark: str | None = None
    block: list[str] = []
    for line in text.split("\n"):
        if not line.startswith(_FENCE):
            block.append(line)
        elif mark is None:
            mark, block = line.removeprefix(_FENCE).strip(), []
        else:
            if mark in _SHELL_FENCES or not mark:
                (shell if mark else unmarked).append("\n".join(block))
            mark = None
    if shell:
        return shell[0] if len(shell) == 1 else None
    return unmarked[-1] if unmarked else None
