"""OpenAI Responses, from the provider's side."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, Final

import orjson

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
    marks_of,
    measure,
    parse_arguments,
    reply_key,
    sign,
    sse,
    tokens,
    use_ids,
)
from fourhands.wire.types import Json

__all__ = ["ServedResponses"]

_CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
}
"""A call's type -> its result's."""
_RESULTS: Final = {result: call for call, result in _CALLS.items()}
_OTHERS: Final = (
    "message", "reasoning", "additional_tools", "web_search_call", "tool_search_call", "tool_search_output",
    "image_generation_call", "compaction",
)  # fmt: skip
_CONTENT: Final = {
    "user": ("input_text", "input_image", "input_file"),
    "system": ("input_text",),
    "developer": ("input_text",),
    "assistant": ("output_text", "refusal"),
}
_THOUGHT: Final = "t"
"""In the id of a call: a reasoning item stands before it."""
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
            _check_item(index, item)
        _check_calls(items)
        replies = _replies(items)
        for start, end in replies:
            _check_reasoning(items[start:end])
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


def _check_item(index: int, item: Any) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else item
    supported = (*_CALLS, *_RESULTS, *_OTHERS)
    if kind not in supported:
        raise RefusedError(
            f"Invalid value: {kind!r}. Supported values are: {', '.join(supported)}. (input[{index}])"
        )
    if kind in _CALLS or kind in _RESULTS:
        if not isinstance(item.get("call_id"), str):
            raise RefusedError(f"Missing required parameter: 'input[{index}].call_id'.")
        if kind in _RESULTS and not isinstance(item.get("output"), str | list):
            raise RefusedError(f"Missing required parameter: 'input[{index}].output'.")
    if kind == "message":
        _check_content(index, item)


def _check_content(index: int, item: Json) -> None:
    role, content = item.get("role"), item.get("content")
    if role not in _CONTENT:
        raise RefusedError(
            f"Invalid value: {role!r}. Supported values are: {', '.join(_CONTENT)}. (input[{index}].role)"
        )
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise RefusedError(f"Missing required parameter: 'input[{index}].content'.")
    for part in content:
        if not isinstance(part, dict) or part.get("type") not in _CONTENT[role]:
            raise RefusedError(
                f"Invalid value: {part!r}. Supported values are: {', '.join(_CONTENT[role])}. "
                f"(input[{index}].content)"
            )


def _check_calls(items: Sequence[Json]) -> None:
    """Every call has its one output, of its own kind, before anybody else speaks."""
    due: dict[str, str] = {}
    done: set[str] = set()
    for index, item in enumerate(items):
        kind, call = item.get("type", "message"), str(item.get("call_id"))
        if kind in _CALLS:
            if call in due or call in done:
                raise RefusedError(f"Duplicate item found with call_id {call}. (input[{index}])")
            due[call] = _CALLS[kind]
        elif kind in _RESULTS:
            # A freeform tool may report more than once.
            if due.pop(call, None) != kind and not (call in done and kind == "custom_tool_call_output"):
                said = " that has none yet" if call in done else ""
                raise RefusedError(
                    f"No tool call found for {_spoken(kind)} with call_id {call}{said}. (input[{index}])"
                )
            done.add(call)
        elif due and kind == "message" and item["role"] != "assistant":
            break
    if due:
        call, kind = next(iter(due.items()))
        raise RefusedError(f"No tool output found for {_spoken(_RESULTS[kind])} {call}.")


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def _check_reasoning(reply: Sequence[Json]) -> None:
    """A reasoning item is as its provider sent it, and stands right before an item that came with it."""
    has_reasoning = False
    for item, following in zip(reply, [*reply[1:], {"type": "end"}], strict=True):
        if item.get("type") == "reasoning":
            has_reasoning = True
            if item.get("encrypted_content") not in {None, _encrypted(item)}:
                raise RefusedError(f"The encrypted content for item {item.get('id')} could not be verified.")
            if not _is_models(following) or following.get("type") == "reasoning":
                raise RefusedError(
                    f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following "
                    "item."
                )
        elif _THOUGHT in marks_of(_name(item)) and _is_models(item) and not has_reasoning:
            raise RefusedError(
                f"Item '{_name(item)}' of type '{item.get('type')}' was provided without its required "
                "'reasoning' item."
            )


def _name(item: Json) -> str:
    return str(item.get("call_id") or item.get("id"))


def _encrypted(item: Json) -> str:
    summary = "".join(str(part.get("text")) for part in item.get("summary") or ())
    return sign("reasoning", summary)


def _is_models(item: Json) -> bool:
    kind = item.get("type", "message")
    return kind in _CALLS or kind == "reasoning" or (kind == "message" and item["role"] == "assistant")


def _replies(items: Sequence[Json]) -> list[tuple[int, int]]:
    """Where each reply of the model begins, and where it ends with all that follows it: results, words.

    The items of a reply stand together, unless a client puts each result right behind its call.
    """
    starts: list[int] = []
    key: str | None = None
    is_apart = True
    for index, item in enumerate(items):
        if not _is_models(item):
            is_apart = True
            if item.get("type", "message") == "message":
                key = None
            continue
        own = reply_key(item["call_id"]) if item.get("type") in _CALLS else None
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
    words = [_text(item) for item in reply if item.get("type", "message") == "message" and _is_models(item)]
    calls = tuple(_read_call(item) for item in reply if item.get("type") in _CALLS)
    results = {item["call_id"]: _parts(item["output"]) for item in reply if item.get("type") in _RESULTS}
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
    mark = _THOUGHT if thought and comes_back else ""
    if thought:
        shown = [{"type": "summary_text", "text": thought}] if body["reasoning"].get("summary") else []
        item: Json = {"id": f"rs_{key}", "type": "reasoning", "summary": shown}
        if is_encrypted:
            item["encrypted_content"] = _encrypted(item)
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
