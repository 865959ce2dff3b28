"""What the two APIs of OpenAI have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from fourhands.wire.types import Json

__all__ = ["openai_error", "parsed_arguments", "plain_text"]


def parsed_arguments(raw: Any) -> Mapping[str, Any] | str:
    """Arguments of a call: the object that a text of JSON holds, or the text."""
    if isinstance(raw, dict):
        return raw
    text = str(raw or "")
    try:
        arguments = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return arguments if isinstance(arguments, dict) else text


def plain_text(content: Any) -> str:
    """The text of a content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return ""


def openai_error(message: str) -> Json:
    """An error body."""
    return {"error": {"message": message, "type": "fourhands_gateway", "code": None, "param": None}}
