"""A move of the talking user phrased by a model, which knows nothing of the task but what the move is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Final

from pydantic import Field

from fourhands.model.ledger import Ledger
from fourhands.model.objection import Objection, ObjectionKind
from fourhands.model.persona import MoveKind, Persona
from fourhands.model.user import Rejection, TalkMove, Utterance
from fourhands.user.message_checks import MAX_WORD_CHARACTERS, tidy
from fourhands.user.talking.asking_a_model import ModelClient
from fourhands.user.talking.consulting import Form, consult, on_record
from fourhands.user.talking.invention import invented
from fourhands.user.talking.prompts import APPROVAL, wording_prompt
from fourhands.user.talking.scene import Scene
from fourhands.user.talking.wording import TemplateWording, Wording

__all__ = ["ModelWording"]

_ROOM: Final = 4
"""A message may be so many times as long as the persona's are, beside what it must say, twice."""
_SHORTEST: Final = 30


class _Words(Form):
    message: Annotated[str, Field(max_length=20_000)]


class ModelWording:
    """Asks a model for the words; where it has none that can be used, the persona's own sentences serve."""

    def __init__(self, client: ModelClient, persona: Persona, ledger: Ledger, seed: str) -> None:
        """As `TemplateWording`, with a model to ask."""
        self._client = client
        self._persona = persona
        self._ledger = ledger
        self._templates: Wording = TemplateWording(persona, ledger, seed)

    async def word(self, move: TalkMove, scene: Scene, refused: tuple[Rejection, ...] = ()) -> Utterance:
        """See `Wording.word`."""
        asked = await consult(
            self._client,
            wording_prompt(move, self._persona, scene, refused),
            _Words,
            purpose="wording",
            objection=lambda found, _: tuple(self._objections(tidy(found.message), move, scene)),
        )
        if asked.found is None:
            said = replace(await self._templates.word(move, scene, refused), source="fallback")
        else:
            said = Utterance(tidy(asked.found.message), "live")
        return on_record(said, asked.consulted)

    def _objections(self, text: str, move: TalkMove, scene: Scene) -> Iterator[Objection]:
        """Why words are not those of the move; what they must say, and must not give away, others check."""
        if not text:
            yield Objection(ObjectionKind.FORM, "message: is empty")
            return
        about = "\n".join(self._ledger[each].text for each in move.requirements)
        most = max(_SHORTEST, _ROOM * self._persona.message_words) + 2 * len(about.split())
        words = text.split()
        if len(words) > most:
            yield Objection(ObjectionKind.FORM, f"message: has {len(words)} words; at most {most} fit")
            return
        if longest := [each for each in words if len(each) > MAX_WORD_CHARACTERS]:
            yield Objection(ObjectionKind.FORM, f"message: holds a word of {len(longest[0])} characters")
            return
        for each in invented(text, f"{about}\n{scene.seen}"):
            yield Objection(ObjectionKind.INVENTED, f"message: {each}")
        if any(line.who == "user" and line.text.strip() == text for line in scene.talk):
            yield Objection(ObjectionKind.FORM, "message: repeats an earlier one word for word")
        if move.kind is MoveKind.APPROVE and APPROVAL not in text.casefold():
            yield Objection(ObjectionKind.UNSAID, f'message: does not say "{APPROVAL}"')
