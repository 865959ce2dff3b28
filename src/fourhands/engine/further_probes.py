"""What else is verified of a failed trial, where causal ablation leaves open what went wrong.

Each probe is made only if those before it did not tell: see ``docs/ablation.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from fourhands.engine.conclusion import Concluded, Prober
from fourhands.model.ablation import Cause, Probe, ProbeName
from fourhands.model.outcome import Verdict
from fourhands.trajectories.earlier_states import EarlierStates
from fourhands.workspace.compose import MergedTree
from fourhands.workspace.counterfactual import Counterfactuals, Replaced

__all__ = ["probe_further"]


async def probe_further(
    states: Counterfactuals,
    concluded: Concluded,
    probe: Prober,
    *,
    made: Sequence[Probe],
    earlier: EarlierStates,
    is_off_target: bool,
) -> None:
    """Verify what is needed to tell the type of failure.

    Args:
        states: of the trial.
        concluded: what its ablation came to.
        probe: verifies a state, and remembers what was found.
        made: the probes that were made for the conclusion.
        earlier: states that were the agent's own.
        is_off_target: whether the agent worked on something else.
    """
    if concluded.by is Cause.REMOVAL or await _was_right_before(earlier, probe):
        return
    if is_off_target or concluded.by is Cause.REPLACEMENT:
        return
    solved = [each for each in made if each.name is ProbeName.REFERENCE_INSTEAD and _is_solved(each)]
    if any(each.scope == "place" for each in solved):
        return
    is_the_agents = not states.stood or made[0].verdict is Verdict.NONE
    if states.at_place and is_the_agents:
        at_place = await probe(ProbeName.PLACE_AS_REFERENCE, states.at_place)
        if _is_solved(at_place):
            return
    if states.elsewhere and _is_solved(await probe(ProbeName.REFERENCE_ELSEWHERE, states.elsewhere.final)):
        await probe(ProbeName.WITHOUT_PLACE, states.elsewhere.base)
        return
    if states.whole and not solved:
        await _probe_whole(states.whole, probe, stood=states.stood)


async def _was_right_before(earlier: EarlierStates, probe: Prober) -> bool:
    for name, state in (
        (ProbeName.AS_LAST_TESTED, earlier.last_tested),
        (ProbeName.BEFORE_LAST_CHANGE, earlier.before_last_change),
    ):
        if state and _is_solved(await probe(name, MergedTree(state.tree), seq=state.seq)):
            return True
    return False


async def _probe_whole(whole: Replaced, probe: Prober, *, stood: bool) -> None:
    """With all of the reference in: is something else broken; and does the edit, where it stands, do harm?"""
    instead = await probe(ProbeName.REFERENCE_INSTEAD, whole.instead, whole.scope)
    if not (_is_solved(instead) and stood and whole.control):
        return
    beside = await probe(ProbeName.REFERENCE_BESIDE, whole.control.beside, whole.scope)
    if beside.verdict is Verdict.UNRESOLVED and whole.control.around:
        await probe(ProbeName.REFERENCE_AROUND, whole.control.around, whole.scope)


def _is_solved(probe: Probe) -> bool:
    return probe.verdict is Verdict.RESOLVED
