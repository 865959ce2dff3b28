from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from fourhands.analysis.table import condition_table, median_steps, wilson
from fourhands.analysis.trials import TrialRow, trial_row
from fourhands.model.condition import Condition
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.model.trial import AgentSpec, TrialKey

AGENT = AgentSpec("mini-swe-agent", "m")


def _row(
    task: str,
    condition: str,
    *,
    solved: bool | None,
    repeat: int = 1,
    termination: Termination = Termination.FINISHED,
    applicable: bool = True,
) -> TrialRow:
    verdict = {True: Verdict.RESOLVED, False: Verdict.UNRESOLVED, None: Verdict.NONE}[solved]
    key = TrialKey(task, AGENT, Condition.parse(condition), repeat)
    return TrialRow(key, 1, Outcome(verdict, termination, None), steps=10, tokens=100, applicable=applicable)


def test_delta_comes_from_unrounded_rates_paired_by_task() -> None:
    # The paper's own example: 85.1667 − 83.3333 is −1.8 when printed, not −1.9.
    rows = [
        _row(f"t{task}", condition, solved=(task * 3 + repeat) < solved, repeat=repeat)
        for condition, solved in (("vanilla", 511), ("counter-edit", 500))
        for task in range(200)
        for repeat in range(3)
    ]
    vanilla, touched = condition_table(rows)
    assert vanilla.resolve_rate == pytest.approx(511 / 600)
    assert touched.delta == pytest.approx(-11 / 600)
    assert f"{touched.delta * 100:+.1f}" == "-1.8"
    assert (touched.pairs, touched.incomplete_pairs) == (200, 0)


def test_a_pair_with_an_unscored_trial_is_incomplete_and_never_a_loss() -> None:
    rows = [
        _row("a", "vanilla", solved=True),
        _row("a", "counter-edit", solved=None, termination=Termination.INFRASTRUCTURE_ERROR),
        _row("b", "vanilla", solved=True),
        _row("b", "counter-edit", solved=False),
        _row("c", "vanilla", solved=None, termination=Termination.INVALID),
        _row("c", "counter-edit", solved=True),
    ]
    _, touched = condition_table(rows)
    assert (touched.trials, touched.scored, touched.resolved) == (3, 2, 1)
    assert touched.delta == -1.0
    assert (touched.pairs, touched.incomplete_pairs) == (1, 2)


def test_time_outs_and_limits_are_scored_all_the_same() -> None:
    rows = [
        _row("a", "vanilla", solved=True, termination=Termination.AGENT_TIMEOUT),
        _row("b", "vanilla", solved=False, termination=Termination.STEP_LIMIT),
    ]
    (vanilla,) = condition_table(rows)
    assert (vanilla.scored, vanilla.resolved) == (2, 1)


def test_a_task_without_the_edit_is_counted_and_not_scored() -> None:
    rows = [
        _row("a", "vanilla", solved=True),
        _row("a", "co-edit", solved=None, applicable=False),
        _row("b", "vanilla", solved=False),
        _row("b", "co-edit", solved=True),
    ]
    _, helped = condition_table(rows)
    assert (helped.not_applicable, helped.scored, helped.pairs, helped.incomplete_pairs) == (1, 1, 1, 0)
    assert helped.delta == 1.0


