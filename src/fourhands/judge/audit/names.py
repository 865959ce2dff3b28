"""Names that a reader who is to judge blindly must not see: of the agent, of its model, of their makers and products.

Of the trial's own agent and models, whatever they are called; and of those that are well known in every record, so
that it tells nothing whether a name is hidden there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from fourhands.model.event import Event, EventKind

__all__ = ["HIDDEN_NAME", "name_hider"]

HIDDEN_NAME: Final = "(name hidden)"
_SHORTEST: Final = 4
"""Letters: a shorter name (``pi``) is a word of too many other things, unless it has a digit (``o3``)."""
_PROPER: Final = re.compile(r"[\d/-]")
"""A model without any of these (``model``) is as well a word of the code."""
_JOINED: Final = "[-_ ./]?"
_PARTS: Final = re.compile(r"[-_ ./:@]+")
_DATE: Final = re.compile(r"\d{8}|20\d{2}(?:[-.]?\d{2}){0,2}")
_MUTE: Final = frozenset({"latest", "preview", "free", "beta", "exp"})
"""Ends of a model's name of which nobody speaks."""

_MAKERS: Final = (
    r"anthropic|claude(?:[-_ .]?code)?|(?:opus|sonnet|haiku)[-_ ]\d(?!\d)"
    r"|open[-_ ]?ai|(?:chat)?gpt|codex|o[134]-(?:mini|pro|preview|high)"
    r"|gemini|gemma|deep[-_ ]?seek|qwen|qwq|mistral|mixtral|(?:code|dev|magi)stral|llama|kimi|moonshot(?:ai)?"
    r"|grok[-_ .]?(?:\d(?!\d)|code)|(?:glm|minimax)-[mv]?\d(?!\d)"
)
"""And their models. What is as well a common word (opus, grok, glm) counts with a version alone."""
_AGENTS: Final = (
    r"mini[-_ ]swe[-_ ]agent|swe[-_ ]agent|open[-_]?hands|open[-_]?code|aider|cline|roo[-_ ]code|copilot"
    r"|windsurf(?:rules)?|(?<=\.)cursorrules|(?<=\.)cursor(?=/)|cursor[-_ ]?agent"
    r"|devin-ai-integration|google-labs-jules"
)
"""And files by which they are known in a repository. A cursor is one of theirs by its files alone."""
_FAMILIES: Final = rf"{_MAKERS}|{_AGENTS}"
_VERSION: Final = r"v?\d+(?:\.\d+)*[a-z]?"
_SPOKEN: Final = "opus|sonnet|haiku|flash|turbo|codex|coder|mini|nano|cli"
_WRITTEN: Final = (
    r"instant|lite|pro|max|fast|reasoner|instruct|thinking|chat|oss|preview|latest|[a-z]\d+[a-z]?"
)
_TAIL: Final = rf"(?:(?:{_JOINED}(?:{_SPOKEN}|{_VERSION})|[-_./@](?:{_WRITTEN}|{_VERSION}))(?![A-Za-z0-9]))*+"
"""What may follow a family, and belongs to the name: variants, versions, sizes, dates."""
_SOME: Final = "{0,200}"
"""Characters of a line in which a signature is looked for: no line of a hostile text takes long."""
_AUTHORED: Final = r"(?m:^)[ \t]{0,8}(?:Author|Commit|Committer|Signed-off-by)"
_SIGNATURES: Final = "|".join(
    (
        r"Co-authored-by:[^\n]*",
        # As products sign what they wrote; without a link it is an ordinary sentence.
        rf"(?:🤖 )?Generated (?:with|by) \[[^\]\n]{_SOME}\]\([^)\n]{_SOME}\)",
        rf"{_AUTHORED}:[^\n]{_SOME}?(?:{_FAMILIES}|cursor\.com)[^\n]*",
        rf"(?<![\w.+-])[\w.+-]{{1,64}}@(?:[\w-]{{1,64}}\.){{0,4}}(?:{_FAMILIES}|cursor)\.[\w.-]{{1,64}}",
    )
)


def name_hider(events: Sequence[Event]) -> Callable[[str], str]:
    """A function that puts `HIDDEN_NAME` for names, and for lines that sign work as an agent's.

    Names count as whole words, whatever their letters' case and whatever joins their parts; a model's also without
    the date, and from the beginning up to each part with a version. How an agent speaks, its tools and what it says
    of itself in other words stay as they are.
    """
    agents = {name for event in events for name in _agents(event)}
    models = {name for event in events for name in _models(event)}
    short = "|".join(re.escape(name) for name in sorted(models) if len(name) < _SHORTEST)
    long = _any_of(name for name in models if len(name) >= _SHORTEST)
    # A short name after a hyphen is an option's (-O3).
    named = "|".join(filter(None, (long, _FAMILIES, rf"(?<!-)(?:{short})" if short else "")))
    whole = rf"(?:{named}){_TAIL}" + (rf"|{own}" if (own := _any_of(agents)) else "")
    found = re.compile(rf"{_SIGNATURES}|(?<![A-Za-z0-9])(?:{whole})(?![A-Za-z0-9])", re.IGNORECASE)
    return lambda text: found.sub(HIDDEN_NAME, text)


def _agents(event: Event) -> Iterator[str]:
    if event.kind is EventKind.TRIAL_STARTED and len(event.body["agent"]) >= _SHORTEST:
        yield event.body["agent"]


def _models(event: Event) -> Iterator[str]:
    """A model as it is called, without its maker, without its date, and by its beginnings with a version."""
    if event.kind not in {EventKind.TRIAL_STARTED, EventKind.MODEL_CALLED}:
        return
    called: str = event.body["model"]
    own = called.rpartition("/")[2]
    for name in (called, own):
        if _PROPER.search(name) and (len(name) >= _SHORTEST or _has_both(name)):
            yield name
    parts = [part for part in _PARTS.split(own) if part]
    while len(parts) > 1 and (_DATE.fullmatch(parts[-1]) or parts[-1].lower() in _MUTE):
        parts.pop()
    for end in range(1, len(parts) + 1):
        beginning = "-".join(parts[:end])
        if len(beginning) >= _SHORTEST and _has_both(beginning):
            yield beginning


def _has_both(name: str) -> bool:
    return any(each.isalpha() for each in name) and any(each.isdigit() for each in name)


def _any_of(names: Iterator[str] | set[str]) -> str:
    """A pattern of all of them, the longest first, with any joints; of none the empty one."""
    return "|".join(_pattern(name) for name in sorted(names, key=lambda name: (-len(name), name)))


def _pattern(name: str) -> str:
    return _JOINED.join(re.escape(part) for part in _PARTS.split(name) if part)
