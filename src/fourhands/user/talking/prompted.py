"""The talking user as in the SWE-Interact paper: a model decides all by itself, and the ledger only observes.

Nothing that it says is held back. What it told is found by reading its messages, and what it gave away is counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal

from pydantic import Field

from fourhands.language.conveyance import conveyed
from fourhands.language.taking_up import legible
from fourhands.model.condition import Coverage
from fourhands.model.ledger import Ledger
from fourhands.model.objection import Objection, ObjectionKind, kinds_of
from fourhands.model.persona import MoveKind, Persona
from fourhands.model.user import (
    Act,
    Answer,
    Moment,
    TalkMove,
    TalkOccasion,
    Utterance,
)
from fourhands.model.view import WorkspaceView
from fourhands.user.message_checks import tidy
from fourhands.user.talking.asking_a_model import ModelClient
from fourhands.user.talking.consulting import MOST_LOOKS, Form, consult, on_record
from fourhands.user.talking.invention import invented
from fourhands.user.talking.leaks import LeakGround, leaks
from fourhands.user.talking.ledger_user import NOT_JUDGED, LedgerUser
from fourhands.user.talking.prompts import playing_prompt
from fourhands.user.talking.reading import HeardKind
from fourhands.user.talking.scene import Scene

__all__ = ["PromptedUser"]

_SHOWS_WORK: Final = re.compile(
    r"\b(?:done|finish\w*|complet\w*|commit\w*|diff\w*|review\w*|ship\w*|merge\w*|ready|hand\w*off|implement\w*)\b",
    re.IGNORECASE,
)
"""Words of a question with which what changed is shown, as in the paper's treatment."""
_REVIEWED: Final = frozenset({HeardKind.REVIEW, HeardKind.HANDOFF})
_ALL_ITS_OWN: Final = "prompt: the model's own choice"
_BY_RULE: Final = "; by rule, not by the model"


class _Said(Form):
    message: Annotated[str, Field(min_length=1, max_length=20_000)]
    doing: Literal[
        "answer", "decline", "reveal", "correct", "approve_plan", "ask_commit", "nudge", "approve"
    ] = "answer"


@dataclass(frozen=True, slots=True)
class _Chosen:
    """What is going to be said, and the move that it is said to make."""

    kind: MoveKind
    said: Utterance
    why: str


class PromptedUser(LedgerUser):
    """Answers what the agent asks as a model would have it. Its moves are what the model says they are.

    Only two things are ours: the persona's limit of messages, which ends any conversation, and, under full coverage,
    the message that hands over what it was never seen to say.
    """

    _RULED = _BY_RULE

    def __init__(
        self,
        ledger: Ledger,
        persona: Persona,
        *,
        goal: str,
        client: ModelClient,
        ground: LeakGround,
        coverage: Coverage,
        seed: str,
    ) -> None:
        """Nothing was said yet.

        Args:
            ledger: by which it is observed.
            persona: one, not a mixture.
            goal: the whole of what is wanted, which the model is told.
            client: asks the model.
            ground: what should not get out; it is counted, and not held back.
            coverage: ``full`` hands over what is held when the agent stops.
            seed: names the run's seed and the trial.
        """
        super().__init__(ledger, persona, coverage=coverage, seed=seed)
        self._goal = goal
        self._ledger_words = "\n".join((ledger.brief, *(each.text for each in ledger.requirements)))
        self._client = client
        self._ground = ground

    async def _answer(self, question: str, view: WorkspaceView) -> list[Act]:
        standing = self._standing()
        words = legible(self._history.words)
        scene = await self._scene(Moment.ASKED, standing, view, words)
        heard = (await self._plain.read(scene)).kind
        if heard in _REVIEWED:
            standing.claim(NOT_JUDGED)
        chosen = await self._stop(scene) or await self._play(scene, heard)
        said = chosen.said
        if first := self._history.other_hand.says_first(words):
            said = replace(said, text=f"{first}\n\n{said.text}")
        told = tuple(self._told_by(said.text))
        observed = tuple(self._observed(said.text, told, scene))
        why = "; ".join((chosen.why, *(f"observed: {each.words}" for each in observed)))
        said = replace(said, objections=kinds_of(observed))
        moves = self._reveals(told, standing, {"question": question, "observed": "conveyed"})
        move = TalkMove(chosen.kind, told, why, TalkOccasion(heard.value))
        return [*standing.moves, Answer(question, said, move), *moves]

    async def _word(self, move: TalkMove, scene: Scene) -> Utterance:
        return await self._templates.word(move, scene)

    async def _stop(self, scene: Scene) -> _Chosen | None:
        """The end of a conversation that would have none: no model is asked."""
        if self._history.has_stopped:
            why = f"prompt: the conversation was ended before{_BY_RULE}"
        elif scene.turn >= self._persona.turn_limit - 1:
            limit = self._persona.turn_limit
            why = f"prompt: the limit of {limit} messages is reached{_BY_RULE}"
        else:
            return None
        said = await self._templates.word(TalkMove(MoveKind.STOP), scene)
        return _Chosen(MoveKind.STOP, said, why)

    async def _play(self, scene: Scene, heard: HeardKind) -> _Chosen:
        snapshot = scene.diff if _SHOWS_WORK.search(scene.question or "") else None
        asked = await consult(
            self._client,
            playing_prompt(self._goal, self._persona, scene, snapshot),
            _Said,
            purpose="playing",
            objection=lambda found, _: None if tidy(found.message) else "message: is empty",
            view=scene.view,
            looks=MOST_LOOKS,
        )
        if asked.found is not None:
            said = on_record(Utterance(tidy(asked.found.message), "live"), asked.consulted)
            return _Chosen(MoveKind(asked.found.doing), said, _ALL_ITS_OWN)
        # What commits to nothing, whatever was asked.
        kind = MoveKind.NUDGE if heard in {*_REVIEWED, HeardKind.OTHER} else MoveKind.DEFER
        said = await self._templates.word(TalkMove(kind), scene)
        why = f"prompt: the model gave no answer of use{_BY_RULE}"
        return _Chosen(kind, on_record(replace(said, source="fallback"), asked.consulted), why)

    def _told_by(self, text: str) -> Iterator[str]:
        return (each.id for each in self._ledger.requirements if conveyed(each, text).verdict == "conveyed")

    def _observed(self, text: str, told: Collection[str], scene: Scene) -> Iterator[Objection]:
        """What a gate would have held back."""
        for leak in leaks(text, self._ground, revealing=told, told=scene.state.told, seen=scene.seen):
            yield Objection(ObjectionKind(leak.kind), f"leak {leak.kind} ({leak.words!r})")
        for each in invented(text, f"{self._goal}\n{self._ledger_words}\n{scene.seen}"):
            yield Objection(ObjectionKind.INVENTED, each)
