"""Studies made by hand that have something for every figure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from fourhands.analysis.study import Study
from fourhands.analysis.tidy import concat
from fourhands.model.failure import FailureLabel, FoundBy
from fourhands.model.ledger_state import RequirementState

from ...analysis.findings.talked import scored  # noqa: TID252 - tests are no package that could be named
from ...analysis.frames import study, trial  # noqa: TID252
from ...analysis.said import labelled  # noqa: TID252

MODES = ("ignores", "notices_only", "re_reads", "reverts", "adapts", "asks")
HOSTILE = "<script>alert(1)</script> $x_1^2$ \x1b[31m \u202eevil\n漢字漢字漢字 & \"quoted\" id='a'"


def a_study(
    models: Sequence[str] = ("careful", "hasty", "stubborn"),
    *,
    agent: str = "mini-swe-agent",
    conditions: Sequence[str] = ("counter-edit", "counter-edit[k=1]", "counter-edit[k=5]"),
    benchmarks: Sequence[str | None] = (None,),
    tasks: int = 8,
    repeats: int = 1,
    **values: Any,
) -> Study:
    """Each model fails more than the one before it; every touched trial has one edit of four lines."""
    dice = Random(5)
    trials, interventions, lines = [], [], []
    for place, model in enumerate(models):
        for benchmark in benchmarks:
            for task in range(tasks):
                for condition in ("vanilla", *conditions):
                    for repeat in range(1, repeats + 1):
                        bar = 0.9 - 0.5 * place / len(models) - 0.2 * (condition != "vanilla")
                        row = trial(
                            f"{benchmark}-{task}",
                            condition,
                            solved=dice.random() < bar,
                            repeat=repeat,
                            model=model,
                            agent=agent,
                            benchmark=benchmark,
                            **{
                                "cost": 0.05 * (1 + place) * dice.uniform(0.8, 1.2),
                                "tokens": dice.randint(10_000, 90_000),
                                "steps": 30,
                                **values,
                            },
                        )
                        trials.append(row)
                        if condition != "vanilla":
                            key = {"run": row["run"], "trial": row["trial"], "intervention": "one"}
                            revised = dice.random() < 0.6
                            interventions.append(_intervention(key, dice, revised=revised))
                            lines += [_line(key, number, dice, revised=revised) for number in range(1, 5)]
    return study(trials, interventions, lines)


def conversations(
    models: Sequence[str] = ("careful", "hasty", "stubborn"),
    *,
    agent: str = "mini-swe-agent",
    conditions: Sequence[str] = ("interactive", "interactive[simulator=x]"),
    tasks: int = 8,
    **values: Any,
) -> Study:
    """Each model, told at once and in conversation, ends earlier, and writes more, than the one before it."""
    dice = Random(7)
    rows = []
    for place, model in enumerate(models):
        common = {"model": model, "agent": agent, "cost": 0.1 * (1 + place)}
        rows += [trial(f"t{n}", "single-turn", solved=n > place, **common) for n in range(tasks)]
        for condition in conditions:
            for n in range(tasks):
                is_early, is_solved = dice.random() < 0.3 + 0.2 * place, dice.random() < 0.8 - 0.2 * place
                failed = {} if is_solved else labelled((FailureLabel.FORGOTTEN, FoundBy.EVENTS, "R1"))
                counts = dict.fromkeys(map(str, RequirementState), 0)
                told = {
                    "solved": is_solved,
                    "resolved_at_will": is_solved and not is_early,
                    "held_at_will": ["R1"] if is_early else [],
                    "corrections_at_will": dice.randint(0, 3),
                    "said": dice.randint(2, 14),
                    "looks": dice.randint(0, 9),
                    "final_lines": 0 if n == tasks - 1 else 10,
                    "churn_overhead": None if n == tasks - 1 else dice.lognormvariate(-1 + place, 1),
                    "late_change_share": dice.random(),
                    "states": json.dumps([counts | {"held": 2}, counts | {"satisfied": 2}]),
                }
                rows.append(
                    scored(
                        f"t{n}",
                        20,
                        [40, 60 + 10 * n % 40],
                        base=10,
                        condition=condition,
                        **(common | told | failed | values),
                    )
                )
    return study(rows)


def everything() -> Study:
    """Something for every figure."""
    touched = a_study()
    return replace(touched, tables=concat([touched.tables, conversations().tables]))


def _intervention(key: dict[str, str], dice: Random, *, revised: bool) -> dict[str, Any]:
    return {
        **key,
        "shadow_of": [],
        "has_edit": True,
        "has_message": True,
        "delivered": True,
        "delivered_seq": 7,
        "delivered_step": 3,
        "re_reads": 1,
        "reads_after": dice.randint(0, 9),
        "edits_after": dice.randint(0, 5),
        "tests_after": dice.randint(0, 3),
        "mode": dice.choice(MODES),
        "written": 4,
        "ever_revised": 4 * revised,
        "absent_at_end": 4 * (revised and dice.random() < 0.5),
        "taken_out": 0,
        "put_back": 0,
        "ever_put_back": 0,
    }


def _line(key: dict[str, str], number: int, dice: Random, *, revised: bool) -> dict[str, Any]:
    first = dice.randint(4, 28) if revised else None
    return {
        **key,
        "kind": "written",
        "line": number,
        "path": "a.py",
        "written_step": 3,
        "first_revised_step": first,
        "gone_step": first if number % 2 else None,
    }
