from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.usage import Usage
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Action, Insertion

WIRE = ChatCompletions()


def _call(call_id: str, command: str = "ls") -> dict[str, Any]:
    arguments = orjson.dumps({"command": command}).decode()
    return {"id": call_id, "type": "function", "function": {"name": "bash", "arguments": arguments}}


def _body(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": "bash"}}]
    return {"model": "m", "messages": list(messages), "tools": tools, **more}


PARALLEL = _body(
    {"role": "user", "content": "fix it"},
    {"role": "assistant", "tool_calls": [_call("a"), _call("b")]},
    {"role": "tool", "tool_call_id": "a", "content": "one"},
    {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "two"}]},
    {"role": "assistant", "tool_calls": [_call("c")]},
    {"role": "tool", "tool_call_id": "c", "content": "three"},
)


def test_a_request_tells_tools_calls_and_results() -> None:
    request = WIRE.parse_request(PARALLEL)
    assert request.tools == ("bash",)
    assert request.calls == ("a", "b", "c")
    assert [(r.call, r.text) for r in request.results] == [("a", "one"), ("b", "two"), ("c", "three")]


def test_a_side_request_offers_no_tools() -> None:
    assert WIRE.parse_request({"model": "m", "messages": [{"role": "user", "content": "title?"}]}).tools == ()


def test_a_body_without_messages_is_refused() -> None:
    with pytest.raises(ValueError, match="list of messages"):
        WIRE.parse_request({"model": "m"})


def test_a_message_stands_behind_all_results_of_its_batch() -> None:
    body, carried = WIRE.prepare(PARALLEL, [Insertion("m1", ("a", "b"), "look")])
    assert carried == ("m1",)
    assert [m["role"] for m in body["messages"]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
        "assistant",
        "tool",
    ]
    assert body["messages"][4] == {"role": "user", "content": "look"}


def test_the_agents_own_request_is_left_alone() -> None:
    before = orjson.dumps(PARALLEL)
    WIRE.prepare(PARALLEL, [Insertion("m1", ("a",), "look")])
    assert orjson.dumps(PARALLEL) == before


def test_a_message_without_its_anchor_is_not_carried() -> None:
    body, carried = WIRE.prepare(PARALLEL, [Insertion("m1", ("gone",), "look")])
    assert carried == ()
    assert body is PARALLEL


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6), st.data())
def test_a_message_keeps_its_place_as_the_history_grows(batches: list[int], data: st.DataObject) -> None:
    anchor = data.draw(st.integers(0, len(batches) - 1))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "fix it"}]
    places = []
    for number, size in enumerate(batches):
        ids = [f"{number}-{index}" for index in range(size)]
        messages += [{"role": "assistant", "tool_calls": [_call(i) for i in ids]}]
        messages += [{"role": "tool", "tool_call_id": i, "content": "out"} for i in ids]
        if number >= anchor:
            batch = tuple(f"{anchor}-{index}" for index in range(batches[anchor]))
            body, carried = WIRE.prepare(_body(*messages), [Insertion("m1", batch, "look")])
            assert carried == ("m1",)
            places.append(body["messages"].index({"role": "user", "content": "look"}))
    assert len(set(places)) == 1


def test_a_streamed_request_asks_for_usage_and_the_agent_does_not_see_it() -> None:
    body = _body(stream=True)
    prepared, _ = WIRE.prepare(body, [])
    assert prepared["stream_options"] == {"include_usage": True}
    collector = WIRE.collector(body)
    assert collector.feed(orjson.dumps({"choices": [{"index": 0, "delta": {"content": "hi"}}]}))
    usage = {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}
    assert not collector.feed(orjson.dumps(usage))
    assert collector.feed(b"[DONE]")
    assert collector.reply().usage == Usage(input=3, output=2)
    assert collector.reply().complete


def test_an_agent_that_asked_for_usage_gets_it() -> None:
    body = _body(stream=True, stream_options={"include_usage": True})
    assert WIRE.prepare(body, [])[0] is body
    assert WIRE.collector(body).feed(orjson.dumps({"choices": [], "usage": {"prompt_tokens": 1}}))


def test_a_streamed_reply_is_put_together_from_its_parts() -> None:
    collector = WIRE.collector(_body(stream=True))
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
    collector = WIRE.collector(_body(stream=True))
    collector.feed(
        orjson.dumps({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": None}]})
    )
    assert not collector.reply().complete
    collector.feed(orjson.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    assert collector.reply().complete
