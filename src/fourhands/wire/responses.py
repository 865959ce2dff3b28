"""OpenAI Responses: a history of items, of which calls and their outputs are items of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from fourhands.model.usage import Usage
from fourhands.wire.openai import openai_error, parsed_arguments, plain_text
from fourhands.wire.types import Action, Collector, Item, Json, Reply, Role

__all__ = ["Responses"]

_ROLES: Final[dict[str, Role]] = {
    "system": "instructions",
    "developer": "instructions",
    "user": "user",
    "assistant": "model",
}
_ENDS: Final = frozenset({"response.completed", "response.incomplete"})
_FAILURES: Final = frozenset({"response.failed", "error"})


class Responses:
    """``POST …/responses``, streamed or not."""

    name = "responses"
    history_key = "input"
    takes_text = True
    previous_key = "previous_response_id"

    def tool_name(self, tool: Json) -> Sequence[str]:
        """See `Wire.tool_name`; a namespace offers what is in it."""
        inner = tool.get("tools")
        name = str(tool.get("name", tool.get("type")))
        if isinstance(inner, list):
            return [_in_namespace(name, each) for part in inner for each in self.tool_name(part)]
        return [name]

    def offered_by(self, item: Json) -> Sequence[str]:
        """See `Wire.offered_by`."""
        if item.get("type") != "additional_tools":
            return ()
        return [name for tool in item.get("tools") or () for name in self.tool_name(tool)]

    def item(self, raw: Json) -> Item:
        """See `Wire.item`."""
        kind = str(raw.get("type", "message"))
        if kind == "message":
            role = _ROLES.get(str(raw.get("role")))
            if role is None:
                raise ValueError(f"a message with the role {raw.get('role')!r}")
            return Item(role, plain_text(raw.get("content")))
        call = raw.get("call_id")
        if kind.endswith("_output") and call is not None:
            return Item("results", results=((str(call), _output(raw)),))
        # Reasoning, calls that the provider carries out itself, summaries: the model's.
        return Item("model", calls=(str(call),) if call is not None else ())

    def say(self, behind: bytes, texts: Sequence[str]) -> Sequence[bytes]:
        """See `Wire.say`."""
        return [behind, *(orjson.dumps(_message(text)) for text in texts)]

    def ask_for_usage(self, fields: Mapping[str, Any]) -> Mapping[str, bytes]:
        """See `Wire.ask_for_usage`: the last event always tells it."""
        del fields
        return {}

    def parse_reply(self, body: Json) -> Reply:
        """See `Wire.parse_reply`."""
        output = body.get("output")
        if not isinstance(output, list):
            raise ValueError("a response without an output")
        return Reply(
            text="".join(plain_text(item.get("content")) for item in output if item.get("type") == "message"),
            actions=tuple(action for item in output if (action := _action(item))),
            usage=_usage(body.get("usage")),
            complete=body.get("status", "completed") in {"completed", "incomplete"},
            id=str(body.get("id") or ""),
        )

    def collector(self, *, wants_usage: bool) -> Collector:
        """See `Wire.collector`."""
        del wants_usage
        return _Collector(self)

    def error(self, message: str) -> Json:
        """See `Wire.error`."""
        return openai_error(message)


@dataclass
class _Collector:
    wire: Responses
    id: str = ""
    text: list[str] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)
    end: Json | None = None
    complete: bool = False
    ended: bool = False

    def feed(self, data: bytes) -> bool:
        # Deltas are most of a stream, and only those of text tell anything that no later event tells.
        if b".delta" in data[:80] and b"output_text" not in data[:80]:
            return True
        event = orjson.loads(data)
        kind = event.get("type")
        if kind == "response.output_text.delta":
            self.text.append(str(event.get("delta") or ""))
        elif kind == "response.created":
            self.id = str((event.get("response") or {}).get("id") or "")
        elif kind == "response.output_item.done":
            self.items.append(event["item"])
        elif kind in _ENDS:
            self.end = event["response"]
            self.complete = self.ended = True
        elif kind in _FAILURES:
            self.ended = True
        return True

    def reply(self) -> Reply:
        end = self.end or {}
        # Some servers leave the output of the last event empty: the items came one by one.
        output = self.items or end.get("output") or []
        whole = self.wire.parse_reply({**end, "output": output, "status": "completed"})
        return Reply(
            text=whole.text or "".join(self.text),
            actions=whole.actions,
            usage=whole.usage,
            complete=self.complete,
            id=whole.id or self.id,
        )


def _message(text: str) -> Json:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def _in_namespace(namespace: str, name: str) -> str:
    return f"{namespace}.{name}"


def _action(item: Json) -> Action | None:
    call = item.get("call_id")
    kind = str(item.get("type"))
    if call is None or not kind.endswith("_call"):
        return None
    name = str(item.get("name", kind))
    if namespace := item.get("namespace"):
        name = _in_namespace(str(namespace), name)
    # A function has arguments, a custom tool free text, a shell an action.
    given = item.get("arguments", item.get("input", item.get("action")))
    return Action(str(call), name, parsed_arguments(given))


def _output(item: Json) -> str:
    output = item.get("output")
    return plain_text(output) or ("" if output is None or output == "" else str(output))


def _usage(raw: Any) -> Usage | None:
    """``input_tokens`` includes what came from a cache; ``output_tokens`` includes reasoning."""
    if not isinstance(raw, dict):
        return None
    given, made = raw.get("input_tokens_details") or {}, raw.get("output_tokens_details") or {}
    read, write = int(given.get("cached_tokens") or 0), int(given.get("cache_write_tokens") or 0)
    return Usage(
        input=int(raw.get("input_tokens") or 0) - read - write,
        cache_read=read,
        cache_write=write,
        output=int(raw.get("output_tokens") or 0),
        reasoning=int(made.get("reasoning_tokens") or 0),
    )
