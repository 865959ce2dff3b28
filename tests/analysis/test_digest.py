"""What a table's row says of the record of one trial."""

from __future__ import annotations

from typing import Any

import pytest

from fourhands.analysis.digest import Subject, digest
from fourhands.model.condition import Condition
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.trial import AgentSpec, TrialKey

SUBJECT = Subject("run", TrialKey("a", AgentSpec("mini-swe-agent", "m"), Condition.parse("counter-edit")))
ENDED = {
    "verdict": "unresolved",
    "termination": "finished",
    "reward": 0.0,
    "steps": 7,
    "uncounted_replies": 2,
}


def _events(*kinds: tuple[EventKind, dict[str, Any]], **ended: Any) -> list[Event]:
    closed = {**ENDED, "tokens": {"total": 900}, **ended}
    bodies = [*kinds, (EventKind.TRIAL_ENDED, closed)]
    return [
        Event(n, "", MAIN_THREAD, Actor.HARNESS, kind, dict(body)) for n, (kind, body) in enumerate(bodies)
    ]


def _row(events: list[Event], subject: Subject = SUBJECT) -> dict[str, Any]:
    return digest(subject, 2, events, dict[str, bytes]().__getitem__).trial


FIRED = {"moment": "after_action", "why": "", "calls": []}


def test_a_row_is_folded_from_events() -> None:
    row = _row(
        _events(
            (EventKind.TRIAL_STARTED, {"interventions": 3}),
            (EventKind.TRIGGER_FIRED, {"intervention": "i1", **FIRED}),
            (EventKind.WORKSPACE_CHANGED, {"lines": {"user": 2}}),
            (EventKind.EDIT_APPLIED, {"intervention": "i1", "outcome": "applied", "detail": ""}),
            (
                EventKind.MESSAGE_SENT,
                {"intervention": "i1", "message": "m1", "source": "fixed", "anchor": []},
            ),
            (EventKind.MESSAGE_CARRIED, {"message": "m1", "first_request": 2}),
            (EventKind.NOTE, {"note": "client_announced", "request": 2, "words": "was modified"}),
            (
                EventKind.MESSAGE_SENT,
                {"intervention": "i2", "message": "m2", "source": "fallback", "anchor": []},
            ),
            (EventKind.TRIGGER_FIRED, {"intervention": "i3", **FIRED}),
            (EventKind.EDIT_NOT_APPLIED, {"intervention": "i3", "outcome": "already_present", "detail": ""}),
            (EventKind.TRIGGER_FIRED, {"intervention": "i3", **FIRED}),
            (EventKind.EDIT_NOT_APPLIED, {"intervention": "i3", "outcome": "does_not_apply", "detail": ""}),
            (EventKind.WORKSPACE_CHANGED, {"lines": {"user": 1, "agent": 4}}),
        )
    )
    assert (row["attempt"], row["steps"], row["tokens"], row["triggered"]) == (2, 7, 900, 3)
    assert (row["delivered"], row["edits_applied"]) == (2, 1)  # one edit with its words, and words alone
    assert (row["already_present"], row["not_applied"], row["user_lines_at_end"]) == (1, 1, 1)
    assert (row["intended"], row["announced"], row["uncounted_replies"]) == (3, 1, 2)
    assert (row["messages"], row["fallback_messages"], row["never_carried"]) == (2, 1, 1)
    assert (row["scored"], row["resolved"], row["verdict"]) == (True, False, "unresolved")
    assert (row["termination"], row["k"], row["condition_name"]) == ("finished", 3, "counter-edit")


def test_a_trial_that_has_not_run_is_planned_and_nothing_else_is_known() -> None:
    row = _row([])
    assert (row["attempt"], row["scored"], row.get("steps"), row.get("verdict")) == (0, False, None, None)


@pytest.mark.parametrize(
    ("notes", "why"),
    [
        ([{"note": "harness_failed", "reason": "the disk is full"}], "the disk is full"),
        (
            [
                {"note": "no_verdict", "reason": "an old one"},
                {"note": "provider_failed", "status": 529, "said": "try\n again"},
                {"note": "client_announced", "words": "x"},
            ],
            "the provider answered 529: try again",
        ),
        ([{"note": "provider_failed", "status": 0, "said": ""}], "the provider broke off"),
        ([], None),
    ],
)
def test_why_a_trial_has_no_outcome_that_counts_is_told(notes: list[dict[str, Any]], why: str | None) -> None:
    events = _events(
        *((EventKind.NOTE, note) for note in notes),
        verdict="none",
        termination="infrastructure_error",
        reward=None,
    )
    row = _row(events)
    assert (row["why"], row["scored"], row["resolved"]) == (why, False, None)


@pytest.mark.parametrize(
    ("kind", "verdict", "termination", "applies"),
    [
        (EventKind.EDIT_APPLIED, "unresolved", "finished", True),
        (EventKind.EDIT_APPLIED, "unresolved", "agent_timeout", True),
        (EventKind.EDIT_APPLIED, "resolved", "finished", False),
        (EventKind.EDIT_APPLIED, "none", "infrastructure_error", False),
        (EventKind.EDIT_APPLIED, "unresolved", "invalid", False),
        (EventKind.EDIT_NOT_APPLIED, "unresolved", "finished", False),
        # message-only: there is nothing to take out
        (EventKind.MESSAGE_SENT, "unresolved", "finished", False),
    ],
)
def test_scored_failures_with_an_edit_are_the_population_of_ablation(
    kind: EventKind, verdict: str, termination: str, *, applies: bool
) -> None:
    body = {"intervention": "i1", "outcome": "applied", "detail": "", "message": "m1", "source": "fixed"}
    events = _events((kind, {**body, "anchor": []}), verdict=verdict, termination=termination)
    assert _row(events)["failed_touched"] is applies
    assert not _row(events[:-1]).get("failed_touched")  # cut: it has no outcome


def test_an_intervention_says_what_followed_only_where_it_was_delivered_and_is_no_shadow() -> None:
    events = _events(
        (EventKind.TRIGGER_FIRED, {"intervention": "i1", **FIRED}),
        (EventKind.EDIT_APPLIED, {"intervention": "i1", "outcome": "applied", "detail": ""}),
        (EventKind.TRIGGER_FIRED, {"intervention": "i2", **FIRED}),
        (EventKind.EDIT_NOT_APPLIED, {"intervention": "i2", "outcome": "does_not_apply", "detail": ""}),
        (EventKind.SHADOW_TRIGGER_FIRED, {"intervention": "i1", "conditions": ["co-edit"], **FIRED}),
    )
    made, missed, shadow = digest(SUBJECT, 1, events, dict[str, bytes]().__getitem__).interventions
    assert (made["delivered"], made["edit_outcome"], made["mode"]) == (True, "applied", "ignores")
    assert (made["reads_after"], made["asked"]) == (0, False)
    assert (missed["delivered"], missed["edit_outcome"], missed.get("mode")) == (
        False,
        "does_not_apply",
        None,
    )
    assert (shadow["shadow_of"], shadow["triggers"], shadow.get("mode")) == (["co-edit"], 1, None)
