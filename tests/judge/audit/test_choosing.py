"""Which failed trials a judge is asked about."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.findings.evidence import Failure
from fourhands.judge.audit.choosing import chosen, population
from fourhands.model.audit import AuditName
from fourhands.model.failure import FailureLabel, FailureType, FoundBy

from ...analysis.frames import study, talk, trial  # noqa: TID252 - no package has tests

INTERACT, TOUCH = AuditName.SWE_INTERACT, AuditName.SWE_TOUCH


def labelled(*labels: FailureLabel, undecided: bool = False) -> dict[str, Any]:
    found = [
        {"label": label, "by": FoundBy.EXECUTION, "requirement": "R1", "events": [1], "why": "It is so."}
        for label in labels
    ]
    left = [{"requirement": "R2", "events": [1], "why": "Nobody knows."}] if undecided else []
    return {"failure_labels": json.dumps({"found": found, "undecided": left})}


def failures(audit: AuditName, *rows: dict[str, Any]) -> tuple[Failure, ...]:
    return population(study(rows), audit)


def names(found: tuple[Failure, ...] | list[Failure]) -> list[str]:
    return [f"{each.trial.task}/{each.trial.condition}/{each.trial.repeat}" for each in found]


def test_conversations_that_failed_are_asked_about_and_no_others() -> None:
    found = failures(
        INTERACT,
        talk("a", solved=False),
        talk("b", solved=True),
        talk("c", solved=None),
        talk("d", solved=False, termination="protocol_failure"),
        talk("e", "four-hands", solved=False),
        trial("a", "counter-edit", solved=False),
    )
    assert names(found) == ["a/interactive/1", "e/four-hands/1"]


def test_failures_of_tasks_that_the_edits_lost_are_asked_about_and_no_others() -> None:
    found = failures(
        TOUCH,
        *(trial("lost", repeat=r) for r in (1, 2, 3)),
        *(trial("lost", "counter-edit", solved=r == 3, repeat=r) for r in (1, 2, 3)),
        *(trial("hard", solved=False, repeat=r) for r in (1, 2, 3)),
        *(trial("hard", "counter-edit", solved=False, repeat=r) for r in (1, 2, 3)),
        *(trial("kept", repeat=r) for r in (1, 2, 3)),
        *(trial("kept", "counter-edit", solved=r != 3, repeat=r) for r in (1, 2, 3)),
    )
    assert names(found) == ["lost/counter-edit/1", "lost/counter-edit/2"]


def test_by_itself_a_judge_is_asked_about_what_execution_and_events_left_open() -> None:
    found = failures(
        INTERACT,
        talk("a", solved=False, **labelled(FailureLabel.REGRESSION)),
        talk("b", solved=False, **labelled(FailureLabel.REGRESSION, undecided=True)),
        talk("c", solved=False, **labelled(undecided=True)),
        talk("d", solved=False),  # a record of before there were labels
    )
    assert names(chosen(found, "undecided")) == [f"{task}/interactive/1" for task in "bcd"]
    assert chosen(found, "all") == [*found]


def test_a_type_that_execution_found_is_asked_about_only_where_all_are() -> None:
    typed = {"failure_type": FailureType.RETAINED_CONFLICT, "failure_type_by": FoundBy.EXECUTION}
    found = failures(
        TOUCH,
        *(trial("lost", repeat=r) for r in (1, 2)),
        trial("lost", "counter-edit", solved=False, repeat=1, **typed),
        trial("lost", "counter-edit", solved=False, repeat=2),
    )
    assert names(chosen(found, "undecided")) == ["lost/counter-edit/2"]
    assert len(chosen(found, "all")) == 2


def _many(*, is_ablated: bool = False) -> tuple[Failure, ...]:
    rows = [
        talk(
            task,
            condition,
            solved=False,
            repeat=repeat,
            **labelled(label, undecided=repeat % 4 == 0 and not is_ablated),
        )
        for task, label in zip("abcde", FailureLabel, strict=True)
        for condition in ("interactive", "four-hands")
        for repeat in range(1, 9)
    ]
    return failures(INTERACT, *rows)


MANY = _many()


@given(st.integers(1, 100), st.integers(0, 1_000))
def test_a_sample_holds_each_stratum_in_proportion_and_the_smaller_one_of_its_seed(
    size: int, seed: int
) -> None:
    found = chosen(MANY, "sample", size=size, seed=seed)
    assert len(found) == min(size, len(MANY))
    assert found == [each for each in MANY if each in found]  # in their order
    assert found == chosen(MANY, "sample", size=size, seed=seed)
    smaller = chosen(MANY, "sample", size=size - 1, seed=seed)
    assert all(each in found for each in smaller)
    strata = Counter((each.trial.task, each.trial.condition) for each in MANY)
    drawn = Counter((each.trial.task, each.trial.condition) for each in found)
    share = len(found) / len(MANY)
    # Each begins at a point of its own: all in all they may differ from the share by two.
    assert all(abs(drawn[stratum] - share * whole) <= 2 for stratum, whole in strata.items())


@given(st.integers(1, 80), st.integers(0, 1_000))
def test_what_is_found_later_draws_no_other_sample(size: int, seed: int) -> None:
    later = _many(is_ablated=True)
    assert sum(bool(each.left) for each in later) < sum(bool(each.left) for each in MANY)
    first, second = (chosen(of, "sample", size=size, seed=seed) for of in (MANY, later))
    assert names(first) == names(second)


def test_another_seed_is_another_sample() -> None:
    drawn = {tuple(names(chosen(MANY, "sample", size=10, seed=seed))) for seed in range(20)}
    assert len(drawn) > 15


@pytest.mark.parametrize("audit", [INTERACT, TOUCH])
def test_of_nothing_nothing_is_asked(audit: AuditName) -> None:
    assert chosen(failures(audit, trial("a"), talk("b")), "all") == []
