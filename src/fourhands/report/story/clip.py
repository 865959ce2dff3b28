"""Long texts -> their head and tail, at a cost that does not grow with what is left out."""

from __future__ import annotations

from typing import Final, Literal

from fourhands.report.story.clipped import Clipped

__all__ = ["clip", "clip_line", "clip_text", "one_line"]

_CONTINUES: Final = 0b10
"""The first two bits of a byte of UTF-8 that begins no character."""


def clip(data: bytes, *, most_bytes: int, most_lines: int | None = None) -> Clipped:
    """At most so many bytes and lines of ``data``, half of each from its end; what is no UTF-8 is replaced.

    A line that is too long is cut like any other text. The last line feed of head and tail is dropped.
    """
    head, tail = len(data), 0
    if most_lines is not None and _lines(data) > most_lines:
        head, tail = _after(data, most_lines // 2), _before(data, most_lines - most_lines // 2)
    if len(data) > most_bytes:
        head = min(head, _cut(data, most_bytes // 2, -1))
        tail = max(tail, _cut(data, len(data) - most_bytes // 2, 1))
    if tail <= head:
        return Clipped(_text(data))
    return Clipped(_text(data[:head]), _text(data[tail:]), data.count(b"\n", head, tail), tail - head)


def clip_text(text: str, *, most_bytes: int, most_lines: int | None = None) -> Clipped:
    """The same of a text."""
    return clip(text.encode("utf-8", "replace"), most_bytes=most_bytes, most_lines=most_lines)


def clip_line(text: str, most: int) -> str:
    """At most so many characters of a line, and how many more there were."""
    return text if len(text) <= most else f"{text[:most]} … {len(text) - most:,} characters more"


def one_line(text: str, most: int) -> str:
    """The beginning of a text as one line, white space made single, at most so many characters and a ``…``."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most]}…"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removesuffix("\n")


def _lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n"))


def _after(data: bytes, lines: int) -> int:
    at = 0
    for _ in range(lines):
        at = data.find(b"\n", at) + 1
    return at


def _before(data: bytes, lines: int) -> int:
    at = len(data) - data.endswith(b"\n")
    for _ in range(lines):
        at = data.rfind(b"\n", 0, at)
    return at + 1 if lines else len(data)


def _cut(data: bytes, at: int, step: Literal[-1, 1]) -> int:
    """The next place from ``at`` on, backwards or forwards, that splits no character."""
    for place in range(at, at + 4 * step, step):
        if not 0 < place < len(data) or data[place] >> 6 != _CONTINUES:
            return place
    return at
