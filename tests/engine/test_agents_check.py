"""``fourhands agents check``: of real agents, of the documented example, and of what is not as it must be."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourhands.engine.agents.checking.installed import find_installed
from fourhands.engine.agents.registry import AGENTS

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[2] / "docs" / "agents.md"
ALWAYS = ("mini-swe-agent", "claude-code", "codex")
"""Installed if they are not here: a registry that does not bring them is a failure."""
OTHERS = ("opencode", "qwen-code", "pi", "openhands-sdk", "terminus-2", "thin")
EVERYTHING = [
    *("installed", "runs", "wire", "touched", "spoken to", "sub-agent", "asks", "counted", "changed file"),
    "secrets",
]
WITH_TOY = """
import sys
from pathlib import Path
from fourhands.cli.main import main
from fourhands.engine import agents
from fourhands.engine.agents import registry

folder = Path(sys.argv.pop(1))
agents.__path__.append(str(folder))
names = {**vars(registry), "__file__": str(folder / "registry.py")}
registry.AGENTS |= eval("{" + (folder / "entry").read_text() + "}", names)
main()
"""

Found = dict[str, dict[str, Any]]


def check(*command: str | Path) -> tuple[int, dict[str, Found]]:
    """Exit code, and by agent and aspect what was found; runs that are kept go with the test's folder."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TMPDIR": folder}
        done = subprocess.run([*command, "--json"], env=env, capture_output=True, text=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    sys.stderr.write(done.stderr)  # shown when the test fails
    agents = json.loads(done.stdout)["agents"]
    return done.returncode, {
        each["name"]: {finding["what"]: finding for finding in each["findings"]} for each in agents
    }


def check_agents(*names: str) -> dict[str, Found]:
    """All that was found, when all is as it must be."""
    code, found = check(Path(sys.executable).with_name("fourhands"), "agents", "check", *names)
    failed = [
        f"{name}: {each}" for name, aspects in found.items() for each in aspects.values() if not each["ok"]
    ]
    assert (code, failed) == (0, [])
    assert [list(aspects) for aspects in found.values()] == [EVERYTHING] * len(names)
    return found


def test_mini_swe_agent_claude_code_and_codex_are_touched_spoken_to_ask_end_and_are_counted() -> None:
    found = check_agents(*ALWAYS)
    seen = {name: {what: each["seen"] for what, each in aspects.items()} for name, aspects in found.items()}
    assert [seen[name]["wire"].partition(":")[0] for name in ALWAYS] == ["chat", "messages", "responses"]
    assert "by Read and one by Bash" in seen["claude-code"]["touched"]
    assert "by exec_command" in seen["codex"]["touched"]
    for name in ALWAYS:
        assert seen[name]["spoken to"].endswith("behind two parallel calls")
    assert seen["claude-code"]["sub-agent"].startswith("Agent: the edit came in its thread")
    assert seen["codex"]["sub-agent"].startswith("spawn_agent: the edit came in its thread")
    assert seen["claude-code"]["asks"].startswith("mcp__user__ask_the_user")
    assert seen["mini-swe-agent"]["asks"].startswith("the command ask-the-user")
    for name in ("claude-code", "codex"):
        assert seen[name]["counted"].endswith("as it reports itself")
    assert "Edit applies, and says so" in seen["claude-code"]["changed file"]


@pytest.mark.parametrize("name", OTHERS)
def test_the_other_agents_do_too(name: str) -> None:
    if os.environ.get("FOURHANDS_ALL_AGENTS") != "1" and find_installed(AGENTS[name]) is None:
        pytest.skip(f"{name} is not installed; FOURHANDS_ALL_AGENTS=1 installs it")
    check_agents(name)


def test_the_documented_table_holds_every_agent_and_no_failure() -> None:
    text = DOCS.read_text()
    table = text.partition("<!-- agents check: begin -->\n")[2].partition("<!-- agents check: end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert [row[0] for row in rows[2:]] == [f"{name} {entry.version}" for name, entry in AGENTS.items()]
    assert [row[2] for row in rows[2:]] == [entry.wire for entry in AGENTS.values()]
    assert all(cell and "failed" not in cell for row in rows for cell in row)


CheckToy = Callable[[Sequence[tuple[str, str]]], Found]


@pytest.fixture
def check_toy(tmp_path: Path) -> CheckToy:
    """The example of docs/agents.md, after some replacements, checked."""

    def work(replaced: Sequence[tuple[str, str]]) -> Found:
        program, entry = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
        for old, new in replaced:
            assert (old in program) + (old in entry) == 1
            program, entry = program.replace(old, new), entry.replace(old, new)
        (tmp_path / "toy.py").write_text(program)
        (tmp_path / "entry").write_text(entry)
        code, found = check(sys.executable, "-c", WITH_TOY, tmp_path, "agents", "check", "toy")
        assert code == int(not all(each["ok"] for each in found["toy"].values()))
        return found["toy"]

    return work


def test_the_documented_example_of_an_agent_is_whole(check_toy: CheckToy) -> None:
    found = check_toy([])
    assert [each for each in found.values() if not each["ok"]] == []
    assert list(found) == EVERYTHING


HISTORY = '"messages": messages,'
AS_RESULT = '"tool_call_id": call["id"], "content": done.stdout'


@pytest.mark.parametrize(
    ("replaced", "failed", "seen", "remedy"),
    [
        pytest.param(
            [("asks_by_command=True", "")],
            "asks",
            "no tool ask_the_user",
            "names the server",
            id="does not ask",
        ),
        pytest.param(
            [("while True:", "print(HEADERS)\nwhile True:")],
            "secrets",
            "agent/toy.log",
            "hand it over in a variable",
            id="logs the token",
        ),
        pytest.param(
            [("while True:", "sys.exit('no licence')\nwhile True:")],
            "runs",
            "invalid",
            "its log ends: no licence",
            id="does not start",
        ),
        pytest.param(
            [(AS_RESULT, AS_RESULT.replace("done.stdout", "'It ran.'"))],
            "touched",
            "the model was not shown the user's line",
            "fourhands/touch",
            id="shows its model nothing",
        ),
        pytest.param(
            [(HISTORY, '"messages": messages[:1] + messages[3:] if len(messages) > 4 else messages,')],
            "spoken to",
            "and not once at one place",
            "shortens its history",
            id="forgets",
        ),
        pytest.param(
            [("install=_nothing,", 'install=_nothing, wire="messages",')],
            "wire",
            "chat",
            "its registry entry says messages",
            id="speaks another API",
        ),
        pytest.param(
            [
                (
                    AS_RESULT,
                    AS_RESULT.replace(
                        "done.stdout", "done.stdout or 'Done. The file had been modified since you read it.'"
                    ),
                )
            ],
            "changed file",
            "which nobody knows of",
            "add the words to announcements",
            id="announces in new words",
        ),
        pytest.param(
            [("toy:Toy", "toy:Tool")],
            "runs",
            "not begun",
            "write MODULE:CLASS",
            id="names no class of its file",
        ),
    ],
)
def test_what_is_not_as_it_must_be_is_found(
    replaced: list[tuple[str, str]], failed: str, seen: str, remedy: str, check_toy: CheckToy
) -> None:
    finding = check_toy(replaced)[failed]
    assert not finding["ok"]
    assert seen in finding["seen"]
    assert remedy in finding["remedy"]
