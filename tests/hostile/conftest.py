from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.workspace.store import ObjectStore

from .scene import FILES, Base, git, imported


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    folder = tmp_path_factory.mktemp("base")
    repository = folder / "r"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    for number, names in enumerate((["shop.txt"], FILES)):
        for name in names:
            (repository / name).parent.mkdir(exist_ok=True)
            (repository / name).write_bytes(FILES[name])
        git(repository, "add", "-A")
        git(repository, "commit", "-q", "-m", f"commit {number}")
    return imported(repository, folder / "objects.git")


@pytest.fixture(scope="session")
def shallow(base: Base, tmp_path_factory: pytest.TempPathFactory) -> Base:
    folder = tmp_path_factory.mktemp("shallow")
    git(folder, "clone", "-q", "--depth", "1", base.repository.as_uri(), "r")
    return imported(folder / "r", folder / "objects.git")


@pytest.fixture
def store(base: Base, tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "objects.git", base=base.objects)
