from __future__ import annotations

from dataclasses import replace

from fourhands.analysis.ablation import AblatedTrial
from fourhands.analysis.aftermath import Aftermath, aftermath_table
from fourhands.analysis.delivery import DeliveryProof
from fourhands.analysis.lines import UserLine, UserLines
from fourhands.analysis.responses import Activity, Response, ResponseMode
from fourhands.model.ablation import Ablation, Cause, Conclusion
from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

AGENT = AgentSpec("a", "m")
REMOVED, REPLACED = (
    Ablation(Conclusion.EDIT_CAUSED, by, "", True, {}, "tree", "key", ())
    for by in (Cause.REMOVAL, Cause.REPLACEMENT)
)


def _line(number: int, fate: str) -> UserLine:
    revised = fate in {"changed", "removed"}
    return UserLine("i1", number, "x.py", fate, "agent", 3, 9, revised, revised, whitespace_only=False)  # type: ignore[arg-type]


def _response(*, re_reads: int = 0, tests: int = 0, mode: ResponseMode = ResponseMode.IGNORES) -> Response:
    return Response(
        "i1",
        True,
        5,
        2,
        re_reads,
        None,
        0,
        None,
        Activity(1, 0, tests),
        asked=False,
        mentioned=True,
        mode=mode,
    )


def _trial(
    condition: str,
    fates: str,
    response: Response | None,
    *,
    failed: bool = False,
    ablation: Ablation | None = None,
) -> Aftermath:
    key = TrialKey("t", AGENT, Condition.parse(condition), 1)
    names = {"k": "kept", "m": "moved", "c": "changed", "r": "removed"}
    lines = tuple(_line(number, names[fate]) for number, fate in enumerate(fates, 1))
    return Aftermath(
        key,
        UserLines(lines, (), ("i1",)),
        (response,) if response else (),
        AblatedTrial(key, failed, ablation),
    )


def test_lines_answers_and_causes_are_counted_per_condition() -> None:
    rows = aftermath_table(
        [
            _trial("vanilla", "", None),
            _trial("counter-edit", "kkm", _response(re_reads=2), failed=True, ablation=REMOVED),
            _trial("counter-edit", "crk", _response(tests=1, mode=ResponseMode.REVERTS), failed=True),
            _trial("co-edit", "k", _response()),
        ]
    )
    assert [row.condition for row in rows] == ["counter-edit", "co-edit"]
    row = rows[0]
    assert (row.trials, row.interventions, row.written) == (2, 2, 6)
    assert (row.kept, row.moved, row.changed, row.removed) == (3, 1, 1, 1)
    assert (row.ever_revised, row.absent_at_end, row.revised_trials) == (2, 2, 1)
    assert (row.re_read, row.tested, row.asked, row.mentioned) == (1, 1, 0, 2)
    assert (row.reads_after_final_edit, row.tests_after_final_edit) == (1.0, 0.5)
    assert row.modes == {"ignores": 1, "reverts": 1}
    assert (row.failed_touched, row.edit_caused, row.not_ablated) == (2, 1, 1)


def test_causes_by_removal_and_by_replacement_are_told_apart() -> None:
    done = [REMOVED, REMOVED, REPLACED, None]
    (row,) = aftermath_table(
        _trial("counter-edit", "k", _response(), failed=True, ablation=each) for each in done
    )
    assert (row.failed_touched, row.edit_caused, row.by_removal, row.by_replacement) == (4, 3, 2, 1)


def test_every_intervention_is_told_with_its_proof_and_with_what_followed_if_it_was_delivered() -> None:
    proofs = DeliveryProof("i1"), DeliveryProof("i2"), DeliveryProof("i1", ("co-edit",))
    told, other, shadow = replace(_trial("counter-edit", "kr", _response()), proofs=proofs).as_json()
    assert (told["trial"], told["intervention"], told["mode"]) == (
        "t__a-m__counter-edit__r1",
        "i1",
        "ignores",
    )
    assert (told["lines"]["written"], told["lines"]["removed"]) == (2, 1)
    assert [line["fate"] for line in told["each_line"]] == ["kept", "removed"]
    assert (other["intervention"], other["seq"], other["lines"], other["each_line"]) == ("i2", None, None, [])
    assert (shadow["seq"], shadow["proof"]["shadow_of"]) == (None, ("co-edit",))
    assert told.keys() == other.keys() == shadow.keys()
