"""A tool call as a person would tell it: the command, the file and what is done to it, or else its arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fourhands.report.story.clip import one_line
from fourhands.report.story.model import Form
from fourhands.touch.arguments import text_of
from fourhands.touch.commands import shell_commands
from fourhands.touch.text_actions import TEXT_TOOL

__all__ = ["ToolCall", "tool_call"]

_PATHS: Final = (
    "file_path", "filePath", "path", "absolute_path", "absolutePath", "target_file", "filename", "file", "filepath",
    "relative_path", "notebook_path",
)  # fmt: skip
_OLD: Final = ("old_string", "oldString", "old_str", "oldText")
_NEW: Final = ("new_string", "newString", "new_str", "newText", "new_source", "insert_text")
_CONTENT: Final = ("content", "contents", "file_text")
_PATCH: Final = ("patch", "diff", "input", "patchText")
_EDITOR_COMMANDS: Final = frozenset({"view", "create", "str_replace", "insert", "undo_edit"})
_PATCH_BEGINS: Final = ("*** Begin Patch", "diff --git ", "--- ")
_QUESTION: Final = ("question", "message", "prompt")
_TITLE: Final = 100


@dataclass(frozen=True, slots=True)
class ToolCall:
    """``title`` tells it in one line; ``text`` in full, to be shown as ``form`` says. ``path`` is of a file tool.

    ``tool`` is the one that acts, be it called through another one, or by words.
    """

    tool: str
    title: str
    text: str | None = None
    form: Form | None = None
    path: str | None = None


def tool_call(tool: str, arguments: bytes) -> ToolCall:
    """The call of ``tool``; ``arguments`` are a JSON object, or a text where the tool takes one."""
    if tool == TEXT_TOOL:
        return _text_call(tool, arguments.decode("utf-8", "replace"))
    try:
        parsed = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        return _text_call(tool, arguments.decode("utf-8", "replace"))
    deferred = parsed.get("arguments")
    if isinstance(deferred, dict) and isinstance(name := parsed.get("name"), str):
        tool, parsed = name, deferred  # Qwen Code calls a tool that it has not loaded through another one
    return _file_call(tool, parsed) or _shell_call(tool, parsed) or _other_call(tool, parsed)


def _text_call(tool: str, text: str) -> ToolCall:
    if text.lstrip().startswith(_PATCH_BEGINS):
        return ToolCall(tool, f"{tool}: {_patched(text)}", text, "diff")
    commands = [command.script for command in shell_commands(tool, text)]
    if tool == TEXT_TOOL:  # the words around the commands are told as the reply's
        if not commands:
            return ToolCall(tool, "no action in these words")
        return ToolCall("shell", _title("shell", commands[0]), "\n".join(commands).rstrip(), "shell")
    return ToolCall(tool, _title(tool, commands[0]) if commands else tool, text, "code")


def _shell_call(tool: str, arguments: Mapping[str, Any]) -> ToolCall | None:
    scripts = [command.script for command in shell_commands(tool, arguments)]
    if not scripts:
        return None
    return ToolCall(tool, _title(tool, scripts[0]), scripts[0].rstrip(), "shell")


def _file_call(tool: str, arguments: Mapping[str, Any]) -> ToolCall | None:
    command = arguments.get("command", arguments.get("cmd"))
    if command is not None and (not isinstance(command, str) or command not in _EDITOR_COMMANDS):
        return None
    path = text_of(arguments, _PATHS)
    if path is None:
        patch = text_of(arguments, _PATCH) or ""
        is_patch = patch.lstrip().startswith(_PATCH_BEGINS)
        return ToolCall(tool, f"{tool}: {_patched(patch)}", patch, "diff") if is_patch else None
    title = one_line(f"{tool} {command} {path}" if command else f"{tool} {path}", _TITLE)
    text, form = _done_to_file(arguments)
    return ToolCall(tool, title, text, form, path)


def _done_to_file(arguments: Mapping[str, Any]) -> tuple[str | None, Form | None]:
    edits = [line for edit in _edits(arguments) for line in _replacement(edit)]
    if edits:
        return "\n".join(edits), "diff"
    content = text_of(arguments, _CONTENT)
    if content is not None:
        return content, "code"
    rest = {name: value for name, value in arguments.items() if name not in _PATHS and name != "command"}
    return (_pretty(rest), "json") if rest else (None, None)


def _edits(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield arguments
    many = arguments.get("edits")
    if isinstance(many, list):
        yield from (each for each in many if isinstance(each, Mapping))


def _replacement(edit: Mapping[str, Any]) -> Iterator[str]:
    """What an edit claims to take out and put in, as lines of a diff."""
    for sign, names in (("-", _OLD), ("+", _NEW)):
        text = text_of(edit, names)
        if text is not None:
            yield from (f"{sign}{line}" for line in text.removesuffix("\n").split("\n"))


def _other_call(tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    question = text_of(arguments, _QUESTION)
    if question is not None and len(arguments) == 1:
        return ToolCall(tool, one_line(f"{tool}: {question}", _TITLE), question, "words")
    return ToolCall(tool, tool, _pretty(arguments), "json") if arguments else ToolCall(tool, tool)


def _patched(patch: str) -> str:
    files = [
        line.partition(": ")[2]
        for line in patch.split("\n")
        if line.startswith(("*** Update File: ", "*** Add File: ", "*** Delete File: "))
    ]
    return one_line(", ".join(files), _TITLE) if files else "a patch"


def _title(tool: str, text: str) -> str:
    return f"{tool} $ {one_line(text, _TITLE)}"


def _pretty(arguments: object) -> str:
    return orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
