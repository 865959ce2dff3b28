"""Judges that say why a trial failed, in one of several manners: answers of a `judge_server` that reads records."""

from __future__ import annotations

import json
import re
from typing import Any

from fourhands.model.failure import FailureLabel, FailureType

__all__ = [
    "chatters",
    "forgotten",
    "invents",
    "labels",
    "reply",
    "retained",
    "shown_record",
    "two",
    "unknown",
]


def shown_record(content: str) -> tuple[list[str], str]:
    """The numbers of the blocks that a request shows, and the record between its marks."""
    match = re.fullmatch(r"<(record-[0-9a-f]{12})>\n(.*)\n</\1>", content, re.DOTALL)
    assert match, content[:200]
    return re.findall(r"^\[#(\d+)\] ", match[2], re.MULTILINE), match[2]


def reply(*given: dict[str, Any]) -> str:
    """Labels as a judge would write them."""
    return json.dumps({"labels": given})


def labels(name: str, numbers: list[str], **more: Any) -> dict[str, Any]:
    """One label, shown by the last block."""
    return {"label": name, "events": [int(numbers[-1])], "why": "It ends so.", **more}


def forgotten(numbers: list[str], text: str) -> str:
    """The first requirement was forgotten; as one may write numbers, too."""
    del text
    last = [f"#{numbers[-1]}", numbers[0]]
    return reply(labels(FailureLabel.FORGOTTEN, numbers, requirement="R1", events=last))


def retained(numbers: list[str], text: str) -> str:
    """The user's edit stands."""
    del text
    return reply(labels(FailureType.RETAINED_CONFLICT, numbers))


def two(numbers: list[str], text: str) -> str:
    """Two of the labels."""
    del text
    return reply(labels(FailureType.RETAINED_CONFLICT, numbers), labels(FailureType.OFF_TARGET, numbers))


def invents(numbers: list[str], text: str) -> str:
    """An event that is nowhere."""
    del text
    return reply(labels(FailureLabel.FORGOTTEN, numbers, events=[10**6]))


def unknown(numbers: list[str], text: str) -> str:
    """A label that there is not."""
    del text
    return reply(labels("laziness", numbers))


def chatters(numbers: list[str], text: str) -> str:
    """No JSON at all."""
    return f"I have read {len(text)} characters in {len(numbers)} blocks, and it is a shame."
