"""What must differ between two runs of the same trial, taken out of requests so that the rest can be compared.

Agents tell their model the date, ids of their own, names of temporary files, how long things took, and which kernel
the machine has. Each such form is one entry of `VARYING`, as narrow as it can be: a number that no entry describes
(a line, an exit status, a version, a size) stays, and a difference in it is found. Call ids are the model's, and so
part of what a recording gives back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["LEFT_OUT", "VARYING", "Varying", "normalised"]


@dataclass(frozen=True, slots=True)
class Varying:
    r"""A form of text that differs from run to run, and what is put in its place.

    ``pattern`` is tried at every place of a text, so every repetition in it is bounded. No digit stands before or
    behind what it finds: what is put in its place then never makes something else look like such a form. It does
    not ask for word boundaries: in JSON within JSON, the letter of an ``\n`` stands right before a line's first.
    """

    name: str
    pattern: str
    why: str


LEFT_OUT: Final[dict[str, str]] = {
    "metadata": "Claude Code names its session and its machine in it",
    "client_metadata": "Codex names its installation in it",
    "prompt_cache_key": "Codex and OpenCode name the session by it",
    "safety_identifier": "a hash of who asks",
    "user": "a hash of who asks",
}
"""Keys of a request's body whose values name a session or a machine, and why."""

_MONTH: Final = (
    "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    "|Nov(?:ember)?|Dec(?:ember)?)"
)
_WEEKDAY: Final = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,?"
_DAY: Final = r"(?:[12]\d|3[01]|0?[1-9])"
_YEAR: Final = r"20[2-9]\d"
_CLOCK: Final = r"(?:[01]\d|2[0-3]):[0-5]\d"
_SECONDS: Final = rf"{_CLOCK}:[0-5]\d"
_GAP: Final = " {1,2}"
_UNIT: Final = "(?:ms|s|secs?|seconds?)(?![A-Za-z])"
_HEX: Final = "[0-9a-f]"
_HASH: Final = rf"(?=[0-9]{{0,11}}[a-f])(?=[a-f]{{0,11}}[0-9]){_HEX}{{7,12}}(?!{_HEX})"

