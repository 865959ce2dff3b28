"""The large payloads of an attempt: its blobs, and the contents of the files that changed; some may be gone."""

from __future__ import annotations

import re
import zlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final, Protocol

from fourhands.model.errors import FourhandsError
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.store import ObjectStore

__all__ = ["AttemptPayloads", "Contents", "Payloads"]

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_BLOB: Final = re.compile(r"[0-9a-f]{40}")
_SMALL: Final = 1 << 16


class Payloads(Protocol):
    """Where a story's texts come from. What is gone or spoiled is ``None``, or not in the answer: never an error."""

    def blob(self, digest: object) -> bytes | None:
        """A large payload, by its hash."""
        ...

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        """File contents by git's name of them."""
        ...


class Contents:
    """Contents of files that many trials share, for those come from packs: a task's base. Bounded; of one process."""

    def __init__(self, most_bytes: int = 64 << 20) -> None:
        self._most = most_bytes
        self._size = 0
        self._known: dict[str, bytes] = {}

    def get(self, name: str) -> bytes | None:
        """What was put there by this name, if it still is."""
        return self._known.get(name)

    def put(self, name: str, data: bytes) -> None:
        """Remember a content that is not too large by itself; the others are forgotten when they become too much."""
        if len(data) > self._most or name in self._known:
            return
        if self._size + len(data) > self._most:
            self._known.clear()
            self._size = 0
        self._known[name] = data
        self._size += len(data)


class AttemptPayloads:
    """Those of one attempt on disk, which is only read."""

    def __init__(self, attempt: Attempt, shared: Contents | None = None) -> None:
        self._blobs = attempt.blobs
        self._objects = attempt.objects_path
        self._loose_objects = f"{self._objects}/objects"
        self._shared = shared or Contents()
        self._small: dict[str, bytes] = {}  # agents do the same, and see the same, again and again

    def blob(self, digest: object) -> bytes | None:
        """See `Payloads`."""
        if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            return None
        data = self._small.get(digest)
        if data is None:
            try:
                data = self._blobs.get(digest)
            except (OSError, zlib.error):
                return None
            if len(data) <= _SMALL:
                self._small[digest] = data
        return data

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        """See `Payloads`. Loose objects are read as files; one git reads all others."""
        found: dict[str, bytes] = {}
        packed: list[str] = []
        for name in sorted(set(names)):
            if not _BLOB.fullmatch(name):
                continue
            data = self._shared.get(name)
            if data is None:
                try:
                    data = self._loose(name)
                except FileNotFoundError:
                    packed.append(name)
                except (OSError, zlib.error):  # spoiled; to ask git for it would lose all others
                    continue
            if data is not None:
                found[name] = data
        for name, data in _batch(self._objects, packed).items():
            self._shared.put(name, data)
            found[name] = data
        return found

    def _loose(self, name: str) -> bytes | None:
        with open(f"{self._loose_objects}/{name[:2]}/{name[2:]}", "rb") as file:  # noqa: PTH123 - there are many
            raw = zlib.decompress(file.read())
        kind, _, data = raw.partition(b"\0")
        return data if kind.startswith(b"blob ") else None


def _batch(path: Path, names: Iterable[str]) -> Mapping[str, bytes]:
    """What a store's packs, and those of the stores below it, hold of ``names``; nothing if it is no store."""
    asked = "".join(f"{name}\n" for name in names).encode()
    if not asked or not (path / "HEAD").exists():  # without it, to open the store would make one
        return {}
    try:
        answer = ObjectStore(path).git("cat-file", "--batch", stdin=asked).stdout
    except FourhandsError:  # there is no git, or the store is spoiled
        return {}
    found: dict[str, bytes] = {}
    at = 0
    while at < len(answer):
        end = answer.index(b"\n", at)
        name, kind, *size = answer[at:end].split(b" ")
        at = end + 1
        if size and size[0].isdigit():
            if kind == b"blob":
                found[name.decode()] = answer[at : at + int(size[0])]
            at += int(size[0]) + 1
    return found
