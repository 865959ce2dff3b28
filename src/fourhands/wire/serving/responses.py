"""OpenAI Responses, from the provider's side."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final

import orjson

from fourhands.wire.serving.responses_order import (
    CALLS,
    RESULTS,
    THOUGHT,
    check_calls,
    check_item,
    check_reasoning,
    encrypted,
    is_models,
)
from fourhands.wire.serving.types import (
    Answer,
    Asked,
    Call,
    ModelTurn,
    RefusedError,
    Tool,
    ToolUse,
    UserTurn,
    halves,
    is_users_word,
    measure,
    parse_arguments,
    reply_key,
    sse,
    tokens,
    use_ids,
)
from fourhands.wire.types import Json

__all__ = ["ServedResponses"]

_KEPT_RESPONSES: Final = 256


class ServedResponses:
    """``POST …/responses``.

    A response is kept, as ``store`` promises, for a later ``previous_response_id``; the newest few hundred.
    """

    path = "responses"
    count_path = "responses/input_tokens"

    def __init__(self) -> None:
        self._kept: OrderedDict[str, list[Json]] = OrderedDict()

    def read(self, body: Json) -> Asked:
        """See `ServedWire.read`."""
        items = [*self._past(body.get("previous_response_id")), *_items(body.get("input"))]
        for index, item in enumerate(items):
            check_item(index, item)
        check_calls(items)
        replies = _replies(items)
        for start, end in replies:
            check_reasoning(items[start:end])
        first, last = (replies[0][0], replies[-1][0]) if replies else (len(items), 0)
        digest, total, seen = measure([body.get("instructions"), body.get("tools")], items, last)
        form = (body.get("text") or {}).get("format") or {}
        return Asked(
            tools=tuple(_tools([*(body.get("tools") or ()), *_added_tools(items)])),
            instructions=(str(body.get("instructions") or ""), *map(_text, items[:first])),
            turns=tuple(turn for start, end in replies for turn in _turns(items[start:end])),
            digest=digest,
            tokens=total,
            seen_tokens=seen,
            thinks=body.get("reasoning") is not None
            and (body["reasoning"].get("effort") or "medium") != "none",
            form=form.get("schema"),
        )

    def reply(self, body: Json, asked: Asked, answer: Answer) -> Json:
        """See `ServedWire.reply`."""
        response_id = f"resp_{asked.digest[:32]}"
        output = list(_output(body, asked, answer))
        thought = tokens(answer.reasoning) if asked.thinks else 0
        out = tokens(orjson.dumps(output)) + thought
        if body.get("store") is not False:
            past = self._past(body.get("previous_response_id"))
            self._kept[response_id] = [*past, *_items(body.get("input")), *output]
            while len(self._kept) > _KEPT_RESPONSES:
                self._kept.popitem(last=False)
        return {
            "id": response_id,
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "max_output_tokens": body.get("max_output_tokens"),
            "model": body.get("model"),
            "output": output,
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
            "store": body.get("store") is not False,
            "temperature": 1.0,
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": body.get("tools") or [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": {
                "input_tokens": asked.tokens,
                "input_tokens_details": {"cached_tokens": asked.seen_tokens},
                "output_tokens": out,
                "output_tokens_details": {"reasoning_tokens": thought},
                "total_tokens": asked.tokens + out,
            },
            "user": None,
            "metadata": {},
        }

    def stream(self, body: Json, reply: Json) -> Iterator[bytes]:
        """See `ServedWire.stream`."""
        del body
        numbers = count()
        for event in _events(reply):
            yield sse({**event, "sequence_number": next(numbers)}, event=event["type"])

    def count(self, asked: Asked) -> Json:
        """See `ServedWire.count`."""
        return {"object": "response.input_tokens", "input_tokens": asked.tokens}

    def refusal(self, message: str, kind: str = "invalid_request_error") -> Json:
        """See `ServedWire.refusal`."""
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}

    def _past(self, response_id: str | None) -> list[Json]:
        if response_id is None:
            return []
        if response_id not in self._kept:
            raise RefusedError(f"Previous response with id '{response_id}' not found.")
        return self._kept[response_id]


def _items(raw: Any) -> list[Any]:
    if isinstance(raw, str):
        return [{"type": "message", "role": "user", "content": raw}]
    if not isinstance(raw, list):
        raise RefusedError("Missing required parameter: 'input'.")
    return raw


def _replies(items: Sequence[Json]) -> list[tuple[int, int]]:
    """Where each reply of the model begins, and where it ends with all that follows it: results, words.

    The items of a reply stand together, unless a client puts each result right behind its call.
    """
    starts: list[int] = []
    key: str | None = None
    is_apart = True
    for index, item in enumerate(items):
        if not is_models(item):
            is_apart = True
            if item.get("type", "message") == "message":
                key = None
            continue
        own = reply_key(item["call_id"]) if item.get("type") in CALLS else None
        if is_apart and (own is None or own != key):
            starts.append(index)
        is_apart, key = False, own or key
    return list(zip(starts, [*starts[1:], len(items)], strict=False))


def _added_tools(items: Sequence[Json]) -> Iterator[Json]:
    """Tools that are offered in the history, as some clients do for some models."""
    for item in items:
        if item.get("type") == "additional_tools":
            yield from item.get("tools") or ()


def _tools(raw: Sequence[Json], namespace: str = "") -> Iterator[Tool]:
    for tool in raw:
        kind, name = tool.get("type"), str(tool.get("name") or "")
        about = str(tool.get("description") or "")
        if kind == "namespace":
            yield from _tools(tool.get("tools") or (), name)
        elif kind == "function":
            yield Tool(name, tool.get("parameters") or {}, about, "function", namespace)
        elif kind == "custom":
            yield Tool(name, {}, about, "custom", namespace)
        elif kind == "local_shell":
            yield Tool("local_shell", {}, about, "local_shell", namespace)


def _turns(reply: Sequence[Json]) -> Iterator[ModelTurn | UserTurn]:
    """A reply of the model, and what the user said to it."""
    words = [_text(item) for item in reply if item.get("type", "message") == "message" and is_models(item)]
    calls = tuple(_read_call(item) for item in reply if item.get("type") in CALLS)
    results = {item["call_id"]: _parts(item["output"]) for item in reply if item.get("type") in RESULTS}
    yield ModelTurn("".join(words), calls, results)
    for item in reply:
        if item.get("role") == "user" and is_users_word(_text(item)):
            yield UserTurn(_text(item))


def _read_call(item: Json) -> Call:
    kind, call_id = item["type"], str(item["call_id"])
    if kind == "local_shell_call":
        return Call(call_id, "local_shell", item.get("action") or {})
    if kind == "custom_tool_call":
        return Call(call_id, str(item.get("name")), str(item.get("input")))
    return Call(call_id, str(item.get("name")), parse_arguments(str(item.get("arguments") or "")))


def _text(item: Json) -> str:
    return _parts(item.get("content") or "")


def _parts(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)


def _output(body: Json, asked: Asked, answer: Answer) -> Iterator[Json]:
    key = f"{asked.replies}_{asked.digest[:12]}"
    thought = answer.reasoning if asked.thinks else ""
    is_encrypted = "reasoning.encrypted_content" in (body.get("include") or ())
    # Neither kept nor given along, it cannot come back with its item.
    comes_back = is_encrypted or body.get("store") is not False
    mark = THOUGHT if thought and comes_back else ""
    if thought:
        shown = [{"type": "summary_text", "text": thought}] if body["reasoning"].get("summary") else []
        item: Json = {"id": f"rs_{key}", "type": "reasoning", "summary": shown}
        if is_encrypted:
            item["encrypted_content"] = encrypted(item)
        yield item
    if answer.text or not answer.uses:
        part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
        yield {
            "id": f"msg_{mark}{key}",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }
    ids = use_ids("call", asked, answer, mark)
    for call_id, use in zip(ids, answer.uses, strict=True):
        yield _call(call_id, use)


def _call(call_id: str, use: ToolUse) -> Json:
    rest = call_id.removeprefix("call_")
    named: Json = {"call_id": call_id, "name": use.tool.name, "status": "completed"}
    if use.tool.namespace:
        named["namespace"] = use.tool.namespace
    if use.tool.kind == "custom":
        return {"id": f"ctc_{rest}", "type": "custom_tool_call", **named, "input": str(use.arguments)}
    if use.tool.kind == "local_shell":
        return {
            "id": f"lsh_{rest}",
            "type": "local_shell_call",
            "call_id": call_id,
            "status": "completed",
            "action": {
                "type": "exec",
                "env": {},
                **(use.arguments if isinstance(use.arguments, dict) else {}),
            },
        }
    return {
        "id": f"fc_{rest}",
        "type": "function_call",
        **named,
        "arguments": orjson.dumps(use.arguments).decode(),
    }


def _events(reply: Json) -> Iterator[Json]:
    begun = {**reply, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(reply["output"]):
        at = {"output_index": index}
        start, steps = _streamed(item)
        yield {"type": "response.output_item.added", **at, "item": start}
        for step in steps:
            yield {**step, "item_id": item["id"], **at}
        yield {"type": "response.output_item.done", **at, "item": item}
    yield {"type": "response.completed", "response": reply}


def _streamed(item: Json) -> tuple[Json, list[Json]]:
    """An item as it is added, and the events up to its end."""
    kind = item["type"]
    if kind == "message":
        (part,) = item["content"]
        at = {"content_index": 0}
        return {**item, "status": "in_progress", "content": []}, [
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
            *(
                {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
                for piece in halves(part["text"])
            ),
            {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
            {"type": "response.content_part.done", **at, "part": part},
        ]
    if kind == "reasoning":
        return {**item, "summary": []}, [
            event for index, part in enumerate(item["summary"]) for event in _summary(index, part)
        ]
    if kind == "local_shell_call":
        return {**item, "status": "in_progress"}, []
    field, name = (
        ("input", "custom_tool_call_input")
        if kind == "custom_tool_call"
        else ("arguments", "function_call_arguments")
    )
    return {**item, "status": "in_progress", field: ""}, [
        *({"type": f"response.{name}.delta", "delta": piece} for piece in halves(item[field])),
        {"type": f"response.{name}.done", field: item[field]},
    ]


def _summary(index: int, part: Json) -> Iterator[Json]:
    at = {"summary_index": index}
    name = "response.reasoning_summary"
    yield {"type": f"{name}_part.added", **at, "part": {**part, "text": ""}}
    for piece in halves(part["text"]):
        yield {"type": f"{name}_text.delta", **at, "delta": piece}
    yield {"type": f"{name}_text.done", **at, "text": part["text"]}
    yield {"type": f"{name}_part.done", **at, "part": part}
