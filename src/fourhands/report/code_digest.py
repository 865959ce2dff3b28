"""A digest of our own code: what was kept of an earlier run of other code is not as good as new."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["code_digest"]


@cache
def code_digest(*packages: str) -> str:
    """Of all Python files of these packages below ``fourhands``, as hexadecimal digits."""
    found = hashlib.sha256()

    def take(folder: Traversable) -> None:
        for path in sorted(folder.iterdir(), key=lambda each: each.name):
            if path.name.endswith(".py"):
                found.update(path.name.encode() + path.read_bytes())
            elif path.is_dir() and path.name != "__pycache__":
                take(path)

    for package in packages:
        take(files("fourhands").joinpath(package))
    return found.hexdigest()
