"""Tidy tables made by hand: what a test does not name has a harmless value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from fourhands.analysis.study import Study
from fourhands.analysis.tidy import Tables
from fourhands.model.condition import Condition, ConditionName


def trial(
    task: str = "a",
    condition: str = "vanilla",
    *,
    solved: bool | None = True,
    repeat: int = 1,
    model: str = "m",
    agent: str = "mini-swe-agent",
    run: str = "run",
    **values: Any,
) -> dict[str, Any]:
    """A row of ``trials``; ``solved=None``: not scored, for the machine failed."""
    parsed = Condition.parse(condition)
    vanilla = parsed.name is ConditionName.VANILLA
    return {
        "run": run,
        "trial": f"{task}__{agent}-{model}__{condition}__r{repeat}",
        "task": task,
        "agent": agent,
        "model": model,
        "condition": condition,
        "condition_name": parsed.name.value,
        "k": None if vanilla else parsed.k,
        "repeat": repeat,
        "attempt": 1,
        "applicable": True,
        "scored": solved is not None,
        "verdict": {True: "resolved", False: "unresolved", None: "none"}[solved],
        "termination": "infrastructure_error" if solved is None else "finished",
        "resolved": solved,
        "reward": None if solved is None else float(solved),
        "steps": 10,
        "sub_agent_calls": 0,
        "side_calls": 0,
        "retries": 0,
        "tokens": 1000,
        "tokens_input": 900,
        "tokens_cache_read": 0,
        "tokens_cache_write": 0,
        "tokens_output": 100,
        "tokens_reasoning": 0,
        "uncounted_replies": 0,
        "seconds": 5.0,
        "cost": 0.1,
        "cost_at_least": 0.1,
        "user_cost": 0.0,
        "user_cost_at_least": 0.0,
        "intended": 0 if vanilla else 3,
        "triggered": 0 if vanilla else 1,
        "shadowed": ["counter-edit", "co-edit"] if vanilla else [],
        "would_trigger": [],
        "delivered": 0 if vanilla else 1,
        "edits_applied": 0 if vanilla else 1,
        "announced": 0,
        "messages": 0 if vanilla else 1,
        "fallback_messages": 0,
        "never_carried": 0,
        "already_present": 0,
        "not_applied": 0,
        "user_lines_at_end": 0,
        "failed_touched": solved is False and not vanilla,
        **values,
    }


_SCORES = json.dumps(
    [
        {"checkpoint": name, "of": of, "score": score, "source": by, "turn": turn, "is_new": is_new}
        for name, of, score, by, turn, is_new in (
            ("c1", "plan", 40.0, "words", 0, False),
            ("c2", "commit", 60.0, "checks", 1, True),
            ("c3", "end", 100.0, "checks", 3, True),
        )
    ]
)
_STATES = json.dumps(
    [
        {"held": held, "revealed": 0, "acknowledged": 0, "satisfied": 2 - held, "violated": 0, "forgotten": 0}
        for held in (2, 1, 0, 0, 0)
    ]
)


def talk(
    task: str = "a", condition: str = "interactive", *, solved: bool | None = True, **values: Any
) -> dict[str, Any]:
    """A trial of a talking user of two requirements, both told and met; at will it came to the same."""
    parsed = Condition.parse(condition)
    return trial(
        task,
        condition,
        solved=solved,
        **{
            "k": parsed.k if parsed.touches else None,
            "intended": 0,
            "triggered": 0,
            "delivered": 0,
            "edits_applied": 0,
            "messages": 0,
            "failed_touched": False,
            "simulator": parsed.simulator,
            "persona": parsed.persona,
            "disclosure": parsed.disclosure,
            "coverage": parsed.coverage,
            "at_will": {True: "resolved", False: "unresolved", None: "none"}[solved],
            "resolved_at_will": solved,
            "requirements": ["R1", "R2"],
            **{name: [] for name in ("held_at_will", "held", "missing", "forgotten", "regressed")},
            **{name: [] for name in ("misread", "buggy", "undecided", "missing_at_will")},
            "slips": [],
            "questions": 3,
            "said": 3,
            "said_at_will": values.get("said", 3),
            "steps_at_will": values.get("steps", 10),
            "tokens_at_will": values.get("tokens", 1000),
            "uncounted_at_will": values.get("uncounted_replies", 0),
            "cost_at_will": values.get("cost", 0.1),
            "cost_at_will_at_least": values.get("cost_at_least", 0.1),
            "corrections": 0,
            "corrections_at_will": 0,
            "blocked": 0,
            "fallbacks": 0,
            "looks": 0,
            "looks_at_will": values.get("looks", 0),
            "shown": 3,
            "plan_score": 40.0,
            "final_score": 100.0,
            "scores": _SCORES,
            "states": _STATES,
            "verifier_informed": False,
            "final_lines": 10,
            "churn_overhead": 0.5,
            "late_change_share": 0.25,
            **values,
        },
    )


def study(
    trials: Iterable[dict[str, Any]],
    interventions: Sequence[dict[str, Any]] = (),
    lines: Sequence[dict[str, Any]] = (),
) -> Study:
    """What results are computed of."""
    return Study(Tables.of(trials, interventions, lines))
