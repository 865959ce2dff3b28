"""Which of the offered tools does what: told by what it takes, since every agent names its tools in its own way."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fourhands.wire.serving.types import Tool, ToolUse

__all__ = [
    "ASK_TOOL",
    "ask_tool",
    "edit_tool",
    "fill",
    "finish_tool",
    "read_tool",
    "shell_command",
    "shell_tool",
    "sub_agent_tool",
    "use_to_ask",
    "use_to_delegate",
    "use_to_edit",
    "use_to_finish",
    "use_to_read",
    "use_to_run",
]

ASK_TOOL: Final = "ask_the_user"
_COMMANDS: Final = ("command", "cmd", "script")
_PATHS: Final = ("file_path", "filePath", "absolute_path", "path", "filename", "file")
_REPLACED: Final = (
    ("old_string", "new_string"),
    ("oldString", "newString"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
)
"""What stands, and what comes in its place."""
_PROMPTS: Final = ("prompt", "message", "task", "instructions")
_SHELL: Final = re.compile(r"bash|shell|exec|terminal|run", re.IGNORECASE)
_READ: Final = re.compile(r"(?<![a-z])(read|view|open|cat)(?![a-z])|^read", re.IGNORECASE)
_MUST_BE_ABSOLUTE: Final = re.compile(r"^(?!.*\brelative\b).*\babsolute\b", re.IGNORECASE | re.DOTALL)
_NO_TEXT_FILE: Final = re.compile(r"image|resource|notebook|many", re.IGNORECASE)
_SUB_AGENT: Final = re.compile(r"agent|^task$|delegate", re.IGNORECASE)
_FINISH: Final = re.compile(r"^(finish|submit|attempt_completion|complete_task)$", re.IGNORECASE)
_GENERAL: Final = re.compile(r"\bgeneral(?:[-_]\w+)*\b")
_LISTED: Final = re.compile(r"^\s*[-*] [\"`']?([\w-]+)[\"`']?:", re.MULTILINE)
_LONG: Final = {"ms": 600_000, "": 600}
"""For a tool that insists on a time-out: ten minutes."""
_LONGEST_LOOK: Final = 30_000
"""Milliseconds that a tool may watch a command before it hands the rest to another call."""


def shell_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that runs a command line; among several the one with a shell's name, then the first."""
    found = [tool for tool in tools if tool.kind == "local_shell" or _command_property(tool) is not None]
    return next((tool for tool in found if _SHELL.search(tool.name)), found[0] if found else None)


def read_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that shows a file: it needs a path and no more."""
    return next((tool for tool in tools if _reads(tool)), None)


def edit_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that replaces a text in a file."""
    return next(
        (
            tool
            for tool in tools
            if _first(_PATHS, tool.properties) and (_replaced(tool.properties) or _edits(tool))
        ),
        None,
    )


def sub_agent_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that gives work to an agent beside this one, which starts with a prompt."""
    return next(
        (
            tool
            for tool in tools
            if _SUB_AGENT.search(tool.name)
            and not re.search(r"send|wait|close|resume|list|message", tool.name, re.IGNORECASE)
            and _first(_PROMPTS, tool.properties) is not None
        ),
        None,
    )


def ask_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool that asks the user, whatever the agent's client puts before its name."""
    return next((tool for tool in tools if tool.name.endswith(ASK_TOOL)), None)


def finish_tool(tools: Sequence[Tool]) -> Tool | None:
    """The tool by which the model ends its work."""
    return next((tool for tool in tools if _FINISH.fullmatch(tool.name)), None)


def use_to_run(tool: Tool, command: str, why: str) -> ToolUse:
    """Run ``command`` with a shell tool."""
    if tool.kind == "local_shell":
        return ToolUse(tool, {"command": ["bash", "-lc", command]})
    name = _command_property(tool)
    assert name is not None
    as_list = _type(tool.properties[name]) == "array"
    given: dict[str, Any] = {name: ["bash", "-lc", command] if as_list else command}
    if "yield_time_ms" in tool.properties:
        given["yield_time_ms"] = _LONGEST_LOOK
    return ToolUse(tool, fill(tool.schema, given, why))


def use_to_read(tool: Tool, path: str, directory: str | None, why: str) -> ToolUse | None:
    """Show ``path``, relative to the repository at ``directory``; ``None`` if the tool must be told where that is."""
    place = _placed(tool, path, directory)
    if place is None:
        return None
    given = place | ({"command": "view"} if "command" in tool.properties else {})
    return ToolUse(tool, fill(tool.schema, given, why))


def use_to_edit(
    tool: Tool, path: str, directory: str | None, *, old: str, new: str, why: str
) -> ToolUse | None:
    """Replace ``old`` in ``path``, relative to the repository at ``directory``; ``None`` as `use_to_read`."""
    given = _placed(tool, path, directory)
    if given is None:
        return None
    if names := _replaced(tool.properties):
        given |= dict(zip(names, (old, new), strict=True))
    elif names := _edits(tool):
        given["edits"] = [dict(zip(names, (old, new), strict=True))]
    if "command" in tool.properties:
        given["command"] = "str_replace"
    return ToolUse(tool, fill(tool.schema, given, why))


def use_to_ask(tool: Tool, question: str) -> ToolUse:
    """Ask the user."""
    name = next((each for each, schema in tool.properties.items() if _type(schema) == "string"), "question")
    return ToolUse(tool, fill(tool.schema, {name: question}, question))


