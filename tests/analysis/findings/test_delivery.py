from __future__ import annotations

from fourhands.analysis.findings.delivery import delivery_table
from fourhands.analysis.statistics import wilson

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_where_a_user_would_have_acted_is_counted_for_the_condition_it_is_about() -> None:
    rows = [
        trial("a", would_trigger=["counter-edit", "co-edit"]),
        trial("b", would_trigger=["counter-edit"]),
        *(trial(task, label) for label in ("counter-edit", "co-edit") for task in "ab"),
    ]
    found = {row.condition: row.would and row.would.count for row in delivery_table(study(rows))}
    assert found == {"vanilla": 2, "counter-edit": 2, "co-edit": 1}


def test_rates_are_of_trials_that_have_run_and_that_the_condition_applies_to() -> None:
    not_run = dict.fromkeys(("termination", "verdict", "triggered", "delivered", "intended"))
    rows = [
        trial("a", "co-edit", triggered=2, delivered=1),
        trial("b", "co-edit", triggered=1, delivered=0, already_present=1),
        trial("c", "co-edit", triggered=0, delivered=0),
        trial("d", "co-edit", solved=None, applicable=False, triggered=0, delivered=0, intended=0),
        trial("e", "co-edit", solved=None, attempt=0, **not_run),
        trial("f", "co-edit", solved=None, triggered=1, delivered=1),
    ]
    (row,) = delivery_table(study(rows))
    assert (row.trials, row.ran, row.not_applicable, row.intended) == (6, 4, 1, 4)
    assert (row.triggered.count, row.triggered.n, row.triggered.rate) == (3, 4, 0.75)
    assert (row.delivered.count, row.delivered.n) == (2, 4)
    assert row.delivered.interval == wilson(2, 4)
    assert (row.would, row.excess, row.already_present) == (None, None, 1)


def test_triggered_is_set_against_shadows_task_by_task() -> None:
    rows = [
        trial("a", would_trigger=["counter-edit"]),
        trial("a", repeat=2),
        trial("b", would_trigger=["counter-edit"]),
        trial("a", "counter-edit"),
        trial("b", "counter-edit", triggered=0),
        trial("c", "counter-edit"),
    ]
    _, row = delivery_table(study(rows))
    assert row.would is not None
    assert (row.would.count, row.would.n, row.triggered.count, row.triggered.n) == (2, 3, 2, 3)
    assert row.excess == -0.25  # a: 1 − 0.5; b: 0 − 1; c has no shadow
    assert row.excess_interval is not None


def test_shadows_are_of_trials_that_watched_for_the_condition() -> None:
    rows = [
        trial("a", would_trigger=["co-edit"]),
        trial("b", shadowed=["counter-edit"]),
        trial("c", shadowed=None, would_trigger=None),
        trial("a", "co-edit"),
        trial("b", "co-edit", solved=None, applicable=False, triggered=0, delivered=0),
    ]
    _, row = delivery_table(study(rows))
    assert row.would is not None
    assert (row.would.count, row.would.n, row.triggered.count, row.triggered.n) == (1, 1, 1, 1)


def test_messages_that_were_said_carried_and_lost_are_added_up() -> None:
    rows = [
        trial(
            "a", "counter-edit", messages=3, never_carried=1, fallback_messages=2, announced=2, delivered=3
        ),
        trial("b", "counter-edit", messages=1, delivered=1, not_applied=2),
    ]
    (row,) = delivery_table(study(rows))
    assert (row.messages, row.carried, row.never_carried, row.fallback_messages) == (4, 3, 1, 2)
    assert (row.announced, row.interventions, row.not_applied) == (1, 4, 2)
