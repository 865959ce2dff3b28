"""What was run, as a reader looks it up: agents, models, tasks, conditions, settings, prices, packages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from fourhands.analysis.study import RunInfo, Study, TaskInfo

__all__ = ["Fact", "RunFacts", "run_facts"]

_UNTOLD: Final = frozenset({"api_key_env", "user_api_key_env"})
"""Settings that tell nothing of what was measured."""
_SHOWN: Final = 12
"""Names that are shown at once; of more, the first ones and how many there are."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what there is to say of it, in one or several words."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run. ``details`` are lists to be opened: their title, and what they hold."""

    name: str
    facts: tuple[Fact, ...]
    details: tuple[tuple[str, tuple[Fact, ...]], ...]


def run_facts(study: Study) -> tuple[RunFacts, ...]:
    """Of each run of a study."""
    return tuple(_facts(study, run) for run in study.runs)


def _facts(study: Study, run: RunInfo) -> RunFacts:
    import polars as pl  # noqa: PLC0415 - heavy, and only a report needs it

    trials = study.tables.trials.filter(pl.col("run") == run.run)

    def distinct(column: str) -> list[str]:
        return [str(each) for each in trials[column].drop_nulls().unique(maintain_order=True)]

    agents = [f"{name} {run.agents.get(name, '')}".strip() for name in distinct("agent")]
    inapplicable = trials.height - int(trials["applicable"].sum() or 0)
    scored = int(trials["scored"].sum() or 0)
    counts = f"{trials.height:,} planned, {scored:,} scored" + (
        f", {inapplicable:,} not applicable" if inapplicable else ""
    )
    benchmarks = distinct("benchmark")
    facts = (
        Fact("run", (f"{PurePath(run.path).name} ({run.run})" if run.kind == "run" else run.run,)),
        Fact(_plural("agent", agents), _first(agents)),
        Fact(_plural("model", distinct("model")), _first(distinct("model"))),
        Fact(_plural("condition", distinct("condition")), _first(distinct("condition"))),
        Fact(
            "tasks", (f"{len(distinct('task')):,}" + (f" of {', '.join(benchmarks)}" if benchmarks else ""),)
        ),
        Fact("repeats", (str(run.repeats),)),
        Fact("trials", (counts,)),
        *([Fact("seed", (str(run.settings["seed"]),))] if "seed" in run.settings else []),
        *([Fact("price table", (study.prices.name,))] if study.prices.prices else []),
        *([Fact("started", _times(run))] if run.started else []),
    )
    details = (
        ("Tasks", tuple(map(_task, run.tasks))),
        ("Settings", tuple(_settings(run.settings))),
        ("Packages", tuple(Fact(name, (version,)) for name, version in sorted(run.packages.items()))),
        ("Prices, US dollars for a million tokens", _prices(study, distinct("model"))),
    )
    kind = PurePath(run.path).name if run.kind == "run" else f"{run.run} (a job of Harbor)"
    return RunFacts(kind, facts, tuple((title, found) for title, found in details if found))


def _plural(name: str, found: list[str]) -> str:
    return name if len(found) == 1 else f"{name}s"


def _first(names: list[str]) -> tuple[str, ...]:
    left = len(names) - _SHOWN
    return (*names[:_SHOWN], f"… and {left} more") if left > 0 else tuple(names)


def _times(run: RunInfo) -> tuple[str, ...]:
    def told(time: str) -> str:
        return f"{time[:10]} {time[11:16]} UTC"

    assert run.started
    return (told(run.started), *([f"last trial {told(run.ended)}"] if run.ended else []))


def _task(task: TaskInfo) -> Fact:
    known = [each for each in (task.benchmark, task.record_status) if each]
    return Fact(task.name, (*known, f"digest {task.digest[:12]}"))


def _settings(settings: Mapping[str, Any]) -> Iterable[Fact]:
    for name, value in settings.items():
        if name not in _UNTOLD and value not in (None, {}, []):
            words = [f"{key}: {each}" for key, each in value.items()] if isinstance(value, dict) else [value]
            yield Fact(name.replace("_", " "), tuple(_told(word) for word in words))


def _told(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _prices(study: Study, models: Iterable[str]) -> tuple[Fact, ...]:
    found = ((model, study.prices.price_of(model)) for model in models)
    return tuple(
        Fact(
            model,
            (
                f"input {price.rates.input}",
                *([f"cached {price.rates.cache_read}"] if price.rates.cache_read is not None else []),
                f"output {price.rates.output}",
                f"{price.source}, {price.date}",
            ),
        )
        for model, price in found
        if price is not None
    )
