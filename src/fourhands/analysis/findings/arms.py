"""The common ground of all tables: trials by agent, model and condition, and their pairs with a baseline by task.

The baseline is `vanilla`. Of a conversation it is `single-turn`, where that was run: the same task, told all at once.
Where `vanilla` was not run, `single-turn` takes its place for all: it is vanilla on a task made a conversation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from math import fsum
from statistics import fmean
from typing import Final, NamedTuple

from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, Test, paired_interval, paired_test, rate_interval
from fourhands.analysis.study import Study
from fourhands.model.condition import Condition, ConditionName
from fourhands.model.outcome import Termination
from fourhands.model.price import Cost

__all__ = [
    "FEW_REPEATS",
    "Agent",
    "Arm",
    "Incomplete",
    "Outcomes",
    "Pairing",
    "Trial",
    "agents_of",
    "by_benchmark",
    "by_record_status",
    "mean",
    "pair",
    "trials_of",
]

_DIGITS: Final = 12
_LEFT_ALONE: Final = frozenset({ConditionName.VANILLA, ConditionName.SINGLE_TURN})
FEW_REPEATS: Final = 3
"""With fewer scored repeats a majority vote is marked."""

Outcomes = tuple[bool, ...]
"""Of one task: whether each scored repeat is resolved."""


class Trial(NamedTuple):
    """The columns of ``trials`` that tables need; see `fourhands.analysis.schema`."""

    run: str
    trial: str
    task: str
    benchmark: str | None
    record_status: str | None
    agent: str
    agent_version: str | None
    model: str
    condition: str
    condition_name: str
    k: int | None
    repeat: int
    attempt: int | None
    applicable: bool | None
    scored: bool | None
    verdict: str | None
    termination: str | None
    resolved: bool | None
    reward: float | None
    why: str | None
    steps: int | None
    tokens: int | None
    tokens_input: int | None
    tokens_cache_read: int | None
    tokens_cache_write: int | None
    tokens_output: int | None
    tokens_reasoning: int | None
    uncounted_replies: int | None
    cost: float | None
    cost_at_least: float | None
    user_cost: float | None
    user_cost_at_least: float | None
    intended: int | None
    triggered: int | None
    shadowed: Sequence[str] | None
    would_trigger: Sequence[str] | None
    delivered: int | None
    announced: int | None
    messages: int | None
    fallback_messages: int | None
    never_carried: int | None
    already_present: int | None
    not_applied: int | None
    failed_touched: bool | None
    ablation: str | None
    ablation_by: str | None
    ablation_stood: bool | None
    ablation_final: bool | None
    ablation_typed: bool | None
    failure_type: str | None
    failure_type_by: str | None
    failure_typing: str | None
    simulator: str | None
    persona: str | None
    at_will: str | None
    resolved_at_will: bool | None
    requirements: Sequence[str] | None
    held_at_will: Sequence[str] | None
    held: Sequence[str] | None
    missing: Sequence[str] | None
    forgotten: Sequence[str] | None
    regressed: Sequence[str] | None
    misread: Sequence[str] | None
    buggy: Sequence[str] | None
    undecided: Sequence[str] | None
    failure_labels: str | None
    missing_at_will: Sequence[str] | None
    slips: Sequence[str] | None
    questions: int | None
    said: int | None
    said_at_will: int | None
    steps_at_will: int | None
    tokens_at_will: int | None
    uncounted_at_will: int | None
    cost_at_will: float | None
    cost_at_will_at_least: float | None
    corrections: int | None
    corrections_at_will: int | None
    blocked: int | None
    fallbacks: int | None
    objected: str | None
    out_of_order: int | None
    fates_at_will: str | None
    looks: int | None
    looks_at_will: int | None
    plan_score: float | None
    final_score: float | None
    scores: str | None
    states: str | None
    verifier_informed: bool | None
    final_lines: int | None
    churn_overhead: float | None
    late_change_share: float | None
    judged: str | None
    audits: str | None

    @property
    def is_completed(self) -> bool:
        """Whether the agent came to an end of its own: what the paper's means of steps and tokens are over.

        One that slipped in how it works with a talking user did; one that broke down did not.
        """
        slipped = self.termination == Termination.PROTOCOL_FAILURE and bool(self.slips)
        return bool(self.scored) and (self.termination == Termination.FINISHED or slipped)

    @property
    def has_run(self) -> bool:
        """Whether an attempt has ended, whatever came of it."""
        return self.termination is not None

    @property
    def applies(self) -> bool:
        """Whether the task has what the condition needs; a record that does not tell is taken to have it."""
        return self.applicable is not False


@dataclass(frozen=True)
class Arm:
    """All planned trials of one agent and model under one condition, in the order of the table."""

    agent: str
    model: str
    condition: str
    condition_name: str
    trials: tuple[Trial, ...]

    @property
    def is_vanilla(self) -> bool:
        """Whether the user left the agent alone: `vanilla`, or `single-turn`, its name on a converted task."""
        return self.condition_name in _LEFT_ALONE

    @property
    def touches(self) -> bool:
        """Whether a user edits the code in it."""
        return Condition.parse(self.condition).touches

    @property
    def talks(self) -> bool:
        """Whether a user says in it what they want, little by little."""
        return Condition.parse(self.condition).talks

    @property
    def k(self) -> int | None:
        """The most interventions a trial may see."""
        return self.trials[0].k

    @cached_property
    def scored(self) -> tuple[Trial, ...]:
        """The trials that enter rates."""
        return tuple(trial for trial in self.trials if trial.scored)

    @cached_property
    def completed(self) -> tuple[Trial, ...]:
        """The scored trials whose agent came to an end of its own."""
        return tuple(trial for trial in self.trials if trial.is_completed)

    @cached_property
    def outcomes(self) -> Mapping[str, Outcomes]:
        """Of each task with a scored repeat, by name, so that no interval depends on the order of rows."""
        found: dict[str, list[tuple[int, bool]]] = defaultdict(list)
        for trial in self.scored:
            found[trial.task].append((trial.repeat, bool(trial.resolved)))
        return {task: tuple(solved for _, solved in sorted(found[task])) for task in sorted(found)}

    @cached_property
    def resolved(self) -> int:
        """Scored trials that are resolved."""
        return sum(bool(trial.resolved) for trial in self.scored)

    @property
    def rate(self) -> float | None:
        """Resolved of scored trials."""
        return self.resolved / len(self.scored) if self.scored else None

    @property
    def strict_rate(self) -> float | None:
        """The same, a protocol failure counted as unresolved whatever its verdict."""
        if not self.scored:
            return None
        broken = Termination.PROTOCOL_FAILURE
        return sum(bool(t.resolved) and t.termination != broken for t in self.scored) / len(self.scored)

    @cached_property
    def rate_interval(self) -> Interval | None:
        """95 %, clustered by task, of the mean over tasks of each task's rate."""
        return rate_interval([fmean(solved) for solved in self.outcomes.values()])

    @cached_property
    def repeat_rates(self) -> tuple[Fraction, ...]:
        """The rate of each repeat over its scored trials, exactly, so that equal rates are equal."""
        found: dict[int, list[bool]] = defaultdict(list)
        for trial in self.scored:
            found[trial.repeat].append(bool(trial.resolved))
        return tuple(Fraction(sum(solved), len(solved)) for _, solved in sorted(found.items()))

    @cached_property
    def cost(self) -> Cost:
        """What the agent's model cost in all trials."""
        return _cost((trial.cost, trial.cost_at_least) for trial in self.trials if trial.has_run)

    @cached_property
    def scored_cost(self) -> Cost:
        """What it cost in the scored ones."""
        return _cost((trial.cost, trial.cost_at_least) for trial in self.scored)

    @property
    def cost_per_trial(self) -> Cost | None:
        """The mean cost of a scored trial."""
        return self.scored_cost / len(self.scored) if self.scored else None

    @cached_property
    def user_cost(self) -> Cost:
        """What the user's own model cost in all trials."""
        return _cost((trial.user_cost, trial.user_cost_at_least) for trial in self.trials if trial.has_run)

    @property
    def not_applicable(self) -> int:
        """Trials of tasks that lack what the condition needs."""
        return sum(not trial.applies for trial in self.trials)

    @property
    def has_few_repeats(self) -> bool:
        """Whether any task has fewer than three scored repeats."""
        return any(len(solved) < FEW_REPEATS for solved in self.outcomes.values())

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of the agent in it, sorted: more than one is something to note."""
        return tuple(sorted({trial.agent_version for trial in self.trials if trial.agent_version}))

    def total(self, column: str) -> int:
        """The sum of a column of counts over all trials; what a record does not tell adds nothing."""
        return sum(getattr(trial, column) or 0 for trial in self.trials)

    def at_least_once(self, column: str) -> int:
        """Trials in which a count is not zero."""
        return sum(bool(getattr(trial, column)) for trial in self.trials)


@dataclass(frozen=True)
class Agent:
    """One agent with one model, and its arms: vanilla, then the others in the order of the table.

    ``vanilla`` is `single-turn` where that alone was run.
    """

    agent: str
    model: str
    vanilla: Arm | None
    others: tuple[Arm, ...]

    @property
    def arms(self) -> tuple[Arm, ...]:
        """All of them."""
        return ((self.vanilla,) if self.vanilla else ()) + self.others

    def baseline_of(self, arm: Arm) -> Arm | None:
        """What an arm is compared with; ``None`` where that was not run, or the arm is a baseline itself."""
        if arm.is_vanilla:
            return None
        told_at_once = (other for other in self.others if other.condition_name == ConditionName.SINGLE_TURN)
        return (next(told_at_once, None) if arm.talks else None) or self.vanilla

    @cached_property
    def pairings(self) -> Mapping[str, Pairing]:
        """Each other arm paired with its baseline, by its condition; none where that was not run."""
        found = ((arm, self.baseline_of(arm)) for arm in self.others)
        return {arm.condition: pair(baseline, arm) for arm, baseline in found if baseline}


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A pair that has no difference: why a side lacks an outcome that counts, or ``None`` where it has one."""

    task: str
    vanilla: str | None
    condition: str | None


