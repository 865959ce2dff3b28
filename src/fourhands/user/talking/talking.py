"""The talking user: holds requirements, and says them little by little, by rules over what is on record.

What it decides is a function of the events, the ledger, the persona and the seed; where a model phrases or judges,
of its replies as well. The agent's words choose among what may be said; they never widen it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from fourhands.language.taking_up import legible
from fourhands.model.condition import Coverage
from fourhands.model.ledger import Ledger
from fourhands.model.persona import MoveKind, Persona
from fourhands.model.user import Act, Answer, Moment, TalkMove, TalkOccasion, Utterance
from fourhands.model.view import WorkspaceView
from fourhands.user.talking.guard import Guard
from fourhands.user.talking.judging import Judge, Judgement
from fourhands.user.talking.leaks import LeakGround
from fourhands.user.talking.ledger_user import NOT_JUDGED, LedgerUser
from fourhands.user.talking.policy import choose, ends_anyway
from fourhands.user.talking.reading import Heard, HeardKind, Reader
from fourhands.user.talking.relevance import Relevance
from fourhands.user.talking.scene import NOTHING_CONSULTED, Scene
from fourhands.user.talking.standing import Standing
from fourhands.user.talking.wording import Wording

__all__ = ["TalkingUser", "grounded_user"]

_REVEALING: Final = frozenset({MoveKind.REVEAL, MoveKind.HAND_OVER})
_REVIEWED: Final = frozenset({HeardKind.REVIEW, HeardKind.HANDOFF})


class TalkingUser(LedgerUser):
    """Answers what the agent asks, hands over what is left when it stops, and may speak up between its actions.

    In a trial in which the user also edits, it speaks for both hands: what was said with an edit and has not reached
    the agent stands at the head of the next answer, and an edit without a word is admitted when asked about.
    """

    def __init__(
        self,
        ledger: Ledger,
        persona: Persona,
        *,
        ground: LeakGround,
        coverage: Coverage,
        seed: str,
        reader: Reader | None = None,
        wording: Wording | None = None,
        judge: Judge | None = None,
    ) -> None:
        """Nothing was said yet.

        Args:
            ledger: what there is to say.
            persona: one, not a mixture.
            ground: what must not get out.
            coverage: ``full`` hands over what is held when the agent stops.
            seed: names the run's seed and the trial.
            reader: of the agent's words; by patterns when ``None``.
            wording: of what was chosen, whose words are checked; the persona's own sentences when ``None``.
            judge: of told requirements on which no check has a say; without one they are taken to be met.
        """
        super().__init__(ledger, persona, coverage=coverage, seed=seed)
        self._reader = reader or self._plain
        self._judge = judge
        self._guard = Guard(ledger, ground, wording or self._templates)
        self._last_words = Guard(ledger, ground, self._templates)
        self._relevance = Relevance(ledger)

    @property
    def moments(self) -> Collection[Moment]:
        """See `User.moments`."""
        interrupts = self._persona.interrupts_after is not None
        return {*super().moments, *({Moment.AFTER_ACTION} if interrupts else ())}

    async def decide(self, moment: Moment, view: WorkspaceView) -> list[Act]:
        """See `User.decide`."""
        if moment is Moment.AFTER_ACTION and self._is_silent_too_long():
            return await self._speak(TalkOccasion.INTERRUPT, moment, self._standing(), view)
        return await super().decide(moment, view)

    async def _answer(self, question: str, view: WorkspaceView) -> list[Act]:
        standing = self._standing()
        words = legible(self._history.words)
        scene = await self._scene(Moment.ASKED, standing, view, words)
        # An agent may ask without end: once there is only one answer left, no model is asked for it.
        is_over = ends_anyway(self._situation(Heard(HeardKind.OTHER), standing))
        heard = await (self._plain if is_over else self._reader).read(scene)
        judgement = NOT_JUDGED
        if heard.kind in _REVIEWED:
            judgement = NOT_JUDGED if is_over else await self._judged(standing, scene)
            standing.claim(judgement)
        touched = self._relevance.touched(scene.diff.total)
        move = choose(self._situation(heard, standing, judgement, touched))
        assert move is not None, "every kind of words has a rule without a condition at its end"
        consulted = heard.consulted + judgement.consulted
        said = await (self._last_words if is_over else self._guard).say(move, scene, consulted)
        if first := self._history.other_hand.says_first(words):
            said = replace(said, text=f"{first}\n\n{said.text}")
        revealed = move.requirements if move.kind in _REVEALING else ()
        moves = self._reveals(revealed, standing, {"question": question})
        return [*standing.moves, Answer(question, said, move), *moves]

    async def _word(self, move: TalkMove, scene: Scene) -> Utterance:
        return await self._guard.say(move, scene, NOTHING_CONSULTED)

    async def _judged(self, standing: Standing, scene: Scene) -> Judgement:
        unchecked = [self._ledger[each] for each in standing.unchecked()]
        if self._judge is None or not unchecked:
            return NOT_JUDGED
        return await self._judge.judge(unchecked, scene)

    def _is_silent_too_long(self) -> bool:
        after = self._persona.interrupts_after
        return after is not None and self._history.question is None and self._history.silence >= after


def grounded_user(
    ledger: Ledger, persona: Persona, *, ground: LeakGround, coverage: Coverage, seed: str
) -> TalkingUser:
    """The user without a model: deterministic, and the default. ``seed`` names the run's seed and the trial."""
    return TalkingUser(ledger, persona, ground=ground, coverage=coverage, seed=seed)
