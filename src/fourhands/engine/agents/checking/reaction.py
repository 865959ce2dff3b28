"""How an agent takes it that a file has changed since it read it: a finding about it, and a confound."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import orjson

from fourhands.engine.agents.checking import scene
from fourhands.engine.agents.checking.evidence import Evidence
from fourhands.wire.serving.tools import edit_tool

__all__ = ["Reaction", "reaction"]

_SAYS_SO: Final = re.compile(
    r"(has|have|had|was|were) (been )?(modified|changed).{0,40}(since|on disk)|modified since|changed since",
    re.IGNORECASE | re.DOTALL,
)
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Reaction:
    """``cell`` says it in some words; a ``remedy`` is there where it is not as it must be."""

    seen: str
    cell: str
    remedy: str = ""


def reaction(evidence: Evidence) -> Reaction:
    """What became of an edit by the agent's own tool, and what its model was told."""
    said = evidence.came_back(scene.EDIT)
    made = evidence.made(scene.EDIT)
    offered = edit_tool(evidence.tools)
    tool = offered if offered and made and made.calls and made.calls[0].tool == offered.name else None
    applied = scene.FIRST_EDIT.new in evidence.came_back(scene.READ_AGAIN)
    at_last = evidence.came_back(scene.LOOK_AT_ALL)
    words = next((each for each in evidence.entry.traits.announcements if each in said), None)
    unasked = _announces_unasked(evidence)
    if scene.user_line(scene.ALPHA).strip() not in at_last or scene.SECOND_EDIT.new not in at_last:
        return Reaction(
            f"after two edits the file did not hold both sides' work; it said: {said[:_SHOWN]!r}",
            "unknown",
            "see what its edit tool takes: fourhands/wire/serving/tools.py",
        )
    if words is None and _SAYS_SO.search(said):
        return Reaction(
            f"says {said[:_SHOWN]!r}, which nobody knows of",
            "unknown",
            "add the words to announcements in its traits in fourhands/engine/agents/registry.py",
        )
    by_itself = "; says so by itself, too" if unasked else ""
    if offered and tool is None:
        return Reaction(
            f"its edit tool {offered.name} was not used: the model could not tell where the repository is",
            "unknown",
            "let the agent say what its working directory is",
        )
    if tool is None:
        shell = "has no edit tool; the shell applies silently"
        return Reaction(shell + by_itself, shell + by_itself)
    if not applied and words is None:
        return Reaction(
            f"{tool.name} did not apply, and said {said[:_SHOWN]!r}",
            "unknown",
            "see what its edit tool takes: fourhands/wire/serving/tools.py",
        )
    found = (
        "refuses until it is read again"
        if not applied
        else "applies, and says so"
        if words
        else "applies silently"
    )
    told = f": {words!r}" if words else ""
    return Reaction(f"{tool.name} {found}{told}{by_itself}", found + by_itself)


def _announces_unasked(evidence: Evidence) -> bool:
    """Whether its client told of the change anywhere but in what its edit tool returned."""
    history = evidence.last_history
    said = orjson.dumps(evidence.came_back(scene.EDIT)).decode()
    return any(
        history.count(words) > said.count(words)
        for words in map(_as_json, evidence.entry.traits.announcements)
    )


def _as_json(words: str) -> str:
    return orjson.dumps(words).decode()[1:-1]
