"""Anthropic Messages: turns of content blocks; results of calls are blocks of a user's turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import orjson

from fourhands.model.usage import Usage
from fourhands.wire.openai import parsed_arguments, plain_text
from fourhands.wire.types import Action, Collector, Item, Json, Reply

__all__ = ["Messages"]

_FIELDS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BLOCKS: Final = msgspec.json.Decoder(list[msgspec.Raw])


class Messages:
    """``POST …/messages``, streamed or not."""

    name = "messages"
    history_key = "messages"
    takes_text = False
    previous_key: str | None = None

    def tool_name(self, tool: Json) -> Sequence[str]:
        """See `Wire.tool_name`; one that the model must search for first is not offered yet."""
        return [] if tool.get("defer_loading") else [str(tool.get("name", tool.get("type")))]

    def offered_by(self, item: Json) -> Sequence[str]:
        """See `Wire.offered_by`: none does."""
        del item
        return ()

    def item(self, raw: Json) -> Item:
        """See `Wire.item`."""
        role, content = raw.get("role"), raw.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        if role == "assistant":
            calls = tuple(str(block.get("id")) for block in blocks if block.get("type") == "tool_use")
            return Item("model", plain_text(content), calls)
        if role == "system":
            return Item("instructions", plain_text(content))
        if role != "user":
            raise ValueError(f"a message with the role {role!r}")
        results = tuple(
            (str(block.get("tool_use_id")), plain_text(block.get("content")))
            for block in blocks
            if block.get("type") == "tool_result"
        )
        return Item("results" if results else "user", plain_text(content), results=results)

    def say(self, behind: bytes, texts: Sequence[str]) -> Sequence[bytes]:
        """See `Wire.say`: a block in the same turn, right behind its last result, for results must come first."""
        fields = _FIELDS.decode(behind)
        content = fields["content"]
        if bytes(memoryview(content)[:1]) == b"[":
            blocks: list[msgspec.Raw | bytes] = list(_BLOCKS.decode(content))
        else:
            blocks = [_text_block(orjson.loads(memoryview(content)))]
        results = [at for at, block in enumerate(blocks) if _is_result(block)]
        place = results[-1] + 1 if results else len(blocks)
        blocks[place:place] = [_text_block(text) for text in texts]
        spoken = b"[" + b",".join(blocks) + b"]"
        return [msgspec.json.encode({**fields, "content": msgspec.Raw(spoken)})]

    def ask_for_usage(self, fields: Mapping[str, Any]) -> Mapping[str, bytes]:
        """See `Wire.ask_for_usage`: the stream always tells it."""
        del fields
        return {}

    def parse_reply(self, body: Json) -> Reply:
        """See `Wire.parse_reply`."""
        content = body.get("content")
        if body.get("type", "message") != "message" or not isinstance(content, list):
            raise ValueError("a message without content")
        return Reply(
            text=plain_text(content),
            actions=tuple(
                Action(str(block.get("id")), str(block.get("name")), parsed_arguments(block.get("input")))
                for block in content
                if block.get("type") == "tool_use"
            ),
            usage=_usage(body.get("usage")),
            complete=True,
            id=str(body.get("id") or ""),
        )

    def collector(self, *, wants_usage: bool) -> Collector:
        """See `Wire.collector`."""
        del wants_usage
        return _Collector(self)

    def error(self, message: str) -> Json:
        """See `Wire.error`."""
        return {"type": "error", "error": {"type": "api_error", "message": message}}


@dataclass
class _Collector:
    wire: Messages
    id: str = ""
    blocks: dict[int, Json] = field(default_factory=dict)
    parts: dict[int, list[str]] = field(default_factory=dict)
    usage: Json = field(default_factory=dict)
    complete: bool = False
    ended: bool = False

    def feed(self, data: bytes) -> bool:
        event = orjson.loads(data)
        match event.get("type"):
            case "message_start":
                self.id = str(event["message"].get("id") or "")
                self._count(event["message"].get("usage"))
            case "content_block_start":
                self.blocks[event["index"]] = event["content_block"]
            case "content_block_delta":
                delta = event["delta"]
                said = delta.get("text") or delta.get("partial_json") or ""
                self.parts.setdefault(event["index"], []).append(str(said))
            case "message_delta":
                self._count(event.get("usage"))
            case "message_stop":
                self.complete = self.ended = True
            case "error":
                self.ended = True
            case _:
                pass
        return True

    def _count(self, usage: Any) -> None:
        """Counts are cumulative, and an event may leave out what has not changed."""
        if isinstance(usage, dict):
            self.usage.update({key: value for key, value in usage.items() if value is not None})

    def reply(self) -> Reply:
        content = [self._block(index, block) for index, block in sorted(self.blocks.items())]
        whole = self.wire.parse_reply({"content": content, "usage": self.usage or None, "id": self.id})
        return Reply(whole.text, whole.actions, whole.usage, self.complete, whole.id)

    def _block(self, index: int, block: Json) -> Json:
        said = "".join(self.parts.get(index, ()))
        if block.get("type") == "text":
            return {**block, "text": str(block.get("text") or "") + said}
        return {**block, "input": said or block.get("input")} if block.get("type") == "tool_use" else block


def _text_block(text: str) -> bytes:
    return orjson.dumps({"type": "text", "text": text})


def _is_result(block: msgspec.Raw | bytes) -> bool:
    parsed = orjson.loads(memoryview(block))
    return isinstance(parsed, dict) and parsed.get("type") == "tool_result"


def _usage(raw: Any) -> Usage | None:
    """``input_tokens`` excludes what came from a cache or went to it; ``output_tokens`` includes thinking."""
    if not isinstance(raw, dict):
        return None
    details = raw.get("output_tokens_details") or {}
    return Usage(
        input=int(raw.get("input_tokens") or 0),
        cache_read=int(raw.get("cache_read_input_tokens") or 0),
        cache_write=int(raw.get("cache_creation_input_tokens") or 0),
        output=int(raw.get("output_tokens") or 0),
        reasoning=int(details.get("thinking_tokens") or 0),
    )
