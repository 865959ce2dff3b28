"""Tool calls inside a script: in Codex's code mode a model acts by ``await tools.exec_command({cmd: "ls"})``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Final

__all__ = ["scripted_calls"]

_CALL: Final = re.compile(r"\btools\.(?:exec_command|shell_command|shell|local_shell)\s{0,20}\(")
_PROPERTY: Final = re.compile(
    r"""\b(cmd|command|workdir)["']?\s{0,20}:\s{0,20}"""
    r"""("(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\]|\\.)*+`)""",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_MOST_CALLS: Final = 200
_LONGEST: Final = 1 << 16
"""Characters of a script that are looked at."""
_LAST_CHARACTER: Final = 0x10FFFF


def scripted_calls(script: str) -> Iterator[dict[str, str]]:
    """Arguments of the shell calls that a script's text spells out, in order.

    What it puts together as it runs is unknown.
    """
    script = script[:_LONGEST]
    calls = [call.end() for call in islice(_CALL.finditer(script), _MOST_CALLS)]
    for start, end in pairwise([*calls, len(script)]):
        given: dict[str, str] = {}
        for found in _PROPERTY.finditer(script, start, end):
            given.setdefault(found[1], _ESCAPE.sub(_character, found[2][1:-1]))
        yield given


def _character(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(min(int(code, 16), _LAST_CHARACTER))
    return _ESCAPED.get(escape[4], escape[4])
