"""What has become of told requirements since the last message: from the agent's words, and from checks on its code.

What is held does not move, whatever the code does: nothing of it may show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fourhands.language.taking_up import legible, takes_up
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.ledger import Ledger
from fourhands.model.ledger_state import LedgerState, RequirementState
from fourhands.model.user import MoveRequirement
from fourhands.user.talking.history import History
from fourhands.user.talking.judging import Judgement
from fourhands.user.talking.measured import Checkpoint

__all__ = ["Standing"]

_HELD, _REVEALED = RequirementState.HELD, RequirementState.REVEALED
_ACKNOWLEDGED = RequirementState.ACKNOWLEDGED
_SATISFIED, _VIOLATED = RequirementState.SATISFIED, RequirementState.VIOLATED


class Standing:
    """The states as they are now, and the steps to them that are not on record yet."""

    def __init__(self, history: History, ledger: Ledger) -> None:
        """Take in the agent's words, and every state of its code since the last message."""
        self._history = history
        self._ledger = ledger
        self.state = LedgerState(dict(history.state.states), list(history.state.moves))
        self.moves: list[MoveRequirement] = []
        self._take_words()
        for checkpoint in history.measured.checkpoints:
            self._take(checkpoint)

    def claim(self, judgement: Judgement) -> None:
        """Take the state as it is for what the agent calls done: what it took up must be in it."""
        code = self._history.measured.under_review
        for name in self.state.told:
            met = code.requirements.get(name) if code else None
            evidence = _of_checks(code, self._ledger, name) if code else {}
            if met is None:
                met = judgement.met.get(name)
                evidence = {"judge": judgement.reasons.get(name, "")}
            if met and self.state.states[name] in {_REVEALED, _ACKNOWLEDGED, _VIOLATED}:
                self._move(name, _SATISFIED, evidence)
            elif met is False and self.state.states[name] in {_ACKNOWLEDGED, _SATISFIED}:
                self._move(name, _VIOLATED, evidence)

    def unmet(self, judgement: Judgement) -> tuple[str, ...]:
        """Told, and not so in the state that the agent shows."""
        return tuple(name for name in self.state.told if self._met(name, judgement) is False)

    def unseen(self, judgement: Judgement) -> tuple[str, ...]:
        """Told, and there are checks, which could not be run on that state."""
        return tuple(
            name
            for name in self.state.told
            if self._has_checks(name)
            and self._by_checks(name) is None
            and self._met(name, judgement) is not False
        )

    def unchecked(self) -> Iterator[str]:
        """Told, and no check says anything of it: what a judge may be asked."""
        return (name for name in self.state.told if self._by_checks(name) is None)

    def _has_checks(self, name: str) -> bool:
        """Whether anything is run to see it; the hidden tests, of a requirement without checks."""
        return bool(self._ledger[name].checks or self._ledger[name].tests)

    def _by_checks(self, name: str) -> bool | None:
        code = self._history.measured.under_review
        return code.requirements.get(name) if code else None

    def _met(self, name: str, judgement: Judgement) -> bool | None:
        by_checks = self._by_checks(name)
        return judgement.met.get(name) if by_checks is None else by_checks

    def _take_words(self) -> None:
        if self._history.question is None:
            return
        text = legible(self._history.words)
        for name in self._in(_REVEALED):
            if takes_up(self._ledger[name], text):
                self._move(name, _ACKNOWLEDGED, {"question": self._history.question})

    def _take(self, checkpoint: Checkpoint) -> None:
        if checkpoint.kind is CheckpointKind.PLAN:
            for name in self._in(_REVEALED):
                if checkpoint.requirements.get(name):
                    self._move(name, _ACKNOWLEDGED, {"checkpoint": checkpoint.id})
            return
        for name in self.state.told:
            if self._history.measured.has_judged(name, checkpoint):
                continue
            state, met = self.state.states[name], checkpoint.requirements.get(name)
            evidence = _of_checks(checkpoint, self._ledger, name)
            if met and state in {_REVEALED, _ACKNOWLEDGED, _VIOLATED}:
                self._move(name, _SATISFIED, evidence)
            elif met is False and state is _SATISFIED and checkpoint.kind is not CheckpointKind.WORKING:
                self._move(name, _VIOLATED, evidence)

    def _in(self, state: RequirementState) -> list[str]:
        return [name for name, each in self.state.states.items() if each is state]

    def _move(self, name: str, after: RequirementState, evidence: Mapping[str, Any]) -> None:
        before = self.state.states[name]
        self.state.states[name] = after
        self.moves.append(MoveRequirement(name, before, after, self._history.turn, evidence))


def _of_checks(checkpoint: Checkpoint, ledger: Ledger, name: str) -> dict[str, Any]:
    decisive = ledger[name].checks or ledger[name].tests
    checks = {each: checkpoint.checks[each] for each in decisive if each in checkpoint.checks}
    return {"checkpoint": checkpoint.id, "checks": checks}
