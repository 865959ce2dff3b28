from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.touch.actions import action_touches, read_observation
from fourhands.touch.testing import runs_tests


def reads(tool: str, arguments: Any, output: str | None = None) -> dict[str, list[tuple[int, int]] | None]:
    touches = action_touches(tool, arguments, output=output)
    assert all(touch.kind == "read" for touch in touches)
    return {
        touch.path: None if touch.lines is None else [(lines.start, lines.end) for lines in touch.lines]
        for touch in touches
    }


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch\n"


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        # Claude Code: lines count from 1, and 2000 are shown unless more are asked for.
        ("Read", {"file_path": "/testbed/a.py"}, (1, 2000)),
        ("Read", {"file_path": "/testbed/a.py", "offset": 40, "limit": 20}, (40, 59)),
        ("Read", {"file_path": "/testbed/a.py", "offset": 0, "limit": 60}, (1, 60)),
        ("Read", {"file_path": "/testbed/a.py", "offset": "7"}, (7, 2006)),
        # OpenCode and pi.
        ("read", {"filePath": "/testbed/a.py", "offset": 11, "limit": 5}, (11, 15)),
        ("read", {"path": "a.py", "offset": 11.0}, (11, 2010)),
        # Qwen Code counts from 0, as Gemini CLI did before it took the first and the last line.
        ("read_file", {"file_path": "/testbed/a.py", "offset": 10, "limit": 5}, (11, 15)),
        (
            "read_file",
            {"file_path": "/testbed/a.py", "offset": None, "limit": None, "pages": None},
            (1, 2000),
        ),
        ("read_file", {"absolute_path": "/testbed/a.py", "offset": 0, "limit": 9}, (1, 9)),
        ("read_file", {"file_path": "a.py", "start_line": 3, "end_line": 8}, (3, 8)),
        ("read_file", {"file_path": "a.py", "start_line": 3}, (3, 2**31 - 1)),
        (
            "tool_call",
            {"name": "read_file", "arguments": {"file_path": "/testbed/a.py", "offset": 1}},
            (2, 2001),
        ),
        # OpenHands, SWE-agent, Goose: an editor with commands.
        ("file_editor", {"command": "view", "path": "/testbed/a.py", "view_range": [3, 9]}, (3, 9)),
        ("str_replace_editor", {"command": "view", "path": "a.py", "view_range": [3, -1]}, (3, 2**31 - 1)),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, None),
        # Copilot CLI, Kimi Code, Codex.
        ("view", {"path": "/testbed/a.py", "view_range": [5, 6]}, (5, 6)),
        ("Read", {"path": "a.py", "line_offset": 5, "n_lines": 10}, (5, 14)),
        ("Read", {"path": "a.py", "line_offset": -20}, None),
        ("view_image", {"path": "/testbed/a.py"}, None),
        # Servers' and namespaces' names do not matter, nor where the path starts.
        ("mcp__files__read_text_file", {"path": "/testbed/a.py", "offset": 1, "limit": 1}, (2, 2)),
        ("functions.read", {"path": "/testbed/./b/../a.py"}, (1, 2000)),
        ("default_api:Read", {"file_path": "//testbed//a.py"}, (1, 2000)),
    ],
)
def test_a_file_tool_reads_the_lines_it_asks_for(
    tool: str, arguments: dict[str, Any], expected: tuple[int, int] | None
) -> None:
    assert reads(tool, arguments) == {"a.py": None if expected is None else [expected]}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Edit", {"file_path": "/testbed/a.py", "old_string": "x", "new_string": "y"}),
        ("MultiEdit", {"file_path": "/testbed/a.py", "edits": [{"old_string": "x", "new_string": "y"}]}),
        ("Write", {"file_path": "/testbed/a.py", "content": "x"}),
        ("NotebookEdit", {"notebook_path": "/testbed/a.ipynb", "new_source": "x"}),
        ("Glob", {"pattern": "**/*.py", "path": "/testbed"}),
        ("LS", {"path": "/testbed/src"}),
        ("TodoWrite", {"todos": [{"content": "read a.py"}]}),
        ("edit", {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}]}),
        ("replace", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
        ("write_file", {"file_path": "a.py", "content": "x"}),
        ("list_directory", {"path": "/testbed/src"}),
        ("read_directory", {"path": "/testbed/src"}),
        ("list", {"path": "/testbed"}),
        ("find", {"pattern": "*.py", "path": "."}),
        ("file_editor", {"command": "str_replace", "path": "/testbed/a.py", "old_str": "x", "new_str": "y"}),
        ("file_editor", {"command": "create", "path": "/testbed/a.py", "file_text": "x"}),
        ("file_editor", {"command": "insert", "path": "/testbed/a.py", "insert_line": 1, "new_str": "y"}),
        ("file_editor", {"command": "undo_edit", "path": "/testbed/a.py"}),
        ("read_then_edit", {"path": "a.py", "old_str": "x", "new_str": "y"}),
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", PATCH),
        ("shell", {"command": ["apply_patch", PATCH]}),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF"]}),
        ("write_stdin", {"session_id": 1, "chars": "cat a.py\n"}),
        ("terminal", {"command": "cat a.py", "is_input": True}),
        ("terminal", {"command": "cat a.py", "is_input": "true"}),
        ("Read", {"file_path": "/etc/passwd"}),
        ("Read", {"file_path": "/testbed/../etc/passwd"}),
        ("Read", {"file_path": "~/a.py"}),
        ("Read", {"file_path": "/testbed"}),
        ("Read", {"file_path": "/testbeds/a.py"}),
        ("Read", {"file_path": ""}),
        ("Read", {}),
        ("mcp__user__ask_the_user", {"question": "read a.py?"}),
        ("Agent", {"description": "read", "prompt": "cat a.py", "subagent_type": "general-purpose"}),
        ("WebFetch", {"url": "a.py", "prompt": "cat a.py"}),
    ],
)
def test_what_writes_or_lists_or_lies_elsewhere_is_no_read(tool: str, arguments: Any) -> None:
    assert reads(tool, arguments) == {}


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Bash", {"command": "sed -n 3,5p a.py", "description": "Look"}, {"a.py": [(3, 5)]}),
        ("exec_command", {"cmd": "cat a.py"}, {"a.py": None}),
        ("exec_command", {"cmd": "cat a.py", "workdir": "/testbed/src"}, {"src/a.py": None}),
        ("shell", {"command": ["bash", "-lc", "cat a.py | head -3"]}, {"a.py": [(1, 3)]}),
        ("shell", {"command": ["sed", "-n", "1,2p", "a b.py"]}, {"a b.py": [(1, 2)]}),
        ("shell", {"command": ["cat", "a.py"], "workdir": "src"}, {"src/a.py": None}),
        (
            "local_shell",
            {"type": "exec", "command": ["cat", "a.py"], "working_directory": "/testbed/b"},
            {"b/a.py": None},
        ),
        (
            "local_shell",
            {"action": {"command": ["bash", "-c", "cat a.py"], "working_directory": "b"}},
            {"b/a.py": None},
        ),
        ("run_shell_command", {"command": "cat a.py", "directory": "src"}, {"src/a.py": None}),
        ("bash", {"command": "cat ../a.py", "workdir": "/testbed/src"}, {"a.py": None}),
        ("bash", {"command": "cat a.py", "workdir": "/tmp"}, {}),
        ("bash", {"command": ["cat", 3]}, {}),
        (
            "exec",
            'const r = await tools.exec_command({cmd: "sed -n \'2,4p\' a.py", workdir: "/testbed/b"});\ntext(r)',
            {"b/a.py": [(2, 4)]},
        ),
        (
            "exec",
            "await tools.exec_command({'cmd': 'cat it\\'s.py'}); await tools.shell({command: `cat b.py\ncat c.py`})",
            {"b.py": None, "c.py": None},
        ),
        (
            "exec",
            "await tools.shell({cmd: `sed -n 1,3p a.py`}); await tools.shell({cmd: 'sed -n 4,5p a.py'})",
            {"a.py": [(1, 5)]},
        ),
        ("exec", "await tools.exec_command({cmd: command})", {}),
        ("exec", "// cat a.py", {}),
    ],
)
def test_a_shell_is_one_whatever_it_is_called(tool: str, arguments: Any, expected: dict[str, Any]) -> None:
    assert reads(tool, arguments) == expected


