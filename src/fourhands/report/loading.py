"""Folders of runs -> a `Study`, or the table of all events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

import polars as pl

from fourhands.analysis.events_table import event_rows
from fourhands.analysis.study import RunInfo, Study
from fourhands.analysis.tidy import Tables, concat, frame
from fourhands.model.price import NO_PRICES, PriceTable
from fourhands.report.digests import digested
from fourhands.report.pool import in_batches
from fourhands.report.sources import OwnTrial, Source, find_sources
from fourhands.trajectories.run_folder import attempts_in, last_ended

__all__ = ["load_events", "load_study"]

_MOST_PROBLEMS: Final = 50
"""Records that are spoken of one by one."""


def load_study(
    paths: Sequence[Path],
    prices: PriceTable | None = None,
    *,
    done: Callable[[int, int], None] = lambda _done, _total: None,
) -> Study:
    """Read runs and Harbor jobs, each once, and each trial once.

    Args:
        paths: their folders.
        prices: by which costs are told; without it each run's own.
        done: is told how many trials of how many are read.

    Raises:
        InputError: one of the folders is neither.
    """
    sources, skipped = find_sources(paths, prices)
    total = sum(len(source.own) for source in sources)
    parts: list[Tables] = []
    before = 0

    def told(count: int) -> None:
        done(before + count, total)

    for source in sources:
        parts.append(_tables(source, told))
        before += len(source.own)
    tables = _combined(parts)
    skipped += chain.from_iterable(source.skipped for source in sources)
    skipped += _record_problems(tables.trials)
    tables_of_prices = list(dict.fromkeys(s.prices.name for s in sources if s.prices))
    if len(tables_of_prices) > 1:
        skipped.append(
            f"costs are told by several price tables ({', '.join(tables_of_prices)}): give one with --prices"
        )
    return Study(
        tables=tables,
        runs=tuple(_dated(source.info, tables.trials) for source in sources),
        skipped=tuple(skipped),
        prices=next((source.prices for source in sources if source.prices), prices or NO_PRICES),
    )


def load_events(paths: Sequence[Path]) -> pl.DataFrame:
    """The table ``events`` of the attempts that count. Raises as `load_study`."""
    sources, _ = find_sources(paths, NO_PRICES)
    trials = [trial for source in sources for trial in source.own]
    return pl.concat([frame("events", ()), *in_batches(_events, trials)])


def _events(batch: tuple[OwnTrial, ...]) -> pl.DataFrame:
    def rows() -> Iterable[dict[str, object]]:
        for trial in batch:
            if attempt := last_ended(attempts_in(trial.folder)):
                key = {"run": trial.subject.run, "trial": trial.subject.key.slug}
                yield from (key | row for row in event_rows(attempt.read().events))

    return frame("events", rows())


def _tables(source: Source, done: Callable[[int], None]) -> Tables:
    if source.foreign:
        return Tables.of(trial.row for trial in source.foreign)
    return digested(source.path, source.own, source.prices or NO_PRICES, done)


def _combined(parts: Sequence[Tables]) -> Tables:
    """All below each other; repeats of the same trial in several runs are numbered through."""
    tables = concat(parts)
    if len(parts) <= 1:
        return tables
    places = [part.trials.with_columns(pl.lit(place).alias("place")) for place, part in enumerate(parts)]
    trials = (
        pl.concat(places)
        .with_columns(
            pl.struct("place", "repeat")
            .rank("dense")
            .over("task", "agent", "model", "condition")
            .cast(pl.Int64)
            .alias("repeat")
        )
        .drop("place")
    )
    return replace(tables, trials=trials)


def _record_problems(trials: pl.DataFrame) -> list[str]:
    spoiled = trials["record_problems"].explode().drop_nulls().to_list()
    told = spoiled[:_MOST_PROBLEMS]
    if left := len(spoiled) - len(told):
        told.append(f"… and {left} more; fourhands results --table trials has them all (record_problems)")
    return told


def _dated(info: RunInfo, trials: pl.DataFrame) -> RunInfo:
    started = trials.filter(pl.col("run") == info.run)["started"].drop_nulls()
    first, last = started.min(), started.max()
    return replace(
        info, started=None if first is None else str(first), ended=None if last is None else str(last)
    )
