"""Many objects as one git pack: a single file to write where loose objects would be thousands."""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable
from typing import Final

__all__ = ["build_pack"]

_KINDS: Final = {b"tree": 2, b"blob": 3}
_SIZE_BITS_FIRST, _SIZE_BITS = 4, 7


def build_pack(objects: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A version 2 pack of ``(kind, content)``, kinds ``tree`` and ``blob``, equal objects once, no deltas."""
    parts = [_entry(kind, data) for kind, data in dict.fromkeys(objects)]
    body = b"PACK" + struct.pack(">II", 2, len(parts)) + b"".join(parts)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


def _entry(kind: bytes, data: bytes) -> bytes:
    size = len(data)
    header = bytearray([_KINDS[kind] << _SIZE_BITS_FIRST | size & 0x0F])
    size >>= _SIZE_BITS_FIRST
    while size:
        header[-1] |= 0x80
        header.append(size & 0x7F)
        size >>= _SIZE_BITS
    return bytes(header) + zlib.compress(data, 1)