VARYING: Final = (
    Varying("id", rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}(?!{_HEX})", "a UUID"),
    Varying("id", rf"(?:ses|msg|prt|usr)_{_HEX}{{12}}[0-9A-Za-z]{{14}}", "OpenCode's sessions and messages"),
    Varying("id", rf"(?<=Chunk ID: ){_HEX}{{6}}(?!{_HEX})", "Codex's name of a piece of output"),
    Varying(
        "time",
        rf"{_YEAR}-(?:0[1-9]|1[0-2])-{_DAY}[T ]{_CLOCK}(?::[0-5]\d(?:[.,]\d{{1,9}})?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?",
        "ISO 8601, git log, long listings",
    ),
    Varying(
        "time",
        rf"{_WEEKDAY} {_MONTH}{_GAP}{_DAY} {_SECONDS}(?: [AP]M)?(?: [A-Z]{{3,4}})? {_YEAR}(?: [+-]\d{{4}})?",
        "date, ctime, git log",
    ),
    Varying("date", rf"{_YEAR}[-/](?:0?[1-9]|1[0-2])[-/]{_DAY}", "today's date in an agent's prompt"),
    Varying("date", rf"(?:0?[1-9]|1[0-2])/{_DAY}/{_YEAR}", "today's date as in the US"),
    Varying("date", r"(?<=\[)\d\d/\d\d/\d\d(?= )", "rich's log"),
    Varying(
        "date",
        rf"(?:{_WEEKDAY} )?(?:{_MONTH}{_GAP}{_DAY},?{_GAP}{_YEAR}|{_DAY} {_MONTH} {_YEAR})",
        "today's date in words; listings of what is older than half a year",
    ),
    Varying("time", rf"{_MONTH}{_GAP}{_DAY} {_CLOCK}(?::[0-5]\d)?", "ls -l, system logs"),
    Varying("time", rf"(?<![:.]){_SECONDS}(?:[.,]\d{{1,9}})?(?: [AP]M)?(?!:)", "logs"),
    Varying("time", r"1[6-9]\d{11}", "milliseconds since 1970: names of files, logs"),
    Varying("time", r"(?<!\.)1[6-9]\d{8}\.\d{1,9}", "seconds since 1970: time.time()"),
    Varying("time", r'(?<![-.])1[7-9]\d{8}(?=$|[\n"},\]\\])', "seconds since 1970, alone: date +%s"),
    Varying("duration", rf"(?<=in )\d{{1,7}}\.\d{{1,9}} ?{_UNIT}", "pytest, unittest, cargo"),
    Varying("duration", rf"(?<=\()\d{{1,7}}\.\d{{1,9}} ?{_UNIT}", "go test, node --test"),
    Varying("duration", r"(?<=\()\d{1,7} ?ms(?=\))", "jest, mocha"),
    Varying("duration", rf"(?<=ime:) {{1,12}}\d{{1,7}}\.\d{{1,9}} ?{_UNIT}", "jest; Codex's wall time"),
    Varying("duration", rf"(?:(?<=\t)|(?<=\\t))\d{{1,7}}\.\d{{1,9}}{_UNIT}", "go test"),
    Varying("duration", r"(?<=s \()\d{1,2}:\d\d:\d\d(?=\))", "pytest beyond a minute"),
    Varying("duration", r"\d{1,7}\.\d\ds(?= (?:call|setup|teardown) )", "pytest --durations"),
    Varying("duration", r"duration_ms\\?\"?:? ?\d{1,9}(?:\.\d{1,9})?", "TAP; agents' results"),
    Varying("duration", r"\d{1,6}m\d{1,2}\.\d{3}s", "bash's time"),
    Varying("temporary", r"/tmp/tmp[a-z0-9_]{8}(?![a-z0-9_])", "Python's tempfile"),  # noqa: S108
    Varying("temporary", r"/tmp/tmp\.[A-Za-z0-9]{10}(?![A-Za-z0-9])", "mktemp"),  # noqa: S108
    Varying(
        "prefix",
        rf"/(?:[\w.@+-]{{1,40}}/){{1,8}}(?:environments|npm)/{_HEX}{{32}}(?!{_HEX})",
        "where this machine keeps agents and interpreters",
    ),
    Varying("address", rf"(?<= at )0x{_HEX}{{6,16}}(?!{_HEX})", "Python's repr"),
    Varying("address", rf"0x[57]{_HEX}{{11}}(?!{_HEX})", "addresses as Linux spreads them"),
    Varying("commit", rf"(?<=commit ){_HEX}{{40}}(?!{_HEX})", "a commit is named by its time, too: git log"),
    Varying("commit", rf"(?:^|(?<=\n)|(?<=\\n)){_HASH}(?= )", "git log --oneline, git reflog"),
    Varying("commit", rf"(?<=[\w)] ){_HASH}(?=\] )", "git commit"),
    Varying(
        "kernel",
        r"(?<=Linux )\d{1,2}\.\d{1,3}\.\d{1,3}[\w.+-]{0,60}"
        r"(?: #\d{1,6}[^\n<\"\\#]{0,120}? (?:x86_64|aarch64|arm64))?",
        "uname -a, and what agents tell of the system",
    ),
)
"""In the order in which they are tried at a place."""

# What a form must not be followed by may be taken out itself: its name counts as what it stands for.
_NAMES: Final = "|".join(sorted({each.name for each in VARYING}))
_FORMS: Final = (
    f"(?:{'|'.join(f'(?P<v{n}>{each.pattern})' for n, each in enumerate(VARYING))})(?!\\d|<(?:{_NAMES})>)"
)
_ANY: Final = re.compile(rf"(?<!\d){_FORMS}")
_NEXT: Final = re.compile(_FORMS)
"""Right behind another, whose last digit is taken out with it."""
_PLACEHOLDERS: Final = {f"v{n}": f"<{each.name}>" for n, each in enumerate(VARYING)}


def normalised(value: Any) -> Any:
    """JSON with what must differ named in place of its value; twice is as good as once."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [normalised(each) for each in value]
    if isinstance(value, dict):
        return {key: normalised(each) for key, each in value.items()}
    return value


def _text(text: str) -> str:
    parts: list[str] = []
    at = 0
    found = _ANY.search(text)
    while found:
        parts += (text[at : found.start()], _PLACEHOLDERS[found.lastgroup or ""])
        at = found.end()
        found = _NEXT.match(text, at) or _ANY.search(text, at)
    return "".join((*parts, text[at:])) if parts else text
