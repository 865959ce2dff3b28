from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourhands.analysis.ablation import AblatedTrial, ablated_trial, ablation_table
from fourhands.model.ablation import Ablation, Cause, Conclusion, Probe, ProbeName
from fourhands.model.condition import Condition
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.outcome import Verdict
from fourhands.model.trial import AgentSpec, TrialKey


def _key(model: str, condition: str = "counter-edit", repeat: int = 1) -> TrialKey:
    return TrialKey("t", AgentSpec("a", model), Condition.parse(condition), repeat)


def _ablation(conclusion: Conclusion, by: Cause | None = None, *, stood: bool = True) -> Ablation:
    return Ablation(conclusion, by, "", stood, {}, "tree", "key", ())


REMOVED = _ablation(Conclusion.EDIT_CAUSED, Cause.REMOVAL)
REPLACED = _ablation(Conclusion.EDIT_CAUSED, Cause.REPLACEMENT)
BROKEN = _ablation(Conclusion.ALSO_BROKEN_WITHOUT, stood=False)
UNKNOWN = _ablation(Conclusion.CANNOT_COMPOSE)
SLOW = replace(BROKEN, probes=(Probe(ProbeName.WITHOUT_EDIT, Verdict.UNRESOLVED, "tree", timed_out=True),))


def test_conclusions_are_counted_per_agent_and_condition_and_what_is_not_done_is_said() -> None:
    found = [REMOVED, REMOVED, REPLACED, SLOW, UNKNOWN, None]
    trials = [AblatedTrial(_key("m", repeat=n), True, each) for n, each in enumerate(found, 1)]
    trials.append(AblatedTrial(_key("m", repeat=9), False, None))
    trials.append(AblatedTrial(_key("m", "co-edit"), True, BROKEN))
    trials.append(AblatedTrial(_key("other"), False, None))
    first, second = [row.as_json() for row in ablation_table(trials)]
    assert first == {
        "agent": "a",
        "model": "m",
        "condition": "counter-edit",
        "failed_touched": 6,
        "edit_caused": 3,
        "by_removal": 2,
        "by_replacement": 1,
        "also_broken_without": 1,
        "cannot_compose": 1,
        "not_yet": 1,
        "stood": 4,
        "timed_out": 1,
    }
    assert (second["condition"], second["failed_touched"], second["stood"]) == ("co-edit", 1, 0)


def _events(*kinds: EventKind, verdict: str, termination: str) -> list[Event]:
    ended: dict[str, Any] = {"verdict": verdict, "termination": termination}
    bodies = [(kind, {}) for kind in kinds] + [(EventKind.TRIAL_ENDED, ended)]
    return [Event(n, "", MAIN_THREAD, Actor.HARNESS, kind, body) for n, (kind, body) in enumerate(bodies)]


@pytest.mark.parametrize(
    ("kind", "verdict", "termination", "applies"),
    [
        (EventKind.EDIT_APPLIED, "unresolved", "finished", True),
        (EventKind.EDIT_APPLIED, "unresolved", "agent_timeout", True),
        (EventKind.EDIT_APPLIED, "resolved", "finished", False),
        (EventKind.EDIT_APPLIED, "none", "infrastructure_error", False),
        (EventKind.EDIT_APPLIED, "unresolved", "invalid", False),
        (EventKind.EDIT_NOT_APPLIED, "unresolved", "finished", False),
        (
            EventKind.MESSAGE_SENT,
            "unresolved",
            "finished",
            False,
        ),  # message-only: there is nothing to take out
    ],
)
def test_scored_failures_with_an_edit_are_the_population(
    kind: EventKind, verdict: str, termination: str, *, applies: bool
) -> None:
    events = _events(kind, verdict=verdict, termination=termination)
    assert ablated_trial(_key("m"), events, None).applies is applies
    assert not ablated_trial(_key("m"), events[:-1], None).applies  # cut: it has no outcome
