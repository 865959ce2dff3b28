"""Real sessions that stand beside a report's talks: as the page's script reads them, bounded, every text visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fourhands.report.story.clip import clip_text
from fourhands.report.story.clipped import clipped_json
from fourhands.report.text import visible
from fourhands.trajectories.talks.registry import read_talk
from fourhands.trajectories.talks.talk import SessionTalk

__all__ = ["session_data"]

_MOST_SAID: Final = 300
"""Messages of a session that are shown."""
_MOST_BYTES: Final = 8192
"""Of one message."""
_MOST_PROBLEMS: Final = 5


def session_data(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Each session by its log.

    Raises:
        InputError: a file is no log in which something is said; names it, and what would do.
    """
    names = Counter(path.name for path in paths)
    return [
        _session(path.name if names[path.name] == 1 else f"{path.absolute().parent.name}/{path.name}", path)
        for path in paths
    ]


def _session(name: str, path: Path) -> dict[str, Any]:
    talk: SessionTalk = read_talk(path)
    return {
        "name": visible(name, keep=""),
        "format": talk.format,
        "agent": None if talk.agent in {None, talk.format} else visible(str(talk.agent), keep=""),
        "model": talk.model and visible(talk.model, keep=""),
        "said": [
            {
                "lane": each.who,
                "kind": "said",
                "text": clipped_json(clip_text(each.text, most_bytes=_MOST_BYTES)),
            }
            for each in talk.said[:_MOST_SAID]
        ],
        "left_out": max(0, len(talk.said) - _MOST_SAID),
        "problems": [visible(problem, keep="") for problem in talk.problems[:_MOST_PROBLEMS]],
    }
