from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.usage import Usage
from fourhands.trajectories.opencode import reported_usage

TOKENS = {"total": 8295, "input": 824, "output": 51, "reasoning": 7, "cache": {"write": 0, "read": 7413}}
COUNTED = Usage(input=824, cache_read=7413, output=58, reasoning=7)


def database(folder: Path, messages: Sequence[Any]) -> Path:
    """As the program makes it, without what is not read."""
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("create table message (id text primary key, session_id text, data text not null)")
        rows = [(str(number), "ses_1", json.dumps(message)) for number, message in enumerate(messages)]
        connection.executemany("insert into message values (?, ?, ?)", rows)
    return path


def test_reasoning_is_added_to_the_output_and_sub_agents_count(tmp_path: Path) -> None:
    reply = {"role": "assistant", "agent": "build", "tokens": TOKENS}
    path = database(tmp_path, [{"role": "user"}, reply, {"role": "assistant"}, {**reply, "agent": "general"}])
    assert reported_usage(path) == COUNTED + COUNTED
    assert COUNTED.total == TOKENS["total"]


def test_what_was_not_yet_written_back_counts(tmp_path: Path) -> None:
    path = database(tmp_path, [{"role": "assistant", "tokens": TOKENS}])
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("pragma journal_mode = wal")
        reply = json.dumps({"role": "assistant", "tokens": TOKENS})
        writing.execute("insert into message values ('w', 'ses_1', ?)", [reply])
        writing.commit()
        copy = tmp_path / "copy"
        copy.mkdir()
        for part in tmp_path.glob("opencode.db*"):
            (copy / part.name).write_bytes(part.read_bytes())
    log = copy / "opencode.db-wal"
    before = log.read_bytes()
    assert before
    assert reported_usage(copy / "opencode.db") == COUNTED + COUNTED
    assert log.read_bytes() == before  # reading changes no log


@pytest.mark.parametrize("content", [None, b"", b"no database at all" * 100])
def test_what_is_no_database_reports_nothing(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "opencode.db"
    if content is not None:
        path.write_bytes(content)
    assert reported_usage(path) is None


def test_a_session_without_a_reply_reports_nothing(tmp_path: Path) -> None:
    assert reported_usage(database(tmp_path, [{"role": "user"}])) is None
