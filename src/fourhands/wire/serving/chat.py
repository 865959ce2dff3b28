"""OpenAI Chat Completions, from the provider's side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import orjson

from fourhands.wire.serving.types import (
    Answer,
    Asked,
    Call,
    ModelTurn,
    RefusedError,
    Tool,
    ToolKind,
    ToolUse,
    UserTurn,
    halves,
    is_users_word,
    measure,
    parse_arguments,
    sse,
    tokens,
    use_ids,
)
from fourhands.wire.types import Json

__all__ = ["ServedChat"]

_ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
_PARTS: Final = ("text", "image_url", "input_audio", "file", "refusal")


class ServedChat:
    """``POST …/chat/completions``."""

    path = "chat/completions"
    count_path: str | None = None

    def read(self, body: Json) -> Asked:
        """See `ServedWire.read`."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError("Missing required parameter: 'messages'.")
        for index, message in enumerate(messages):
            _check_message(index, message)
        _check_order(messages)
        replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        first = replies[0] if replies else len(messages)
        digest, total, seen = measure([body.get("tools")], messages, replies[-1] if replies else 0)
        form = body.get("response_format") or {}
        return Asked(
            tools=tuple(_tool(tool) for tool in body.get("tools") or ()),
            instructions=tuple(_text(message.get("content")) for message in messages[:first]),
            turns=tuple(_turns(messages[first:])),
            digest=digest,
            tokens=total,
            seen_tokens=seen,
            thinks=body.get("reasoning_effort") not in {None, "none"},
            form=(form.get("json_schema") or {}).get("schema"),
        )

    def reply(self, body: Json, asked: Asked, answer: Answer) -> Json:
        """See `ServedWire.reply`."""
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.uses:
            ids = use_ids("call", asked, answer)
            message["tool_calls"] = [_call(each, use) for each, use in zip(ids, answer.uses, strict=True)]
        thought = tokens(answer.reasoning) if asked.thinks else 0
        out = tokens(orjson.dumps(message)) + thought
        return {
            "id": f"chatcmpl-{asked.digest[:24]}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model"),
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "logprobs": None,
                    "finish_reason": "tool_calls" if answer.uses else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": asked.tokens,
                "completion_tokens": out,
                "total_tokens": asked.tokens + out,
                "prompt_tokens_details": {"cached_tokens": asked.seen_tokens},
                "completion_tokens_details": {"reasoning_tokens": thought},
            },
        }

    def stream(self, body: Json, reply: Json) -> Iterator[bytes]:
        """See `ServedWire.stream`."""
        for chunk in _chunks(body, reply):
            yield sse(chunk)
        yield b"data: [DONE]\n\n"

    def count(self, asked: Asked) -> Json:
        """See `ServedWire.count`."""
        return {"input_tokens": asked.tokens}

    def refusal(self, message: str, kind: str = "invalid_request_error") -> Json:
        """See `ServedWire.refusal`."""
        return {"error": {"message": message, "type": kind, "param": None, "code": None}}


def _check_message(index: int, message: Any) -> None:
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        said = message.get("role") if isinstance(message, dict) else message
        raise RefusedError(
            f"Invalid value: {said!r}. Supported values are: {', '.join(_ROLES)}. (messages[{index}])"
        )
    content = message.get("content")
    if content is None and not (message["role"] == "assistant" and message.get("tool_calls")):
        raise RefusedError(f"Invalid value for 'content': expected a string, got null. (messages[{index}])")
    if isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or part.get("type") not in _PARTS:
                raise RefusedError(
                    f"Invalid content part {part!r}. Supported types are: {', '.join(_PARTS)}. (messages[{index}])"
                )
    elif content is not None and not isinstance(content, str):
        raise RefusedError(f"Invalid type for 'content' in messages[{index}]: expected a string or a list.")


