"""How long a task is: the steps that untouched agents take."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import median

from fourhands.analysis.findings.arms import trials_of
from fourhands.analysis.study import Study
from fourhands.model.condition import ConditionName

__all__ = ["median_steps"]


def median_steps(study: Study) -> dict[str, int]:
    """Per task the median number of steps of its scored `vanilla` trials, over all agents and repeats, rounded up."""
    steps: dict[str, list[int]] = defaultdict(list)
    for trial in trials_of(study):
        if trial.scored and trial.condition_name == ConditionName.VANILLA and trial.steps is not None:
            steps[trial.task].append(trial.steps)
    return {task: math.ceil(median(found)) for task, found in steps.items()}