def use_to_finish(tool: Tool, words: str) -> ToolUse:
    """End the work."""
    return ToolUse(tool, fill(tool.schema, {}, words))


def use_to_delegate(tool: Tool, prompt: str, why: str) -> ToolUse:
    """Start an agent beside this one, and wait for it where the tool lets one choose."""
    name = _first(_PROMPTS, tool.properties)
    assert name is not None
    given: dict[str, Any] = {name: prompt}
    if "run_in_background" in tool.properties:
        given["run_in_background"] = False
    if "subagent_type" in tool.properties:
        given["subagent_type"] = _general(tool)
    return ToolUse(tool, fill(tool.schema, given, why))


def shell_command(arguments: Mapping[str, Any] | str) -> str | None:
    """The command line in the arguments of a shell tool's call; the other way round of `use_to_run`."""
    if not isinstance(arguments, Mapping):
        return None
    name = _first(_COMMANDS, arguments)
    value = arguments[name] if name else None
    if isinstance(value, list):
        return str(value[-1]) if value else None
    return value if isinstance(value, str) else None


def fill(schema: Mapping[str, Any], given: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Arguments that satisfy ``schema``: what is given, and something for all else that is required.

    Args:
        schema: of an object.
        given: property -> value.
        text: what to put where any text will do.
    """
    properties = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or () if name not in given]
    return {**given, **{name: _some(name, properties.get(name) or {}, text) for name in missing}}


def _some(name: str, schema: Mapping[str, Any], text: str) -> Any:
    """Any value that ``schema`` allows."""
    schema = _plain(schema)
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        # Agents that ask how risky a command is act on "low" without a person.
        return next((each for each in schema["enum"] if str(each).upper() == "LOW"), schema["enum"][0])
    kind = _type(schema)
    if kind in {"integer", "number"}:
        in_milliseconds = name.endswith(("ms", "Ms")) or "millisecond" in str(schema.get("description"))
        return (
            _LONG["ms" if in_milliseconds else ""] if "timeout" in name.lower() else schema.get("minimum", 0)
        )
    if kind == "object":
        return fill(schema, {}, text)
    if kind == "array":
        items = schema.get("items") or {}
        return [_some(name, items, text) for _ in range(int(schema.get("minItems") or 0))]
    return {"boolean": False, "null": None}.get(kind, text or "step")


def _plain(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """One schema where there is a choice of several; not that of ``null``, if there is another."""
    choices = [*(schema.get("anyOf") or ()), *(schema.get("oneOf") or ())]
    if not choices:
        return schema
    return _plain(next((each for each in choices if each.get("type") != "null"), choices[0]))


def _type(schema: Mapping[str, Any]) -> str:
    """The JSON type of a value, without ``null`` where it may be something else; a string if nothing is said."""
    kinds = _plain(schema).get("type") or "string"
    return kinds if isinstance(kinds, str) else next((str(kind) for kind in kinds if kind != "null"), "null")


def _first(names: Sequence[str], among: Mapping[str, Any]) -> str | None:
    return next((name for name in names if name in among), None)


def _placed(tool: Tool, path: str, directory: str | None) -> dict[str, Any] | None:
    """The argument that names a file of the repository; ``None`` if the tool must be told where that is."""
    name = _first(_PATHS, tool.properties)
    assert name is not None
    if directory is not None:
        return {name: f"{directory.rstrip('/')}/{path}"}
    if name == "absolute_path" or _MUST_BE_ABSOLUTE.search(str(tool.properties[name].get("description"))):
        return None
    return {name: path}


def _replaced(properties: Mapping[str, Any]) -> tuple[str, str] | None:
    return next((names for names in _REPLACED if all(name in properties for name in names)), None)


def _edits(tool: Tool) -> tuple[str, str] | None:
    """Of a tool that takes a list of replacements."""
    items = _plain(tool.properties.get("edits") or {}).get("items") or {}
    return _replaced(_plain(items).get("properties") or {})


def _command_property(tool: Tool) -> str | None:
    """Where the command line goes; a ``command`` with a fixed choice is one of an editor."""
    name = _first(_COMMANDS, tool.properties)
    if name is None or tool.properties[name].get("enum") or _first(_PROMPTS, tool.properties):
        return None
    is_needed = name in (tool.schema.get("required") or (name,))
    return name if is_needed and _type(tool.properties[name]) in {"string", "array"} else None


def _reads(tool: Tool) -> bool:
    path = _first(_PATHS, tool.properties)
    if path is None or _NO_TEXT_FILE.search(tool.name):
        return False
    views = "view" in ((tool.properties.get("command") or {}).get("enum") or ())
    needed = set(tool.schema.get("required") or ()) - {path}
    # One that must be given more than a choice of its own writes, or looks for something.
    has_all = all(tool.properties[name].get("enum") for name in needed if name in tool.properties)
    return has_all and (views or bool(_READ.search(tool.name)))


def _general(tool: Tool) -> str:
    """The kind of agent that may do everything: told by the choices, else by the tool's description."""
    schema = tool.properties["subagent_type"]
    choices = schema.get("enum") or ()
    said = f"{schema.get('description')}\n{tool.description}"
    found = next((str(each) for each in choices if str(each).startswith("general")), None)
    if found is None and not choices and (match := _GENERAL.search(said)):
        found = match[0]
    listed = _LISTED.search(said)
    return found or (str(choices[0]) if choices else listed[1] if listed else "general-purpose")
