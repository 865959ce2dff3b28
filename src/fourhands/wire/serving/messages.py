"""Anthropic Messages, from the provider's side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import orjson

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
    marks_of,
    measure,
    sign,
    sse,
    tokens,
    use_ids,
)
from fourhands.wire.types import Json

__all__ = ["ServedMessages"]

_BLOCKS: Final = {
    "user": (
        "text", "image", "document", "search_result", "tool_result", "container_upload", "mid_conv_system",
    ),
    "assistant": (
        "text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "mcp_tool_use",
        "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result", "compaction",
    ),
    "system": ("text", "tool_addition", "tool_removal"),
}  # fmt: skip
_RESULT_BLOCKS: Final = ("text", "image", "document", "search_result", "tool_reference")
_THOUGHT: Final = "t"
"""In the id of a call: a thinking block stands before it."""
_BEHIND_THE_CACHE: Final = 3
"""Tokens that always lie behind the last mark of the cache."""
_MOST_MARKS: Final = 4


@dataclass(frozen=True, slots=True)
class _Turn:
    """Messages of one role that follow each other: the API takes them as one."""

    role: str
    at: int
    blocks: tuple[Json, ...]

    def of(self, kind: str) -> list[Json]:
        """The blocks of a type."""
        return [block for block in self.blocks if block["type"] == kind]


class ServedMessages:
    """``POST …/messages``."""

    path = "messages"
    count_path = "messages/count_tokens"

    def read(self, body: Json) -> Asked:
        """See `ServedWire.read`."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise RefusedError("messages: Field required")
        _check_marks(body)
        turns = _merged(messages)
        if turns[0].role == "assistant":
            raise RefusedError('messages: first message must use the "user" role')
        _check_order(turns)
        thinking = (body.get("thinking") or {}).get("type")
        thinks = thinking in {"enabled", "adaptive"}
        if thinks:
            _check_thinking(turns)
        replies = [index for index, message in enumerate(messages) if message["role"] == "assistant"]
        digest, total, seen = measure(
            [body.get("system"), body.get("tools")], messages, replies[-1] if replies else 0
        )
        first = next((index for index, turn in enumerate(turns) if turn.role == "assistant"), len(turns))
        form = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Asked(
            tools=tuple(_tools(body.get("tools") or (), _loaded(turns))),
            instructions=(
                *(block["text"] for block in _blocks(body.get("system") or [], "system", "system")),
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
        ids = use_ids("toolu", asked, answer, _THOUGHT if thought else "")
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


def _merged(messages: Sequence[Any]) -> list[_Turn]:
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else message
        # Clients that have the beta send instructions of their own in the middle; a model hears them as no user.
        if role not in _BLOCKS:
            raise RefusedError(f"messages.{index}.role: Input should be 'user' or 'assistant', not {role!r}")
    turns = []
    for role, group in groupby(enumerate(messages), key=lambda each: str(each[1]["role"])):
        found = list(group)
        blocks = [
            block
            for index, message in found
            for block in _blocks(message.get("content"), role, f"messages.{index}")
        ]
        turns.append(_Turn(role, found[0][0], tuple(blocks)))
    return turns


def _blocks(content: Any, role: str, where: str) -> list[Json]:
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise RefusedError(f"{where}.content: Input should be a valid list")
    for index, block in enumerate(content):
        place = f"{where}.content.{index}"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind not in _BLOCKS[role]:
            raise RefusedError(
                f"{place}: Input tag {kind!r} found using 'type' does not match any of the expected tags: "
                + ", ".join(map(repr, _BLOCKS[role]))
            )
        if kind == "text" and not str(block.get("text") or "").strip():
            raise RefusedError(f"{place}: text content blocks must contain non-whitespace text")
        if kind == "tool_result" and isinstance(block.get("content"), list):
            for inner in block["content"]:
                if inner.get("type") not in _RESULT_BLOCKS:
                    raise RefusedError(f"{place}.tool_result: {inner.get('type')!r} is no expected tag")
    return content


def _check_marks(body: Json) -> None:
    marks = orjson.dumps([body.get("system"), body.get("tools"), body.get("messages")]).count(
        b'"cache_control":{"type"'
    )
    if marks > _MOST_MARKS:
        raise RefusedError(
            f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
        )


def _check_order(turns: Sequence[_Turn]) -> None:
    """Each batch of calls is answered at the very start of the user's turn behind it, each call once."""
    called: set[str] = set()
    due: list[str] = []
    spoken = [turn for turn in turns if turn.role != "system"]
    for turn in spoken:
        if turn.role == "user":
            _check_results(turn, due)
            due = []
            continue
        # A note of the client between two replies leaves two turns of the model in a row.
        _see_answered(due, turn.at)
        due = [str(block.get("id")) for block in turn.of("tool_use")]
        if called.intersection(due) or len(set(due)) < len(due):
            raise RefusedError(f"messages.{turn.at}: `tool_use` ids must be unique")
        called.update(due)
    _see_answered(due, len(turns))


def _see_answered(due: Sequence[str], at: int) -> None:
    if due:
        raise RefusedError(
            f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(due)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _check_results(turn: _Turn, due: Sequence[str]) -> None:
    results = [str(block.get("tool_use_id")) for block in turn.of("tool_result")]
    for index, result in enumerate(results):
        if result not in due:
            raise RefusedError(
                f"messages.{turn.at}.content.{index}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{result}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                "message."
            )
        if result in results[:index]:
            raise RefusedError(
                f"messages.{turn.at}: each tool_use must have a single result. Found multiple `tool_result` "
                f"blocks with id: {result}"
            )
    _see_answered([call for call in due if call not in results], turn.at)
    if any(block["type"] != "tool_result" for block in turn.blocks[: len(results)]):
        raise RefusedError(f"messages.{turn.at}: `tool_result` blocks must come first in the user's turn")


def _check_thinking(turns: Sequence[_Turn]) -> None:
    for turn in turns:
        for index, block in enumerate(turn.blocks):
            if block["type"] == "thinking" and block.get("signature") != sign(
                "thinking", str(block.get("thinking"))
            ):
                raise RefusedError(
                    f"messages.{turn.at}.content.{index}: Invalid `signature` in `thinking` block"
                )
            if block["type"] == "thinking" and block in turn.blocks[:index]:
                raise RefusedError(
                    f"messages.{turn.at}.content.{index}: `thinking` blocks cannot be modified: they must remain as "
                    "they were in the original response"
                )
        thought = any(_THOUGHT in marks_of(str(block.get("id"))) for block in turn.of("tool_use"))
        if thought and turn.blocks[0]["type"] not in {"thinking", "redacted_thinking"}:
            raise RefusedError(
                f"messages.{turn.at}.content.0: Expected `thinking` or `redacted_thinking`, but found "
                f"`{turn.blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start "
                "with a thinking block."
            )


def _loaded(turns: Sequence[_Turn]) -> set[str]:
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


def _turns(turns: Sequence[_Turn]) -> Iterator[ModelTurn | UserTurn]:
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
