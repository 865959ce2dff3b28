from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.usage import Usage
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Action

WIRE = ChatCompletions()


def test_a_streamed_request_asks_for_usage_and_the_agent_does_not_see_it() -> None:
    assert WIRE.ask_for_usage({"stream": True}) == {"stream_options": b'{"include_usage":true}'}
    assert WIRE.ask_for_usage({"stream": False}) == {}
    collector = WIRE.collector(wants_usage=False)
    assert collector.feed(orjson.dumps({"choices": [{"index": 0, "delta": {"content": "hi"}}]}))
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    assert not collector.feed(orjson.dumps(usage))
    assert collector.feed(b"[DONE]")
    assert collector.reply().usage == Usage(input=3, output=2)
    assert collector.reply().complete


def test_an_agent_that_asked_for_usage_gets_it() -> None:
    assert WIRE.ask_for_usage({"stream": True, "stream_options": {"include_usage": True}}) == {}
    assert WIRE.collector(wants_usage=True).feed(orjson.dumps({"choices": [], "usage": {"prompt_tokens": 1}}))


def test_a_streamed_reply_is_put_together_from_its_parts() -> None:
    collector = WIRE.collector(wants_usage=False)
    parts: list[dict[str, Any]] = [
        {"content": "I "},
        {"content": "look"},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "bash", "arguments": '{"comm'}}]},
        {"tool_calls": [{"index": 1, "id": "b", "function": {"name": "bash", "arguments": "{broken"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": 'and": "ls"}'}}]},
    ]
    for part in parts:
        collector.feed(orjson.dumps({"choices": [{"index": 0, "delta": part}]}))
    reply = collector.reply()
    assert reply.text == "I look"
    assert reply.actions == (Action("a", "bash", {"command": "ls"}), Action("b", "bash", "{broken"))
    assert not reply.complete


def test_cached_and_reasoning_tokens_are_told_apart() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    reply = WIRE.parse_reply({"choices": [{"message": {"content": None}}], "usage": usage})
    assert reply.usage == Usage(input=40, cache_read=60, output=30, reasoning=20)
    assert reply.usage.total == 130
    assert WIRE.parse_reply({"choices": [{"message": {"content": "x"}}]}).usage is None


@given(st.lists(st.binary(max_size=20).filter(lambda d: b"\n" not in d and b"\r" not in d)), st.data())
def test_events_are_split_at_any_cut_without_losing_a_byte(
    payloads: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(b"data: " + payload + b"\n\n" for payload in payloads) + b"tail"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    splitter = EventSplitter()
    events = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        events += list(splitter.feed(stream[start:end]))
    assert b"".join(events) + splitter.rest() == stream
    assert [event_data(event) for event in events] == payloads


def test_a_completion_without_a_message_is_no_reply() -> None:
    for body in ({"error": {"message": "x"}}, {"choices": []}, {"choices": [{}]}):
        with pytest.raises(ValueError, match="without a message"):
            WIRE.parse_reply(body)


def test_a_stream_is_complete_with_its_reason_even_without_its_last_line() -> None:
    collector = WIRE.collector(wants_usage=False)
    collector.feed(
        orjson.dumps({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]})
    )
    assert not collector.reply().complete
    collector.feed(orjson.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    assert collector.reply().complete
