"""A model that scores texts by a rubric; only what it can quote counts, and nothing is asked twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import Field

from fourhands.judge.answers import Answered, Answers, Kind
from fourhands.judge.prompts import MOST_CHARACTERS, PROMPT_VERSION, PROMPTS, judging_prompt
from fourhands.model.judgement import Criterion, CriterionScore, Judgement, ShownAs, weighted
from fourhands.model.ledger import TOTAL_WEIGHT
from fourhands.tasks.cache import content_key
from fourhands.user.talking.asking_a_model import ModelClient
from fourhands.user.talking.consulting import ATTEMPTS, Consultation, Form, consult
from fourhands.user.talking.quoting import Ground

__all__ = ["JUDGEMENTS", "Judge", "Judged"]

JUDGEMENTS: Final = Kind("judgement", Judgement, PROMPT_VERSION)
"""As which its answers are kept."""

_MOST_TOLD: Final = 3
"""Problems of one reply that the model is told of."""


class _Point(Form):
    id: str
    score: Annotated[float, Field(ge=0, le=1)]
    quotes: Annotated[tuple[Annotated[str, Field(max_length=5_000)], ...], Field(max_length=20)] = ()


class _Scores(Form):
    scores: Annotated[list[_Point], Field(max_length=500)]


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement; ``cached`` if it had been made before."""

    judgement: Judgement
    cached: bool


class Judge:
    """Scores texts by asking ``client``, and keeps what came back in ``answers``."""

    def __init__(self, client: ModelClient, answers: Answers[Judgement]) -> None:
        self._client = client
        self._answers = answers

    @property
    def name(self) -> str:
        """As every number of its is marked: ``judge:MODEL``."""
        return f"judge:{self._client.model}"

    async def score(self, shown_as: ShownAs, criteria: Sequence[Criterion], text: str) -> Judged:
        """Score ``text`` by every item. Never fails: where its opinion is not whole, its ``problem`` says why.

        What was not answered as it should be for a reason other than the model's own words (its provider failed), or
        not at all, has a ``problem`` and is not kept, so that it is asked for again the next time.
        """
        key = self._key(shown_as, criteria, text)
        judgement, known = await self._answers.once(
            key, self.name, lambda: self._ask(key, shown_as, criteria, text)
        )
        return Judged(judgement, cached=known)

    def _key(self, shown_as: ShownAs, criteria: Sequence[Criterion], text: str) -> str:
        form = json.dumps(_Scores.model_json_schema(), sort_keys=True)
        rubric = (part for c in criteria for part in (c.id, c.text, repr(c.weight), c.evidence))
        whole = text.encode("utf-8", "surrogatepass")
        model = self._client.model
        return content_key("judgement", PROMPTS, form, model, shown_as, *rubric, whole)

    async def _ask(
        self, key: str, shown_as: ShownAs, criteria: Sequence[Criterion], text: str
    ) -> Answered[Judgement]:
        shown = text[:MOST_CHARACTERS]
        ground = Ground(shown_as, shown)
        best: list[CriterionScore] = []
        refused = 0

        def objection(found: _Scores, _: tuple[str, ...]) -> str | None:
            """Why the model must answer anew; what was best so far is kept all the same."""
            nonlocal best, refused
            scores = _checked(criteria, found, ground)
            if not best or _unscored(scores) < _unscored(best):
                best = scores
            problems = [f"{each.id}: {each.problem}" for each in scores if each.problem]
            refused += bool(problems)
            return "; ".join(problems[:_MOST_TOLD]) or None

        asked = await consult(
            self._client,
            judging_prompt(shown_as, criteria, shown),
            _Scores,
            purpose="judging",
            objection=objection,
        )
        scores = best or [
            CriterionScore(each.id, None, problem="the judge gave no score") for each in criteria
        ]
        mean = weighted(criteria, scores)
        is_settled = asked.found is not None or refused == ATTEMPTS
        judgement = Judgement(
            key=key,
            shown_as=shown_as,
            scores=tuple(scores),
            score=None if mean is None else round(mean * TOTAL_WEIGHT, 4),
            left_out=len(text) - len(shown),
            usage=asked.consulted.usage,
            problem=None if is_settled else _why(asked, is_cut=bool(best)),
        )
        return Answered(judgement, asked.consulted.exchanges, is_settled)


def _checked(criteria: Sequence[Criterion], found: _Scores, ground: Ground) -> list[CriterionScore]:
    given: dict[str, _Point] = {}
    for point in found.scores:
        given.setdefault(point.id, point)
    return [_one(each.id, given.get(each.id), ground) for each in criteria]


def _one(name: str, point: _Point | None, ground: Ground) -> CriterionScore:
    if point is None:
        return CriterionScore(name, None, problem="the judge gave no score")
    score = round(point.score, 4)
    problem = None
    if score and not point.quotes:
        problem = "the judge quoted nothing"
    elif score and (invented := [quote for quote in point.quotes if not ground.has(quote)]):
        problem = f"the judge's quotation does not stand in the text: {invented[0][:80]!r}"
    return CriterionScore(name, score, point.quotes, None if problem else score, problem)


def _unscored(scores: Sequence[CriterionScore]) -> int:
    return sum(each.score is None for each in scores)


def _why(asked: Consultation[_Scores], *, is_cut: bool) -> str:
    rejected = asked.consulted.rejected
    reason = rejected[-1].reason if rejected else "it was not asked"
    what = "could not be asked for what its answer lacks" if is_cut else "gave no answer of use"
    return f"the judge {what} ({len(rejected)} tries): {reason.removeprefix('judging: ')}"
