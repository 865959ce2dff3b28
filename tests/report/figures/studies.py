"""Studies made by hand that have something for every figure."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from fourhands.analysis.study import Study

from ...analysis.frames import study, trial  # noqa: TID252 - tests are no package that could be named

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
