"""A secret is overwritten wherever others have written it, and nothing else is touched."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fourhands.engine.scrubbing import scrub

SECRET, OTHER = "s3cr3t-_token", "the-key"


def test_every_file_is_searched_and_keeps_its_length_and_mode(tmp_path: Path) -> None:
    logs = tmp_path / "jobs" / "agent"
    logs.mkdir(parents=True)
    (logs / "a.log").write_text(f"{SECRET} and {SECRET} and {OTHER}\n")
    (logs / "a.log").chmod(0o640)
    (logs / "b.bin").write_bytes(b"\xff\x00" + SECRET.encode() + b"\xfe")
    (logs / "c.log").write_text("nothing here")
    before = (logs / "c.log").stat().st_mtime_ns
    scrub(tmp_path, [SECRET, OTHER])
    assert (logs / "a.log").read_text() == f"{'*' * 13} and {'*' * 13} and {'*' * 7}\n"
    assert (logs / "a.log").stat().st_mode & 0o777 == 0o640
    assert (logs / "b.bin").read_bytes() == b"\xff\x00" + b"*" * 13 + b"\xfe"
    assert (logs / "c.log").stat().st_mtime_ns == before


def test_a_database_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "agent.db"
    with sqlite3.connect(path) as database:
        database.execute("create table said (text)")
        database.executemany("insert into said values (?)", [(f"{n}: {SECRET}",) for n in range(500)])
    database.close()
    scrub(tmp_path, [SECRET])
    with sqlite3.connect(path) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        said = [text for (text,) in database.execute("select text from said")]
    database.close()
    assert said == [f"{n}: {'*' * 13}" for n in range(500)]


def test_links_are_not_followed_and_an_absent_folder_is_none(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text(SECRET)
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    (folder / "broken").symlink_to(tmp_path / "none")
    scrub(folder, [SECRET])
    scrub(tmp_path / "absent", [SECRET])
    assert outside.read_text() == SECRET
