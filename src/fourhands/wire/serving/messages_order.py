"""What Anthropic refuses in the messages of a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import orjson

from fourhands.wire.serving.types import RefusedError, marks_of, sign
from fourhands.wire.types import Json

__all__ = ["THOUGHT", "MergedTurn", "check_marks", "check_order", "check_thinking", "merged", "read_blocks"]

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
THOUGHT: Final = "t"
"""In the id of a call: a thinking block stands before it."""
_MOST_MARKS: Final = 4


@dataclass(frozen=True, slots=True)
class MergedTurn:
    """Messages of one role that follow each other: the API takes them as one."""

    role: str
    at: int
    blocks: tuple[Json, ...]

    def of(self, kind: str) -> list[Json]:
        """The blocks of a type."""
        return [block for block in self.blocks if block["type"] == kind]


def merged(messages: Sequence[Any]) -> list[MergedTurn]:
    """Messages as turns: those of one role that follow each other are one.

    Raises:
        RefusedError: a role or a block is unknown.
    """
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
            for block in read_blocks(message.get("content"), role, f"messages.{index}")
        ]
        turns.append(MergedTurn(role, found[0][0], tuple(blocks)))
    return turns


def read_blocks(content: Any, role: str, where: str) -> list[Json]:
    """The blocks of a content; ``where`` is what to call it.

    Raises:
        RefusedError: one is unknown, or is empty text.
    """
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


def check_marks(body: Json) -> None:
    """See that a request has no more marks of the cache than are allowed.

    Raises:
        RefusedError: it has.
    """
    marks = orjson.dumps([body.get("system"), body.get("tools"), body.get("messages")]).count(
        b'"cache_control":{"type"'
    )
    if marks > _MOST_MARKS:
        raise RefusedError(
            f"A maximum of {_MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
        )


def check_order(turns: Sequence[MergedTurn]) -> None:
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


def _check_results(turn: MergedTurn, due: Sequence[str]) -> None:
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


def check_thinking(turns: Sequence[MergedTurn]) -> None:
    """See that thinking blocks are as they were sent, and still stand before the calls they came with.

    Raises:
        RefusedError: one is changed or gone.
    """
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
        thought = any(THOUGHT in marks_of(str(block.get("id"))) for block in turn.of("tool_use"))
        if thought and turn.blocks[0]["type"] not in {"thinking", "redacted_thinking"}:
            raise RefusedError(
                f"messages.{turn.at}.content.0: Expected `thinking` or `redacted_thinking`, but found "
                f"`{turn.blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start "
                "with a thinking block."
            )
