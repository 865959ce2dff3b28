from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourhands.analysis.cautions import cautions
from fourhands.analysis.study import RunInfo, TaskInfo

from .frames import study, trial


def _repeated(task: str = "a", label: str = "vanilla", /, **values: Any) -> list[dict[str, Any]]:
    return [trial(task, label, repeat=repeat, **values) for repeat in (1, 2, 3)]


BOTH = [*_repeated(), *_repeated("a", "counter-edit")]


def test_a_sound_run_of_a_live_model_needs_no_word() -> None:
    assert cautions(study(BOTH)) == ()


def _with(**values: Any) -> list[dict[str, Any]]:
    """Of six trials, the last under the condition has these values."""
    return [*BOTH[:-1], BOTH[-1] | values]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([row | {"model": "scripted/keeps"} for row in BOTH], "scripted/keeps: scripted models."),
        ([row | {"model": "recorded/x"} for row in BOTH], "recorded/x: recorded actions"),
        (_repeated("a", "counter-edit"), "mini-swe-agent · m: vanilla was not run"),
        (
            _with(scored=False, resolved=None, verdict="none", termination="invalid", why="no disk"),
            "1 of 6 trials have no outcome that counts and are not scored, as a loss or otherwise: no disk (1).",
        ),
        (
            [*BOTH, *_repeated("b"), *_repeated("b", "counter-edit", solved=None)],
            "1 of 2 pairs incomplete and left out of Δ: counter-edit infrastructure_error: b.",
        ),
        (
            [*BOTH, *_repeated("b")],
            "mini-swe-agent · m, counter-edit: planned for 1 of the 2 tasks of vanilla",
        ),
        (BOTH[:-1], "Fewer than 3 scored repeats of a task under counter-edit"),
        (BOTH[:-1], "1 of 1 pair have unlike numbers of scored repeats"),
        (_with(delivered=0), "in 1 of 3 scored trials nothing was delivered"),
        (_with(messages=2, fallback_messages=1), "1 of 4 messages were said in fixed words"),
        (_with(never_carried=1), "1 of 3 messages never reached the model"),
        (
            _with(termination="protocol_failure"),
            "with protocol failures as unresolved the rate is 66.7 %, not 100 %.",
        ),
        (_with(termination="budget"), "1 of 6 trials ended with the run's money"),
        (_with(uncounted_replies=1), "did not tell the tokens of 1 reply: tokens"),
        (
            [*BOTH, *(row | {"model": "n"} for row in BOTH)],
            "Tokens are counted by each model's own tokenizer",
        ),
        (
            [row | {"record_status": "reference_repair_failed"} for row in BOTH],
            "The records of 1 of 1 task are not fully validated: reference_repair_failed (1)",
        ),
        (
            [*(row | {"benchmark": "x"} for row in BOTH), *_repeated("b", benchmark="y")],
            "Rates are over the tasks of x, y together",
        ),
        (
            [*(row | {"agent_version": "1"} for row in BOTH), *_repeated("b", agent_version="2")],
            "mini-swe-agent: versions 1, 2 are counted together.",
        ),
    ],
)
def test_what_a_reader_must_know_is_said(rows: list[dict[str, Any]], told: str) -> None:
    assert any(told in each for each in cautions(study(rows)))


def test_validated_records_need_no_word() -> None:
    assert cautions(study(row | {"record_status": "validated_counter_edit"} for row in BOTH)) == ()


def test_a_task_that_changed_between_runs_is_named() -> None:
    run = RunInfo("one", "", "fourhands", tasks=(TaskInfo("a", "1"), TaskInfo("b", "1")))
    other = replace(run, run="two", tasks=(TaskInfo("a", "2"), TaskInfo("b", "1")))
    (told,) = cautions(replace(study(BOTH), runs=(run, other)))
    assert told == "a: not the same in all runs, and yet counted as one task."


def test_long_lists_are_cut_and_say_so() -> None:
    rows = [*BOTH]
    for task in "bcdefgh":
        rows += [*_repeated(task), *_repeated(task, "counter-edit", solved=None)]
    assert any("infrastructure_error: b, c, d, e, f and 2 more." in each for each in cautions(study(rows)))
