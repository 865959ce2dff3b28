"""The same conversations in three dialects, oddly spaced, so that a copied byte can be told from a made one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import strategies as st

from fourhands.wire.chat import ChatCompletions
from fourhands.wire.messages import Messages
from fourhands.wire.responses import Responses
from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.serving.messages import ServedMessages
from fourhands.wire.serving.responses import ServedResponses
from fourhands.wire.types import Wire

Item = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """A turn of the model with its calls, whose results follow, and what the user says behind them."""

    text: str
    thinks: bool
    calls: tuple[str, ...]
    remark: str | None


class Chat:
    wire: Wire = ChatCompletions()
    served = ServedChat
    tools: ClassVar = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]

    def items(self, turns: Sequence[Turn]) -> list[Item]:
        items: list[Item] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "fix it"}]
        for turn in turns:
            calls = [
                {"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}}
                for each in turn.calls
            ]
            items.append(
                {"role": "assistant", "content": turn.text, **({"tool_calls": calls} if calls else {})}
            )
            items += [{"role": "tool", "tool_call_id": each, "content": f"out {each}"} for each in turn.calls]
            if turn.remark is not None:
                items.append({"role": "user", "content": turn.remark})
        return items


class Anthropic:
    wire: Wire = Messages()
    served = ServedMessages
    tools: ClassVar = [{"name": "bash", "input_schema": {"type": "object"}}]

    def items(self, turns: Sequence[Turn]) -> list[Item]:
        items: list[Item] = [{"role": "user", "content": "fix it"}]
        for turn in turns:
            thought = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}] if turn.thinks else []
            calls = [{"type": "tool_use", "id": each, "name": "bash", "input": {}} for each in turn.calls]
            items.append(
                {"role": "assistant", "content": [*thought, {"type": "text", "text": turn.text}, *calls]}
            )
            behind: list[Item] = [
                {
                    "type": "tool_result",
                    "tool_use_id": each,
                    "content": [{"type": "text", "text": f"out {each}"}],
                }
                for each in turn.calls
            ]
            if turn.remark is not None:
                behind.append({"type": "text", "text": turn.remark})
            if behind:
                items.append({"role": "user", "content": behind})
        return items


class OpenAIResponses:
    wire: Wire = Responses()
    served = ServedResponses
    tools: ClassVar = [{"type": "function", "name": "bash", "parameters": {"type": "object"}}]

    def items(self, turns: Sequence[Turn]) -> list[Item]:
        items: list[Item] = [_said("developer", "be good"), _said("user", "fix it")]
        for turn in turns:
            items.append(_said("assistant", turn.text, "output_text"))
            items += [
                {"type": "function_call", "call_id": each, "name": "bash", "arguments": "{}"}
                for each in turn.calls
            ]
            items += [
                {"type": "function_call_output", "call_id": each, "output": f"out {each}"}
                for each in turn.calls
            ]
            if turn.remark is not None:
                items.append(_said("user", turn.remark))
        return items


def _said(role: str, text: str, kind: str = "input_text") -> Item:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


Dialect = Chat | Anthropic | OpenAIResponses
DIALECTS: list[Dialect] = [Chat(), Anthropic(), OpenAIResponses()]
NAMES = [each.wire.name for each in DIALECTS]
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: text.strip() != "" and text[0] < "\ud800")


@st.composite
def conversations(draw: st.DrawFn) -> list[Turn]:
    """Every call has an id of its own; every turn but the last has calls or a remark behind it."""
    turns = []
    for number in range(draw(st.integers(1, 5))):
        calls = tuple(f"call_{number}_{n}" for n in range(draw(st.integers(0, 3))))
        remark = draw(st.none() | WORDS) if calls else draw(WORDS)
        turns.append(Turn(draw(WORDS), draw(st.booleans()), calls, remark))
    return turns


@st.composite
def bodies(draw: st.DrawFn, dialect: Dialect, items: Sequence[Item]) -> bytes:
    """A request, its JSON spaced and escaped in a way that no encoder of ours would choose."""
    ascii_only = draw(st.booleans())

    def dump(value: Any) -> bytes:
        spacing = draw(st.sampled_from([(", ", ": "), (",", ":"), (" ,\n", "\t: ")]))
        return json.dumps(value, separators=spacing, ensure_ascii=ascii_only).encode("utf-8", "replace")

    history = b"[" + b" ,".join(dump(item) for item in items) + b"]"
    fields = [
        (b'"model"', b'"m"'),
        (b'"max_tokens"', b"1e3"),
        (b'"tools"', dump(dialect.tools)),
        (b'"seed"', b"12345678901234567890"),
        (json.dumps(dialect.wire.history_key).encode(), history),
    ]
    return b"{ " + b" , ".join(k + b" :" + v for k, v in draw(st.permutations(fields))) + b"}\n"