def test_a_trial_that_has_not_run_is_planned_and_not_scored() -> None:
    key = TrialKey("a", AGENT, Condition.parse("vanilla"))
    (vanilla,) = condition_table([trial_row(key, 0, ())])
    assert (vanilla.trials, vanilla.scored, vanilla.resolve_rate, vanilla.steps) == (1, 0, None, None)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.25529, 0.36621)],
)
def test_wilson_interval(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert interval == pytest.approx((low, high), abs=1e-4)


def test_where_a_user_would_have_acted_is_counted_for_the_condition_it_is_about() -> None:
    rows = [
        _row("a", "vanilla", solved=True),
        _row("b", "vanilla", solved=True),
        *(_row(task, label, solved=True) for label in ("counter-edit", "co-edit") for task in "ab"),
    ]
    rows[0] = replace(rows[0], shadowed=frozenset({"counter-edit", "co-edit"}))
    rows[1] = replace(rows[1], shadowed=frozenset({"counter-edit"}))
    found = {row.condition: row.would_have_triggered for row in condition_table(rows)}
    assert found == {"vanilla": 2, "counter-edit": 2, "co-edit": 1}


def test_the_median_of_steps_is_of_scored_untouched_trials() -> None:
    rows = [
        replace(_row("a", "vanilla", solved=True), steps=4),
        replace(_row("a", "vanilla", solved=False, repeat=2), steps=9),
        replace(_row("a", "counter-edit", solved=True), steps=90),
        replace(_row("a", "vanilla", solved=None, termination=Termination.INVALID, repeat=3), steps=1),
    ]
    assert median_steps(rows) == {"a": 7}  # 6.5, rounded up


def test_no_interval_without_trials() -> None:
    assert wilson(0, 0) is None


def test_a_row_is_folded_from_events() -> None:
    number = count()

    def event(kind: EventKind, actor: Actor = Actor.USER, **body: object) -> Event:
        return Event(next(number), "", MAIN_THREAD, actor, kind, dict(body))

    ended: dict[str, object] = {
        "verdict": "unresolved",
        "termination": "finished",
        "reward": 0.0,
        "steps": 7,
        "delivered": 1,
    }
    ended["uncounted_replies"] = 2
    fired: dict[str, object] = {"moment": "after_action", "why": "", "calls": []}
    row = trial_row(
        TrialKey("a", AGENT, Condition.parse("counter-edit")),
        2,
        [
            event(EventKind.TRIAL_STARTED, interventions=3),
            event(EventKind.TRIGGER_FIRED, intervention="i1", **fired),
            event(EventKind.WORKSPACE_CHANGED, lines={"user": 2}),
            event(EventKind.EDIT_APPLIED, intervention="i1", outcome="applied", detail=""),
            event(EventKind.MESSAGE_SENT, intervention="i1", message="m1", source="fixed", anchor=[]),
            event(EventKind.MESSAGE_CARRIED, message="m1", first_request=2),
            event(EventKind.NOTE, note="client_announced", request=2, words="was modified"),
            event(EventKind.MESSAGE_SENT, intervention="i2", message="m2", source="fallback", anchor=[]),
            event(EventKind.TRIGGER_FIRED, intervention="i3", **fired),
            event(EventKind.EDIT_NOT_APPLIED, intervention="i3", outcome="already_present", detail=""),
            event(EventKind.TRIGGER_FIRED, intervention="i3", **fired),
            event(EventKind.EDIT_NOT_APPLIED, intervention="i3", outcome="does_not_apply", detail=""),
            event(EventKind.WORKSPACE_CHANGED, lines={"user": 1, "agent": 4}),
            event(EventKind.TRIAL_ENDED, tokens={"total": 900}, **ended),
        ],
    )
    assert (row.attempt, row.steps, row.tokens, row.triggered, row.delivered) == (
        2,
        7,
        900,
        3,
        2,
    )  # one edit with its words, and words alone
    assert (row.already_present, row.not_applied, row.user_lines_at_end) == (1, 1, 1)
    assert (row.intended, row.announced, row.uncounted_replies) == (3, 1, 2)
    assert (row.messages, row.fallback_messages, row.never_carried) == (2, 1, 1)
    assert row.is_scored
    assert not row.is_resolved
    assert (row.as_json()["verdict"], row.as_json()["termination"]) == ("unresolved", "finished")


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
        ([], ""),
    ],
)
def test_why_a_trial_has_no_outcome_that_counts_is_told(notes: list[dict[str, Any]], why: str) -> None:
    ended = {"verdict": "none", "termination": "infrastructure_error", "reward": None, "steps": 0}
    ended |= {"uncounted_replies": 0, "tokens": {"total": 0}}
    bodies = [*((EventKind.NOTE, note) for note in notes), (EventKind.TRIAL_ENDED, ended)]
    events = [
        Event(number, "", MAIN_THREAD, Actor.HARNESS, kind, body)
        for number, (kind, body) in enumerate(bodies)
    ]
    row = trial_row(TrialKey("a", AGENT, Condition.parse("vanilla")), 1, events)
    assert (row.why, row.as_json()["why"], row.is_scored) == (why, why or None, False)


def test_a_protocol_failure_has_two_rates() -> None:
    rows = [
        _row("a", "vanilla", solved=True, termination=Termination.PROTOCOL_FAILURE),
        _row("b", "vanilla", solved=True),
    ]
    (vanilla,) = condition_table(rows)
    assert (vanilla.resolve_rate, vanilla.resolve_rate_strict) == (1.0, 0.5)
