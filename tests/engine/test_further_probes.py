"""What is verified of a failed trial where its ablation leaves its type open, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from fourhands.engine.conclusion import conclude
from fourhands.engine.further_probes import probe_further
from fourhands.model.ablation import Probe, ProbeName, ProbeScope
from fourhands.model.outcome import Verdict
from fourhands.trajectories.earlier_states import EarlierState, EarlierStates
from fourhands.workspace.compose import Conflict, MergedTree
from fourhands.workspace.control import Control
from fourhands.workspace.counterfactual import Counterfactuals, Elsewhere, Replaced

YES, NO, NONE = Verdict.RESOLVED, Verdict.UNRESOLVED, Verdict.NONE
INSTEAD: Final = "reference_instead"


def _state(name: str, verdict: Verdict) -> MergedTree | Conflict:
    return Conflict((f"{name}.py",)) if verdict is NONE else MergedTree(name)


async def _further(
    verdicts: Mapping[str, Verdict],
    *,
    stood: bool = True,
    earlier: EarlierStates | None = None,
    is_off_target: bool = False,
    is_whole: bool = True,
    is_divided: bool = True,
) -> list[str]:
    """The probes made beyond the conclusion's; ``verdicts`` by the name of the state, unresolved without."""
    found = {"without": NO, **verdicts}
    made: list[Probe] = []

    async def probe(
        name: ProbeName,
        state: MergedTree | Conflict,
        scope: ProbeScope | None = None,
        seq: int | None = None,
    ) -> Probe:
        if isinstance(state, Conflict):
            made.append(Probe(name, NONE, scope=scope, conflicts=state.paths, seq=seq))
        else:
            made.append(Probe(name, found.get(state.tree, NO), state.tree, scope=scope, seq=seq))
        return made[-1]

    def replaced(scope: ProbeScope) -> Replaced:
        control = Control(MergedTree(f"{scope} beside"), MergedTree(f"{scope} around"))
        return Replaced(scope, _state(scope, found.get(scope, NO)), control)

    states = Counterfactuals(
        stood=stood,
        without_edit=_state("without", found["without"]),
        replaced=(replaced("place"), replaced("files")),
        at_place=MergedTree("at place"),
        whole=replaced("all") if is_whole else None,
        elsewhere=Elsewhere(MergedTree("elsewhere"), MergedTree("alone")) if is_divided else None,
    )
    concluded = await conclude(states, probe)
    before = tuple(made)
    await probe_further(
        states,
        concluded,
        probe,
        made=before,
        earlier=earlier or EarlierStates(),
        is_off_target=is_off_target,
    )
    further = made[len(before) :]
    assert all((each.seq is None) == (each.tree not in {"tested", "penultimate"}) for each in further)
    return [f"{each.name}[{each.scope}]" if each.scope else str(each.name) for each in further]


TESTED: Final = EarlierStates(EarlierState("tested", 4), EarlierState("penultimate", 8))


async def test_an_edit_that_is_to_blame_by_its_removal_needs_no_more() -> None:
    assert await _further({"without": YES}, earlier=TESTED) == []


async def test_an_earlier_state_that_was_right_ends_it() -> None:
    assert await _further({"tested": YES}, earlier=TESTED) == ["as_last_tested"]
    found = await _further({"penultimate": YES}, earlier=TESTED)
    assert found == ["as_last_tested", "before_last_change"]


async def test_replacement_is_weaker_than_an_earlier_state_and_needs_nothing_else() -> None:
    harmful = {"place": YES, "place around": YES}
    assert await _further(harmful) == []
    assert await _further(harmful, earlier=EarlierStates(TESTED.last_tested)) == ["as_last_tested"]


async def test_work_on_other_files_and_a_place_that_is_to_blame_need_no_more() -> None:
    assert await _further({}, is_off_target=True) == []
    assert await _further({"place": YES, "place beside": YES}) == []
    assert await _further({"place": YES}, stood=False) == []


async def test_where_the_edit_is_gone_or_written_into_the_place_is_cleared_first() -> None:
    assert await _further({"at place": YES}, stood=False) == ["place_as_reference"]
    assert await _further({"without": NONE, "at place": YES}) == ["place_as_reference"]
    assert "place_as_reference" not in await _further({})


async def test_a_place_that_is_right_is_checked_against_a_base_without_it() -> None:
    assert await _further({"elsewhere": YES}) == ["reference_elsewhere", "without_place"]


async def test_all_of_the_reference_comes_last_and_its_control_only_where_it_helps() -> None:
    whole = f"{INSTEAD}[all]"
    assert await _further({}) == ["reference_elsewhere", whole]
    assert await _further({}, stood=False) == ["place_as_reference", "reference_elsewhere", whole]
    assert await _further({"all": YES}, stood=False) == ["place_as_reference", "reference_elsewhere", whole]
    beside = [whole, "reference_beside[all]"]
    assert await _further({"all": YES, "all beside": YES}) == ["reference_elsewhere", *beside]
    around = [*beside, "reference_around[all]"]
    assert await _further({"all": YES}) == ["reference_elsewhere", *around]
    assert await _further({"files": YES, "files beside": YES}) == ["reference_elsewhere"]


@pytest.mark.parametrize("stood", [True, False])
async def test_a_reference_that_lies_at_the_place_alone_leaves_little_to_ask(*, stood: bool) -> None:
    found = await _further({}, stood=stood, is_whole=False, is_divided=False)
    assert found == ([] if stood else ["place_as_reference"])
