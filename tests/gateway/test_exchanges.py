"""Exchanges as blobs: all of a history can be read back, and a long one costs no more to store than a short one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.gateway.exchanges import ExchangeRecorder
from fourhands.trajectories.blobs import BlobStore


def read(blobs: BlobStore, digest: str) -> list[Any]:
    """The messages of an exchange, as ``docs/events.md`` says they are stored."""
    page = orjson.loads(blobs.get(digest))["request"]
    digests: list[str] = page["messages"]
    while "earlier" in page:
        page = orjson.loads(blobs.get(page["earlier"]))
        digests = page["messages"] + digests
    return [orjson.loads(blobs.get(each)) for each in digests]


def message(number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": f"output {number}"}


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> BlobStore:
    return BlobStore(tmp_path_factory.mktemp("blobs"))


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 512, 513, 1000])
def test_a_history_of_any_length_is_read_back(blobs: BlobStore, length: int) -> None:
    messages = [message(n) for n in range(length)]
    assert read(blobs, ExchangeRecorder(blobs).record({"messages": messages}, b"")) == messages


@settings(max_examples=40, deadline=None)
@given(
    edits=st.lists(
        st.tuples(st.integers(0, 700), st.integers(0, 700), st.integers(0, 300)), min_size=1, max_size=6
    )
)
def test_a_history_that_was_rewritten_anywhere_is_read_back(
    blobs: BlobStore, edits: list[tuple[int, int, int]]
) -> None:
    """Compaction, an inserted message, a shorter history of another thread."""
    recorder = ExchangeRecorder(blobs)
    messages: list[Any] = []
    for generation, (start, end, count) in enumerate(edits):
        messages = [
            *messages[:start],
            *(message(1000 * generation + n) for n in range(count)),
            *messages[end:],
        ]
        assert read(blobs, recorder.record({"messages": messages}, b"")) == messages


def test_an_exchange_takes_no_more_room_late_than_early(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    recorder = ExchangeRecorder(blobs)
    sizes = []
    messages: list[Any] = []
    for number in range(3000):
        messages = [*messages, message(number)]
        if number % 256 == 200:
            sizes.append(len(blobs.get(recorder.record({"messages": messages}, b"ok"))))
    assert max(sizes) - min(sizes) < 200  # the name of the page before, and no more


KEYS = st.dictionaries(
    st.sampled_from(["model", "stream", "metadata", "tools", "n"]),
    st.recursive(
        st.sampled_from(['"messages":[', "]", "}", "é", 1]), lambda each: st.dictionaries(st.text(), each)
    ),
)


@settings(max_examples=100, deadline=None)
@given(requests=st.lists(st.tuples(KEYS, KEYS, st.integers(0, 4), st.integers(0, 3)), max_size=6))
def test_a_history_is_found_in_a_request_whatever_stands_around_it(
    blobs: BlobStore, requests: list[tuple[dict[str, Any], dict[str, Any], int, int]]
) -> None:
    one, other = ExchangeRecorder(blobs), ExchangeRecorder(blobs)
    messages: list[Any] = []
    for number, (before, after, kept, added) in enumerate(requests):
        messages = [*messages[:kept], *(message(10 * number + n) for n in range(added))]
        sent = {**before, "messages": messages}
        sent |= {key: value for key, value in after.items() if key not in sent}
        digest = one.record(sent, b"")
        assert read(blobs, digest) == messages
        assert other.record(sent, b"", orjson.dumps(sent)) == digest


def test_a_change_far_back_in_a_large_history_is_seen(blobs: BlobStore) -> None:
    recorder = ExchangeRecorder(blobs)
    messages = [{"role": "tool", "content": f"{n} " * 20_000} for n in range(8)]
    for changed in range(8):
        recorder.record({"messages": messages}, b"")
        text = messages[changed]["content"]
        messages = [*messages]
        messages[changed] = {"role": "tool", "content": text[:-2] + "x "}
        assert read(blobs, recorder.record({"messages": messages}, b"")) == messages
