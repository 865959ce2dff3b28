"""What most people say of an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fourhands.judge.people.answers_file import PersonsAnswers
from fourhands.model.audit import Audit, Choice

__all__ = ["Gold", "gold_of"]


@dataclass(frozen=True, slots=True)
class Gold:
    """Of one item, whether each label applies; ``None`` where as many people say yes as no.

    Where one label is to be given, all are ``None`` if no label has more votes than any other.
    """

    applies: Mapping[str, bool | None]

    @property
    def is_tied(self) -> bool:
        """Whether people are divided on any label."""
        return None in self.applies.values()


def gold_of(audit: Audit, people: Sequence[PersonsAnswers]) -> dict[str, Gold]:
    """The majority's answer to every item that somebody has answered."""
    items = sorted({item for person in people for item in person.answers})
    return {
        item: Gold(_majority(audit, [person.answers[item] for person in people if item in person.answers]))
        for item in items
    }


def _majority(audit: Audit, answers: Sequence[frozenset[str]]) -> dict[str, bool | None]:
    votes = {label: sum(label in answer for answer in answers) for label in audit.names}
    if audit.choice is Choice.ANY:
        return {label: _more(n, len(answers) - n) for label, n in votes.items()}
    most = max(votes.values())
    winners = [label for label, n in votes.items() if n == most]
    return {label: label in winners if len(winners) == 1 else None for label in audit.names}


def _more(yes: int, no: int) -> bool | None:
    return None if yes == no else yes > no
