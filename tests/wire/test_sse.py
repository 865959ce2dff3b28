from __future__ import annotations

import time
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from fourhands.wire.sse import EventSplitter

PIECE = 1 << 16


def split(pieces: Sequence[bytes]) -> tuple[list[bytes], bytes]:
    splitter = EventSplitter()
    events = [event for piece in pieces for event in splitter.feed(piece)]
    return events, splitter.rest()


def seconds(length: int) -> float:
    """CPU for one event of ``length`` bytes that comes in pieces."""
    event = b"data: " + b"x" * length + b"\n\n"
    pieces = [event[at : at + PIECE] for at in range(0, len(event), PIECE)]
    started = time.process_time()
    assert split(pieces) == ([event], b"")
    return time.process_time() - started


@given(st.lists(st.sampled_from(["\n", "\r", "\r\n", "data: x", ":"]), max_size=12), st.data())
def test_where_a_stream_is_cut_by_the_network_makes_no_difference(
    parts: list[str], data: st.DataObject
) -> None:
    stream = "".join(parts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    events, rest = split(pieces)
    assert b"".join(events) + rest == stream
    assert (events, rest) == split([stream])


def test_an_event_of_many_pieces_is_looked_through_once() -> None:
    """Ten megabytes cost about sixteen times what a sixteenth costs, not sixteen times sixteen."""
    part = min(seconds(10_000_000 // 16) for _ in range(3))
    assert min(seconds(10_000_000) for _ in range(3)) < 80 * max(part, 1e-4)
