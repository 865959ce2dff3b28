"""The same person's other hand: what was edited, and what was said of it, as far as the agent may not know it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from fourhands.language.ground import bounded
from fourhands.model.event import Event, EventKind

__all__ = ["OtherHand"]

_WHO: Final = re.compile(
    r"\b(?:did|have|are|were) you\b.{0,40}\b(?:chang|edit|touch|modif|revert|mak|made)"
    r"|\b(?:who|someone|somebody|something|anyone|you)\b.{0,30}\b(?:chang|edit|touch|modif|revert)"
    r"|\b(?:unexpected|external|outside|concurrent|unknown)\b.{0,20}\b(?:chang|edit|modif)",
    re.IGNORECASE | re.DOTALL,
)
"""Words that ask whose hand it was."""


@dataclass(slots=True)
class OtherHand:
    """A pure fold over events.

    ``uncarried`` are messages by their id, which no request to the model has carried; ``unspoken`` are the files of
    each edit that went without a word, by its intervention.
    """

    uncarried: dict[str, str] = field(default_factory=dict)
    unspoken: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def observe(self, event: Event) -> None:
        """Fold one event into the state."""
        body = event.body
        match event.kind:
            case EventKind.EDIT_APPLIED:
                self.unspoken[body["intervention"]] = tuple(file["path"] for file in body["files"])
            case EventKind.MESSAGE_SENT if "move" not in body:
                self.uncarried[body["message"]] = body["text"]
                self.unspoken.pop(body["intervention"], None)
            case EventKind.MESSAGE_CARRIED:
                self.uncarried.pop(body["message"], None)
            case EventKind.ANSWERED if "move" in body:
                self.uncarried.clear()  # the answer has said them
            case _:
                pass

    def says_first(self, question: str) -> str:
        """What stands at the head of the answer to a legible question; empty where there is nothing to say."""
        lines = list(self.uncarried.values())
        paths = tuple(dict.fromkeys(path for each in self.unspoken.values() for path in each))
        if paths and (_names_one(question, paths) or _WHO.search(question)):
            lines.append(f"I edited {' and '.join(paths)} while you were working. Please keep that.")
        return "\n\n".join(lines)


def _names_one(question: str, paths: tuple[str, ...]) -> bool:
    names = {name for path in paths for name in (path, path.rsplit("/", 1)[-1])}
    return any(re.search(bounded(name), question) for name in names)
