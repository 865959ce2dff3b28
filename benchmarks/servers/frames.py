"""A streamed reply on each API: some text in pieces, then one command to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

__all__ = ["FRAMES", "Frames"]

_TOOL: Final = "bash"
_COMMAND: Final = orjson.dumps({"command": "sed -n '1,40p' package_0/part_0/module_3.py"}).decode()
_TOKENS: Final = 1000
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Frames:
    """The events of one reply as they go over the wire; one of ``pieces`` is sent at a time."""

    opening: bytes
    pieces: Sequence[bytes]
    ending: bytes


def _chat(number: int, words: Sequence[str], request: Json) -> Frames:
    frame = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "m"}

    def chunk(delta: Json, finish: str | None = None) -> bytes:
        return _data({**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    call = {"index": 0, "id": f"call_{number}", "type": "function"}
    function = {"name": _TOOL, "arguments": _COMMAND}
    ending = [chunk({"tool_calls": [{**call, "function": function}]}), chunk({}, "tool_calls")]
    if (request.get("stream_options") or {}).get("include_usage"):
        usage = {"prompt_tokens": _TOKENS, "completion_tokens": len(words)}
        usage["total_tokens"] = sum(usage.values())
        ending.append(_data({**frame, "choices": [], "usage": usage}))
    return Frames(
        chunk({"role": "assistant", "content": ""}),
        [chunk({"content": word}) for word in words],
        b"".join([*ending, b"data: [DONE]\n\n"]),
    )


def _responses(number: int, words: Sequence[str], request: Json) -> Frames:
    del request
    text = {"type": "output_text", "text": "".join(words), "annotations": []}
    about: Json = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
    message = {**about, "status": "completed", "content": [text]}
    call = {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": _TOOL,
        "arguments": _COMMAND,
        "status": "completed",
    }
    begun: Json = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "model": "m"}
    usage = {"input_tokens": _TOKENS, "output_tokens": len(words), "total_tokens": _TOKENS + len(words)}
    ended = {**begun, "status": "completed", "output": [message, call], "usage": usage}
    first, second, part = (
        {"output_index": 0},
        {"output_index": 1},
        {"item_id": about["id"], "content_index": 0},
    )
    opening = [
        {"type": "response.created", "response": {**begun, "output": []}},
        {"type": "response.output_item.added", **first, "item": {**about, "content": []}},
        {"type": "response.content_part.added", **first, **part, "part": {**text, "text": ""}},
    ]
    ending = [
        {"type": "response.output_text.done", **first, **part, "text": text["text"]},
        {"type": "response.content_part.done", **first, **part, "part": text},
        {"type": "response.output_item.done", **first, "item": message},
        {"type": "response.output_item.added", **second, "item": {**call, "arguments": ""}},
        {
            "type": "response.function_call_arguments.delta",
            **second,
            "item_id": call["id"],
            "delta": _COMMAND,
        },
        {"type": "response.output_item.done", **second, "item": call},
        {"type": "response.completed", "response": ended},
    ]
    deltas = [{"type": "response.output_text.delta", **first, **part, "delta": word} for word in words]
    return Frames(_named(opening), [_named([delta]) for delta in deltas], _named(ending))


def _messages(number: int, words: Sequence[str], request: Json) -> Frames:
    del request
    usage = {"input_tokens": _TOKENS, "output_tokens": 1}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "m", "content": []}
    text, use = {"index": 0}, {"index": 1}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": _TOOL, "input": {}}
    opening = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", **text, "content_block": {"type": "text", "text": ""}},
    ]
    deltas = [
        {"type": "content_block_delta", **text, "delta": {"type": "text_delta", "text": word}}
        for word in words
    ]
    arguments = {"type": "input_json_delta", "partial_json": _COMMAND}
    ending = [
        {"type": "content_block_stop", **text},
        {"type": "content_block_start", **use, "content_block": call},
        {"type": "content_block_delta", **use, "delta": arguments},
        {"type": "content_block_stop", **use},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": len(words)},
        },
        {"type": "message_stop"},
    ]
    return Frames(_named(opening), [_named([delta]) for delta in deltas], _named(ending))


def _data(value: Json) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _named(events: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(b"event: " + event["type"].encode() + b"\n" + _data(dict(event)) for event in events)


FRAMES: Final = {"chat/completions": _chat, "responses": _responses, "messages": _messages}
"""Path below the base URL -> the reply of that number, with the text ``words``, to a request."""
