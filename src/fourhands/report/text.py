"""Text of agents and of files, made safe to show: what would move the cursor or reorder a line is spelled out."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["visible"]

_ACTING: Final = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls: of a terminal, say
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # reorder what stands around them
    "\u200b\u2060\ufeff"  # have no width
    "\u2028\u2029"  # end a line for some programs
    "\ud800-\udfff"  # halves of a character: no encoding takes them
    "\U000e0000-\U000e007f"  # tags: text that nobody sees
)
_LAYOUT: Final = "\n\t"
_HIDDEN: Final = re.compile(f"[{_ACTING}{_LAYOUT}]")
_HIDDEN_IN_LINES: Final = re.compile(f"[{_ACTING}]")  # a text has many lines, and few of the others


def visible(text: str, *, keep: str = _LAYOUT) -> str:
    r"""``text`` with characters that cannot be seen, or act on a terminal, as ``\x1b`` or ``\u202e``.

    Args:
        text: whatever an agent, a model or a task's author wrote.
        keep: characters that stay as they are; ``""`` where the text has to stay on one line.
    """
    bare = text.replace("\n", "").replace("\t", "") if keep == _LAYOUT else text
    if bare.isprintable():  # nearly always, and quickly seen: nothing that is looked for is printable
        return text
    hidden = _HIDDEN_IN_LINES if keep == _LAYOUT else _HIDDEN
    return hidden.sub(lambda found: found[0] if found[0] in keep else _spelled(found[0]), text)


def _spelled(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 - as many as two digits tell
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004
