"""Large payloads of a trial: content-addressed, compressed, written once."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["HIDDEN", "BlobStore", "hidden"]

HIDDEN: Final = b"(secret)"
"""What stands in the place of a secret."""
_SMALL: Final = 1 << 13


class BlobStore:
    """Blobs by SHA-256 below ``root``, as ``ab/cdef…``, zlib-compressed.

    A blob is written beside its place and renamed into it, so a crash leaves no half blob under a hash. ``hide`` are
    secrets that are never written: what holds one is stored with ``(secret)`` in its place.
    """

    def __init__(self, root: Path, *, hide: Sequence[bytes] = ()) -> None:
        self.hide = tuple(hide)
        self._prefix = f"{os.fspath(root)}/"
        self._known: set[str] = (
            set()
        )  # a history is stored again with every request: do not look on disk again

    def put(self, data: bytes) -> str:
        """Store ``data`` and return its hash; storing it again costs a look."""
        data = hidden(data, self.hide)
        digest = hashlib.sha256(data).hexdigest()
        if digest in self._known:
            return digest
        folder = f"{self._prefix}{digest[:2]}"
        if not os.path.exists(f"{folder}/{digest[2:]}"):  # noqa: PTH110 - pathlib takes as long as the disk
            self._write(folder, digest[2:], _compressed(data))
        self._known.add(digest)
        return digest

    @staticmethod
    def _write(folder: str, name: str, data: bytes) -> None:
        temporary = f"{folder}/.{name}.{os.getpid()}.{id(data):x}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        try:
            handle = os.open(temporary, flags, 0o666)
        except FileNotFoundError:
            os.makedirs(folder, exist_ok=True)  # noqa: PTH103
            handle = os.open(temporary, flags, 0o666)
        try:
            rest = memoryview(data)
            while rest:  # a disk that is almost full takes a part
                rest = rest[os.write(handle, rest) :]
        finally:
            os.close(handle)
        os.replace(temporary, f"{folder}/{name}")  # noqa: PTH105

    def get(self, digest: str) -> bytes:
        """Return what was stored.

        Raises:
            FileNotFoundError: no such blob.
        """
        with open(f"{self._prefix}{digest[:2]}/{digest[2:]}", "rb") as file:  # noqa: PTH123
            return zlib.decompress(file.read())


def hidden(data: bytes, secrets: Sequence[bytes]) -> bytes:
    """``data`` with `HIDDEN` in the place of each of ``secrets``."""
    for secret in secrets:
        if secret in data:
            data = data.replace(secret, HIDDEN)
    return data


def _compressed(data: bytes) -> bytes:
    if len(data) > _SMALL:
        return zlib.compress(data, 1)
    # A window no larger than the payload: to set up the usual one takes ten times as long as all the rest.
    packer = zlib.compressobj(1, wbits=13, memLevel=6)
    return packer.compress(data) + packer.flush()
