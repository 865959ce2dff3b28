from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.touch.actions import action_touches
from fourhands.touch.testing import runs_tests
from fourhands.touch.text_actions import TEXT_TOOL, TextAction, text_actions

HEAD = '{"analysis": "a", "plan": "p", "commands": '


def command(text: str) -> str | None:
    actions = text_actions(text)
    assert len(actions) <= 1
    return actions[0].arguments["command"] if actions else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THOUGHT: look\n\n```bash\ncat a.py\n```", "cat a.py"),
        ("```mswea_bash_command\ncat a.py\n```\n", "cat a.py"),
        ("```bash \r\ncat a.py\n```\r\n", "cat a.py"),
        ("```python\nx\n```\n```bash\ncat > f <<'EOF'\nx\nEOF\n```", "cat > f <<'EOF'\nx\nEOF"),
        ("Look.\n\n```\nls\n```\nThen:\n```\nopen a.py 3\n```", "open a.py 3"),
        ("```\nx\n```\n```sh\nls\n```", "ls"),
        # More than the one block that mini-swe-agent allows, or none that is whole: it runs nothing.
        ("```bash\nls\n```\n```bash\npwd\n```", None),
        ("```bash\nls", None),
        ("```python\nls\n```", None),
        ("", None),
        ("cat a.py", None),
    ],
)
def test_a_fenced_block_is_a_command(text: str, expected: str | None) -> None:
    assert command(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + '[{"keystrokes": "cat a.py\\n", "duration": 0.1}]}', "cat a.py\n"),
        (
            HEAD + '[{"keystrokes": "cd src\\n"}, {"keystrokes": "cat a.py\\n"}], "task_complete": true}',
            "cd src\ncat a.py\n",
        ),
        (HEAD + '[{"keystrokes": "cat a.py"}, {"keystrokes": "Enter"}]}', "cat a.py\n"),
        (HEAD + '[{"keystrokes": "C-c"}, {"keystrokes": "ls\\nca"}]}', "ls\n"),
        (HEAD + '[{"keystrokes": ""}]}', ""),
        ("Sure {as said}:\n```json\n" + HEAD + '[{"keystrokes": "ls\\n"}]}\n```\nSo.', "ls\n"),
        (HEAD + '[{"keystrokes": "ls\\n"}]', "ls\n"),
        ("{}" + HEAD + '[{"keystrokes": "ls\\n"}]}', "ls\n"),
        # What terminus-2 refuses it does not type, not even in part.
        (HEAD + "[]}", None),
        (HEAD + '"ls"}', None),
        (HEAD + '[{"keystrokes": "ls\\n"}, {"keys": "pwd\\n"}]}', None),
        (HEAD + '[{"keystrokes": 3}]}', None),
        ('{"commands": [{"keystrokes": "ls\\n"}]}', None),
        (('<response>\n<analysis>a < b</analysis>\n<commands>\n<keystrokes duration="0.1">cd src\n</keystrokes>\n'
         "<keystrokes>cat < a.py && ls\n</keystrokes>\n</commands>\n</response>"), "cd src\ncat < a.py && ls\n"),
        ("<response><commands><keystrokes>ls\n</keystrokes></commands>", "ls\n"),
        ("<response><commands></commands><task_complete>true</task_complete></response>", None),
        ("<response><commands><keystrokes>ls\n</commands></response>", None),
    ],
)  # fmt: skip
def test_keystrokes_are_what_a_shell_is_given(text: str, expected: str | None) -> None:
    assert command(text) == expected


def test_a_reply_touches_as_a_call_would() -> None:
    reply = HEAD + '[{"keystrokes": "cd src\\n"}, {"keystrokes": "sed -n 1,5p a.py; pytest\\n"}]}'
    (action,) = text_actions(reply)
    assert isinstance(action, TextAction)
    (touch,) = action_touches(TEXT_TOOL, reply)
    assert (touch,) == action_touches(action.tool, action.arguments)
    assert (touch.path, [(lines.start, lines.end) for lines in touch.lines or ()]) == ("src/a.py", [(1, 5)])
    assert action_touches("apply_patch", reply) == ()
    assert runs_tests(TEXT_TOOL, reply)
    assert action_touches(TEXT_TOOL, "```bash\ngrep -rn x .\n```", output="a.py:3:x")[0].path == "a.py"


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_lines_that_are_typed_arrive(lines: list[str]) -> None:
    typed = [f"echo {line}\n" for line in lines]
    reply = json.dumps({"analysis": "{", "plan": "}", "commands": [{"keystrokes": keys} for keys in typed]})
    assert command(f"So: {reply} {{") == "".join(typed)


_PIECES = st.sampled_from([
    "```", "```bash\n", "\n", "{", "}", '"commands"', HEAD, '[{"keystrokes": "ls\\n"}]', "<response>", "<commands>",
    "<keystrokes>", "</keystrokes>", "</commands>", "</response>", "ls\n", "\ud800", "[", '"',
])  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=5), max_size=15).map("".join))
def test_no_reply_is_too_strange(text: str) -> None:
    command(text)


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "```\n",
        "```bash\n",
        "{",
        "}",
        '{"commands"',
        '{"a":',
        "[",
        "<keystrokes>",
        "<keystrokes",
        "<response>",
        "9",
    ],
)
def test_a_hostile_reply_of_a_megabyte_is_read_at_once(piece: str) -> None:
    text = (piece * 1_000_000)[:1_000_000]
    start = time.thread_time()
    for prefix in ("", '{"commands":', "<response><commands>"):
        command(prefix + text)
    assert time.thread_time() - start < 3
