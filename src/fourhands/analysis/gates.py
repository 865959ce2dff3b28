"""What a comparison must not show: ``retention<0.9``, ``counter-edit:change<-0.05``, ``regression``. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf
from typing import Final

from fourhands.analysis.comparison import ALPHA, ArmChange, Comparison
from fourhands.analysis.statistics import is_majority
from fourhands.model.errors import InputError

__all__ = ["METRICS", "REGRESSION", "Gate", "GateResult", "check", "parse_gate"]

REGRESSION: Final = "regression"
"""The gate without a number: it became worse, and that is more than chance explains (5 %, one-sided, Holm)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of one arm of a comparison; ``None`` where nobody can tell."""

    value: Callable[[ArmChange], float | None]
    definition: str
    range: tuple[float, float] = (-inf, inf)


METRICS: Final[Mapping[str, Metric]] = {
    "resolve": Metric(
        lambda arm: arm.after.rate, "resolve rate of the second run, of all its scored trials, 0 to 1", (0, 1)
    ),
    "change": Metric(
        lambda arm: arm.change, "mean over tasks of the second run's rate less the first's, −1 to 1", (-1, 1)
    ),
    "retention": Metric(
        lambda arm: arm.retention,
        "of the tasks that the first run solved, the share that the second solves",
        (0, 1),
    ),
    "excess_loss": Metric(
        lambda arm: None if arm.excess_loss is None else arm.excess_loss.value,
        "what retention lacks beyond what repeating the first run would lose by chance",
        (-1, 1),
    ),
    "delta_change": Metric(
        lambda arm: arm.delta_change,
        "the second run's difference to vanilla less the first's, −2 to 2",
        (-2, 2),
    ),
    "p_worse": Metric(
        lambda arm: arm.p_worse, "one-sided p that it became worse, adjusted by Holm's method", (0, 1)
    ),
    "steps_change": Metric(lambda arm: arm.mean_change("steps"), "mean steps of a trial, after less before"),
    "tokens_change": Metric(
        lambda arm: arm.mean_change("tokens"), "mean tokens of a trial, after less before"
    ),
    "cost_change": Metric(
        lambda arm: arm.mean_change("cost"), "mean cost of a trial in US dollars, after less before"
    ),
    "incomplete": Metric(
        lambda arm: float(len(arm.incomplete)), "tasks of either run that lack an outcome that counts"
    ),
}
"""By name, as a gate calls them."""

_OF_THE_SOLVED: Final = frozenset({"retention", "excess_loss"})
_OPERATORS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_GATE: Final = re.compile(
    r"(?:(?P<condition>[a-z-]+(?:\[[^\]]*\])?)\s*:\s*)?(?P<metric>[a-z_]+)"
    r"(?:\s*(?P<operator><=|>=|<|>)\s*(?P<bound>[-+−]?\d+(?:\.\d+)?\s*%?))?"
)


@dataclass(frozen=True, slots=True)
class Gate:
    """``text`` as it was given; without a ``condition`` it holds for all that are compared."""

    text: str
    metric: str
    condition: str | None = None
    operator: str = "<"
    bound: float = 0.0


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate at one arm. ``failed`` also where its number cannot be told: ``why`` says which."""

    gate: Gate
    arm: str
    value: float | None
    failed: bool
    why: str


def parse_gate(text: str) -> Gate:
    """Read ``[CONDITION:]METRIC OPERATOR NUMBER``, or ``[CONDITION:]regression``; ``90%`` is 0.9.

    Raises:
        InputError: it is none; says what there is.
    """
    match = _GATE.fullmatch(text.strip())
    metric = match["metric"] if match else ""
    if match and metric == REGRESSION and match["operator"] is None:
        return Gate(text, metric, match["condition"])
    if match and metric in METRICS and match["operator"]:
        bound = match["bound"].replace("−", "-").replace(" ", "")
        number = float(bound.removesuffix("%")) / (100 if bound.endswith("%") else 1)
        low, high = METRICS[metric].range
        if not low <= number <= high:
            raise InputError(
                f"fail-if {text!r}: {metric} lies from {low:g} to {high:g}, so this says nothing; did you mean "
                f"{number:g}%?"
            )
        return Gate(text, metric, match["condition"], match["operator"], number)
    near = get_close_matches(metric, [REGRESSION, *METRICS], n=1)
    hint = f"; did you mean {near[0]!r}?" if near and near[0] != metric else ""
    raise InputError(
        f"fail-if {text!r}: write METRIC<NUMBER, as in retention<0.9 or counter-edit:change<-0.05, or {REGRESSION}; "
        f"metrics are {', '.join(METRICS)}{hint}"
    )


def check(comparison: Comparison, gates: Iterable[Gate]) -> list[GateResult]:
    """Each gate at each arm that it is about.

    Raises:
        InputError: a gate names a condition that is not compared.
    """
    found = []
    for gate in gates:
        arms = [
            arm
            for arm in comparison.changes
            if gate.condition is None or arm.before.condition == gate.condition
        ]
        if gate.condition is not None and not arms:
            known = dict.fromkeys(arm.before.condition for arm in comparison.changes)
            raise InputError(
                f"fail-if {gate.text!r}: {gate.condition} is not compared; there are {', '.join(known) or 'none'}"
            )
        found += [_result(gate, arm) for arm in arms]
    return found


def _result(gate: Gate, arm: ArmChange) -> GateResult:
    if gate.metric == REGRESSION:
        p = arm.p_worse
        if p is None:
            return GateResult(gate, arm.name, None, failed=True, why="no task is scored in both runs")
        why = "; ".join(filter(None, [f"p = {p:.3f}, one-sided", _out_of_reach(arm)]))
        return GateResult(gate, arm.name, p, failed=arm.is_regression, why=why)
    value = METRICS[gate.metric].value(arm)
    if value is None:
        if reason := _does_not_apply(gate, arm):
            return GateResult(gate, arm.name, None, failed=False, why=reason)
        return GateResult(gate, arm.name, None, failed=True, why=f"{gate.metric} cannot be told")
    failed = _OPERATORS[gate.operator](value, gate.bound)
    return GateResult(gate, arm.name, value, failed=failed, why=f"{gate.metric} = {value:.4g}")


def _out_of_reach(arm: ArmChange) -> str | None:
    """Why no second run could have been called a regression; ``None`` where one could."""
    if arm.least_p is None or arm.can_be_regression:
        return None
    tasks, losable = len(arm.tasks), arm.losable
    which = "1 task" if tasks == 1 else f"{tasks} tasks"
    if not losable:
        return f"{which} that the first run never solved cannot show a regression: there is nothing to lose"
    if losable < tasks:
        which += f", of which the first run solved {losable},"
    adjusted = "" if arm.least_p == 0.5**losable else ", adjusted by Holm's method,"
    least = f"the smallest p they can give{adjusted} is {arm.least_p:.4g}"
    return f"{which} cannot show a regression at {100 * ALPHA:g} %: {least}"


def _does_not_apply(gate: Gate, arm: ArmChange) -> str | None:
    """Why the number has no meaning there, rather than being unknown."""
    if gate.metric == "delta_change" and arm.before.is_vanilla:
        return "vanilla has no difference to itself"
    if (
        gate.metric in _OF_THE_SOLVED
        and arm.tasks
        and not any(is_majority(task.before) for task in arm.tasks)
    ):
        return "the first run solved none of the tasks: there is nothing to lose"
    return None
