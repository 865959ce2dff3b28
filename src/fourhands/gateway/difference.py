"""How two requests differ, part by part, as a text to be read."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

__all__ = ["difference"]

_CONTEXT: Final = 2
_LONGEST: Final = 400
"""Lines that are shown."""
_LONGEST_PART: Final = 4_000
"""Lines of one part that are compared: more take long, and nobody reads them."""
_NOTHING: Final = object()


def difference(
    name: str,
    then: tuple[Mapping[str, Any], Sequence[Any]],
    now: tuple[Mapping[str, Any], Sequence[Any]],
    history_key: str,
) -> str:
    """What differs between two requests; empty when nothing does.

    Args:
        name: of the first.
        then: the first: its body without the history, and the history's items.
        now: the second.
        history_key: by which a body holds its history.

    Returns:
        Lines of a unified diff, each part under its own ``@@`` line; text of many lines is shown as lines.
    """
    lines = [
        line
        for part, old, new in _parts(then, now, history_key)
        for line in [f"@@ {part} @@", *_changed(_pretty(old), _pretty(new))]
    ]
    if not lines:
        return ""
    cut = [f"… {len(lines) - _LONGEST} more lines"] if len(lines) > _LONGEST else []
    return "\n".join([f"--- {name}", "+++ replayed", *lines[:_LONGEST], *cut])


def _parts(
    then: tuple[Mapping[str, Any], Sequence[Any]],
    now: tuple[Mapping[str, Any], Sequence[Any]],
    history_key: str,
) -> Iterator[tuple[str, Any, Any]]:
    for key in dict.fromkeys([*then[0], *now[0]]):
        old, new = then[0].get(key, _NOTHING), now[0].get(key, _NOTHING)
        if old != new:
            yield key, old, new
    for index, (old, new) in enumerate(zip_longest(then[1], now[1], fillvalue=_NOTHING)):
        if old != new:
            yield f"{history_key}[{index}]", old, new


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines of a unified diff without its head and its line numbers, which would be of no text there is."""
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT):
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[old_start:old_end])
                continue
            yield from (f"-{line}" for line in old[old_start:old_end])
            yield from (f"+{line}" for line in new[new_start:new_end])


def _pretty(value: Any) -> list[str]:
    """One value a line."""
    if value is _NOTHING:
        return []
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False)
    # A text of many lines is one value: shown as one line nobody would find what differs in it.
    return text.replace("\\n", "\n").splitlines()[:_LONGEST_PART]