def test_a_script_of_calls_and_an_argument_list_may_run_tests() -> None:
    assert runs_tests("exec_command", {"cmd": "pytest -q", "workdir": "src"})
    assert runs_tests("exec", 'await tools.exec_command({cmd: "cd a && pytest"})')
    assert not runs_tests("exec", 'await tools.exec_command({cmd: "cat test_a.py"})')


@pytest.mark.parametrize(
    ("tool", "output", "expected"),
    [
        ("Read", "     1→def f():\n     2→    return 1\n     3→", [(1, 3)]),
        ("Read", "1\tdef f():\n2\t    return 1", [(1, 2)]),
        ("Read", "0\tdef f():\n1\t    return 1", [(1, 2)]),
        (
            "read",
            (
                "<path>/testbed/a.py</path>\n<type>file</type>\n<content>\n1: def f():\n2:\n\n"
                "(End of file - total 2 lines)\n</content>"
            ),
            [(1, 2)],
        ),
        ("read", "<file>\n00001| def f():\n00002| \n</file>", [(1, 2)]),
        ("read_file", "L1: def f():\nL2:     return 1", [(1, 2)]),
        ("view", "1. def f():\n2.     return 1", [(1, 2)]),
        (
            "read_file",
            "Read file: /testbed/a.py (showing lines 1-2 of 9)\n\n     1  def f():\n     2      return 1\n",
            [(1, 2)],
        ),
        (
            "view",
            (
                "Here's the result of running `cat -n` on /testbed/a.py:\n     1\tx\n     2\ty <response clipped>"
                "<NOTE>To save on context\nonly a part is shown.</NOTE>z\n    90\tx\n    91"
            ),
            [(1, 2), (90, 91)],
        ),
        # Tools that do not number lines may say which they have shown.
        ("read_file", "Showing lines 1-3 of 900 total lines.\n\n---\n\nx\ny\nz", [(1, 3)]),
        ("read", "x\ny\n\n[Showing lines 1-2 of 3000. Use offset=3 to continue.]", [(1, 2)]),
        # Text that only looks numbered: what was asked for stands.
        ("read", "x\n1. one\n2. two", [(1, 2000)]),
        ("read", "1. one\n2. two\nand three", [(1, 2000)]),
        ("read", "17: x\n18: y", [(1, 2000)]),
        ("read", "1: x\n3: y", [(1, 2000)]),
        ("read", "", [(1, 2000)]),
        ("read", "Error handling in Python\n" + "x\n" * 900, [(1, 2000)]),
    ],
)
def test_output_tells_which_lines_were_shown(tool: str, output: str, expected: list[tuple[int, int]]) -> None:
    assert reads(tool, {"file_path": "/testbed/a.py"}, output) == {"a.py": expected}


