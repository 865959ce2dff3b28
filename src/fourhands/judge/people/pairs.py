"""How far people agree with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import combinations
from statistics import fmean

from fourhands.analysis.statistics.agreement import kappa_alone
from fourhands.analysis.statistics.agreement_tables import Question, Seen
from fourhands.judge.people.answers_file import PersonsAnswers
from fourhands.judge.people.key_file import Key
from fourhands.model.audit import Audit, Choice

__all__ = ["among_people"]


def among_people(
    key: Key,
    audit: Audit,
    people: Sequence[PersonsAnswers],
    *,
    label: str | None = None,
    within: Collection[int] | None = None,
) -> float | None:
    """κ, mean over pairs of people of what it is for each; ``None`` where no pair has one.

    Args:
        key: of the sheet.
        audit: what was asked.
        people: all who answered.
        label: the one of which it is, as given or not given; ``None``: of all.
        within: places in the population that count; ``None``: all.
    """
    found = [
        kappa
        for one, other in combinations(people, 2)
        if (kappa := kappa_alone(list(_pair(key, audit, (one, other), label, within)))) is not None
    ]
    return fmean(found) if found else None


def _pair(
    key: Key,
    audit: Audit,
    pair: tuple[PersonsAnswers, PersonsAnswers],
    label: str | None,
    within: Collection[int] | None,
) -> Iterator[Question]:
    one, other = pair
    both = [
        (place, name)
        for place, name in key.drawn
        if name in one.answers and name in other.answers and (within is None or place in within)
    ]
    labels = audit.names
    if label is not None or audit.choice is Choice.ANY:
        for each in labels if label is None else (label,):
            yield _question_of_pair(
                key, [(p, int(each in one.answers[n]), int(each in other.answers[n])) for p, n in both], 2
            )
    else:
        numbers = {label: number for number, label in enumerate(labels)}
        answers = [
            (p, *(min(numbers[label] for label in person.answers[n]) for person in (one, other)))
            for p, n in both
        ]
        yield _question_of_pair(key, answers, len(labels), ordered=audit.choice is Choice.STEP)


def _question_of_pair(
    key: Key, answers: Sequence[tuple[int, ...]], categories: int, *, ordered: bool = False
) -> Question:
    """Of people nobody knows what they would say of the rest: each stratum is as what was drawn of it."""
    entries = key.population
    whole = Counter(entry.stratum for entry in entries)
    drawn = Counter(entries[place].stratum for place, *_ in answers)
    population: dict[tuple[str, int], float] = {}
    items = []
    for place, first, second in answers:
        stratum = entries[place].stratum
        items.append(Seen(stratum, entries[place].task, first, second))
        known = population.get((stratum, first), 0.0)
        population[stratum, first] = known + whole[stratum] / drawn[stratum]
    return Question(items, population, categories, ordered)
