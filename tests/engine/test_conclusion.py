"""What verdicts on the states of a trial show, for each course that the probes can take."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fourhands.engine.conclusion import Concluded, conclude
from fourhands.model.ablation import Cause, Conclusion, Probe, ProbeName
from fourhands.model.outcome import Verdict
from fourhands.workspace.compose import Conflict, MergedTree
from fourhands.workspace.control import Control
from fourhands.workspace.counterfactual import Counterfactuals, Replaced
from fourhands.workspace.part import Scope

YES, NO, NONE = Verdict.RESOLVED, Verdict.UNRESOLVED, Verdict.NONE
BROKEN, CAUSED, UNKNOWN = (
    Conclusion.ALSO_BROKEN_WITHOUT,
    Conclusion.EDIT_CAUSED,
    Conclusion.CANNOT_COMPOSE,
)


def _state(name: str, verdict: Verdict) -> MergedTree | Conflict:
    return Conflict((f"{name}.py",)) if verdict is NONE else MergedTree(name)


def _replaced(scope: Scope, verdicts: Mapping[str, Verdict]) -> Replaced:
    """``i`` instead, ``b`` beside, ``a`` around, with the scope's first letter before it."""
    around = verdicts.get(f"{scope[0]}a")
    control = Control(
        beside=_state(f"{scope[0]}b", verdicts.get(f"{scope[0]}b", NO)),
        around=None if around is None else _state(f"{scope[0]}a", around),
    )
    return Replaced(scope, _state(f"{scope[0]}i", verdicts[f"{scope[0]}i"]), control)


async def _conclude(
    verdicts: Mapping[str, Verdict], *, stood: bool = True
) -> tuple[Concluded, list[ProbeName]]:
    asked: list[ProbeName] = []

    async def probe(name: ProbeName, state: MergedTree | Conflict, scope: Scope | None = None) -> Probe:
        asked.append(name)
        if isinstance(state, Conflict):
            return Probe(name, NONE, scope=scope, conflicts=state.paths)
        return Probe(name, verdicts[state.tree], state.tree, scope=scope)

    scopes: tuple[Scope, ...] = ("place", "files")
    replaced = tuple(_replaced(scope, verdicts) for scope in scopes if f"{scope[0]}i" in verdicts)
    states = Counterfactuals(stood, _state("without", verdicts["without"]), replaced)
    return await conclude(states, probe), asked


@pytest.mark.parametrize(
    ("verdicts", "conclusion", "by"),
    [
        ({"without": YES, "pi": YES}, CAUSED, Cause.REMOVAL),
        ({"without": NO, "pi": YES, "pb": YES}, BROKEN, None),
        ({"without": NO, "pi": YES, "pb": NO}, CAUSED, Cause.REPLACEMENT),
        ({"without": NO, "pi": NO, "fi": YES, "fb": NO}, CAUSED, Cause.REPLACEMENT),
        ({"without": NO, "pi": YES, "pb": NONE}, UNKNOWN, None),
        ({"without": NO, "pi": YES, "pb": NO, "pa": NO}, BROKEN, None),
        ({"without": NO, "pi": YES, "pb": NO, "pa": YES}, CAUSED, Cause.REPLACEMENT),
        ({"without": NONE, "pi": YES, "pb": NO, "pa": NO}, CAUSED, Cause.REPLACEMENT),
        ({"without": NONE, "pi": YES, "pb": YES}, BROKEN, None),
        ({"without": NONE, "pi": NO}, BROKEN, None),
        ({"without": NONE, "pi": NONE, "fi": NONE}, UNKNOWN, None),
        ({"without": NONE}, UNKNOWN, None),
        ({"without": NO}, BROKEN, None),
        ({"without": NO, "pi": NONE}, BROKEN, None),
        ({"without": NO, "pi": NO, "fi": NO}, BROKEN, None),
    ],
)
async def test_the_first_rule_that_holds_concludes(
    verdicts: dict[str, Verdict], conclusion: Conclusion, by: Cause | None
) -> None:
    found, _ = await _conclude(verdicts)
    assert (found.conclusion, found.by) == (conclusion, by)


@pytest.mark.parametrize(
    ("verdicts", "says", "says_not"),
    [
        (
            {"without": NONE, "pi": NO},
            "cannot be taken out by itself (without.py); the reference at its place does not solve it",
            "taking the edit out",
        ),
        (
            {"without": NO, "pi": NONE, "fi": NONE},
            "taking the edit out does not solve it; the reference could not be put there: pi.py, fi.py",
            "the reference in its files does not",
        ),
        ({"without": NO, "pi": NO, "fi": NONE}, "the reference at its place does not solve it", "its files"),
        ({"without": NO}, "the reference is elsewhere", "neither"),
        ({"without": NONE}, "no part of the reference is in its files", "says what belongs"),
        ({"without": NO, "pi": YES, "pb": NONE}, "with it there is no state to verify: pb.py", "does not"),
    ],
)
async def test_the_detail_speaks_of_probes_that_were_made(
    verdicts: dict[str, Verdict], says: str, says_not: str
) -> None:
    found, _ = await _conclude(verdicts)
    assert says in found.detail
    assert says_not not in found.detail


async def test_where_nothing_stood_the_reference_tells_whether_the_agents_own_text_is_wrong() -> None:
    found, asked = await _conclude({"without": NO, "pi": YES, "pb": NO}, stood=False)
    assert (found.conclusion, "what the agent made of it is wrong" in found.detail) == (BROKEN, True)
    assert asked == [ProbeName.WITHOUT_EDIT, ProbeName.REFERENCE_INSTEAD]
    found, _ = await _conclude({"without": NO, "pi": NO}, stood=False)
    assert found.detail.startswith("nothing of the edit stood any more; the reference")


async def test_nothing_is_verified_beyond_what_decides() -> None:
    assert (await _conclude({"without": YES, "pi": YES}))[1] == [ProbeName.WITHOUT_EDIT]
    assert (await _conclude({"without": NO, "pi": YES, "pb": NO}))[1][-1] is ProbeName.REFERENCE_BESIDE
    assert (
        ProbeName.REFERENCE_AROUND
        not in (await _conclude({"without": NONE, "pi": YES, "pb": NO, "pa": NO}))[1]
    )
