from __future__ import annotations

from typing import Any

import pytest

from fourhands.analysis.ledger_labels import Fate
from fourhands.analysis.objected import Objected, objected, told_out_of_order
from fourhands.model.ledger import Goal, Ledger, Requirement
from fourhands.model.ledger_state import RequirementState


def said(text: str = "Well.", *rejected: tuple[str, list[str] | None], **more: Any) -> dict[str, Any]:
    return {
        "text": text,
        "rejected": [
            {"text": words, "reason": "so", **({} if kinds is None else {"kinds": kinds})}
            for words, kinds in rejected
        ],
        **more,
    }


def test_what_was_held_back_is_counted_apart_from_what_went_out() -> None:
    found = objected(
        [
            said("It must be ten.", ("It is in test_x.", ["hidden", "unsaid"]), ("It is R2.", ["early"])),
            said("The author's own.", ("The author's own.", ["early"]), objections=["early"]),
            said("Fine.", ("", None)),
            said("What of 77?", objections=["canary", "role", "invented"]),
        ]
    )
    assert found == Objected(
        {"hidden": 1, "early": 1, "unsaid": 1},
        {"role": 1, "canary": 1, "early": 1, "invented": 1},
        blocked_leaks=1,
        leaks=1,
        unheard=1,
    )


def test_records_that_tell_no_kinds_count_for_nothing() -> None:
    assert objected([said("Fine.", ("No.", None)), {"text": "Plain."}]) == Objected(
        {}, {}, blocked_leaks=0, leaks=0, unheard=0
    )


@pytest.mark.parametrize(
    ("turns", "early"),
    [
        ({"R1": 1, "R2": 2, "R3": 3}, 0),
        ({"R1": 1, "R2": 1, "R3": 1}, 0),  # at once
        ({"R1": 2, "R2": 1}, 1),
        ({"R2": 1, "R3": 2}, 1),  # R1 was never said
        ({}, 0),
    ],
)
def test_what_is_said_before_what_it_depends_on_is_early(turns: dict[str, int], early: int) -> None:
    requirements = tuple(
        Requirement(name, f"Say {name}.", (0, 1), depends_on=needs)
        for name, needs in (("R1", ()), ("R2", ("R1",)), ("R3", ("R2",)))
    )
    ledger = Ledger("Hello.", requirements, (Goal("G1", "All", 100.0, "so", ("R1", "R2", "R3")),))
    fates = [
        Fate(each.id, each.id in turns, turns.get(each.id), None, RequirementState.HELD, None)
        for each in requirements
    ]
    assert told_out_of_order(fates, ledger) == early
    assert told_out_of_order(fates, None) is None
