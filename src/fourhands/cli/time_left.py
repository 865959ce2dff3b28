"""How long a run will still take, from how long its trials took so far. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

__all__ = ["Durations", "JobLeft", "seconds_left"]


@dataclass(slots=True)
class _Mean:
    count: int = 0
    total: float = 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.total += value

    @property
    def value(self) -> float | None:
        return self.total / self.count if self.count else None


@dataclass
class Durations:
    """The mean duration of trials that have ended, as close to a trial that has not as there are any."""

    _alike: dict[tuple[AgentSpec, Condition], _Mean] = field(default_factory=dict)
    _by_agent: dict[AgentSpec, _Mean] = field(default_factory=dict)
    _all: _Mean = field(default_factory=_Mean)

    def add(self, key: TrialKey, seconds: float) -> None:
        """Count a trial that has ended."""
        self._alike.setdefault((key.agent, key.condition), _Mean()).add(seconds)
        self._by_agent.setdefault(key.agent, _Mean()).add(seconds)
        self._all.add(seconds)

    def expected(self, agent: AgentSpec, condition: Condition) -> float | None:
        """Seconds, by the same agent and condition, else by the agent, else by all; ``None`` before the first."""
        alike, by_agent = self._alike.get((agent, condition)), self._by_agent.get(agent)
        means = (mean.value for mean in (alike, by_agent, self._all) if mean)
        return next((value for value in means if value is not None), None)


@dataclass(frozen=True, slots=True)
class JobLeft:
    """What is left of the trials that run side by side: how many wait, and for how long those under way have run.

    ``expected`` is how long a trial takes; all in seconds.
    """

    expected: float
    waiting: int
    running: Sequence[float] = ()

    def seconds(self, at_once: int) -> float:
        """Until the last of them has ended, ``at_once`` at a time."""
        left = [max(self.expected - spent, 0.0) for spent in self.running]
        longest = self.expected if self.waiting else max(left, default=0.0)
        work = sum(left) + self.waiting * self.expected
        places = max(min(at_once, self.waiting + len(left)), 1)
        return max(longest, work / places)


def seconds_left(jobs: Iterable[JobLeft], at_once: int) -> float:
    """Of jobs that run one after the other."""
    return sum(job.seconds(at_once) for job in jobs)
