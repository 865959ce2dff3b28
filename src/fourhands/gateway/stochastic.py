"""A stand-in that resolves with a given probability: statistics can be checked against numbers known in advance.

What a trial does is drawn once from its key and the run's seed, so trials are independent of each other and every
one can be repeated. A good trial ends with the wanted state, a bad one with a state that is known to fail.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from fourhands.gateway.playbook import Move, Playbook, Turn, next_move
from fourhands.model.errors import InputError
from fourhands.model.trial import TrialKey

__all__ = ["STOCHASTIC", "Odds", "StochasticPlayer", "draw"]

STOCHASTIC: Final = "stochastic"
_LABEL: Final = re.compile(rf"{STOCHASTIC}(?:\[(.*)\])?")
_EVEN: Final = 0.5
_BITS: Final = 53
"""Of a hash, as many as a float holds."""


@dataclass(frozen=True, slots=True)
class Odds:
    """Probability to resolve: ``p`` left alone, ``touched`` once the user has spoken."""

    p: float = _EVEN
    touched: float = _EVEN

    @classmethod
    def parse(cls, label: str) -> Self:
        """Read ``stochastic[p=0.8,touched=0.4]``; ``p`` is 0.5 unless given, ``touched`` is ``p``.

        Raises:
            InputError: a parameter is unknown, given twice, or no probability.
        """
        match = _LABEL.fullmatch(label)
        if not match:
            raise InputError(f"{label!r}: write {STOCHASTIC}[p=0.8,touched=0.4]")
        values: dict[str, float] = {}
        for part in filter(None, (match[1] or "").split(",")):
            name, _, value = part.strip().partition("=")
            if name not in {"p", "touched"} or name in values:
                raise InputError(f"{label!r}: {name!r} is wrong: give p and touched, each once")
            try:
                values[name] = float(value)
            except ValueError:
                raise InputError(f"{label!r}: {name} is {value!r}: it must be a number from 0 to 1") from None
            if not 0 <= values[name] <= 1:
                raise InputError(f"{label!r}: {name} is {value}: it must be from 0 to 1")
        p = values.get("p", _EVEN)
        return cls(p, values.get("touched", p))


def draw(seed: int, key: TrialKey) -> float:
    """A number of its own for each trial, even in [0, 1): a hash of the run's seed and all of the trial's key."""
    parts = (str(seed), key.task, key.agent.label, key.condition.label, str(key.repeat))
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return (int.from_bytes(digest[:8]) >> (64 - _BITS)) / (1 << _BITS)


@dataclass(frozen=True, slots=True)
class StochasticPlayer:
    """Works as ``temperament`` of ``playbook`` does, and ends with ``resolve`` or ``fail`` as ``drawn`` says."""

    playbook: Playbook
    temperament: str
    odds: Odds
    drawn: float
    resolve: Move
    fail: Move

    def reply(self, turns: Sequence[Turn]) -> Move:
        """See `Player.reply`."""
        move = next_move(self.playbook, self.temperament, turns)
        if not move.submit:
            return move
        probability = self.odds.touched if "user" in turns else self.odds.p
        return self.resolve if self.drawn < probability else self.fail
