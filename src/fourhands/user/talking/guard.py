"""No message goes out unchecked: it must say what its move says, leak nothing, and approve only where code does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, Literal

from fourhands.language.conveyance import conveyed
from fourhands.language.ground import fold
from fourhands.model.ledger import Ledger
from fourhands.model.objection import Objection, ObjectionKind, kinds_of
from fourhands.model.persona import MoveKind
from fourhands.model.user import Rejection, TalkMove, Utterance
from fourhands.user.talking.leaks import LeakGround, leaks
from fourhands.user.talking.scene import Consulted, Scene
from fourhands.user.talking.wording import SAYS_REQUIREMENTS, Wording

__all__ = ["NEUTRAL", "Guard"]

_ATTEMPTS: Final = 2
"""Of the wording; then the requirements' own sentences go out."""
_LONGEST: Final = 6_000
"""Characters of a message beside the requirements in it."""

NEUTRAL: Final[Mapping[MoveKind, str]] = {
    MoveKind.DECLINE: "Your call.",
    MoveKind.DEFER: "Let us see that when it is there.",
    MoveKind.APPROVE_PLAN: "Fine, start with that.",
    MoveKind.ASK_COMMIT: "Please commit it first.",
    MoveKind.NUDGE: "Please go on.",
    MoveKind.APPROVE: "Good. Ship it.",
    MoveKind.STOP: "I have to leave it here.",
}
"""What is said where nothing better may be."""

_APPROVES_PLAN: Final = (
    r"\bship(?:s|ping)? (?:it|this|that)\b|\bapproved\b|\bi approve\b|\bready to (?:ship|merge|go)\b"
)
_APPROVES: Final = (
    rf"{_APPROVES_PLAN}|\blgtm\b|\b(?:good|ok|okay|fine|safe) to (?:go|ship|merge|close)\b"
    r"|\blooks? (?:all )?(?:good|great|fine|perfect|right|correct)\b|\b(?:we're|we are|you're|you are|all) done\b"
    r"|\b(?:that's|that is|this is) (?:it|all|everything|perfect|great|exactly)\b|\bgo ahead\b|\bmerge it\b"
)
_APPROVAL: Final = {
    MoveKind.APPROVE_PLAN: re.compile(_APPROVES_PLAN),
    **dict.fromkeys(set(MoveKind) - {MoveKind.APPROVE, MoveKind.APPROVE_PLAN}, re.compile(_APPROVES)),
}
"""Words that would let the agent go, by the moves that must not."""


class Guard:
    """Of one trial: lets a wording speak, and stands in for it where it fails."""

    def __init__(self, ledger: Ledger, ground: LeakGround, wording: Wording) -> None:
        self._ledger = ledger
        self._ground = ground
        self._wording = wording

    async def say(self, move: TalkMove, scene: Scene, consulted: Consulted) -> Utterance:
        """The words that go out.

        In the end these are the requirements' own sentences, whatever the checks say of them: the author wrote them
        to be said, and an agent that is not told cannot do it. What was said of them goes on record.

        Args:
            move: what was chosen.
            scene: the occasion.
            consulted: what it took to choose, which goes on record with the words.
        """
        rejected: tuple[Rejection, ...] = ()
        for _ in range(_ATTEMPTS):
            said = await self._wording.word(move, scene, rejected)
            consulted += Consulted(said.model, said.usage, said.exchanges)
            rejected += said.rejected
            if not (problems := tuple(self.problems(said.text, move, scene))):
                return _recorded(said, rejected, consulted)
            rejected += (Rejection(said.text, _told(problems), kinds_of(problems)),)
        text = "\n".join(self._ledger[each].text for each in move.requirements) or NEUTRAL[move.kind]
        problems = tuple(self.problems(text, move, scene))
        if problems:
            why = f"{_told(problems)}; said all the same: it is the author's own"
            rejected += (Rejection(text, why, kinds_of(problems)),)
        source: Literal["fixed", "fallback"] = "fixed" if consulted.model is None else "fallback"
        return _recorded(Utterance(text, source, objections=kinds_of(problems)), rejected, consulted)

    def problems(self, text: str, move: TalkMove, scene: Scene) -> Iterator[Objection]:
        """Why ``text`` may not be said to make ``move``."""
        own = [self._ledger[each] for each in move.requirements]
        if not text.strip():
            yield Objection(ObjectionKind.FORM, "says nothing")
        if len(text) > _LONGEST + sum(len(each.text) for each in own):
            yield Objection(ObjectionKind.FORM, f"is over {_LONGEST} characters long")
            return
        if move.kind in SAYS_REQUIREMENTS:
            for each in own:
                found = conveyed(each, text)
                if found.verdict != "conveyed":
                    missing = "; ".join((*found.missing, *found.contradicts))
                    words = f"does not say {each.id}" + (f" ({missing})" if missing else "")
                    yield Objection(ObjectionKind.UNSAID, words)
        for leak in leaks(
            text, self._ground, revealing=move.requirements, told=scene.state.told, seen=scene.seen
        ):
            yield Objection(ObjectionKind(leak.kind), f"leaks: {leak.kind} ({leak.words!r})")
        if (pattern := _APPROVAL.get(move.kind)) and (match := pattern.search(self._apart(text))):
            yield Objection(ObjectionKind.APPROVES, f"approves ({match[0]!r})")

    def _apart(self, text: str) -> str:
        """The words beside the requirements' own, which may speak of approval for themselves."""
        for each in self._ledger.requirements:
            text = text.replace(each.text, ". ")
        return fold(text)


def _told(problems: Iterable[Objection]) -> str:
    return "; ".join(each.words for each in problems)


def _recorded(said: Utterance, rejected: tuple[Rejection, ...], consulted: Consulted) -> Utterance:
    return replace(
        said,
        rejected=consulted.rejected + rejected,
        usage=consulted.usage,
        model=consulted.model,
        exchanges=consulted.exchanges,
    )
