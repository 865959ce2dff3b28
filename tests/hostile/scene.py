"""The repository that these tests spoil."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

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
