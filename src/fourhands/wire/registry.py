"""Which wire a request speaks, by the path it is sent to."""

from __future__ import annotations

from typing import Final

from fourhands.wire.chat import ChatCompletions
from fourhands.wire.messages import Messages
from fourhands.wire.responses import Responses
from fourhands.wire.types import Wire

__all__ = ["WIRES", "wire_for"]

WIRES: Final[dict[str, Wire]] = {
    "/chat/completions": ChatCompletions(),
    "/responses": Responses(),
    "/messages": Messages(),
}
"""Path below an API's base -> wire."""


def wire_for(path: str) -> Wire | None:
    """The wire that ``path``, below the base and without its query, speaks, or ``None``: it is no call of a model."""
    return WIRES.get(path)
