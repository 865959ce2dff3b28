"""Real agents that shorten their history: the user's message is said again, and the summary is no step."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest

from fourhands.gateway.playbook import Move, Turn
from fourhands.model.event import EventKind
from fourhands.tasks.find import bundled_tasks

from .agent_trials import Played, play

pytestmark = pytest.mark.slow

SHOW: Final = "sed -n '20,40p' src/tally/allocation.py"
LARGE: Final = "python3 -c \"import random; print('\\n'.join(str(random.random()) for _ in range(1300)))\""
"""Prints 25,000 letters; Claude Code would lay more aside in a file, and Codex cuts it to 11,000."""


class InOrder:
    """Makes one move after another, whatever the history holds: a history that was shortened tells of none."""

    def __init__(self, *moves: Move) -> None:
        self._left = list(moves)

    def reply(self, turns: Sequence[Turn]) -> Move:
        del turns
        return self._left.pop(0)


def filling(replies: int, calls: int) -> InOrder:
    """Reads what the user watches, then fills the history."""
    return InOrder(
        Move(thought="I read it.", command=SHOW),
        *(Move(thought=f"Much, for the {n}. time.", parallel=(LARGE,) * calls) for n in range(replies)),
        Move(thought="Where was I?", command="git diff"),
        Move(thought="I am done.", submit=True),
    )


def check_that_it_is_said_again(played: Played, compaction: str) -> None:
    """``compaction``: words of the agent's own, by which it asks for the summary."""
    ended = played.ended
    assert (ended["termination"], ended["messages"]) == ("finished", 1)
    (sent,) = played.bodies(EventKind.MESSAGE_SENT)
    asked = [number for number, seen in enumerate(played.seen, 1) if compaction in seen.entries[-1].text]
    assert len(asked) == 1
    after = [number for number in played.main if number > asked[0]]
    assert len(after) >= 2
    # The history that the summary was made of is gone, and the message stands behind the first words.
    calls = {entry.call for entry in played.request(after[0]).entries if entry.kind == "result"}
    assert not calls & set(sent["anchor"])
    for number in after:
        entries = played.request(number).entries
        (place,) = played.request(number).places(sent["text"])
        assert entries[place - 1].kind == "user"
        assert not any(entry.kind in {"call", "result"} for entry in entries[:place])
    notes = played.notes("message_reinserted")
    assert [(note["message"], note["request"]) for note in notes] == [(sent["message"], after[0])]
    carried = played.bodies(EventKind.MESSAGE_CARRIED)[-1]
    assert carried["last_request"] == after[-1]
    # Each reply but the summary is a step of the main loop.
    assert ended["steps"] == len([number for number in played.main if number != asked[0]])


def test_codex_is_told_again_after_its_compaction(tmp_path: Path) -> None:
    (played,) = play(
        tmp_path, "codex", filling(5, calls=20), "--step-limit", "20", conditions=["counter-edit[k=1]"]
    )
    check_that_it_is_said_again(played, "CONTEXT CHECKPOINT COMPACTION")


def test_claude_code_is_told_again_after_its_compaction(tmp_path: Path) -> None:
    task = tmp_path / "ledger-rounding"
    shutil.copytree(bundled_tasks()["ledger-rounding"], task)
    settings = task / "task.toml"
    variables = "[metadata.fourhands.env]\n"
    small = f'{variables}CLAUDE_CODE_AUTO_COMPACT_WINDOW = "100000"\nCLAUDE_AUTOCOMPACT_PCT_OVERRIDE = "50"\n'
    settings.write_text(settings.read_text().replace(variables, small))
    options = ("--step-limit", "20")
    (played,) = play(
        tmp_path, "claude-code", filling(1, calls=6), *options, task=task, conditions=["counter-edit[k=1]"]
    )
    check_that_it_is_said_again(played, "Respond with TEXT ONLY")
