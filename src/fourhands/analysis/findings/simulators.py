"""The simulator card: what a talking user gave away, invented, left unsaid; and whether it would do so again.

A conversation measures an agent only as far as its user is fair. Whoever plays the user is measured here by what its
own record shows; what is over a threshold is said, with the number.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final, Literal

import orjson

from fourhands.analysis.findings.arms import Arm, Trial, mean, trials_of
from fourhands.analysis.findings.conversations.talk import told_share
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study
from fourhands.model.agreement import Estimate
from fourhands.model.condition import Condition
from fourhands.model.objection import ObjectionKind
from fourhands.model.outcome import Termination
from fourhands.model.price import Cost

__all__ = [
    "LEAST_KAPPA",
    "MOST",
    "Counts",
    "SimulatorPairRow",
    "SimulatorRow",
    "simulator_pair_table",
    "simulator_table",
]

MOST: Final[Mapping[str, float]] = {
    "leaks": 0.0,
    "early": 0.0,
    "invented": 0.01,
    "fallbacks": 0.1,
    "unheard": 0.1,
}
"""Per message, what a simulator may do at most before its runs are marked.

One leak, or one requirement said before its time, is too many: it changes what the agent knows. A name or number in a
hundred messages that nothing has is a false alarm's rate. Beyond a tenth of messages in fixed words, or of requests
without a reply, it is no longer that model's user.
"""
LEAST_KAPPA: Final = 0.6
"""κ of the verdicts of such pairs: with all of its interval below, results depend on who plays the user."""
_LEAST_PAIRS: Final = 10
"""With fewer, κ is of next to nothing, and where one side never varies its interval says so of nothing."""
_LEAST_TOLD: Final = 0.9
"""Mean share that two conversations have in common of what was said when the agent first wanted to end."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often something was held back, in wordings, and how often it went out, in messages."""

    blocked: int
    out: int


@dataclass(frozen=True, slots=True)
class SimulatorRow:
    """One simulator with one persona in one run, over all of its conversations that came to an end.

    ``leaks`` are words of the tests, the reference or the benchmark, and those of a user who obeys or speaks as the
    agent; ``early`` are words of requirements whose time has not come, and ``out_of_order`` requirements that were
    said in an earlier turn than one that they depend on; ``invented`` are names and numbers that nothing has;
    ``unsaid`` are messages that do not say what they were to say. ``told_at_will`` and ``told`` are mean shares of
    the requirements, ``covered`` the share of finished conversations in which everything was said (`full` coverage
    only). ``refused`` are wordings held back, and ``fallbacks`` messages in fixed words in their place; ``unheard``
    are requests without a reply; ``cost`` is of the user's model, mean a trial. ``over`` names what is over its
    threshold. Records of earlier versions tell no kinds: there these counts are 0.
    """

    run: str
    simulator: str
    persona: str
    disclosure: str
    coverage: str
    trials: int
    said: int
    leaks: Counts
    early: Counts
    out_of_order: int
    invented: Counts
    unsaid: Counts
    approved: Counts
    told_at_will: float | None
    told: float | None
    covered: float | None
    refused: int
    fallbacks: int
    unheard: int
    cost: Cost
    over: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SimulatorPairRow:
    """Conversations of the same task, agent and model with two simulators, or with one and the same again.

    ``same_verdict`` is the share of ``pairs`` with equal final verdicts, ``kappa`` Cohen's of them; ``told`` the mean
    share that both have in common of what either said when the agent first wanted to end (Jaccard's index),
    ``order`` the mean of Kendall's τ-b between the turns in which both said it. ``messages`` are means of both sides.
    ``identical`` is the share of pairs in which the same was said in the same turns, to the same verdict.
    """

    kind: Literal["two simulators", "again"]
    one: str
    other: str
    persona: str
    disclosure: str
    pairs: int
    tasks: int
    same_verdict: float | None
    kappa: Estimate | None
    told: float | None
    order: float | None
    messages: tuple[float | None, float | None]
    identical: float | None
    over: tuple[str, ...]


@kept
def simulator_table(study: Study) -> tuple[SimulatorRow, ...]:
    """One row per run, simulator, persona, disclosure and coverage, in order of appearance."""
    found: dict[tuple[str, Condition], list[Trial]] = defaultdict(list)
    for trial in _conversations(study):
        condition = Condition.parse(trial.condition)
        found[trial.run, _user_of(condition)].append(trial)
    return tuple(_row(run, user, trials) for (run, user), trials in found.items())


