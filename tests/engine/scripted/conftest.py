from __future__ import annotations

from pathlib import Path

import pytest

from .repositories import Files, Lay, git, write


@pytest.fixture
def lay(tmp_path: Path) -> Lay:
    """A repository with one commit of the given files."""

    def make(files: Files) -> Path:
        folder = tmp_path / "repository"
        folder.mkdir()
        git(folder, "init", "-q")
        write(folder, files)
        git(folder, "add", "--all")
        git(folder, "commit", "-q", "-m", "base")
        return folder

    return make