@pytest.mark.parametrize(
    "output",
    [
        "<tool_use_error>File does not exist.</tool_use_error>",
        "File does not exist. Note: your current working directory is /testbed.",
        "File unchanged since last read. The content from the earlier Read tool_result is still current",
        "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.",
        "EISDIR: illegal operation on a directory, read",
        "ENOENT: no such file or directory, access '/testbed/a.py'",
        "Error: Offset 900 is out of range for this file (3 lines)",
        "Offset 900 is beyond end of file (3 lines total)",
        "File not found: /testbed/a.py\nDid you mean one of these?\n/testbed/b.py",
        "Path is a directory, not a file: a.py",
        "[File a.py unchanged since last read in this session — the full content was provided earlier]",
        "[An error occurred during execution.]\nThe path /testbed/a.py does not exist.",
        "ERROR:\nInvalid `path` parameter: /testbed/a.py.",
        "unable to locate image at `/testbed/a.py`: No such file or directory",
        "<path>/testbed/a.py</path>\n<type>directory</type>\n<entries>\n" + "b.py\n" * 1000 + "</entries>",
        "Here's the files and directories up to 2 levels deep in /testbed/a.py, excluding hidden items:\n"
        + "b\n" * 999,
        "The user doesn't want to proceed with this tool use.",
    ],
)
def test_a_read_that_was_refused_is_none(output: str) -> None:
    arguments = {"file_path": "/testbed/a.py"}
    assert reads("Read", arguments)
    assert reads("Read", arguments, output) == {}


