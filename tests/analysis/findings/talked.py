"""Rows of conversations whose scores a test names state by state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ..frames import talk  # noqa: TID252 - tests are no package that could be named


def scored(
    task: str = "a",
    plan: float | None = None,
    code: Iterable[float | None] = (),
    *,
    base: float | None = None,
    source: str = "checks",
    condition: str = "interactive",
    judges: Iterable[Mapping[str, Any]] = (),
    **values: Any,
) -> dict[str, Any]:
    """A trial with these scores: of its plan, of the code before any change, and of each revision."""
    states = [("commit", base, False)] if base is not None else []
    states += [("commit", score, True) for score in code]
    found = [{"checkpoint": "c0", "of": "plan", "score": plan, "source": "words", "turn": 0, "is_new": False}]
    found += [
        {
            "checkpoint": f"c{place}",
            "of": of,
            "score": score,
            "source": source,
            "turn": place,
            "is_new": is_new,
        }
        for place, (of, score, is_new) in enumerate(states, 1)
    ]
    return talk(
        task,
        condition,
        **{
            "plan_score": plan,
            "final_score": states[-1][1] if states else None,
            "scores": json.dumps(found),
            "verifier_informed": source == "hidden-tests",
            "judged": json.dumps(list(judges)) if judges else None,
            **values,
        },
    )


def judged(
    plan: float | None, *code: float | None, judge: str = "judge:j", version: int = 2, **values: Any
) -> dict[str, Any]:
    """What a judge said of the plan and of each revision, the last of which is the end."""
    states = [("c0", "plan", plan), *((f"c{place}", "commit", score) for place, score in enumerate(code, 1))]
    return {
        "judge": judge,
        "prompt_version": version,
        "plan": plan,
        "final": code[-1] if code else None,
        "unscored": 0,
        "points": 3,
        "states": [{"state": state, "of": of, "score": score} for state, of, score in states],
        **values,
    }
