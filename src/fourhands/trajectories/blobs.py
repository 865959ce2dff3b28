"""Large payloads of a trial: content-addressed, compressed, written once."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

__all__ = ["BlobStore"]


class BlobStore:
    """Blobs by SHA-256 below ``root``, as ``ab/cdef…``, zlib-compressed.

    A blob is written beside its place and renamed into it, so a crash leaves no half blob under a hash.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: set[str] = (
            set()
        )  # a history is stored again with every request: do not look on disk again

    def put(self, data: bytes) -> str:
        """Store ``data`` and return its hash; storing it again costs a look."""
        digest = hashlib.sha256(data).hexdigest()
        if digest in self._known:
            return digest
        path = self._path(digest)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary = path.with_name(f".{path.name}.{os.getpid()}.{id(data):x}")
            temporary.write_bytes(zlib.compress(data, 1))
            temporary.replace(path)
        self._known.add(digest)
        return digest

    def get(self, digest: str) -> bytes:
        """Return what was stored.

        Raises:
            FileNotFoundError: no such blob.
        """
        return zlib.decompress(self._path(digest).read_bytes())

    def _path(self, digest: str) -> Path:
        return self._root / digest[:2] / digest[2:]