def test_many_files_may_be_read_at_once() -> None:
    arguments = {"paths": ["/testbed/a.py", "src/*.py", "/etc/passwd"]}
    assert reads("read_many_files", arguments) == {"a.py": None}
    output = "--- /testbed/a.py ---\n\nx\n\n--- src/b.py ---\n\ny\n"
    assert reads("read_many_files", arguments, output) == {"a.py": None, "src/b.py": None}
    assert reads("read_many_files", {"include": ["a.py"]}, "\nContent from c.py:\nx") == {
        "a.py": None,
        "c.py": None,
    }


@pytest.mark.parametrize(
    ("tool", "arguments", "output", "expected"),
    [
        # Claude Code prints paths from its own folder, pi from the one that it searched.
        (
            "Grep",
            {"path": "/testbed/src", "output_mode": "content"},
            "src/a.py:3:x\nsrc/a.py-4-y\n--\nsrc/b-1.py:9:x",
            {"src/a.py": [(3, 4)], "src/b-1.py": [(9, 9)]},
        ),
        (
            "Grep",
            {"path": "/testbed/src/a.py", "output_mode": "content", "-C": 1},
            "2-w\n3:x\n4-y\n--\n9:x",
            {"src/a.py": [(2, 4), (9, 9)]},
        ),
        (
            "grep",
            {"path": "src"},
            "a.py:3: x\na.py-4- y\nb/c.py:1: x",
            {"src/a.py": [(3, 4)], "src/b/c.py": [(1, 1)]},
        ),
        ("grep", {"path": "src/a.py"}, "a.py:3: x", {"src/a.py": [(3, 3)]}),
        (
            "grep",
            {"include": "*.py"},
            (
                "Found 3 matches\n/testbed/a.py:\n  Line 3: x\n  Line 4: Line 5: y\n\n/testbed/b.py:\n"
                "  Line 9: z"
            ),
            {"a.py": [(3, 4)], "b.py": [(9, 9)]},
        ),
        (
            "grep_search",
            {},
            (
                'Found 2 matches for pattern "x" in the workspace directory:\n---\nFile: src/a.py\nL3: x\nL4- y\n'
                "---\nFile: b.py\nL1: x\n---\n"
            ),
            {"src/a.py": [(3, 4)], "b.py": [(1, 1)]},
        ),
        (
            "search_file_content",
            {"dir_path": "src"},
            'Found 1 match for pattern "x" in path "src":\n---\nFile: a.py\nL3: x\n',
            {"src/a.py": [(3, 3)]},
        ),
        ("grep_search", {}, 'Found 1 match for pattern "x":\n---\n/testbed/a.py:12:x', {"a.py": [(12, 12)]}),
        ("mcp__code__ripgrep", {}, "a.py:12:x\n/etc/passwd:1:x", {"a.py": [(12, 12)]}),
        # To name or to count files is not to read them.
        ("Grep", {}, "Found 2 files\nsrc/a.py\nsrc/b.py", {}),
        ("Grep", {"output_mode": "files_with_matches"}, "src/a.py", {}),
        ("Grep", {"output_mode": "count"}, "src/a.py:3:", {}),
        ("grep", {}, "No files found", {}),
        ("grep", {"path": "a.py"}, "No matches found", {}),
    ],
)
def test_a_search_reads_the_lines_it_shows(
    tool: str, arguments: dict[str, Any], output: str, expected: dict[str, Any]
) -> None:
    assert reads(tool, {"pattern": "x", **arguments}, output) == expected


