"""The result of an action as the model reads it -> what was printed, and the exit code where it is told.

Each agent wraps what its tools print in words of its own. They are known by how a result begins or ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

__all__ = ["Observation", "read_observation"]

_CLAUDE_CODE: Final = re.compile(r"Exit code (\d{1,3})(?:\n|$)")
_CODEX: Final = re.compile(
    r"(?:(?:Exit code: (-?\d{1,5})|Process exited with code (-?\d{1,5})|Process running with session ID .{1,80}"
    r"|Script (?:completed|failed|terminated|running with cell ID .{1,80})"
    r"|(?:Chunk ID:|Wall time:?|Total output lines:|Original token count:) .{0,80})\n){1,8}Output:(?:\n|$)"
)
_CODEX_LENGTH: Final = re.compile(r"Total output lines: \d{1,9}\n\n?")
_MINI: Final = re.compile(r"<returncode>(-?\d{1,5})</returncode>\n")
_MINI_PARTS: Final = ("output", "output_head", "output_tail")
_GEMINI_ENDS: Final = (
    "\nError: ",
    "\nExit Code: ",
    "\nSignal: ",
    "\nBackground PIDs: ",
    "\nProcess Group PGID: ",
)
_EXIT_CODE: Final = re.compile(r"\nExit Code: (-?\d{1,5})(?:\n|$)")
_OPENHANDS: Final = re.compile(
    r"\n?(?:\[Python Interpreter: [^\]\n]{0,300}\]\n[^\s@]{1,200}@[^\s:]{1,200}:[^\n]{0,300} [#$] ?\n)?"
    r"(?:\n?\[(?:The command (?:completed|has no new|timed out)|Current working directory:|Python interpreter:"
    r"|Command finished with)[^\]\n]{0,500}\]){1,6}\s*$"
)
_OPENHANDS_LAST: Final = ("]", "]\n")
_OPENHANDS_CODE: Final = re.compile(r"(?:completed|finished) with exit code (-?\d{1,5})")
_PI: Final = re.compile(r"(?:^|\n\n)Command exited with code (\d{1,5})$")
_LAST_LINE: Final = 40
_END: Final = 2000
"""Characters at the end of a result in which an agent may say how the command ended."""
_TERMINUS: Final = ("New Terminal Output:\n", "Current Terminal Screen:\n")
_TERMINUS_PREFACES: Final = ("Previous response had ", "Current terminal state:\n", "Previous command:\n")
_PROMPT: Final = re.compile(
    r"(?:\([^()\n]{1,80}\) )?"
    r"(?:(?:I have no name!|[^\s@]{1,80})@[^\s:]{1,80}:[^\s#$]{0,300} ?|(?:ba)?sh-[\d.]{1,9})[#$](?: |$)"
)
_REMINDER: Final = ("<system-reminder>", "</system-reminder>")
_SHELL_NOTE: Final = ("<shell_metadata>", "</shell_metadata>")


@dataclass(frozen=True, slots=True)
class Observation:
    """The result of an action as the model reads it: what was printed, and the exit code where it is told."""

    output: str
    code: int | None = None


def read_observation(text: str) -> Observation:
    """Unwrap a result; text in no known wrapping is its own output."""
    text = _without_tail(_without_tail(text, *_REMINDER), *_SHELL_NOTE)
    for read in _READERS:
        if (seen := read(text)) is not None:
            return seen
    return Observation(text)


def _json(text: str) -> Observation | None:
    """mini-swe-agent and the thin agent, with a long output in two parts; Codex."""
    if not text.startswith("{"):
        return None
    try:
        raw = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    code = raw.get("returncode")
    if _is_code(code):
        head, tail = raw.get("output_head", ""), raw.get("output_tail", "")
        return Observation(str(raw.get("output", f"{head}\n{tail}")), code)
    metadata = raw.get("metadata")
    if isinstance(raw.get("output"), str) and isinstance(metadata, dict) and "exit_code" in metadata:
        output, code = raw["output"], metadata["exit_code"]
        return Observation(_CODEX_LENGTH.sub("", output, count=1), code if _is_code(code) else None)
    return None


def _is_code(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _mini(text: str) -> Observation | None:
    """mini-swe-agent's older template."""
    start = _MINI.match(text)
    if not start:
        return None
    parts = [part for name in _MINI_PARTS if (part := _element(text, name)) is not None]
    return Observation("\n".join(parts), int(start[1]))


def _element(text: str, name: str) -> str | None:
    start, end = text.find(f"<{name}>"), text.rfind(f"</{name}>")
    if start < 0:
        return None
    content = text[start + len(name) + 2 : end if end > start else None]
    return content.removeprefix("\n")


def _codex(text: str) -> Observation | None:
    start = _CODEX.match(text)
    if not start:
        return None
    code = start[1] or start[2]
    output = _CODEX_LENGTH.sub("", text[start.end() : start.end() + 100], count=1) + text[start.end() + 100 :]
    return Observation(output, int(code) if code else None)


def _claude_code(text: str) -> Observation | None:
    start = _CLAUDE_CODE.match(text)
    return Observation(text[start.end() :], int(start[1])) if start else None


def _qwen_code(text: str) -> Observation | None:
    """Qwen Code and Gemini CLI, of which the newest begins with the output and leaves out what is as usual."""
    if text.startswith("Command: "):
        head, label, rest = text.partition("\nOutput: ")
        end = rest.rfind(_GEMINI_ENDS[0])
    else:
        head, label, rest = text.partition("Output: ")
        last = max(0, len(rest) - _END)
        ends = [place for word in _GEMINI_ENDS if (place := rest.rfind(word, last)) >= 0]
        end = min(ends, default=-1)
    if not label or (head and not head.startswith("Command: ")) or end < 0:
        return None
    output, code = rest[:end], _EXIT_CODE.search(rest, end)
    return Observation("" if output == "(empty)" else output, int(code[1]) if code else None)


def _openhands(text: str) -> Observation | None:
    said = _OPENHANDS.search(text, max(0, len(text) - _END)) if text.endswith(_OPENHANDS_LAST) else None
    if not said:
        return None
    code = _OPENHANDS_CODE.search(said[0])
    return Observation(text[: said.start()], int(code[1]) if code else None)


def _pi(text: str) -> Observation | None:
    said = _PI.search(text, max(0, len(text) - _LAST_LINE))
    return Observation(text[: said.start()], int(said[1])) if said else None


def _terminus(text: str) -> Observation | None:
    """A piece of a terminal's screen, without the lines in which a prompt echoes a command."""
    if not text.startswith((*_TERMINUS, *_TERMINUS_PREFACES)):
        return None
    header = next((word for word in _TERMINUS if word in text), None)
    if header is None:
        return None
    screen = text.partition(header)[2]
    return Observation("\n".join(line for line in screen.split("\n") if not _PROMPT.match(line)))


def _without_tail(text: str, opening: str, closing: str) -> str:
    """Without the elements at its end that the agent's client has appended, each at the start of a line."""
    end = len(text)
    while True:
        last = end
        while last and text[last - 1].isspace():
            last -= 1
        start = text.rfind(opening, 0, last) if text.endswith(closing, 0, last) else -1
        if start < 0 or (start and text[start - 1] != "\n"):
            return text if end == len(text) else text[:end].rstrip("\n")
        end = start


_READERS: Final[tuple[Callable[[str], Observation | None], ...]] = (
    _json, _mini, _codex, _claude_code, _qwen_code, _terminus, _openhands, _pi,
)  # fmt: skip
"""In order: the ones that a first look rules out come first."""
