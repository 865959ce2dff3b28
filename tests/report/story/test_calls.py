"""Tool calls of all agents are told as a person would."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.report.story.calls import ToolCall, tool_call


def call(tool: str, arguments: dict[str, Any] | str) -> ToolCall:
    given = arguments.encode() if isinstance(arguments, str) else orjson.dumps(arguments)
    return tool_call(tool, given)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("bash", {"command": "ls -l"}),
        ("exec_command", {"cmd": "ls -l", "yield_time_ms": 1000}),
        ("shell", {"command": ["bash", "-lc", "ls -l"], "workdir": "/testbed"}),
        ("local_shell", {"action": {"type": "exec", "command": ["ls", "-l"]}}),
        ("Bash", {"command": "ls -l", "description": "List files"}),
        ("tool_call", {"name": "run_shell_command", "arguments": {"command": "ls -l"}}),
    ],
)
def test_a_shell_command_is_told_whatever_its_tool_is_called(tool: str, arguments: dict[str, Any]) -> None:
    told = call(tool, arguments)
    assert (told.text, told.form) == ("ls -l", "shell")
    assert told.title == f"{told.tool} $ ls -l"


def test_a_command_of_many_lines_has_a_title_of_one() -> None:
    told = call("bash", {"command": "cat > a.py <<'EOF'\nprint(1)\nEOF\n"})
    assert told.title == "bash $ cat > a.py <<'EOF' print(1) EOF"
    assert told.text == "cat > a.py <<'EOF'\nprint(1)\nEOF"


def test_what_acts_by_words_is_told_as_the_commands_in_them() -> None:
    assert call("text", "I look.\n\n```bash\nls\n```\n") == ToolCall("shell", "shell $ ls", "ls", "shell")
    keys = {"analysis": "a", "plan": "p", "commands": [{"keystrokes": "ls\n", "duration": 1}]}
    assert call("text", keys).text == "ls"
    assert call("text", "Done.") == ToolCall("text", "no action in these words")


def test_an_edit_by_a_file_tool_is_told_as_a_diff_of_what_it_claims() -> None:
    for names in (("old_string", "new_string"), ("oldText", "newText"), ("old_str", "new_str")):
        told = call("Edit", {"file_path": "src/a.py", names[0]: "one\ntwo\n", names[1]: "three"})
        assert (told.path, told.title) == ("src/a.py", "Edit src/a.py")
        assert (told.text, told.form) == ("-one\n-two\n+three", "diff")
    many = {"file_path": "a.py", "edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "c"}]}
    assert call("MultiEdit", many).text == "-a\n+b\n-c"
    editor = {"command": "str_replace", "path": "/testbed/a.py", "old_str": "x", "new_str": "y"}
    assert call("str_replace_editor", editor).title == "str_replace_editor str_replace /testbed/a.py"


def test_a_written_file_is_told_as_its_content() -> None:
    told = call("Write", {"file_path": "a.py", "content": "print(1)\n"})
    assert (told.title, told.text, told.form, told.path) == ("Write a.py", "print(1)\n", "code", "a.py")


def test_a_read_file_is_told_by_its_path_and_what_else_was_asked() -> None:
    assert call("Read", {"file_path": "a.py"}) == ToolCall("Read", "Read a.py", path="a.py")
    assert orjson.loads(call("Read", {"file_path": "a.py", "offset": 3}).text or "") == {"offset": 3}


def test_a_patch_is_a_diff_titled_by_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch"
    assert call("apply_patch", patch) == ToolCall("apply_patch", "apply_patch: a.py, b.py", patch, "diff")
    assert call("apply_patch", {"input": patch}).form == "diff"


def test_a_script_that_calls_tools_is_shown_whole() -> None:
    script = 'const out = await tools.exec_command({cmd: "ls -l"}); console.log(out)'
    assert call("exec", script) == ToolCall("exec", "exec $ ls -l", script, "code")


def test_a_question_is_told_in_its_words() -> None:
    told = call("ask_the_user", {"question": "Shall I keep it?"})
    assert told == ToolCall("ask_the_user", "ask_the_user: Shall I keep it?", "Shall I keep it?", "words")


def test_what_is_not_known_is_pretty_json() -> None:
    told = call("todo", {"items": [1, {"b": None}]})
    assert (told.title, told.form) == ("todo", "json")
    assert told.text == '{\n  "items": [\n    1,\n    {\n      "b": null\n    }\n  ]\n}'
    assert call("stop", {}) == ToolCall("stop", "stop")


_NAMES = st.sampled_from(
    [
        "command",
        "cmd",
        "path",
        "file_path",
        "edits",
        "old_string",
        "content",
        "name",
        "arguments",
        "action",
        "q",
    ]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
)


@given(
    st.sampled_from(["bash", "Edit", "text", "x"]), st.dictionaries(_NAMES, _JSON) | st.text() | st.binary()
)
def test_any_arguments_are_told(tool: str, arguments: dict[str, Any] | str | bytes) -> None:
    if isinstance(arguments, dict):
        arguments = orjson.dumps(arguments)
    elif isinstance(arguments, str):
        arguments = arguments.encode()
    told = tool_call(tool, arguments)
    assert told.title
    assert "\n" not in told.title
    assert (told.text is None) == (told.form is None)
