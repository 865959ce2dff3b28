"""From the strongest evidence to the weakest: probe, and stop at the first probe that decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from fourhands.model.ablation import Cause, Conclusion, Probe, ProbeName
from fourhands.model.outcome import Verdict
from fourhands.workspace.compose import Conflict, MergedTree
from fourhands.workspace.counterfactual import Counterfactuals, Replaced
from fourhands.workspace.part import Scope

__all__ = ["Concluded", "Prober", "conclude"]

_GONE: Final = "nothing of the edit stood any more"


class Prober(Protocol):
    """How a state is verified."""

    async def __call__(
        self,
        name: ProbeName,
        state: MergedTree | Conflict,
        scope: Scope | None = None,
        seq: int | None = None,
    ) -> Probe:
        """Verify ``state``, if there is one, and remember that it was."""


@dataclass(frozen=True, slots=True)
class Concluded:
    """``detail`` speaks of nothing but the probes that were made."""

    conclusion: Conclusion
    by: Cause | None
    detail: str


async def conclude(states: Counterfactuals, probe: Prober) -> Concluded:
    """What the states of one trial show."""
    without = await probe(ProbeName.WITHOUT_EDIT, states.without_edit)
    if without.verdict is Verdict.RESOLVED:
        return Concluded(Conclusion.EDIT_CAUSED, Cause.REMOVAL, "taking the edit out solves it")
    tried: list[Probe] = []
    for part in states.replaced:
        tried.append(await probe(ProbeName.REFERENCE_INSTEAD, part.instead, part.scope))
        if tried[-1].verdict is Verdict.RESOLVED:
            return await _weigh(part, without, probe, stood=states.stood)
    return _unsolved(without, tried, stood=states.stood)


async def _weigh(part: Replaced, without: Probe, probe: Prober, *, stood: bool) -> Concluded:
    """The reference in the edit's place solves it: does the edit do harm, or was only the agent's part missing?"""
    solves = f"the reference {_where(part.scope)} solves it"
    if not stood:
        return _also_broken(f"{_GONE}; {solves}: what the agent made of it is wrong")
    assert part.control is not None  # there is a state with the reference: it was just verified
    beside = await probe(ProbeName.REFERENCE_BESIDE, part.control.beside, part.scope)
    if beside.verdict is Verdict.RESOLVED:
        return _also_broken(f"{solves} beside the edit as well: the agent's own part is missing")
    if beside.verdict is Verdict.NONE:
        detail = f"{solves} without the edit, and with it there is no state to verify: {_paths([beside])}"
        return Concluded(Conclusion.CANNOT_COMPOSE, None, detail)
    if without.verdict is Verdict.NONE:
        detail = f"{solves} in place of the edit and what the agent wrote into it, and does not beside them"
        return Concluded(Conclusion.EDIT_CAUSED, Cause.REPLACEMENT, detail)
    if part.control.around is not None:
        around = await probe(ProbeName.REFERENCE_AROUND, part.control.around, part.scope)
        if around.verdict is not Verdict.RESOLVED:
            return _also_broken(
                f"{solves}, but it has to write the edit's own lines, and what stood there before the edit "
                "does not solve it either: the agent's own part is missing"
            )
    detail = f"{solves} without the edit, and does not with it; the agent's own part is missing as well"
    return Concluded(Conclusion.EDIT_CAUSED, Cause.REPLACEMENT, detail)


def _unsolved(without: Probe, tried: Sequence[Probe], *, stood: bool) -> Concluded:
    verified = [probe for probe in tried if probe.verdict is not Verdict.NONE]
    reference = f"the reference {_where(verified[-1].scope)} does not solve it" if verified else ""
    if without.verdict is Verdict.NONE:
        stuck = f"the edit cannot be taken out by itself ({_paths([without])})"
        if verified:
            return _also_broken(f"{stuck}; {reference} in its place")
        why = "says what belongs there" if tried else "is in its files"
        return Concluded(Conclusion.CANNOT_COMPOSE, None, f"{stuck}, and no part of the reference {why}")
    out = "taking the edit out does not solve it" if stood else _GONE
    if verified:
        return _also_broken(f"{out}; {reference} either" if stood else f"{out}; {reference}")
    if tried:
        return _also_broken(f"{out}; the reference could not be put there: {_paths(tried)}")
    return _also_broken(f"{out}; the reference is elsewhere")


def _also_broken(detail: str) -> Concluded:
    return Concluded(Conclusion.ALSO_BROKEN_WITHOUT, None, detail)


def _where(scope: Scope | None) -> str:
    return "at its place" if scope == "place" else "in its files"


def _paths(probes: Sequence[Probe]) -> str:
    return ", ".join(dict.fromkeys(path for probe in probes for path in probe.conflicts))
