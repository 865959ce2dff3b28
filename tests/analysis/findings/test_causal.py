from __future__ import annotations

from typing import Any

from fourhands.analysis.findings.causal import causal_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named

REMOVED = {
    "ablation": "edit_caused",
    "ablation_by": "removal",
    "ablation_stood": True,
    "ablation_final": True,
}
REPLACED = {**REMOVED, "ablation_by": "replacement"}
BROKEN = {"ablation": "also_broken_without", "ablation_stood": False, "ablation_final": True}
UNKNOWN = {"ablation": "cannot_compose", "ablation_stood": True, "ablation_final": True}
SLOW = {**BROKEN, "ablation_final": False}


def _failed(task: str, condition: str = "counter-edit", /, **values: Any) -> dict[str, Any]:
    return trial(task, condition, solved=False, **values)


def test_conclusions_are_counted_per_agent_and_condition_and_what_is_not_done_is_said() -> None:
    found: list[dict[str, Any]] = [REMOVED, REMOVED, REPLACED, SLOW, UNKNOWN, {}]
    rows = [_failed("t", repeat=n, **each) for n, each in enumerate(found, 1)]
    rows.append(trial("t", "counter-edit", repeat=9))
    rows.append(_failed("t", "co-edit", **BROKEN))
    rows.append(_failed("t", "counter-edit", model="other", failed_touched=False))
    first, second = causal_table(study(rows))
    touched = first.touched
    assert (first.agent, first.model, first.condition) == ("mini-swe-agent", "m", "counter-edit")
    assert (touched.failed, touched.edit_caused, touched.by_removal, touched.by_replacement) == (6, 3, 2, 1)
    assert (touched.also_broken_without, touched.cannot_compose, touched.not_yet) == (1, 1, 1)
    assert (touched.stood, touched.timed_out, touched.caused_rate) == (4, 1, 0.6)
    assert (second.condition, second.touched.failed, second.touched.stood) == ("co-edit", 1, 0)
    assert (first.lost, first.lost_failed) == (None, None)  # vanilla was not run


def test_failures_of_tasks_that_the_condition_lost_are_a_population_of_their_own() -> None:
    sides = {"lost": ("+++", "--+"), "kept": ("+++", "++-"), "never": ("---", "---")}
    rows = [
        trial(task, label, solved=mark == "+", repeat=repeat)
        for task, both in sides.items()
        for label, marks in zip(("vanilla", "counter-edit"), both, strict=True)
        for repeat, mark in enumerate(marks, 1)
    ]
    for row in rows:
        if row["failed_touched"]:
            row.update(REMOVED if row["task"] == "lost" else BROKEN)
        if row["task"] == "lost" and row["repeat"] == 2:
            row["failed_touched"] = False  # nothing was delivered in it
    (found,) = causal_table(study(rows))
    assert (found.touched.failed, found.touched.edit_caused) == (5, 1)
    assert found.lost is not None
    assert (found.lost_failed, found.lost.failed, found.lost.edit_caused) == (2, 1, 1)
