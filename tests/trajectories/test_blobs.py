from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

import pytest

from fourhands.trajectories.blobs import BlobStore


@pytest.mark.parametrize("size", [0, 1, 100, 8191, 8192, 8193, 300_000])
def test_a_payload_of_any_size_is_read_back_by_us_and_by_any_zlib(tmp_path: Path, size: int) -> None:
    data = (b"".join(hashlib.sha256(bytes([n % 251])).digest() for n in range(size // 32 + 1)))[:size]
    digest = BlobStore(tmp_path).put(data)
    assert digest == hashlib.sha256(data).hexdigest()
    assert BlobStore(tmp_path).get(digest) == data
    assert zlib.decompress((tmp_path / digest[:2] / digest[2:]).read_bytes()) == data


def test_text_becomes_smaller_small_or_large(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    for repeats in (20, 2000):
        data = b"result = compute(value, weight)\n" * repeats
        digest = blobs.put(data)
        assert (tmp_path / digest[:2] / digest[2:]).stat().st_size < len(data) / 5


def test_what_is_stored_already_is_left_alone(tmp_path: Path) -> None:
    digest = BlobStore(tmp_path).put(b"once")
    path = tmp_path / digest[:2] / digest[2:]
    before = path.stat()
    assert BlobStore(tmp_path).put(b"once") == digest
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_secrets_come_into_no_blob(tmp_path: Path) -> None:
    store = BlobStore(tmp_path, hide=[b"s3cr3t", b"the-key"])
    digest = store.put(b"a s3cr3t, the-key, and a s3cr3t again")
    assert store.get(digest) == b"a (secret), (secret), and a (secret) again"
    assert digest == BlobStore(tmp_path / "other").put(store.get(digest))
