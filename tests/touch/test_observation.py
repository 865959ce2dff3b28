from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.engine.agents import thin_program
from fourhands.touch.observation import Observation, read_observation


@pytest.mark.parametrize(
    ("text", "output", "code"),
    [
        # mini-swe-agent, now and in its older template.
        ('{"returncode": 1, "output": "x\\n"}', "x\n", 1),
        ('{"returncode": 0, "output_head": "x", "output_tail": "y", "elided_chars": 9}', "x\ny", 0),
        ("<returncode>0</returncode>\n<output>\nx\n</output>", "x\n", 0),
        (
            (
                "<returncode>-1</returncode>\n<warning>\nlong\n</warning><output_head>\nx\n</output_head>\n"
                "<elided_chars>\n9\n</elided_chars>\n<output_tail>\ny\n</output_tail>"
            ),
            "x\n\ny\n",
            -1,
        ),
        # Codex, in its three forms.
        ('{"output": "x\\n", "metadata": {"exit_code": 2, "duration_seconds": 0.1}}', "x\n", 2),
        ('{"output": "Total output lines: 900\\n\\nx", "metadata": {"exit_code": 0}}', "x", 0),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx\n", "x\n", 1),
        ("Exit code: 0\nWall time: 0.1 seconds\nTotal output lines: 900\nOutput:\n\nx", "\nx", 0),
        (
            (
                "Chunk ID: 2bc93f\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 17\n"
                "Output:\nOutput:\nx"
            ),
            "Output:\nx",
            0,
        ),
        ("Chunk ID: a\nWall time: 1 seconds\nProcess running with session ID 7\nOutput:\nx", "x", None),
        ("Script completed\nWall time 0.1 seconds\nOutput:\nx", "x", None),
        # OpenHands, now and before.
        (
            (
                "x\n[The command completed with exit code 0.]\n[Current working directory: /testbed]\n"
                "[Python interpreter: /usr/bin/python]\n[Command finished with exit code 0]"
            ),
            "x",
            0,
        ),
        ("\n[The command completed with exit code 3.]\n[Command finished with exit code 3]", "", 3),
        ("x\n[The command timed out after 30 seconds. You may wait longer.]", "x", None),
        (
            "x[Python Interpreter: /opt/bin/python]\nroot@box:/testbed # \n[Command finished with exit code 1]",
            "x",
            1,
        ),
        # Claude Code.
        ("Exit code 127\nbash: x: not found", "bash: x: not found", 127),
        ("x\n\n<system-reminder>\nThe file changed.\n</system-reminder>\n", "x", None),
        ("x\n<system-reminder>a</system-reminder>\n\n<system-reminder>b</system-reminder>", "x", None),
        ("<system-reminder>Warning: the file exists but is empty.</system-reminder>", "", None),
        ("     1\t<system-reminder></system-reminder>", "     1\t<system-reminder></system-reminder>", None),
        # Qwen Code and Gemini CLI.
        (
            (
                "Command: cat a\ncat b\nDirectory: (root)\nOutput: x\nError: y\nz\nError: (none)\nExit Code: 0\n"
                "Signal: (none)\nProcess Group PGID: 12"
            ),
            "x\nError: y\nz",
            0,
        ),
        (
            "Command: false\nDirectory: src\nOutput: (empty)\nError: (none)\nExit Code: 1\nSignal: (none)",
            "",
            1,
        ),
        ("Output: x\nExit Code: 2\nProcess Group PGID: 12", "x", 2),
        ("Output: x\nProcess Group PGID: 12", "x", None),
        # pi and OpenCode.
        ("x\n\nCommand exited with code 1", "x", 1),
        ("Command exited with code 1", "", 1),
        ("x\n\n<shell_metadata>\nTerminated after 9 ms.\n</shell_metadata>", "x", None),
        # terminus-2: the lines in which a prompt echoes a command are none of its output.
        (
            "New Terminal Output:\n\nagent@sandbox:/testbed$ cat a\nx\nagent@sandbox:/testbed$\n",
            "\nx\n",
            None,
        ),
        (
            "Previous response had warnings:\n- Extra text\n\nCurrent Terminal Screen:\n(venv) root@b:~# ls\nx@y:1",
            "x@y:1",
            None,
        ),
        (
            "Current terminal state:\nNew Terminal Output:\nbash-5.2$ ls\nx\n\nAre you sure?",
            "x\n\nAre you sure?",
            None,
        ),
    ],
)
def test_a_result_is_unwrapped(text: str, output: str, code: int | None) -> None:
    assert read_observation(text) == Observation(output, code)


@pytest.mark.parametrize(
    "text",
    [
        "", "x\n", "{", '{"a": 1}', "[1]", '{"returncode": "0"}', '{"returncode": true}', '{"output": "x"}',
        '{"output": 1, "metadata": {"exit_code": 0}}', "Exit code: 1", "Exit code 1 of x", "Output: x",
        "Command: x", "Command: x\nOutput: y", "Previous response had parsing errors:\nERROR: x",
        "[Command finished with exit code 0] and so on", "x\nNew Terminal Output:\ny", "</system-reminder>",
        "<system-reminder>x", "<system-reminder>x</system-reminder>\ny",
    ],
)  # fmt: skip
def test_text_in_no_known_wrapping_is_its_own_output(text: str) -> None:
    assert read_observation(text) == Observation(text)


@given(output=st.text(max_size=50), code=st.integers(-255, 255))
def test_what_the_thin_agent_shows_is_read_back(output: str, code: int) -> None:
    assert read_observation(thin_program.observation(code, output)) == Observation(output, code)


def test_the_middle_that_the_thin_agent_leaves_out_leaves_the_ends() -> None:
    shown = thin_program.observation(0, "a" * 20_000 + "b" * 20_000)
    assert len(json.loads(shown)["output_head"]) == len("a" * 8000)
    assert read_observation(shown) == Observation("a" * 8000 + "\n" + "b" * 8000, 0)


_PIECES = st.sampled_from([
    "{", '"output": ', "Exit code: 1\n", "Output:\n", "Command: x", "\nOutput: ", "\nError: ", "\nExit Code: 3",
    "<returncode>1</returncode>\n", "<output>", "</output>", "<system-reminder>", "</system-reminder>", "\n",
    "[Command finished with exit code 1]", "New Terminal Output:\n", "a@b:$ ", "Command exited with code 1", "\ud800",
])  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=5), max_size=12).map("".join))
def test_an_output_is_a_part_of_the_result(text: str) -> None:
    seen = read_observation(text)
    assert len(seen.output) <= len(text) or text.startswith("{")
    assert seen.code is None or str(seen.code) in text
