"""Parts of a record in a reader's words: arguments of tools, lists of tests, states of requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import orjson

from fourhands.model.event import Event, EventKind
from fourhands.model.ledger_state import RequirementState

__all__ = [
    "arguments_text",
    "listed",
    "one_word",
    "requirement_lines",
    "told_requirements",
    "verdict_lines",
    "where_said",
]

_MOST_TESTS: Final = 200
"""Names of tests in one list."""


def where_said(events: Sequence[Event]) -> dict[str, str]:
    """Of each requirement that was said, where."""
    said: dict[str, int] = {}
    revealed: dict[str, str] = {}
    for event in events:
        body = event.body
        if event.kind is EventKind.ANSWERED:
            said[body["question"]] = event.seq
        elif event.kind is EventKind.MESSAGE_SENT:
            said[body["message"]] = event.seq
        elif event.kind is EventKind.REQUIREMENT_MOVED and body["from"] == RequirementState.HELD:
            by = body["evidence"].get("question") or body["evidence"].get("message")
            at = said.get(by) if isinstance(by, str) else None
            revealed.setdefault(body["requirement"], "said" if at is None else f"said in #{at}")
    return revealed


def told_requirements(events: Sequence[Event]) -> frozenset[str]:
    """The requirements that the user said in words that reached the agent."""
    sent = {event.body["message"] for event in events if event.kind is EventKind.MESSAGE_SENT}
    lost = sent - {event.body["message"] for event in events if event.kind is EventKind.MESSAGE_CARRIED}
    moves = (event.body for event in events if event.kind is EventKind.REQUIREMENT_MOVED)
    return frozenset(
        move["requirement"]
        for move in moves
        if move["from"] == RequirementState.HELD and move["evidence"].get("message") not in lost
    )


def arguments_text(data: bytes) -> str:
    """Arguments of a tool: an only one as its text, several each under its name."""
    try:
        parsed = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data.decode("utf-8", "replace")
    if not isinstance(parsed, dict):
        return data.decode("utf-8", "replace")
    texts = {
        name: value if isinstance(value, str) else orjson.dumps(value).decode()
        for name, value in parsed.items()
    }
    if len(texts) == 1:
        return next(iter(texts.values()))
    return "\n".join(f"{name}: {text}" for name, text in texts.items())


def requirement_lines(states: Mapping[str, bool | None]) -> list[str]:
    """Which requirements hold, which do not, and of which nothing is known, each in one line."""
    words = {True: "met by its checks", False: "not met by its checks", None: "not known to be met"}
    return [
        f"{words[state]}: {', '.join(names)}"
        for state in (True, False, None)
        if (names := [name for name, met in states.items() if met is state])
    ]


def verdict_lines(body: Mapping[str, Any]) -> Iterator[str]:
    """What the body of ``verified`` says of the tests."""
    wanted: Mapping[str, str] = body["fail_to_pass"]
    passed = sum(status == "passed" for status in wanted.values())
    yield f"{passed} of {len(wanted)} tests of what was wanted pass"
    failed = {name: status for name, status in wanted.items() if status != "passed"}
    yield from listed("of these do not", [f"{name}: {status}" for name, status in failed.items()])
    broken: Mapping[str, str] = body["pass_to_pass_failed"]
    told = [f"{name}: {status}" for name, status in broken.items()]
    yield from listed(f"of {body['pass_to_pass']} tests that passed before, these do not any more", told)
    if body["timed_out"]:
        yield "the tests ran out of time"


def listed(what: str, names: Sequence[str]) -> list[str]:
    """A list under what it is of; nothing, where it is empty, and only so much of a long one."""
    if not names:
        return []
    more = [f"  and {len(names) - _MOST_TESTS} more"] if len(names) > _MOST_TESTS else []
    return list(chain([f"{what}:"], (f"  {name}" for name in names[:_MOST_TESTS]), more))


def one_word(name: str) -> str:
    """A name that an agent chose, as one word of a heading."""
    return re.sub(r"[^\w.:-]+", "-", name)[:40]
