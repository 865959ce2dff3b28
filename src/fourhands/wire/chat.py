"""OpenAI Chat Completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from fourhands.model.usage import Usage
from fourhands.wire.openai import openai_error, parsed_arguments, plain_text
from fourhands.wire.types import Action, Collector, Item, Json, Reply, Role

__all__ = ["ChatCompletions"]

_ROLES: dict[str, Role] = {
    "system": "instructions",
    "developer": "instructions",
    "user": "user",
    "assistant": "model",
    "tool": "results",
    "function": "results",
}


class ChatCompletions:
    """``POST …/chat/completions``, streamed or not."""

    name = "chat"
    history_key = "messages"
    takes_text = False
    previous_key: str | None = None

    def tool_name(self, tool: Json) -> Sequence[str]:
        """See `Wire.tool_name`."""
        named = tool.get("function") or tool.get("custom") or {}
        return [str(named.get("name", tool.get("type")))]

    def offered_by(self, item: Json) -> Sequence[str]:
        """See `Wire.offered_by`: none does."""
        del item
        return ()

    def item(self, raw: Json) -> Item:
        """See `Wire.item`."""
        role = _ROLES.get(str(raw.get("role")))
        if role is None:
            raise ValueError(f"a message with the role {raw.get('role')!r}")
        text = plain_text(raw.get("content"))
        if role == "results":
            return Item(role, results=((str(raw.get("tool_call_id")), text),))
        return Item(role, text, tuple(str(call.get("id")) for call in raw.get("tool_calls") or ()))

    def say(self, behind: bytes, texts: Sequence[str]) -> Sequence[bytes]:
        """See `Wire.say`."""
        return [behind, *(orjson.dumps({"role": "user", "content": text}) for text in texts)]

    def ask_for_usage(self, fields: Mapping[str, Any]) -> Mapping[str, bytes]:
        """See `Wire.ask_for_usage`."""
        if not fields.get("stream"):
            return {}
        options = fields.get("stream_options")
        wanted = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        return {} if options == wanted else {"stream_options": orjson.dumps(wanted)}

    def parse_reply(self, body: Json) -> Reply:
        """See `Wire.parse_reply`."""
        choices = body.get("choices")
        message = choices[0].get("message") if choices else None
        if not isinstance(message, dict):
            raise ValueError("a completion without a message")
        return Reply(
            text=plain_text(message.get("content")),
            actions=tuple(
                _action(str(call.get("id")), call.get("function") or {})
                for call in message.get("tool_calls") or ()
            ),
            usage=_usage(body.get("usage")),
            complete=True,
            id=str(body.get("id") or ""),
        )

    def collector(self, *, wants_usage: bool) -> Collector:
        """See `Wire.collector`."""
        return _Collector(wants_usage)

    def error(self, message: str) -> Json:
        """See `Wire.error`."""
        return openai_error(message)


@dataclass
class _Collector:
    wants_usage: bool
    id: str = ""
    text: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    usage: Usage | None = None
    complete: bool = False
    ended: bool = False

    def feed(self, data: bytes) -> bool:
        if data.strip() == b"[DONE]":
            self.complete = self.complete or not self.ended
            self.ended = True
            return True
        chunk = orjson.loads(data)
        if chunk.get("error"):  # what has been said is not the reply
            self.complete, self.ended = False, True
            return True
        self.id = self.id or str(chunk.get("id") or "")
        self.usage = _usage(chunk.get("usage")) or self.usage
        choices = chunk.get("choices") or []
        for choice in choices:
            # Some providers leave out the last line, and some the reason.
            self.complete = self.complete or (choice.get("finish_reason") is not None and not self.ended)
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
            id=self.id,
        )


def _action(call_id: str, function: Json) -> Action:
    return Action(call_id, str(function.get("name")), parsed_arguments(function.get("arguments")))


def _usage(raw: Any) -> Usage | None:
    """``prompt_tokens`` includes what came from a cache or went to it; ``completion_tokens`` includes reasoning."""
    if not isinstance(raw, dict):
        return None
    prompt = raw.get("prompt_tokens_details") or {}
    completion = raw.get("completion_tokens_details") or {}
    read, write = int(prompt.get("cached_tokens") or 0), int(prompt.get("cache_write_tokens") or 0)
    return Usage(
        input=int(raw.get("prompt_tokens") or 0) - read - write,
        cache_read=read,
        cache_write=write,
        output=int(raw.get("completion_tokens") or 0),
        reasoning=int(completion.get("reasoning_tokens") or 0),
    )
