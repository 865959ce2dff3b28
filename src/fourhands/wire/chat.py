"""OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import orjson

from fourhands.model.usage import Usage
from fourhands.wire.types import (
    Action,
    ActionResult,
    Collector,
    Insertion,
    Json,
    Reply,
    Request,
    number_repeats,
)

__all__ = ["ChatCompletions"]


class ChatCompletions:
    """``POST …/chat/completions``, streamed or not."""

    name = "chat"

    def parse_request(self, body: Json) -> Request:
        """See `Wire.parse_request`."""
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise ValueError("a chat request needs a list of messages")
        # One plain pass for each question: with thousands of messages, this is what a step costs.
        roles = [message.get("role") for message in messages]
        calls = [str(call.get("id")) for message in messages for call in message.get("tool_calls") or ()]
        results = [message for message, role in zip(messages, roles, strict=True) if role == "tool"]
        return Request(
            model=str(body.get("model", "")),
            streamed=bool(body.get("stream")),
            tools=tuple(
                str(tool.get("function", {}).get("name", tool.get("type")))
                for tool in body.get("tools") or ()
            ),
            calls=tuple(number_repeats(calls)),
            results=tuple(
                map(
                    ActionResult, _result_ids(results), [_text(message.get("content")) for message in results]
                )
            ),
            replies=roles.count("assistant"),
        )

    def prepare(self, body: Json, insertions: Sequence[Insertion]) -> tuple[Json, tuple[str, ...]]:
        """See `Wire.prepare`."""
        messages = list(body["messages"])
        places = _behind_batches(messages, [insertion.batch for insertion in insertions])
        found = [(at, insertion) for at, insertion in zip(places, insertions, strict=True) if at is not None]
        # From the end, so that no insertion moves the place of another; at one place the earlier comes first.
        last_said_first = found[::-1]
        for at, insertion in sorted(last_said_first, key=itemgetter(0), reverse=True):
            messages.insert(at, {"role": "user", "content": insertion.text})
        carried = [insertion.id for _, insertion in found]
        prepared = {**body, "messages": messages} if carried else body
        if body.get("stream") and not _wants_usage(body):
            options = {**(body.get("stream_options") or {}), "include_usage": True}
            prepared = {**prepared, "stream_options": options}
        return prepared, tuple(carried)

    def parse_reply(self, body: Json) -> Reply:
        """See `Wire.parse_reply`."""
        choices = body.get("choices")
        message = choices[0].get("message") if choices else None
        if not isinstance(message, dict):
            raise ValueError("a completion without a message")
        return Reply(
            text=_text(message.get("content")),
            actions=tuple(
                _action(str(call.get("id")), call.get("function") or {})
                for call in message.get("tool_calls") or ()
            ),
            usage=_usage(body.get("usage")),
            complete=True,
        )

    def collector(self, request: Json) -> Collector:
        """See `Wire.collector`."""
        return _Collector(wants_usage=_wants_usage(request))

    def error(self, message: str) -> Json:
        """See `Wire.error`."""
        return {"error": {"message": message, "type": "fourhands_gateway", "code": None, "param": None}}


@dataclass
class _Collector:
    wants_usage: bool
    text: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    usage: Usage | None = None
    complete: bool = False

    def feed(self, data: bytes) -> bool:
        if data.strip() == b"[DONE]":
            self.complete = True
            return True
        try:
            chunk = orjson.loads(data)
        except orjson.JSONDecodeError:
            return True  # not ours to judge: the agent gets what the provider said
        if not isinstance(chunk, dict):
            return True
        self.usage = _usage(chunk.get("usage")) or self.usage
        choices = chunk.get("choices") or []
        for choice in choices:
            # Some providers leave out the last line, and some the reason.
            self.complete = self.complete or choice.get("finish_reason") is not None
            delta = choice.get("delta") or {}
            if isinstance(delta.get("content"), str):
                self.text.append(delta["content"])
            for part in delta.get("tool_calls") or ():
                call = self.calls.setdefault(part.get("index", 0), {"id": "", "name": "", "arguments": ""})
                function = part.get("function") or {}
                call["id"] = call["id"] or part.get("id") or ""
                call["name"] += function.get("name") or ""
                call["arguments"] += function.get("arguments") or ""
        usage_only = not choices and chunk.get("usage") is not None
        return self.wants_usage or not usage_only

    def reply(self) -> Reply:
        return Reply(
            text="".join(self.text),
            actions=tuple(_action(call["id"], call) for _, call in sorted(self.calls.items())),
            usage=self.usage,
            complete=self.complete,
        )


def _result_ids(results: Iterable[Json]) -> list[str]:
    return number_repeats([str(message.get("tool_call_id")) for message in results])


def _behind_batches(messages: Sequence[Json], batches: Sequence[Sequence[str]]) -> list[int | None]:
    """For each batch, the index behind its last result, and behind all results that follow it at once."""
    if not batches:
        return []
    at = [index for index, message in enumerate(messages) if message.get("role") == "tool"]
    place_of = dict(zip(_result_ids([messages[index] for index in at]), at, strict=True))
    places: list[int | None] = []
    for batch in batches:
        place = max((place_of[call] for call in batch if call in place_of), default=None)
        if place is not None:
            place += 1
            while place < len(messages) and messages[place].get("role") == "tool":
                place += 1
        places.append(place)
    return places


def _action(call_id: str, function: Json) -> Action:
    raw = function.get("arguments") or ""
    try:
        arguments = orjson.loads(raw)
    except orjson.JSONDecodeError:
        arguments = raw
    return Action(call_id, str(function.get("name")), arguments if isinstance(arguments, dict) else str(raw))


def _wants_usage(body: Json) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))


def _text(content: Any) -> str:
    """Plain text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _usage(raw: Any) -> Usage | None:
    """``prompt_tokens`` includes what came from the cache; ``completion_tokens`` includes reasoning."""
    if not isinstance(raw, dict):
        return None
    prompt = raw.get("prompt_tokens_details") or {}
    completion = raw.get("completion_tokens_details") or {}
    cached = int(prompt.get("cached_tokens") or 0)
    return Usage(
        input=int(raw.get("prompt_tokens") or 0) - cached,
        cache_read=cached,
        output=int(raw.get("completion_tokens") or 0),
        reasoning=int(completion.get("reasoning_tokens") or 0),
    )
