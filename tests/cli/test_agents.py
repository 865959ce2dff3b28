"""``fourhands agents`` as a user meets it; what a check finds is in tests/engine/test_agents_check.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourhands.engine.agents.registry import AGENTS

FOURHANDS = Path(sys.executable).with_name("fourhands")


def fourhands(cache: Path, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "FOURHANDS_CACHE": str(cache), "COLUMNS": "120"}
    return subprocess.run(
        [FOURHANDS, "agents", *arguments],
        env=env if path is None else {**env, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def listed(cache: Path) -> dict[str, dict[str, Any]]:
    done = fourhands(cache, "list", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    return {row["name"]: row for row in document["agents"]}


def test_a_list_tells_all_agents_and_builds_nothing(tmp_path: Path) -> None:
    rows = listed(tmp_path / "cache")
    assert list(rows) == list(AGENTS)
    assert not (tmp_path / "cache").exists()
    assert rows["claude-code"] == {
        "name": "claude-code",
        "version": AGENTS["claude-code"].version,
        "wire": "messages",
        "asks_by": "tool",
        "efforts": list(AGENTS["claude-code"].efforts),
        "megabytes": None,
        "needs": ["npm"],
    }
    assert (rows["mini-swe-agent"]["asks_by"], rows["thin"]["megabytes"]) == ("command", 0)
    assert (rows["terminus-2"]["megabytes"] is None) == (shutil.which("tmux") is None)


def test_a_list_for_people_names_them_in_full(tmp_path: Path) -> None:
    done = fourhands(tmp_path, "list")
    assert done.returncode == 0, done.stderr
    for name, entry in AGENTS.items():
        (line,) = [line for line in done.stdout.splitlines() if f" {name} " in line]
        assert entry.version in line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nobody"], "unknown agent 'nobody': choose from claude-code"),
        (["--all", "thin"], "leave out the names"),
    ],
)
def test_what_cannot_be_checked_is_said(arguments: list[str], says: str, tmp_path: Path) -> None:
    done = fourhands(tmp_path, "check", *arguments)
    assert done.returncode == 2
    assert says in done.stderr


def test_an_agent_that_cannot_be_installed_has_failed_and_the_remedy_is_named(tmp_path: Path) -> None:
    done = fourhands(tmp_path, "check", "pi", path=str(tmp_path))
    assert done.returncode == 1
    assert "failed  installed: not here" in done.stdout
    assert "npm is needed to install it" in done.stdout
    table = fourhands(tmp_path, "check", "pi", "--markdown", path=str(tmp_path))
    assert f"| pi {AGENTS['pi'].version} | **failed** | " in table.stdout
