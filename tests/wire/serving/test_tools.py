"""Tools as agents of the day offer them (their names and schemas, recorded), and which of them are taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.wire.serving import tools
from fourhands.wire.serving.types import Tool

TEXT, FLAG, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "number"}
TYPES: dict[str, Any] = {
    "text": TEXT,
    "flag": FLAG,
    "number": NUMBER,
    "list": {"type": "array", "items": TEXT},
    "absolute": {"type": "string", "description": "The absolute path to the file"},
    "view": {"type": "string", "enum": ["view", "create", "str_replace"]},
    "edits": {
        "type": "array",
        "items": {"type": "object", "properties": {"oldText": TEXT, "newText": TEXT}},
    },
    "risk": {"type": "string", "enum": ["UNKNOWN", "LOW", "HIGH"]},
    "milliseconds": {"type": "integer", "description": "in milliseconds"},
}


def _tool(name: str, arguments: str, description: str = "") -> Tool:
    """``"command*:text why:text"``: a star marks what is required."""
    pairs = [each.split(":") for each in arguments.split()]
    return Tool(
        name,
        {
            "type": "object",
            "properties": {name.rstrip("*"): TYPES[kind] for name, kind in pairs},
            "required": [name[:-1] for name, _ in pairs if name.endswith("*")],
        },
        description,
    )


CLAUDE_CODE = [
    _tool("Agent", "description*:text prompt*:text subagent_type:text model:text run_in_background:flag",
          "Types:\n- claude: all\n- general-purpose: all else"),
    _tool("Bash", "command*:text timeout:number description:text run_in_background:flag"),
    _tool("Edit", "file_path*:text old_string*:text new_string*:text"),
    _tool("Read", "file_path*:absolute offset:number limit:number"),
    _tool("Write", "file_path*:text content*:text"),
    _tool("Monitor", "command*:text description*:text timeout_ms*:number"),
    _tool("TaskOutput", "task_id*:text block*:flag timeout*:number"),
    _tool("mcp__user__ask_the_user", "question*:text"),
]  # fmt: skip
CODEX = [
    _tool("exec_command", "cmd*:text workdir:text yield_time_ms:number"),
    _tool("write_stdin", "session_id*:number chars:text yield_time_ms:number"),
    _tool("request_user_input", "questions*:list"),
    _tool("view_image", "path*:text"),
    _tool("spawn_agent", "message:text agent_type:text"),
    _tool("send_input", "target*:text message:text"),
    _tool("wait_agent", "targets*:list timeout_ms:number"),
    _tool("ask_the_user", "question*:text"),
]
OPENCODE = [
    _tool("bash", "command*:text timeout:milliseconds workdir:text"),
    _tool("read", "filePath*:absolute offset:number limit:number"),
    _tool("edit", "filePath*:text oldString*:text newString*:text"),
    _tool("task", "description*:text prompt*:text subagent_type*:text task_id:text command:text",
          "Available agent types:\n- general: does all\n- explore: looks"),
    _tool("todowrite", "todos*:list"),
    _tool("user_ask_the_user", "question*:text"),
]  # fmt: skip
QWEN = [
    _tool("agent", "description*:text prompt*:text subagent_type:text run_in_background:flag"),
    _tool("monitor", "command*:text description:text"),
    _tool("read_file", "file_path*:text offset:number limit:number pages:text"),
    _tool("edit", "file_path*:text old_string*:text new_string*:text replace_all:flag"),
    _tool(
        "run_shell_command",
        "command*:text is_background*:flag timeout:number description:text directory:text",
    ),
    _tool("send_message", "to*:text message*:text"),
    _tool("mcp__user__ask_the_user", "question*:text"),
]
OPENHANDS = [
    _tool(
        "file_editor",
        "command*:view path*:absolute file_text:text old_str:text new_str:text view_range:list security_risk*:risk",
    ),
    _tool("terminal", "command*:text is_input:flag timeout:number reset:flag security_risk*:risk"),
    _tool("task_tracker", "command:text task_list:list"),
    _tool(
        "task",
        "prompt*:text description:text subagent_type:text resume:text",
        "general-purpose or bash-runner",
    ),
    _tool("finish", "message*:text"),
    _tool("think", "thought*:text"),
    _tool("ask_the_user", "question*:text"),
]
OLD_CODEX = [_tool("shell", "command*:list workdir:text"), _tool("apply_patch", "input*:text")]
PI = [
    _tool("read", "path*:text offset:number"),
    _tool("bash", "command*:text timeout:number"),
    _tool("edit", "path*:text edits*:edits"),
]


def _name(tool: Tool | None) -> str | None:
    return None if tool is None else tool.name


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (CLAUDE_CODE, ["Bash", "Read", "Agent", "mcp__user__ask_the_user", None]),
        (CODEX, ["exec_command", None, "spawn_agent", "ask_the_user", None]),
        (OPENCODE, ["bash", "read", "task", "user_ask_the_user", None]),
        (QWEN, ["run_shell_command", "read_file", "agent", "mcp__user__ask_the_user", None]),
        (OPENHANDS, ["terminal", "file_editor", "task", "ask_the_user", "finish"]),
        (OLD_CODEX, ["shell", None, None, None, None]),
        (PI, ["bash", "read", None, None, None]),
        ([], [None, None, None, None, None]),
    ],
    ids=["claude-code", "codex", "opencode", "qwen-code", "openhands", "old-codex", "pi", "none"],
)
def test_each_agents_tools_are_told_by_what_they_take(
    offered: list[Tool], expected: list[str | None]
) -> None:
    finders = (tools.shell_tool, tools.read_tool, tools.sub_agent_tool, tools.ask_tool, tools.finish_tool)
    for order in (offered, offered[::-1]):
        assert [_name(find(order)) for find in finders] == expected


def _shell(offered: list[Tool]) -> Any:
    tool = tools.shell_tool(offered)
    assert tool is not None
    return tools.use_to_run(tool, "ls -l", "I look.").arguments


def test_a_command_goes_in_as_the_shell_takes_it() -> None:
    assert _shell(CLAUDE_CODE) == {"command": "ls -l"}
    assert _shell(CODEX) == {"cmd": "ls -l", "yield_time_ms": 30_000}
    assert _shell(QWEN) == {"command": "ls -l", "is_background": False}
    assert _shell(OPENHANDS) == {"command": "ls -l", "security_risk": "LOW"}
    assert _shell(OLD_CODEX) == {"command": ["bash", "-lc", "ls -l"]}
    assert _shell([Tool("local_shell", {}, kind="local_shell")]) == {"command": ["bash", "-lc", "ls -l"]}


@given(command=st.text())
def test_the_command_of_a_call_is_found_again(command: str) -> None:
    for offered in (CLAUDE_CODE, CODEX, OLD_CODEX):
        tool = tools.shell_tool(offered)
        assert tool is not None
        assert tools.shell_command(tools.use_to_run(tool, command, "").arguments) == command


@pytest.mark.parametrize("arguments", ["ls", {}, {"command": []}, {"command": 1}])
def test_arguments_without_a_command_have_none(arguments: Any) -> None:
    assert tools.shell_command(arguments) is None


def _read(offered: list[Tool], directory: str | None) -> Any:
    tool = tools.read_tool(offered)
    assert tool is not None
    use = tools.use_to_read(tool, "src/a.py", directory, "")
    return use and use.arguments


def test_a_path_is_made_absolute_where_the_place_of_the_repository_is_known() -> None:
    assert _read(CLAUDE_CODE, "/testbed") == {"file_path": "/testbed/src/a.py"}
    assert _read(OPENHANDS, "/testbed/") == {
        "path": "/testbed/src/a.py",
        "command": "view",
        "security_risk": "LOW",
    }
    assert _read(PI, None) == {"path": "src/a.py"}
    assert _read(CLAUDE_CODE, None) is None  # it wants an absolute path, and nobody knows it


def _delegate(offered: list[Tool]) -> Any:
    tool = tools.sub_agent_tool(offered)
    assert tool is not None
    return tools.use_to_delegate(tool, "do it", "help").arguments


@pytest.mark.parametrize(
    ("offered", "expected"),
    [
        (CLAUDE_CODE, {"file_path": "/r/a.py", "old_string": "x", "new_string": "y"}),
        (OPENCODE, {"filePath": "/r/a.py", "oldString": "x", "newString": "y"}),
        (QWEN, {"file_path": "/r/a.py", "old_string": "x", "new_string": "y"}),
        (
            OPENHANDS,
            {
                "command": "str_replace",
                "path": "/r/a.py",
                "old_str": "x",
                "new_str": "y",
                "security_risk": "LOW",
            },
        ),
        (PI, {"path": "/r/a.py", "edits": [{"oldText": "x", "newText": "y"}]}),
    ],
    ids=["claude-code", "opencode", "qwen-code", "openhands", "pi"],
)
def test_a_text_is_replaced_as_the_agents_tool_takes_it(
    offered: list[Tool], expected: dict[str, Any]
) -> None:
    tool = tools.edit_tool(offered)
    assert tool is not None
    use = tools.use_to_edit(tool, "a.py", "/r", old="x", new="y", why="I change.")
    assert use is not None
    assert use.arguments == expected


def test_without_an_edit_tool_or_a_place_nothing_is_replaced() -> None:
    assert tools.edit_tool(CODEX) is tools.edit_tool(OLD_CODEX) is None
    tool = tools.edit_tool(OPENHANDS)
    assert tool is not None
    assert tools.use_to_edit(tool, "a.py", None, old="x", new="y", why="I change.") is None


def test_a_sub_agent_is_one_for_all_work_and_is_waited_for() -> None:
    general = {"prompt": "do it", "subagent_type": "general-purpose"}
    assert _delegate(CLAUDE_CODE) == {**general, "description": "help", "run_in_background": False}
    assert _delegate(QWEN) == {**general, "description": "help", "run_in_background": False}
    assert _delegate(OPENCODE) == {"prompt": "do it", "description": "help", "subagent_type": "general"}
    assert _delegate(OPENHANDS) == general
    assert _delegate(CODEX) == {"message": "do it"}


SCHEMAS = st.recursive(
    st.one_of(
        st.sampled_from(
            [{"type": kind} for kind in ("string", "boolean", "integer", "number", "null", "object")]
        ),
        st.just({"type": ["null", "string"]}),
        st.just({"anyOf": [{"type": "null"}, {"type": "array", "items": {"type": "string"}, "minItems": 2}]}),
        st.just({"enum": ["a", "b"]}),
        st.just({"const": 3}),
    ),
    lambda inner: st.dictionaries(st.text(max_size=3), inner, max_size=3).map(
        lambda properties: {"type": "object", "properties": properties, "required": sorted(properties)}
    ),
)


@given(schema=SCHEMAS)
def test_what_is_filled_in_is_what_the_schema_asks_for(schema: dict[str, Any]) -> None:
    filled = tools.fill({"properties": {"x": schema}, "required": ["x"]}, {}, "text")
    _check(filled["x"], schema)


def _check(value: Any, schema: dict[str, Any]) -> None:
    if "anyOf" in schema:
        assert value == ["text", "text"]
    elif "enum" in schema or "const" in schema:
        assert value in schema.get("enum", [schema.get("const")])
    elif schema["type"] == "object":
        assert sorted(value) == schema.get("required", [])
        for name, inner in schema.get("properties", {}).items():
            _check(value[name], inner)
    else:
        made = {"string": "text", "boolean": False, "integer": 0, "number": 0, "null": None}
        assert value == made[schema["type"]] if isinstance(schema["type"], str) else value == "text"


def test_a_time_out_that_must_be_given_is_long() -> None:
    shell = _tool("bash", "command*:text timeout_ms*:number timeout*:number timeoutMs*:milliseconds")
    arguments = tools.use_to_run(shell, "ls", "").arguments
    assert isinstance(arguments, dict)
    assert [arguments[name] for name in ("timeout", "timeout_ms", "timeoutMs")] == [600, 600_000, 600_000]
