"""A sheet whose truth is known, people who err a little, and judges that are good, random or always say the same."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from fourhands.judge.people.answers_file import PersonsAnswers
from fourhands.judge.people.key_file import Key, KeyEntry, KeyRun, Sampled
from fourhands.judge.people.population import JudgeAnswers, Unit
from fourhands.judge.people.sampling import ONE_STRATUM, draw, strata_of
from fourhands.model.audit import Audit, AuditName, Choice

__all__ = ["SyntheticSheet", "synthetic"]

Answer = frozenset[str]
_RATES = (0.45, 0.3, 0.1, 0.06, 0.2, 0.15, 0.1)


@dataclass(frozen=True)
class SyntheticSheet:
    """``truth`` and the judges' answers are of the whole population."""

    key: Key
    audit: Audit
    people: list[PersonsAnswers]
    judges: dict[str, JudgeAnswers]
    truth: list[Answer]

    def share(self, label: str) -> float:
        """Of the population to which a label applies."""
        return sum(label in answer for answer in self.truth) / len(self.truth)


def synthetic(
    audit: Audit,
    *,
    by: str | None = "good",
    size: int = 100,
    population: int = 400,
    error: float = 0.06,
    seed: int = 0,
) -> SyntheticSheet:
    """Drawn by the answers of the judge ``by``, or at random. People err in ``error`` of all labels.

    Execution and events decide every fourth, but of goals.
    """
    chance = random.Random(seed)
    truth = [_truth(audit, chance) for _ in range(population)]
    answers = {
        "good": [_noisy(audit, answer, error / 2, chance) for answer in truth],
        "random": [_truth(audit, chance) for _ in truth],
        "constant": [frozenset({audit.names[0]})] * population,
    }
    units = [Unit(0, f"t{n}", 1, f"task-{n // 2}") for n in range(population)]
    strata = strata_of(audit, answers[by]) if by else [ONE_STRATUM] * population
    chosen = draw(strata, size, seed)
    names = {place: f"item-{number:03d}" for number, place in enumerate(chosen)}
    people = [
        PersonsAnswers(name, {names[n]: _noisy(audit, truth[n], error, chance) for n in chosen})
        for name in ("ann", "bob", "eve")
    ]
    return SyntheticSheet(
        _key(audit, "stratified" if by else "random", units, strata, names),
        audit,
        people,
        {
            name: JudgeAnswers(f"judge:{name}", 1, dict(zip(units, own, strict=True)))
            for name, own in answers.items()
        },
        truth,
    )


def _key(
    audit: Audit, sampled: Sampled, units: Sequence[Unit], strata: Sequence[str], names: dict[int, str]
) -> Key:
    return Key(
        audit=audit.name,
        audit_version=audit.version,
        sampled=sampled,
        seed=0,
        runs=(KeyRun(run="r", path="r"),),
        population=tuple(
            KeyEntry(
                run=0,
                trial=unit.trial,
                attempt=1,
                task=unit.task,
                stratum=stratum,
                left=None if audit.name is AuditName.GOALS else bool(place % 4),
                item=names.get(place),
            )
            for place, (unit, stratum) in enumerate(zip(units, strata, strict=True))
        ),
    )


def _truth(audit: Audit, chance: random.Random) -> Answer:
    rates = _RATES[: len(audit.names)]
    if audit.choice is Choice.ANY:
        return frozenset(
            label for label, rate in zip(audit.names, rates, strict=True) if chance.random() < rate
        )
    return frozenset(chance.choices(audit.names, rates))


def _noisy(audit: Audit, answer: Answer, error: float, chance: random.Random) -> Answer:
    if audit.choice is Choice.ANY:
        return frozenset(label for label in audit.names if (label in answer) != (chance.random() < error))
    return answer if chance.random() >= 3 * error else frozenset({chance.choice(audit.names)})
