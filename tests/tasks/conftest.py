from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from textwrap import dedent

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.repository import base_repository

MakeTask = Callable[..., Path]
Enter = Callable[[Task], AbstractAsyncContextManager[LocalSandbox]]

BASE = {
    "calc.py": "def double(n):\n    return n + n + 1\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": dedent("""
        import unittest
        import calc

        class Calc(unittest.TestCase):
            def test_zero(self):
                self.assertEqual(calc.double(0) - calc.double(0), 0)
        """),
}
HIDDEN = dedent("""
    import unittest
    import calc

    class Calc(unittest.TestCase):
        def test_zero(self):
            self.assertEqual(calc.double(0) - calc.double(0), 0)

        def test_double(self):
            self.assertEqual(calc.double(2), 4)
    """)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and no data, for each test."""
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FOURHANDS_DATA", raising=False)
    return tmp_path / "cache"


def run_git(folder: Path, *arguments: str) -> bytes:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True).stdout


def lay(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """``make_task(base=…, hidden=…, runner=…)`` writes a small task folder in the format of the bundled ones."""

    def make(
        *,
        base: Mapping[str, str] = BASE,
        hidden: str = HIDDEN,
        runner: str = "unittest",
        arguments: Sequence[str] = ("tests.test_calc",),
        fail_to_pass: Sequence[str] = ("test_double (tests.test_calc.Calc)",),
        pass_to_pass: Sequence[str] = ("test_zero (tests.test_calc.Calc)",),
        excluded: Mapping[str, str] | None = None,
        timeout: float = 60,
    ) -> Path:
        source, folder = tmp_path / "source", tmp_path / "task"
        lay(source, base)
        run_git(source, "init", "-q")
        run_git(source, "add", "-A")
        run_git(source, "commit", "-qm", "Start", "--date=2021-01-01T00:00:00Z")
        series = folder / "environment" / "history"
        run_git(source, "format-patch", "-q", "--root", "-o", str(series), "HEAD")
        lay(source, {"tests/test_calc.py": hidden})
        test_patch = run_git(source, "diff")
        run_git(source, "checkout", "-q", ".")
        lay(source, {"calc.py": "def double(n):\n    return n + n\n"})
        reference = run_git(source, "diff")
        tests = {"fail_to_pass": fail_to_pass, "pass_to_pass": pass_to_pass, "excluded": excluded or {}}
        task_toml = f"""
            schema_version = "1.4"
            [task]
            name = "fourhands/toy"
            [environment]
            workdir = "/testbed"
            [metadata.fourhands]
            schema = 1
            title = "A toy"
            repository = "history"
            python = ">=3.12"
            licence = "MIT"
            [metadata.fourhands.env]
            PYTHONPATH = "$SRC"
            [metadata.fourhands.verifier]
            runner = "{runner}"
            arguments = {json.dumps(list(arguments))}
            timeout_sec = {timeout}
            """
        texts = {
            "task.toml": dedent(task_toml),
            "instruction.md": "double(2) is 5.\n",
            "tests/tests.json": json.dumps(tests),
            "tests/test.patch": test_patch.decode(),
            "solution/reference.patch": reference.decode(),
        }
        lay(folder, texts)
        return folder

    return make


@pytest.fixture
def task(make_task: MakeTask) -> Task:
    return load_task(make_task())


@pytest.fixture
def enter(tmp_path: Path) -> Enter:
    """A sandbox with the task's base, under the interpreter that runs these tests."""

    def start(task: Task) -> LocalSandbox:
        path = f"{sys.prefix}/bin{os.pathsep}{os.defpath}"
        spec = SandboxSpec(base_repository(task), (Path(sys.prefix),), {**task.env, "PATH": path})
        return LocalSandbox(spec, tmp_path / "sandboxes")

    return start
