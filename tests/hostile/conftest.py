from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourhands.workspace.store import ObjectStore

LINES = [f"line {n}\n" for n in range(1, 21)]
FILES = {
    "shop.txt": "".join(LINES).encode(),
    "old.txt": b"one\ntwo\nthree\n",
    "gone.txt": b"to be deleted\n",
    "run.sh": b"#!/bin/sh\n",
    "data.bin": b"\0\1\2",
    "dir/inner.txt": b"inner\n",
}


@dataclass(frozen=True)
class Base:
    """A repository of two commits, and its files in a store."""

    repository: Path
    objects: Path
    tree: str


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=base", "-c", "user.email=base@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def imported(repository: Path, place: Path) -> Base:
    return Base(repository, place, ObjectStore(place).import_directory(repository))


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