@kept
def simulator_pair_table(study: Study) -> tuple[SimulatorPairRow, ...]:
    """First of each two simulators, then of each one again, where there are such pairs."""
    trials = [trial for trial in _conversations(study) if trial.scored]
    return (*_of_two(trials), *_again(trials))


def _conversations(study: Study) -> Iterator[Trial]:
    return (trial for trial in trials_of(study) if trial.said is not None)


def _user_of(condition: Condition) -> Condition:
    """Who talks, whatever else happens in the trial."""
    return replace(
        Condition.parse("interactive"),
        simulator=condition.simulator,
        persona=condition.persona,
        disclosure=condition.disclosure,
        coverage=condition.coverage,
    )


def _row(run: str, user: Condition, trials: Sequence[Trial]) -> SimulatorRow:
    objected = [orjson.loads(trial.objected) for trial in trials if trial.objected]
    blocked, out = (_summed(each[side] for each in objected) for side in ("blocked", "out"))
    ended = [trial for trial in trials if trial.termination == Termination.FINISHED]

    def counts(kind: ObjectionKind) -> Counts:
        return Counts(blocked[kind], out[kind])

    row = SimulatorRow(
        run=run,
        simulator=user.simulator,
        persona=user.persona,
        disclosure=user.disclosure,
        coverage=user.coverage,
        trials=len(trials),
        said=sum(trial.said or 0 for trial in trials),
        leaks=Counts(*(sum(each[name] for each in objected) for name in ("blocked_leaks", "leaks"))),
        early=counts(ObjectionKind.EARLY),
        out_of_order=sum(trial.out_of_order or 0 for trial in trials),
        invented=counts(ObjectionKind.INVENTED),
        unsaid=counts(ObjectionKind.UNSAID),
        approved=counts(ObjectionKind.APPROVES),
        told_at_will=mean(told_share(trial, trial.held_at_will) for trial in trials),
        told=mean(told_share(trial, trial.held) for trial in trials),
        covered=mean(float(not trial.held) for trial in ended) if user.coverage == "full" else None,
        refused=sum(trial.blocked or 0 for trial in trials),
        fallbacks=sum(trial.fallbacks or 0 for trial in trials),
        unheard=sum(each["unheard"] for each in objected),
        cost=Arm("", "", user.label, user.name.value, tuple(trials)).user_cost / len(trials),
        over=(),
    )
    return replace(row, over=tuple(_over(row)))


def _summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in counts:
        found.update(each)
    return found


def _over(row: SimulatorRow) -> Iterator[str]:
    """What is over its threshold, in words, with the number."""
    per_message = {
        "leaks": (row.leaks.out, "messages that leak"),
        "early": (row.early.out, "messages that say a requirement before its time"),
        "invented": (row.invented.out, "messages with inventions"),
        "fallbacks": (row.fallbacks, "messages in fixed words"),
        "unheard": (row.unheard, "requests without a reply"),
    }
    for name, (count, what) in per_message.items():
        if row.said and count / row.said > MOST[name]:
            yield f"{what}: {count} to {row.said}"
    if row.out_of_order:
        yield f"requirements said before one that they depend on: {row.out_of_order}"
    if row.covered is not None and row.covered < 1:
        yield f"not everything was said in {1 - row.covered:.0%} of the finished conversations"


type _Pair = tuple[Trial, Trial]


def _of_two(trials: Iterable[Trial]) -> Iterator[SimulatorPairRow]:
    """The same repeat of the same trial but for its simulator."""
    places: dict[tuple[object, ...], dict[str, Trial]] = defaultdict(dict)
    for trial in trials:
        condition = Condition.parse(trial.condition)
        rest = replace(condition, simulator="*").label
        place = (trial.task, trial.agent, trial.model, rest, trial.repeat)
        places[place][condition.simulator] = trial
    found: dict[tuple[str, str, str, str], list[_Pair]] = defaultdict(list)
    for by_simulator in places.values():
        for one, other in combinations(sorted(by_simulator), 2):
            pair = by_simulator[one], by_simulator[other]
            found[one, other, *_manner(pair[0])].append(pair)
    for key, pairs in found.items():
        yield _pair_row("two simulators", *key, pairs)


