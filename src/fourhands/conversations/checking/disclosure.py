"""Whether what a user says at first, and of each requirement, gives away what they must not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from fourhands.conversations.checking.finding import Finding, Part
from fourhands.language.conveyance import conveyed
from fourhands.model.ledger import Ledger
from fourhands.tasks.folder import Task
from fourhands.tasks.git import Base
from fourhands.tasks.repository import base_repository
from fourhands.user.talking.hidden import canaries, words_of
from fourhands.user.talking.leaks import LeakGround, leaks

__all__ = ["gives_away", "leaky"]

_OF_A_SENTENCE: Final = frozenset({"hidden", "canary", "benchmark"})
"""The other leaks are of how a model phrases: an author may well show code."""


def leaky(task: Task, ledger: Ledger) -> Iterator[Finding]:
    """What only the tests or the reference have, and a sentence of the author's says all the same.

    In a trial these sentences always go out: the instruction alone is held against them, and not the ledger itself.
    """
    patches = (task.test_patch, task.reference)
    # A line of a paragraph ends anywhere: what goes on in the next one stands in the instruction too.
    instruction = f"{task.instruction}\n{' '.join(task.instruction.split())}"
    ground = LeakGround.of(
        replace(ledger, brief="", requirements=()),
        instruction,
        *patches,
        words_of(blob.data for blob in Base(base_repository(task)).blobs().values()),
        canaries(*patches, elsewhere=task.instruction),
    )
    texts = {"the brief": ledger.brief, **{f"{each.id}.text": each.text for each in ledger.requirements}}
    for where, said in texts.items():
        if found := [leak for leak in leaks(said, ground) if leak.kind in _OF_A_SENTENCE]:
            words = "; ".join(f"{each.words!r} ({each.kind})" for each in found)
            text = f"{where} says what it must not: {words}; reword it"
            yield Finding(Part.DISCLOSURE, text, blocks=True, about=(where,))


def gives_away(ledger: Ledger) -> Iterator[Finding]:
    """Requirements whose text tells another one, on which it does not depend: told one, the agent knows both."""
    for each in ledger.requirements:
        before = ledger.needed_for(each.id)
        told = (
            other.id
            for other in ledger.requirements
            if other.id not in before and conveyed(other, each.text).verdict == "conveyed"
        )
        for other in told:
            text = f"{each.id}.text tells {other} as well: reword one, or say in depends_on that {other} comes first"
            yield Finding(Part.DISCLOSURE, text, blocks=True, about=(each.id, other))
