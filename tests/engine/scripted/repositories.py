"""Small repositories, with real git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

Files = Mapping[str, str]
Lay = Callable[[Files], Path]


def git(folder: Path, *arguments: str) -> bytes:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True).stdout


def shell(folder: Path, command: str) -> str:
    """Run ``command`` as an agent's tool does, in the plainest of shells."""
    done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, capture_output=True, check=False)
    return done.stdout.decode()


def write(folder: Path, files: Files) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def read(folder: Path) -> dict[str, str]:
    names = git(folder, "ls-files", "-z", "--cached", "--others").decode().split("\0")
    return {name: (folder / name).read_text() for name in names if name and (folder / name).exists()}


def patch_to(folder: Path, files: Files) -> bytes:
    """The patch from the last commit to ``files``, all of them; the folder is as before."""
    git(folder, "rm", "-q", "-r", ".")
    write(folder, files)
    git(folder, "add", "--all")
    patch = git(folder, "diff", "--cached", "--full-index", "--binary", "HEAD")
    git(folder, "reset", "-q", "--hard")
    return patch