def _again(trials: Iterable[Trial]) -> Iterator[SimulatorPairRow]:
    """Each two repeats of the same trial."""
    places: dict[tuple[object, ...], list[Trial]] = defaultdict(list)
    for trial in trials:
        places[trial.task, trial.agent, trial.model, trial.condition].append(trial)
    found: dict[tuple[str, str, str], list[_Pair]] = defaultdict(list)
    for repeats in places.values():
        for pair in combinations(sorted(repeats, key=lambda trial: trial.repeat), 2):
            found[pair[0].simulator or "", *_manner(pair[0])].append(pair)
    for (simulator, persona, disclosure), pairs in found.items():
        yield _pair_row("again", simulator, simulator, persona, disclosure, pairs)


def _manner(trial: Trial) -> tuple[str, str]:
    """What both of a pair have in common beside the trial: persona and disclosure."""
    condition = Condition.parse(trial.condition)
    return condition.persona, condition.disclosure


def _pair_row(  # noqa: PLR0917 - as a row begins
    kind: Literal["two simulators", "again"],
    one: str,
    other: str,
    persona: str,
    disclosure: str,
    pairs: Sequence[_Pair],
) -> SimulatorPairRow:
    turns = [(_turns(a), _turns(b)) for a, b in pairs]
    row = SimulatorPairRow(
        kind=kind,
        one=one,
        other=other,
        persona=persona,
        disclosure=disclosure,
        pairs=len(pairs),
        tasks=len({a.task for a, _ in pairs}),
        same_verdict=mean(float(a.resolved == b.resolved) for a, b in pairs),
        kappa=_kappa(pairs),
        told=mean(_in_common(a, b) for a, b in turns),
        order=mean(_order(a, b) for a, b in turns),
        messages=(mean(a.said for a, _ in pairs), mean(b.said for _, b in pairs)),
        identical=mean(
            float(a == b and x.resolved == y.resolved) for (a, b), (x, y) in zip(turns, pairs, strict=True)
        ),
        over=(),
    )
    return replace(row, over=tuple(_apart(row)))


def _apart(row: SimulatorPairRow) -> Iterator[str]:
    kappa = row.kappa if row.pairs >= _LEAST_PAIRS else None
    if kappa is not None and kappa.high is not None and kappa.high < LEAST_KAPPA:
        yield f"κ of the verdicts is {kappa.value:.2f}, its 95 % interval below {LEAST_KAPPA}"
    if row.kind == "again" and row.told is not None and row.told < _LEAST_TOLD:
        yield f"of what was said only {row.told:.0%} is the same again"


def _turns(trial: Trial) -> Mapping[str, int | None]:
    """What had been said when the agent first wanted to end, each with its turn."""
    fates: list[dict[str, Any]] = orjson.loads(trial.fates_at_will or "[]")
    return {fate["requirement"]: fate["turn"] for fate in fates if fate["told"]}


def _in_common(one: Mapping[str, object], other: Mapping[str, object]) -> float | None:
    either = one.keys() | other.keys()
    return len(one.keys() & other.keys()) / len(either) if either else None


def _order(one: Mapping[str, int | None], other: Mapping[str, int | None]) -> float | None:
    """Kendall's τ-b; ``None`` where too little was said by both, or all of it at once."""
    from scipy.stats import kendalltau  # noqa: PLC0415 - takes a second, and only tables need it

    both = sorted(one.keys() & other.keys())
    ranks = [[turns[name] or 0 for name in both] for turns in (one, other)]
    if any(len(set(each)) < 2 for each in ranks):  # noqa: PLR2004 - an order needs two
        return None
    return float(kendalltau(*ranks).statistic)


def _kappa(pairs: Sequence[_Pair]) -> Estimate | None:
    from fourhands.analysis.statistics.agreement import cohen_kappa  # noqa: PLC0415 - as above
    from fourhands.analysis.statistics.agreement_tables import Question, Seen  # noqa: PLC0415

    verdicts = [(a.task, int(bool(a.resolved)), int(bool(b.resolved))) for a, b in pairs]
    firsts = Counter(first for _, first, _ in verdicts)
    question = Question(
        items=[Seen("", *each) for each in verdicts],
        population={("", answer): float(n) for answer, n in firsts.items()},
        categories=2,
    )
    return cohen_kappa([question])
