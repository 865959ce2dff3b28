from __future__ import annotations

from fourhands.analysis.findings.by_status import status_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_rates_and_differences_are_kept_apart_by_record_status() -> None:
    statuses = {"a": "validated", "b": "validated", "c": "reference_repair_failed", "d": None}
    rows = [
        trial(task, label, record_status=status, solved=label == "vanilla" or task == "a")
        for task, status in statuses.items()
        for label in ("vanilla", "counter-edit")
    ]
    found = {(row.record_status, row.condition): row for row in status_table(study(rows))}
    assert {key: (row.tasks, row.resolved, row.delta, row.pairs) for key, row in found.items()} == {
        ("validated", "vanilla"): (2, 2, None, 0),
        ("validated", "counter-edit"): (2, 1, -0.5, 2),
        ("reference_repair_failed", "vanilla"): (1, 1, None, 0),
        ("reference_repair_failed", "counter-edit"): (1, 0, -1.0, 1),
        (None, "vanilla"): (1, 1, None, 0),
        (None, "counter-edit"): (1, 0, -1.0, 1),
    }
