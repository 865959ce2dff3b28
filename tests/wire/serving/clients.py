"""Correct clients of the three APIs: they keep a history as an agent does, and put a stream together again."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.serving.messages import ServedMessages
from fourhands.wire.serving.responses import ServedResponses
from fourhands.wire.serving.types import ServedWire

Json = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


class Client(Protocol):
    """An agent's side of one conversation."""

    wire: ServedWire
    items: list[Json]

    def body(self) -> Json: ...

    def take(self, reply: Json, results: Sequence[str], words: Sequence[str]) -> None:
        """Add a reply, a result for each of its calls, and what the user says then."""
        ...

    def fold(self, events: Iterable[bytes]) -> Json:
        """A stream as the whole reply it stands for."""
        ...


def parse(events: Iterable[bytes]) -> list[tuple[str | None, Any]]:
    """Name and data of each event."""
    parsed = []
    for event in events:
        assert event.endswith(b"\n\n")
        *names, data = event.decode().rstrip("\n").split("\n")
        name = names[0].removeprefix("event: ") if names else None
        raw = data.removeprefix("data: ")
        parsed.append((name, raw if raw == "[DONE]" else json.loads(raw)))
    return parsed


class ChatClient:
    def __init__(self, prompt: str) -> None:
        self.wire: ServedWire = ServedChat()
        self.items: list[Json] = [
            {"role": "system", "content": "You work."},
            {"role": "user", "content": prompt},
        ]

    def body(self) -> Json:
        tool = {"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}
        return {
            "model": "m",
            "messages": copy.deepcopy(self.items),
            "tools": [tool],
            "stream_options": {"include_usage": True},
        }

    def take(self, reply: Json, results: Sequence[str], words: Sequence[str]) -> None:
        message = reply["choices"][0]["message"]
        self.items.append(message)
        for call, result in zip(message.get("tool_calls", ()), results, strict=True):
            self.items.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        self.items.extend({"role": "user", "content": word} for word in words)

    def fold(self, events: Iterable[bytes]) -> Json:
        *chunks, last = [data for _, data in parse(events)]
        assert last == "[DONE]"
        message: Json = {"role": "assistant", "content": ""}
        finish = usage = None
        for chunk in chunks:
            usage = chunk.get("usage", usage)
            for choice in chunk["choices"]:
                delta, finish = choice["delta"], choice["finish_reason"]
                message["content"] += delta.get("content", "")
                for part in delta.get("tool_calls", ()):
                    calls = message.setdefault("tool_calls", [])
                    if part["index"] == len(calls):
                        calls.append({key: value for key, value in part.items() if key != "index"})
                    else:
                        calls[part["index"]]["function"]["arguments"] += part["function"]["arguments"]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        frame = {key: chunks[0][key] for key in ("id", "created", "model")}
        return {**frame, "object": "chat.completion", "choices": [choice], "usage": usage}


class ResponsesClient:
    def __init__(self, prompt: str) -> None:
        self.wire: ServedWire = ServedResponses()
        self.items: list[Json] = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}
        ]

    def body(self) -> Json:
        return {
            "model": "m",
            "input": copy.deepcopy(self.items),
            "instructions": "You work.",
            "tools": [{"type": "function", "name": "bash", "parameters": SCHEMA}],
            "reasoning": {"effort": "high", "summary": "auto"},
            "include": ["reasoning.encrypted_content"],
            "store": False,
        }

    def take(self, reply: Json, results: Sequence[str], words: Sequence[str]) -> None:
        self.items.extend(reply["output"])
        calls = [item for item in reply["output"] if item["type"] == "function_call"]
        for call, result in zip(calls, results, strict=True):
            self.items.append({"type": "function_call_output", "call_id": call["call_id"], "output": result})
        for word in words:
            said = [{"type": "input_text", "text": word}]
            self.items.append({"type": "message", "role": "user", "content": said})

    def fold(self, events: Iterable[bytes]) -> Json:
        output: list[Json] = []
        parsed = parse(events)
        assert [data["sequence_number"] for _, data in parsed] == list(range(len(parsed)))
        for name, data in parsed:
            assert name is not None
            assert name == data["type"]
            match name.removeprefix("response."):
                case "output_item.added":
                    assert data["output_index"] == len(output)
                    output.append(data["item"])
                case "content_part.added":
                    output[-1]["content"].append(data["part"])
                case "reasoning_summary_part.added":
                    output[-1]["summary"].append(data["part"])
                case "output_text.delta":
                    output[-1]["content"][data["content_index"]]["text"] += data["delta"]
                case "reasoning_summary_text.delta":
                    output[-1]["summary"][data["summary_index"]]["text"] += data["delta"]
                case "function_call_arguments.delta":
                    output[-1]["arguments"] += data["delta"]
                case "output_item.done":
                    assert (
                        output[-1] == {**data["item"], "status": "in_progress"} or output[-1] == data["item"]
                    )
                    output[-1] = data["item"]
        assert parsed[-1][0] == "response.completed"
        completed: Json = parsed[-1][1]["response"]
        assert completed["output"] == output
        return completed


class MessagesClient:
    def __init__(self, prompt: str) -> None:
        self.wire: ServedWire = ServedMessages()
        self.items: list[Json] = [{"role": "user", "content": [{"type": "text", "text": prompt}]}]

    def body(self) -> Json:
        return {
            "model": "m",
            "max_tokens": 1000,
            "system": [{"type": "text", "text": "You work.", "cache_control": {"type": "ephemeral"}}],
            "messages": copy.deepcopy(self.items),
            "tools": [{"name": "bash", "input_schema": SCHEMA}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        }

    def take(self, reply: Json, results: Sequence[str], words: Sequence[str]) -> None:
        self.items.append({"role": "assistant", "content": reply["content"]})
        calls = [block for block in reply["content"] if block["type"] == "tool_use"]
        content: list[Json] = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
        content.extend({"type": "text", "text": word} for word in words)
        if content:
            self.items.append({"role": "user", "content": content})

    def fold(self, events: Iterable[bytes]) -> Json:
        parsed = parse(events)
        message: Json = {}
        arguments: dict[int, str] = {}
        assert parsed[-1][0] == "message_stop"
        for name, data in parsed:
            assert name == data["type"]
            match name:
                case "message_start":
                    message = data["message"]
                case "content_block_start":
                    assert data["index"] == len(message["content"])
                    message["content"].append(data["content_block"])
                case "content_block_delta" if data["delta"]["type"] == "input_json_delta":
                    arguments.setdefault(data["index"], "")
                    arguments[data["index"]] += data["delta"]["partial_json"]
                case "content_block_delta":
                    field = data["delta"]["type"].removesuffix("_delta")
                    message["content"][data["index"]][field] += data["delta"][field]
                case "message_delta":
                    message.update(data["delta"])
                    message["usage"].update(data["usage"])
        for index, raw in arguments.items():
            message["content"][index]["input"] = json.loads(raw)
        return message


CLIENTS = (ChatClient, ResponsesClient, MessagesClient)
