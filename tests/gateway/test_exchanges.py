"""Exchanges as blobs: all of a history can be read back, and a long one costs no more to store than a short one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.gateway.exchanges import ExchangeRecorder, Received
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.exchanges import read_exchange
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.document import Document


def document(**body: Any) -> Document:
    return Document.read(ChatCompletions(), orjson.dumps(body))


def record(recorder: ExchangeRecorder, messages: list[Any], **more: Any) -> str:
    return recorder.record(
        "main", document(**more, messages=messages), Received(200, "application/json", b"ok")
    )


def read(blobs: BlobStore, digest: str) -> list[Any]:
    return read_exchange(blobs.get, digest).history


def message(number: int) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": f"c{number}", "content": f"output {number}"}


@pytest.fixture(scope="module")
def blobs(tmp_path_factory: pytest.TempPathFactory) -> BlobStore:
    return BlobStore(tmp_path_factory.mktemp("blobs"))


@pytest.mark.parametrize("length", [0, 1, 255, 256, 257, 512, 513, 1000])
def test_a_history_of_any_length_is_read_back(blobs: BlobStore, length: int) -> None:
    messages = [message(n) for n in range(length)]
    assert read(blobs, record(ExchangeRecorder(blobs), messages)) == messages


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
        assert read(blobs, record(recorder, messages)) == messages


def test_an_exchange_takes_no_more_room_late_than_early(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    recorder = ExchangeRecorder(blobs)
    sizes = []
    messages: list[Any] = []
    for number in range(3000):
        messages = [*messages, message(number)]
        if number % 256 == 200:
            sizes.append(len(blobs.get(record(recorder, messages))))
    assert max(sizes) - min(sizes) < 200  # the name of the page before, and no more


KEYS = st.dictionaries(
    st.sampled_from(["model", "stream", "metadata", "tools", "n"]),
    st.recursive(
        st.sampled_from(['"messages":[', "]", "}", "é" * 600, 1]),
        lambda each: st.dictionaries(st.text(), each),
    ),
)


@settings(max_examples=100, deadline=None)
@given(requests=st.lists(st.tuples(KEYS, KEYS, st.integers(0, 4), st.integers(0, 3)), max_size=6))
def test_a_whole_exchange_is_read_back_whatever_stands_around_its_history(
    blobs: BlobStore, requests: list[tuple[dict[str, Any], dict[str, Any], int, int]]
) -> None:
    recorder = ExchangeRecorder(blobs)
    messages: list[Any] = []
    for number, (before, after, kept, added) in enumerate(requests):
        messages = [*messages[:kept], *(message(10 * number + n) for n in range(added))]
        sent = {**before, "messages": messages}
        sent |= {key: value for key, value in after.items() if key not in sent}
        received = Received(200 + number, "text/event-stream", b"data: %d" % number)
        exchange = read_exchange(blobs.get, recorder.record("main", document(**sent), received))
        assert (exchange.wire, exchange.request) == ("chat", sent)
        assert Received(exchange.status, exchange.content_type, exchange.response) == received


def test_threads_in_turn_are_told_apart_and_each_is_stored_by_what_is_new(tmp_path: Path) -> None:
    blobs = BlobStore(tmp_path)
    recorder = ExchangeRecorder(blobs)
    threads: dict[str, list[Any]] = {"main": [], "sub-1": []}
    for number in range(20):
        for name, messages in threads.items():
            messages.append({**message(number), "content": f"{name} {number}"})
            sent = document(messages=messages)
            digest = recorder.record(name, sent, Received(200, "application/json", b"ok"))
            assert read(blobs, digest) == messages


def test_a_change_far_back_in_a_large_history_is_seen(blobs: BlobStore) -> None:
    recorder = ExchangeRecorder(blobs)
    messages = [{"role": "tool", "content": f"{n} " * 20_000} for n in range(8)]
    for changed in range(8):
        record(recorder, messages)
        text = messages[changed]["content"]
        messages = [*messages]
        messages[changed] = {"role": "tool", "content": text[:-2] + "x "}
        assert read(blobs, record(recorder, messages)) == messages
