"""Contents of many blobs at once."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from fourhands.workspace.git import GitError
from fourhands.workspace.store import ObjectStore

__all__ = ["read_blobs"]

_FEW: Final = 8
"""Up to so many, most are small files of our own: reading them costs less than one git."""


def read_blobs(store: ObjectStore, names: Collection[str]) -> Mapping[str, bytes]:
    """The contents of the blobs ``names``, by name.

    Raises:
        GitError: there is none of that name.
    """
    if len(names) <= _FEW:
        return {name: store.get_blob(name) for name in names}
    asked = "".join(f"{name}\n" for name in names).encode()
    answer = store.git("cat-file", "--batch", stdin=asked).stdout
    found: dict[str, bytes] = {}
    at = 0
    for name in names:
        end = answer.index(b"\n", at)
        kind, _, size = answer[at:end].rpartition(b" ")
        if not size.isdigit():
            raise GitError(["cat-file", "--batch"], 0, f"{name} is not in {store.path}")
        assert kind.endswith(b"blob"), kind
        found[name] = answer[end + 1 : end + 1 + int(size)]
        at = end + 1 + int(size) + 1
    return found
