"""Copies of a bundled task with a canary in everything that the agent must not see."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fourhands.tasks.find import bundled_tasks

SOURCE = "ledger-rounding"


def canary(kind: str) -> str:
    """A string that stands in one place of the world alone; ``attacks/look.py`` knows the pattern."""
    return f"kw7zq-{kind}-{secrets.token_hex(6)}"


@dataclass
class Hidden:
    """A copy of a bundled task, with a canary in everything that the agent must not see."""

    folder: Path
    reference: bytes
    instruction: str
    secrets: dict[str, str]
    mark: str

    @classmethod
    def make(cls, root: Path) -> Hidden:
        names = (
            "task",
            "tests",
            "ids",
            "runner",
            "reference",
            "solver",
            "edit",
            "claim",
            "playbook",
            "dockerfile",
        )
        marks = {name: canary(name) for name in names}
        instruction = canary("instruction")
        folder = root / marks["task"]
        shutil.copytree(bundled_tasks()[SOURCE], folder)
        reference = (folder / "solution" / "reference.patch").read_bytes()
        name, hidden = marks["task"], marks["tests"]
        ids = json.loads((folder / "tests" / "tests.json").read_text())
        ids["excluded"] = {f"tests/test_journal.py::{marks['ids']}": "it is there to be looked for"}
        record = (folder / "user" / "record.json").read_text()
        record = record.replace("Nobody is charged", f"{marks['edit']} Nobody is charged")
        record = record.replace("I made allocate", f"{marks['claim']} I made allocate")
        prepend(folder / "task.toml", f"# {name}\n", {f"fourhands/{SOURCE}": f"fourhands/{name}"})
        prepend(folder / "instruction.md", "", {"# Splitting": f"# {instruction}\n\n# Splitting"})
        prepend(folder / "tests" / "test.patch", new_file(f"tests/test_{hidden}.py", f"# {hidden}"))
        (folder / "tests" / "tests.json").write_text(json.dumps(ids))
        append(folder / "tests" / "test.sh", f"# {marks['runner']}\n")
        prepend(folder / "solution" / "reference.patch", f"{marks['reference']}\n")
        append(folder / "solution" / "solve.sh", f"# {marks['solver']}\n")
        (folder / "user" / "record.json").write_text(record)
        append(folder / "user" / "playbook.toml", f"# {marks['playbook']}\n")
        append(folder / "environment" / "Dockerfile", f"# {marks['dockerfile']}\n")
        return cls(folder, reference, instruction, marks, canary("planted"))


def prepend(path: Path, text: str, replaced: Mapping[str, str] | None = None) -> None:
    content = path.read_text()
    for old, new in (replaced or {}).items():
        assert old in content
        content = content.replace(old, new)
    path.write_text(text + content)


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def new_file(name: str, line: str) -> str:
    head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
    return f"{head}@@ -0,0 +1 @@\n+{line}\n"
