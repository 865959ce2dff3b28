"""What OpenCode says of itself: the messages in its database, sub-agents' included."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from fourhands.model.usage import Usage

__all__ = ["DATABASE_NAME", "reported_usage"]

DATABASE_NAME: Final = "opencode.db"
_REPLIES: Final = """
    select json_extract(data, '$.tokens') from message
    where json_extract(data, '$.role') = 'assistant' and json_extract(data, '$.tokens') is not null
"""


class _Cache(msgspec.Struct):
    read: int = 0
    write: int = 0


class _Tokens(msgspec.Struct):
    input: int
    """Neither read from a cache nor written to one."""
    output: int
    """Without ``reasoning``."""
    reasoning: int = 0
    cache: _Cache = msgspec.field(default_factory=_Cache)


def reported_usage(database: Path) -> Usage | None:
    """The sum over all replies; ``None`` when there is no database, none that can be read, or no reply in it."""
    if not database.is_file():
        return None
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = [row[0] for row in connection.execute(_REPLIES)]
        counted = [_usage(msgspec.json.decode(tokens, type=_Tokens)) for tokens in found]
    except (sqlite3.DatabaseError, msgspec.DecodeError):  # torn: it was killed as it wrote
        return None
    return sum(counted, Usage()) if counted else None


def _usage(tokens: _Tokens) -> Usage:
    return Usage(
        input=tokens.input,
        cache_read=tokens.cache.read,
        cache_write=tokens.cache.write,
        output=tokens.output + tokens.reasoning,
        reasoning=tokens.reasoning,
    )