def test_before_it_has_run_only_a_search_of_one_file_is_known_to_read_it() -> None:
    assert reads("grep", {"pattern": "x", "path": "src/a.py"}) == {"src/a.py": None}
    assert reads("Grep", {"pattern": "x", "path": "src/a.py", "output_mode": "content"}) == {"src/a.py": None}
    assert reads("Grep", {"pattern": "x", "path": "src/a.py"}) == {}
    assert reads("grep", {"pattern": "x", "path": "src"}) == {}


_KEYS = st.sampled_from(
    [
        "command",
        "cmd",
        "path",
        "file_path",
        "filePath",
        "paths",
        "offset",
        "limit",
        "view_range",
        "start_line",
        "end_line",
        "pattern",
        "output_mode",
        "action",
        "arguments",
        "name",
        "workdir",
        "is_input",
        "content",
    ]
)
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["a.py", "view", "1"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=5)
    ),
    max_leaves=12,
)
_TOOLS = st.sampled_from(
    ["Read", "read_many_files", "Grep", "Bash", "file_editor", "view", "tool_call", "exec"]
)
_OUTPUTS = st.sampled_from(["", "1: x\n2: y", "a.py:3:x", "File: a\nL2: x", "Showing lines 1-2 of 3"])


@given(
    tool=_TOOLS | st.text(max_size=10),
    arguments=st.dictionaries(_KEYS, _JSON, max_size=6) | st.text(max_size=60),
    output=st.none() | st.text(max_size=60) | _OUTPUTS,
)
def test_no_call_and_no_output_is_too_strange(tool: str, arguments: Any, output: str | None) -> None:
    for touch in action_touches(tool, arguments, output=output):
        assert touch.path
        assert not touch.path.startswith(("/", "../"))
        assert touch.lines is None or all(1 <= lines.start <= lines.end < 2**31 for lines in touch.lines)


@pytest.mark.parametrize(
    "piece",
    [
        "```\n",
        "{",
        '{"a":',
        "a/",
        "a-1-",
        "-1-1",
        "1: x\n",
        "a:1:x\n",
        "File: a\nL1: x\n",
        "a@b:",
        "<path>",
        "\n",
        " ",
        "<system-reminder></system-reminder>\n",
        'tools.exec_command({cmd: "',
        "cmd: `",
        "[Python Interpreter: ",
    ],
)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        start = time.thread_time()
        read_observation(text)
        calls: list[tuple[str, Any]] = [
            ("Read", {"file_path": "a.py"}),
            ("grep", {"pattern": "x", "path": "src"}),
            ("bash", {"command": "grep -rn x ."}),
            ("exec", text),
            ("read", {"path": text}),
        ]
        for tool, arguments in calls:
            action_touches(tool, arguments, output=text)
        return time.thread_time() - start

    assert seconds(200_000) < 10 * max(seconds(50_000), 0.05)


def test_half_a_character_spoils_only_its_own_word() -> None:
    assert reads("bash", {"command": "cat a.py b\ud800"}) == {"a.py": None}
    assert reads("bash", {"command": "cat a\udcff.py"}) == {"a\udcff.py": None}
    assert reads("Read", {"file_path": "a\ud800.py"}, "1\t\ud800").keys() == {"a\ud800.py"}


def test_a_hostile_command_is_given_up() -> None:
    start = time.thread_time()
    assert reads("bash", {"command": "<system-reminder></system-reminder>\n" * 5000}) == {}
    assert time.thread_time() - start < 10
    assert reads("bash", {"command": "cat a.py"}) == {"a.py": None}
    long = "cat > b <<'EOF'\n" + "x\n" * 10_000 + "EOF\ncat a.py"
    assert reads("bash", {"command": long}) == {"a.py": None}
