"""Payloads are only read: nothing is made, and no name leads out of their place."""

from __future__ import annotations

from pathlib import Path

from fourhands.report.story import Contents
from fourhands.report.story.payloads import AttemptPayloads
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.store import ObjectStore


def test_no_repository_is_made_to_look_for_contents(tmp_path: Path) -> None:
    payloads = AttemptPayloads(Attempt(tmp_path / "attempt-1"))
    assert payloads.contents(["0" * 40]) == {}
    assert payloads.blob("0" * 64) is None
    assert list(tmp_path.iterdir()) == []


def test_no_name_leads_out_of_the_attempt(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    payloads = AttemptPayloads(Attempt(tmp_path / "attempt-1"))
    assert payloads.blob("../" * 20 + "secret") is None
    assert payloads.blob(None) is None
    assert payloads.contents(["../../../secret", "--help", ""]) == {}


def test_contents_come_from_loose_objects_packs_and_the_store_below(tmp_path: Path) -> None:
    base = ObjectStore(tmp_path / "base.git")
    packed = base.put_blobs([b"packed %d" % number for number in range(100)])
    attempt = Attempt(tmp_path / "attempt-1")
    store = ObjectStore(attempt.objects_path, base=base.path)
    loose = store.put_blob(b"loose")
    tree = store.import_directory(tmp_path / "base.git" / "refs")
    asked = [loose, packed[7], packed[93], "0" * 40, tree]
    found = AttemptPayloads(attempt).contents(asked)
    assert found == {loose: b"loose", packed[7]: b"packed 7", packed[93]: b"packed 93"}


def test_a_spoiled_content_does_not_take_the_others_along(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path / "attempt-1")
    store = ObjectStore(attempt.objects_path)
    good, spoiled = store.put_blob(b"good"), store.put_blob(b"spoiled")
    packed = store.put_blobs([b"packed %d" % number for number in range(100)])
    (attempt.objects_path / "objects" / spoiled[:2] / spoiled[2:]).write_bytes(b"not zlib")
    found = AttemptPayloads(attempt).contents([good, spoiled, packed[0]])
    assert found == {good: b"good", packed[0]: b"packed 0"}


def test_the_shared_contents_are_bounded() -> None:
    shared = Contents(most_bytes=10)
    shared.put("a", b"123456")
    shared.put("b", b"123456")
    shared.put("c", b"12345678901")
    assert (shared.get("a"), shared.get("b"), shared.get("c")) == (None, b"123456", None)