@dataclass(frozen=True)
class Pairing:
    """The tasks that are scored under vanilla and under a condition, sorted, and those that are on one side only."""

    tasks: tuple[str, ...]
    before: tuple[Outcomes, ...]
    after: tuple[Outcomes, ...]
    incomplete: tuple[Incomplete, ...]

    @cached_property
    def differences(self) -> tuple[float, ...]:
        """Of each task, its rate under the condition less its rate under vanilla: equal ones are equal as floats."""
        return tuple(float(_rate(b) - _rate(a)) for a, b in zip(self.before, self.after, strict=True))

    @property
    def delta(self) -> float | None:
        """Their mean."""
        return mean(self.differences)

    @cached_property
    def interval(self) -> Interval | None:
        """95 % of it, clustered by task."""
        return paired_interval(self.differences)

    @cached_property
    def test(self) -> Test | None:
        """Of no difference, exact."""
        return paired_test(self.before, self.after)

    @property
    def has_few_repeats(self) -> bool:
        """Whether a majority on either side is of fewer than three repeats."""
        return any(len(solved) < FEW_REPEATS for solved in (*self.before, *self.after))


@kept
def trials_of(study: Study) -> tuple[Trial, ...]:
    """The trials of a study, in order."""
    frame = study.tables.trials
    columns = [frame[name].to_list() for name in Trial._fields]
    return tuple(map(Trial._make, zip(*columns, strict=True)))


