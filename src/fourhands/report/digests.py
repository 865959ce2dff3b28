"""Attempts -> tidy tables, read by all processors; what was read of a large run before is kept beside it.

RUN/.tables/KEY/{trials,interventions,lines}.parquet holds what was made of the records by this code, with these
prices; each trial with the sizes and times of its files, so that one that has changed is read anew. It may be
removed at any time.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from fourhands.analysis.digest import Digest, Subject, digest
from fourhands.analysis.tidy import Tables, concat, polars_schema
from fourhands.model.audit import Opinion
from fourhands.model.errors import InputError
from fourhands.model.judgement import Judgements
from fourhands.model.price import PriceTable
from fourhands.report.code_digest import code_digest
from fourhands.report.pool import in_batches
from fourhands.report.record_stamp import record_stamp
from fourhands.report.sources import OwnTrial
from fourhands.trajectories.ablations import read_ablation
from fourhands.trajectories.audits import opinions_of
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.judgements import judgements_of
from fourhands.trajectories.run_folder import Attempt, attempts_in, last_ended

__all__ = ["digested"]

_FOLDER: Final = ".tables"
_STAMP: Final = "stamp"
_KEPT_FROM: Final = 300
"""A run of fewer trials is read in less time than what is kept of it."""
_CODE: Final = ("analysis", "language", "model", "touch", "trajectories")
"""What makes tables: what other code made is not read."""


def digested(
    run: Path, trials: Sequence[OwnTrial], prices: PriceTable, done: Callable[[int], None] = lambda _: None
) -> Tables:
    """The tables of a run's trials, in their order."""
    keep = len(trials) >= _KEPT_FROM
    place = run / _FOLDER / _key(prices)
    stamps = {trial.subject.key.slug: _stamp(trial) for trial in trials} if keep else {}
    known = _read(place, stamps) if keep else Tables.of()
    have = set(known.trials["trial"])
    new = [
        _Work(trial.subject, trial.folder, prices) for trial in trials if trial.subject.key.slug not in have
    ]
    made = concat(in_batches(_digest_all, new, done=lambda count: done(len(have) + count)))
    tables = concat([known, made])
    if have and new:
        order = {trial.subject.key.slug: place for place, trial in enumerate(trials)}
        tables = _sorted(tables, order)
    if keep and new:
        _write(place, tables, stamps)
    return tables


@dataclass(frozen=True, slots=True)
class _Work:
    subject: Subject
    folder: Path
    prices: PriceTable


def _digest_all(batch: tuple[_Work, ...]) -> Tables:
    made = [_digest(work) for work in batch]
    return Tables.of(
        (each.trial for each in made),
        (row for each in made for row in each.interventions),
        (row for each in made for row in each.lines),
    )


def _digest(work: _Work) -> Digest:
    attempts = attempts_in(work.folder)
    attempt = last_ended(attempts)
    if attempt is None:
        return Digest(work.subject.row() | {"record_problems": _problems(attempts)})
    read = attempt.read()
    problems = list(read.problems)
    blobs = _Blobs(attempt.blobs)
    ablation, judgements, opinions = None, list[Judgements](), list[Opinion]()
    try:
        ablation = read_ablation(attempt)
    except InputError as error:
        problems.append(str(error))
    try:
        judgements = judgements_of(attempt)
    except InputError as error:
        problems.append(str(error))
    try:
        opinions = opinions_of(attempt)
    except InputError as error:
        problems.append(str(error))
    try:
        found = digest(
            work.subject,
            attempt.number,
            read.events,
            blobs.get,
            ablation=ablation,
            judgements=judgements,
            opinions=opinions,
            prices=work.prices,
        )
    except Exception as error:  # noqa: BLE001 - one record that nobody foresaw must not hide all others
        problems.append(f"{attempt.events_path}: cannot be analysed: {type(error).__name__}: {error}")
        found = Digest(work.subject.row())
    if blobs.missing:
        problems.append(f"{attempt.path / 'blobs'}: {blobs.missing} blobs are missing or spoiled")
    found.trial["record_problems"] = problems
    return found


def _problems(attempts: Iterable[Attempt]) -> list[str]:
    """Of a trial without an attempt that ended: what its last record says of itself."""
    last = list(attempts)[-1:]
    return [problem for attempt in last for problem in attempt.read().problems]


class _Blobs:
    """Reads blobs; one that cannot be read is empty, and counted."""

    def __init__(self, store: BlobStore) -> None:
        self._store = store
        self.missing = 0

    def get(self, digest: str) -> bytes:
        try:
            return self._store.get(digest)
        except (OSError, zlib.error, ValueError):
            self.missing += 1
            return b""


def _stamp(trial: OwnTrial) -> str:
    """What changes when anything changes that a trial's rows are made of."""
    parts = [hashlib.sha256(repr(trial.subject).encode()).hexdigest()[:16]]
    parts += [f"{attempt.path.name} {record_stamp(attempt)}" for attempt in attempts_in(trial.folder)]
    return " ".join(parts)


def _key(prices: PriceTable) -> str:
    return hashlib.sha256(f"{code_digest(*_CODE)} {prices!r}".encode()).hexdigest()[:32]


def _read(place: Path, stamps: dict[str, str]) -> Tables:
    """What is kept, of trials that have not changed since."""
    try:
        kept = {
            name: pl.read_parquet(place / f"{name}.parquet") for name in ("trials", "interventions", "lines")
        }
        same = pl.Series([stamps.get(t) == s for t, s in kept["trials"].select("trial", _STAMP).iter_rows()])
        trials = kept["trials"].filter(same).select(polars_schema("trials").names())
        parts = {
            name: kept[name].join(trials.select("trial"), on="trial", how="semi", maintain_order="left")
            for name in ("interventions", "lines")
        }
    except (OSError, pl.exceptions.PolarsError, TypeError):
        return Tables.of()  # none, or one that is spoiled: made anew
    return Tables(trials, **parts)


def _write(place: Path, tables: Tables, stamps: dict[str, str]) -> None:
    """Keep them; where the run's folder cannot be written, they are made again the next time."""
    temporary = place.with_name(f"{place.name}.{os.getpid()}")
    stamped = tables.trials.with_columns(
        pl.Series(_STAMP, [stamps[trial] for trial in tables.trials["trial"]], dtype=pl.String)
    )
    try:
        temporary.mkdir(parents=True, exist_ok=True)
        for name, table in (
            ("trials", stamped),
            ("interventions", tables.interventions),
            ("lines", tables.lines),
        ):
            table.write_parquet(temporary / f"{name}.parquet")
        for old in place.parent.iterdir():
            if old != temporary:
                shutil.rmtree(old, ignore_errors=True)
        temporary.rename(place)
    except OSError:
        shutil.rmtree(temporary, ignore_errors=True)


def _sorted(tables: Tables, order: dict[str, int]) -> Tables:
    def put(table: pl.DataFrame) -> pl.DataFrame:
        places = pl.Series("place", [order[trial] for trial in table["trial"]], dtype=pl.Int64)
        return table.with_columns(places).sort("place", maintain_order=True).drop("place")

    return Tables(put(tables.trials), put(tables.interventions), put(tables.lines))
