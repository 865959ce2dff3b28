"""Anthropic Messages, from the provider's side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import orjson

from fourhands.wire.serving.messages_order import (
    THOUGHT,
    MergedTurn,
    check_marks,
    check_order,
    check_thinking,
    merged,
    read_blocks,
)
from fourhands.wire.serving.types import (
    Answer,
    Asked,
    Call,
    ModelTurn,
    RefusedError,
    Tool,
    UserTurn,
    halves,
    is_users_word,
    measure,
    sign,
    sse,
    tokens,
    use_ids,
)
from fourhands.wire.types import Json

__all__ = ["ServedMessages"]

_BEHIND_THE_CACHE: Final = 3
"""Tokens that always lie behind the last mark of the cache."""


class ServedMessages:
    """``POST …/messages``."""

    path = "messages"
    count_path = "messages/count_tokens"

    def read(self, body: Json) -> Asked:
        """See `ServedWire.read`."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError("messages: Field required")
        check_marks(body)
        turns = merged(messages)
        if turns[0].role == "assistant":
            raise RefusedError('messages: first message must use the "user" role')
        check_order(turns)
        thinking = (body.get("thinking") or {}).get("type")
        thinks = thinking in {"enabled", "adaptive"}
        if thinks:
            check_thinking(turns)
        replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        digest, total, seen = measure(
            [body.get("system"), body.get("tools")], messages, replies[-1] if replies else 0
        )
        first = next((index for index, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Asked(
            tools=tuple(_tools(body.get("tools") or (), _loaded(turns))),
            instructions=(
                *(block["text"] for block in read_blocks(body.get("system") or [], "system", "system")),
                *(block["text"] for turn in turns[:first] for block in turn.of("text")),
            ),
            turns=tuple(_turns(turns[first:])),
            digest=digest,
            tokens=total,
            seen_tokens=seen,
            thinks=thinks,
            form=form.get("schema"),
        )

    def reply(self, body: Json, asked: Asked, answer: Answer) -> Json:
        """See `ServedWire.reply`."""
        content: list[Json] = []
        thought = answer.reasoning if asked.thinks else ""
        if thought:
            content.append({"type": "thinking", "thinking": thought, "signature": sign("thinking", thought)})
        if answer.text:
            content.append({"type": "text", "text": answer.text})
        ids = use_ids("toolu", asked, answer, THOUGHT if thought else "")
        content.extend(
            {"type": "tool_use", "id": each, "name": use.tool.name, "input": use.arguments}
            for each, use in zip(ids, answer.uses, strict=True)
        )
        return {
            "id": f"msg_{asked.digest[:24]}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": content,
            "stop_reason": "tool_use" if answer.uses else "end_turn",
            "stop_sequence": None,
            "usage": {**_input_usage(body, asked), "output_tokens": max(1, tokens(orjson.dumps(content)))},
        }

    def stream(self, body: Json, reply: Json) -> Iterator[bytes]:
        """See `ServedWire.stream`."""
        del body
        for event in _events(reply):
            yield sse(event, event=event["type"])

    def count(self, asked: Asked) -> Json:
        """See `ServedWire.count`."""
        return {"input_tokens": asked.tokens}

    def refusal(self, message: str, kind: str = "invalid_request_error") -> Json:
        """See `ServedWire.refusal`."""
        return {
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": f"req_{sign(message)[:24]}",
        }


def _loaded(turns: Sequence[MergedTurn]) -> set[str]:
    """Deferred tools that the model has come to know: those that a note adds, and those that a search found."""
    loaded = set()
    for turn in turns:
        loaded.update(_referred(turn.blocks, "tool_addition"))
        loaded.difference_update(_referred(turn.blocks, "tool_removal"))
        for result in turn.of("tool_result"):
            if isinstance(result.get("content"), list):
                found = [{"type": "tool_reference", "tool": each} for each in result["content"]]
                loaded.update(_referred(found, "tool_reference"))
    return loaded


def _referred(blocks: Sequence[Json], kind: str) -> set[str]:
    tools = [block.get("tool") or {} for block in blocks if block["type"] == kind]
    return {str(tool.get("name") or tool.get("tool_name")) for tool in tools}


def _tools(raw: Sequence[Json], loaded: set[str]) -> Iterator[Tool]:
    for index, tool in enumerate(raw):
        if tool.get("type", "custom") != "custom":
            continue  # carried out by the provider itself
        if tool.get("defer_loading") and tool.get("name") not in loaded:
            continue
        if not tool.get("name") or not isinstance(tool.get("input_schema"), dict):
            raise RefusedError(f"tools.{index}.custom.input_schema: Field required")
        yield Tool(str(tool["name"]), tool["input_schema"], str(tool.get("description") or ""))


def _turns(turns: Sequence[MergedTurn]) -> Iterator[ModelTurn | UserTurn]:
    results: dict[str, str] = {}
    for turn in turns:
        if turn.role == "assistant":
            results = {}
            calls = tuple(
                Call(str(block["id"]), str(block.get("name")), block.get("input") or {})
                for block in turn.of("tool_use")
            )
            yield ModelTurn("".join(str(block["text"]) for block in turn.of("text")), calls, results)
        elif turn.role == "user":
            results.update({str(each["tool_use_id"]): _result_text(each) for each in turn.of("tool_result")})
            for block in turn.of("text"):
                if is_users_word(block["text"]):
                    yield UserTurn(block["text"])


def _result_text(block: Json) -> str:
    content = block.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _input_usage(body: Json, asked: Asked) -> Json:
    """Input is what neither came from the cache nor went into it; without a mark there is no cache."""
    marked = b'"cache_control":{' in orjson.dumps(body)
    fresh = min(_BEHIND_THE_CACHE, asked.tokens - asked.seen_tokens) if marked else asked.tokens
    read = asked.seen_tokens if marked else 0
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": asked.tokens - fresh - read,
        "cache_read_input_tokens": read,
    }


def _events(reply: Json) -> Iterator[Json]:
    usage = reply["usage"]
    empty: Json = {"content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    yield {"type": "message_start", "message": {**reply, **empty}}
    for index, block in enumerate(reply["content"]):
        start, deltas = _streamed(block)
        yield {"type": "content_block_start", "index": index, "content_block": start}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": reply["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": usage}
    yield {"type": "message_stop"}


def _streamed(block: Json) -> tuple[Json, list[Json]]:
    """A block as it starts, and what is added to it."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [
            {"type": "text_delta", "text": piece} for piece in halves(block["text"])
        ]
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            *({"type": "thinking_delta", "thinking": piece} for piece in halves(block["thinking"])),
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    pieces = ["", *halves(orjson.dumps(block["input"]).decode())]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": each} for each in pieces]