def _check_order(messages: Sequence[Json]) -> None:
    """Each batch of calls is answered by the messages right behind it, each call once."""
    due: list[str] = []
    batch: set[str] = set()
    for index, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            call = str(message.get("tool_call_id"))
            if call not in due:
                said = "was answered already" if call in batch else "is no call of the message before"
                raise RefusedError(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
                    f"with 'tool_calls': {call!r} {said}. (messages[{index}])"
                )
            due.remove(call)
            continue
        if due:
            raise RefusedError(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(due)}"
            )
        due = _call_ids(index, message) if message["role"] == "assistant" else []
        batch = set(due)


def _call_ids(index: int, message: Json) -> list[str]:
    ids = []
    for call in message.get("tool_calls") or ():
        kind = call.get("type", "function")
        if kind not in {"function", "custom"} or not isinstance(call.get(kind), dict) or not call.get("id"):
            raise RefusedError(f"Invalid tool call in messages[{index}]: {call!r}.")
        ids.append(str(call["id"]))
    if len(set(ids)) < len(ids):
        raise RefusedError(f"Duplicate tool call ids in messages[{index}]: {', '.join(ids)}.")
    return ids


def _tool(raw: Json) -> Tool:
    kind: ToolKind = "custom" if raw.get("type") == "custom" else "function"
    tool = raw.get(kind)
    if not isinstance(tool, dict) or not tool.get("name"):
        raise RefusedError(f"Invalid tool: {raw!r}.")
    schema = tool.get("parameters") or {} if kind == "function" else {}
    return Tool(str(tool["name"]), schema, str(tool.get("description") or ""), kind)


def _turns(messages: Iterable[Json]) -> Iterator[ModelTurn | UserTurn]:
    """The history; results are put with the calls they answer."""
    reply: ModelTurn | None = None
    results: dict[str, str] = {}
    for message in messages:
        if message["role"] == "assistant":
            results = {}
            calls = tuple(_read_call(call) for call in message.get("tool_calls") or ())
            reply = ModelTurn(_text(message.get("content")), calls, results)
            yield reply
        elif message["role"] == "tool":
            results[str(message["tool_call_id"])] = _text(message.get("content"))
        elif message["role"] == "user":
            words = [text for text in _texts(message.get("content")) if is_users_word(text)]
            if words:
                yield UserTurn("".join(words))


def _read_call(call: Json) -> Call:
    if call.get("type") == "custom":
        return Call(str(call["id"]), str(call["custom"].get("name")), str(call["custom"].get("input")))
    function = call["function"]
    arguments = parse_arguments(str(function.get("arguments") or ""))
    return Call(str(call["id"]), str(function.get("name")), arguments)


def _call(call_id: str, use: ToolUse) -> Json:
    if use.tool.kind == "custom":
        custom = {"name": use.tool.name, "input": str(use.arguments)}
        return {"id": call_id, "type": "custom", "custom": custom}
    function = {"name": use.tool.name, "arguments": orjson.dumps(use.arguments).decode()}
    return {"id": call_id, "type": "function", "function": function}


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [str(part.get("text", "")) for part in content or () if part.get("type") in {"text", "refusal"}]


def _text(content: Any) -> str:
    return "".join(_texts(content))


def _chunks(body: Json, reply: Json) -> Iterator[Json]:
    """As a provider streams it: role, text in pieces, each tool call in pieces, the end, the usage if asked for."""
    frame = {key: reply[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = reply["choices"][0]
    message = choice["message"]

    def delta(content: Json, finish: str | None = None) -> Json:
        return {**frame, "choices": [{"index": 0, "delta": content, "finish_reason": finish}]}

    yield delta({"role": "assistant", "content": ""})
    for piece in halves(message["content"]):
        yield delta({"content": piece})
    for index, call in enumerate(message.get("tool_calls", ())):
        kind = call["type"]
        field = "arguments" if kind == "function" else "input"
        first, *rest = halves(call[kind][field]) or [""]
        yield delta({"tool_calls": [{"index": index, **call, kind: {**call[kind], field: first}}]})
        for piece in rest:
            yield delta({"tool_calls": [{"index": index, kind: {field: piece}}]})
    yield delta({}, choice["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**frame, "choices": [], "usage": reply["usage"]}
