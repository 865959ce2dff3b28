"""Secrets taken out of files that others have written: agents' logs, and Harbor's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["scrub"]


def scrub(folder: Path, secrets: Sequence[str]) -> None:
    """Overwrite each of ``secrets`` in all files below ``folder``, which may be absent.

    As many bytes stand there afterwards, so that a database that an agent keeps can still be read.
    """
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file():
            continue
        before = data = path.read_bytes()
        for secret in secrets:
            data = data.replace(secret.encode(), b"*" * len(secret.encode()))
        if data != before:
            path.write_bytes(data)
