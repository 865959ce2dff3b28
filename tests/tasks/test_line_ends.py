"""Line ends of Windows, names with umlauts and blanks: from the history to the tests, byte by byte."""

from __future__ import annotations

import pytest

from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.git import Base
from fourhands.tasks.repository import base_repository

WINDOWS = {
    *("src/küche/__init__.py", "src/küche/einkauf.py", "src/küche/maße.py", "src/küche/rezept.py"),
    *("tests/test_einkauf.py", "tests/test_maße.py", "tests/test_rezept.py"),
    "tests/Muster Rezepte/Käsespätzle.txt",
}


def has_windows_line_ends(content: bytes) -> bool:
    return content.count(b"\r\n") == content.count(b"\n") > 0


@pytest.fixture
def task() -> Task:
    return load_task(bundled_tasks()["recipe-fractions"])


def test_the_repository_is_built_with_the_bytes_of_its_history(task: Task) -> None:
    repository = base_repository(task)
    blobs = Base(repository).blobs()
    assert {path for path, blob in blobs.items() if has_windows_line_ends(blob.data)} == WINDOWS
    assert all((repository / path).read_bytes() == blob.data for path, blob in blobs.items())


def test_the_patches_of_the_task_apply_with_them(task: Task) -> None:
    base = Base(base_repository(task))
    tests, reference = base.patched(task.test_patch), base.patched(task.reference)
    assert reference.keys() == {"src/küche/maße.py"}
    assert tests.keys() == {
        *("tests/Muster Rezepte/Crêpes für 3.txt", "tests/test_maße.py", "tests/test_rezept.py")
    }
    assert all(blob and has_windows_line_ends(blob.data) for blob in (*tests.values(), *reference.values()))
