"""Exchanges are read back from blobs; what many have in common is one object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from fourhands.model.errors import InputError
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.exchanges import ExchangeReader, read_exchange


class Stored:
    """Exchanges as ``docs/events.md`` says they are stored, by hand. ``reads`` counts blobs by digest."""

    def __init__(self, root: Path) -> None:
        self.blobs = BlobStore(root)
        self.reads: dict[str, int] = {}

    def get(self, digest: str) -> bytes:
        self.reads[digest] = self.reads.get(digest, 0) + 1
        return self.blobs.get(digest)

    def put(self, value: Any) -> str:
        return self.blobs.put(orjson.dumps(value))

    def exchange(self, history: dict[str, Any] | None, **changed: Any) -> str:
        raw = {
            "schema": 2,
            "wire": "chat",
            "request": {"model": "m"},
            "large": {},
            "history_key": "messages",
            "history": history,
            "status": 200,
            "content_type": "application/json",
            "response": self.blobs.put(b"{}"),
        }
        return self.put({**raw, **changed})


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path)


def test_short_and_long_values_and_pages_come_together_in_order(stored: Stored) -> None:
    items = [stored.put({"n": n}) for n in range(5)]
    first = stored.put({"items": items[:2]})
    second = stored.put({"items": items[2:4], "earlier": first})
    tools = stored.put(["long"])
    digest = stored.exchange({"items": items[4:], "earlier": second}, large={"tools": tools})
    exchange = read_exchange(stored.get, digest)
    assert exchange.request["tools"] == ["long"]
    assert exchange.history == [{"n": n} for n in range(5)]
    assert exchange.request == {"model": "m", "tools": ["long"], "messages": exchange.history}
    assert (exchange.wire, exchange.status, exchange.response) == ("chat", 200, b"{}")


def test_a_history_of_plain_text_stands_in_the_request(stored: Stored) -> None:
    digest = stored.exchange(None, request={"input": "fix it"}, history_key="input")
    exchange = read_exchange(stored.get, digest)
    assert (exchange.request, exchange.history) == ({"input": "fix it"}, [])


def test_a_reader_reads_what_exchanges_share_once_and_as_it_is_told(stored: Stored) -> None:
    items = [stored.put({"text": f"{n}"}) for n in range(3)]
    page = stored.put({"items": items[:1]})
    tools = stored.put(["a tool"])
    digests = [
        stored.exchange({"items": items[1 : n + 1], "earlier": page}, large={"tools": tools})
        for n in range(3)
    ]
    seen: list[Any] = []

    def see(value: Any) -> Any:
        seen.append(value)
        return {"seen": value}

    reader = ExchangeReader(stored.get, see)
    exchanges = [reader.read(digest) for digest in digests]
    assert [len(each.history) for each in exchanges] == [1, 2, 3]
    assert exchanges[2].history == [{"seen": {"text": f"{n}"}} for n in range(3)]
    assert exchanges[0].history[0] is exchanges[2].history[0]
    assert exchanges[0].request["tools"] is exchanges[2].request["tools"]
    assert all(stored.reads[digest] == 1 for digest in (*items, page, tools))
    assert seen.count(["a tool"]) == 1


def test_another_schema_and_a_missing_blob_are_said(stored: Stored) -> None:
    with pytest.raises(InputError, match="schema 1, known here is 2"):
        read_exchange(stored.get, stored.exchange(None, schema=1))
    with pytest.raises(FileNotFoundError):
        read_exchange(stored.get, stored.exchange({"items": ["0" * 64]}))
