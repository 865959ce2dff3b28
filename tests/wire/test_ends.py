"""When a streamed reply is complete, and when nothing more of it is to come."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from fourhands.wire.registry import WIRES, wire_for

DELTA = {"choices": [{"index": 0, "delta": {"content": "x"}}]}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
ERROR: dict[str, Any] = {"error": {"message": "overloaded"}}
CREATED = {"type": "response.created", "response": {"id": "r"}}


@pytest.mark.parametrize(
    ("path", "events", "complete", "ended"),
    [
        ("/chat/completions", [DELTA], False, False),
        ("/chat/completions", [DELTA, STOP], True, False),
        ("/chat/completions", [DELTA, STOP, b"[DONE]"], True, True),
        ("/chat/completions", [DELTA, b"[DONE]"], True, True),
        ("/chat/completions", [DELTA, ERROR], False, True),
        ("/chat/completions", [DELTA, {**STOP, **ERROR}, b"[DONE]"], False, True),
        ("/chat/completions", [DELTA, ERROR, STOP, b"[DONE]"], False, True),
        ("/messages", [{"type": "message_delta", "delta": {"stop_reason": "end_turn"}}], False, False),
        ("/messages", [{"type": "message_stop"}], True, True),
        ("/messages", [{"type": "error", **ERROR}], False, True),
        ("/responses", [CREATED], False, False),
        ("/responses", [CREATED, {"type": "response.completed", "response": {}}], True, True),
        ("/responses", [CREATED, {"type": "response.incomplete", "response": {}}], True, True),
        ("/responses", [CREATED, {"type": "response.failed", "response": {}}], False, True),
        ("/responses", [CREATED, {"type": "error", "message": "overloaded"}], False, True),
    ],
)
def test_a_stream_tells_when_it_is_complete_and_when_it_ends(
    path: str, events: list[dict[str, Any] | bytes], complete: bool, ended: bool
) -> None:
    collector = WIRES[path].collector(wants_usage=True)
    for event in events:
        collector.feed(event if isinstance(event, bytes) else orjson.dumps(event))
    assert (collector.complete, collector.ended) == (complete, ended)
    assert collector.reply().complete is complete


@pytest.mark.parametrize(
    "path",
    ["/threads/t/messages", "/batches/b/chat/completions", "/v1/messages", "/messages/", "/messages/batches"],
)
def test_only_the_path_itself_speaks_a_wire(path: str) -> None:
    assert wire_for(path) is None
    assert {wire.name for known in WIRES if (wire := wire_for(known))} == {"chat", "responses", "messages"}
