"""What OpenAI refuses in the items of a Responses request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fourhands.wire.serving.types import RefusedError, marks_of, sign
from fourhands.wire.types import Json

__all__ = [
    "CALLS",
    "RESULTS",
    "THOUGHT",
    "check_calls",
    "check_item",
    "check_reasoning",
    "encrypted",
    "is_models",
]

CALLS: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
}
"""A call's type -> its result's."""
RESULTS: Final = {result: call for call, result in CALLS.items()}
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
THOUGHT: Final = "t"
"""In the id of a call: a reasoning item stands before it."""


def check_item(index: int, item: Any) -> None:
    """See that an item is one that the API knows; ``index`` is its place in the input.

    Raises:
        RefusedError: it is not.
    """
    kind = item.get("type", "message") if isinstance(item, dict) else item
    supported = (*CALLS, *RESULTS, *_OTHERS)
    if kind not in supported:
        raise RefusedError(
            f"Invalid value: {kind!r}. Supported values are: {', '.join(supported)}. (input[{index}])"
        )
    if kind in CALLS or kind in RESULTS:
        if not isinstance(item.get("call_id"), str):
            raise RefusedError(f"Missing required parameter: 'input[{index}].call_id'.")
        if kind in RESULTS and not isinstance(item.get("output"), str | list):
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


def check_calls(items: Sequence[Json]) -> None:
    """Every call has its one output, of its own kind, before anybody else speaks."""
    due: dict[str, str] = {}
    done: set[str] = set()
    for index, item in enumerate(items):
        kind, call = item.get("type", "message"), str(item.get("call_id"))
        if kind in CALLS:
            if call in due or call in done:
                raise RefusedError(f"Duplicate item found with call_id {call}. (input[{index}])")
            due[call] = CALLS[kind]
        elif kind in RESULTS:
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
        raise RefusedError(f"No tool output found for {_spoken(RESULTS[kind])} {call}.")


def _spoken(kind: str) -> str:
    return kind.replace("_", " ")


def check_reasoning(reply: Sequence[Json]) -> None:
    """A reasoning item is as its provider sent it, and stands right before an item that came with it."""
    has_reasoning = False
    for item, following in zip(reply, [*reply[1:], {"type": "end"}], strict=True):
        if item.get("type") == "reasoning":
            has_reasoning = True
            if item.get("encrypted_content") not in {None, encrypted(item)}:
                raise RefusedError(f"The encrypted content for item {item.get('id')} could not be verified.")
            if not is_models(following) or following.get("type") == "reasoning":
                raise RefusedError(
                    f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following "
                    "item."
                )
        elif THOUGHT in marks_of(_name(item)) and is_models(item) and not has_reasoning:
            raise RefusedError(
                f"Item '{_name(item)}' of type '{item.get('type')}' was provided without its required "
                "'reasoning' item."
            )


def _name(item: Json) -> str:
    return str(item.get("call_id") or item.get("id"))


def encrypted(item: Json) -> str:
    """What a reasoning item carries that only its provider can write."""
    summary = "".join(str(part.get("text")) for part in item.get("summary") or ())
    return sign("reasoning", summary)


def is_models(item: Json) -> bool:
    """Whether the model has said this item."""
    kind = item.get("type", "message")
    return kind in CALLS or kind == "reasoning" or (kind == "message" and item["role"] == "assistant")