@kept
def agents_of(study: Study) -> tuple[Agent, ...]:
    """Each agent with each model, in order of appearance; an agent's versions stay together."""
    return _agents(trials_of(study))


@kept
def by_benchmark(study: Study) -> Mapping[str | None, tuple[Agent, ...]]:
    """The agents on each benchmark, in order of appearance; ``None``: the plan does not tell."""
    return _split(trials_of(study), lambda trial: trial.benchmark)


@kept
def by_record_status(study: Study) -> Mapping[str | None, tuple[Agent, ...]]:
    """The agents on the tasks of each record status, in order of appearance."""
    return _split(trials_of(study), lambda trial: trial.record_status)


def _split(
    trials: Iterable[Trial], key: Callable[[Trial], str | None]
) -> dict[str | None, tuple[Agent, ...]]:
    found: dict[str | None, list[Trial]] = defaultdict(list)
    for trial in trials:
        found[key(trial)].append(trial)
    return {name: _agents(each) for name, each in found.items()}


def _agents(trials: Iterable[Trial]) -> tuple[Agent, ...]:
    found: dict[tuple[str, str], dict[str, list[Trial]]] = defaultdict(lambda: defaultdict(list))
    for trial in trials:
        found[trial.agent, trial.model][trial.condition].append(trial)
    agents = []
    for (agent, model), conditions in found.items():
        arms = [
            Arm(agent, model, condition, rows[0].condition_name, tuple(rows))
            for condition, rows in conditions.items()
        ]
        alone = {arm.condition_name: arm for arm in arms if arm.is_vanilla}
        vanilla = alone.get(ConditionName.VANILLA, alone.get(ConditionName.SINGLE_TURN))
        agents.append(Agent(agent, model, vanilla, tuple(arm for arm in arms if arm is not vanilla)))
    return tuple(agents)


def pair(vanilla: Arm, arm: Arm, *, either: bool = False) -> Pairing:
    """Pair every task that the condition applies to with vanilla; with ``either``, also those of vanilla alone."""
    sides = (vanilla, arm) if either else (arm,)
    applicable = sorted({trial.task for side in sides for trial in side.trials if trial.applies})
    complete = [task for task in applicable if task in vanilla.outcomes and task in arm.outcomes]
    whole = set(complete)
    return Pairing(
        tasks=tuple(complete),
        before=tuple(vanilla.outcomes[task] for task in complete),
        after=tuple(arm.outcomes[task] for task in complete),
        incomplete=tuple(
            Incomplete(task, _lacks(vanilla, task), _lacks(arm, task))
            for task in applicable
            if task not in whole
        ),
    )


def _rate(solved: Outcomes) -> Fraction:
    return Fraction(sum(solved), len(solved))


def _lacks(arm: Arm, task: str) -> str | None:
    """Why an arm has no outcome that counts of a task; ``None`` if it has one."""
    if task in arm.outcomes:
        return None
    trials = [trial for trial in arm.trials if trial.task == task]
    if not trials:
        return "not planned"
    told = next((trial for trial in reversed(trials) if trial.why or trial.termination), None)
    if told is None:
        return "not run"
    return told.why or str(told.termination)


def _cost(costs: Iterable[tuple[float | None, float | None]]) -> Cost:
    """The sum of costs, each with what is known of it."""
    told = list(costs)
    known = fsum(least for _, least in told if least is not None)
    # Prices times tokens have no digits behind these: what the binary sum has there is noise.
    exact = Decimal(str(round(known, _DIGITS)))
    return Cost(exact, is_whole=all(whole is not None for whole, _ in told))


def mean(values: Iterable[float | None]) -> float | None:
    """Of the values that are known; ``None`` if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
