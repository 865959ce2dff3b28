"""The key of a sheet, ``key.json``: which item is of which trial. Schema 1; nothing for annotators.

It also names the whole population that the items were drawn of, by stratum, for without it nobody could tell how much
an item stands for.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fourhands.model.audit import AUDITS, Audit, AuditName
from fourhands.model.errors import InputError, MissingError
from fourhands.trajectories.run_folder import RunFolder, write_atomically

__all__ = [
    "KEY_FILE",
    "Key",
    "KeyEntry",
    "KeyRun",
    "Sampled",
    "read_key",
    "see_that_sheet_can_be",
    "write_key",
]

KEY_FILE: Final = "key.json"
_NOTE: Final = (
    "Not for annotators: it says whose work each item is. They need sheet.html, or sheet.csv with it."
)

Sampled = Literal["all", "random", "stratified"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeyRun(_Strict):
    """A run, and where it is from the sheet's folder."""

    run: str
    path: str


class KeyEntry(_Strict):
    """One item of the population.

    Attributes:
        run: its place in the key's runs.
        trial: the trial's folder.
        attempt: its number.
        task: of the trial.
        stratum: that it was drawn from.
        left: whether execution and events left anything of it open then; ``None`` of `goals`: they decide nothing.
        checkpoint: whose plan or code is asked about; of `goals` alone.
        goal: of the ledger; likewise.
        item: its name in the sheet, if it was drawn.
        record: a hash of the attempt's events as they were then; likewise.
        left_out: characters of it that people were not shown; likewise.
    """

    run: int
    trial: str
    attempt: int
    task: str
    stratum: str
    left: bool | None = None
    checkpoint: str | None = None
    goal: str | None = None
    item: str | None = None
    record: str | None = None
    left_out: int | None = None


class Key(_Strict):
    """All of a sheet but what it shows. ``by`` is the judge by whose answers it was drawn."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    note: str = _NOTE
    audit: AuditName
    audit_version: int
    sampled: Sampled
    by: str | None = None
    seed: int
    runs: tuple[KeyRun, ...]
    population: tuple[KeyEntry, ...]

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @property
    def digest(self) -> str:
        """Names the sheet by all that is in its key."""
        return hashlib.sha256(
            self.model_dump_json(by_alias=True).encode("utf-8", "surrogatepass")
        ).hexdigest()

    @property
    def drawn(self) -> tuple[tuple[int, str], ...]:
        """Of each item in the sheet, its place in the population and its name, in the order of the names."""
        found = [(place, entry.item) for place, entry in enumerate(self.population) if entry.item]
        return tuple(sorted(found, key=lambda each: each[1]))

    @property
    def counted(self) -> frozenset[int]:
        """Places in the population at which a judge's word counts."""
        return frozenset(
            place
            for place, entry in enumerate(self.population)
            if entry.left or self.audit is AuditName.GOALS
        )

    def showing(self, left_out: Mapping[str, int]) -> Key:
        """The same, with how much of each item, by its name, people are not shown."""
        population = (
            entry.model_copy(update={"left_out": left_out[entry.item]}) if entry.item else entry
            for entry in self.population
        )
        return self.model_copy(update={"population": tuple(population)})


def see_that_sheet_can_be(folder: Path, key: Key) -> None:
    """See that no other sheet is in ``folder``: answers to it would be answers to nothing.

    Raises:
        InputError: there is one, or what looks like one.
    """
    try:
        is_same = Key.model_validate_json((folder / KEY_FILE).read_bytes()) == key
    except FileNotFoundError:
        is_same = not any((folder / name).exists() for name in ("sheet.csv", "sheet.html"))
    except ValidationError:
        is_same = False
    if not is_same:
        raise InputError(
            f"{folder}: holds another sheet: choose another folder, or remove it with its answers"
        )


def write_key(folder: Path, key: Key) -> None:
    """Write a sheet's key, whole or not at all."""
    text = key.model_dump_json(by_alias=True, exclude_none=True, indent=1)
    write_atomically(folder / KEY_FILE, text.encode("utf-8", "surrogatepass") + b"\n")


def read_key(folder: Path) -> tuple[Key, Audit, list[RunFolder]]:
    """The key of the sheet in ``folder``, its audit, and its runs.

    Raises:
        InputError: there is none, or it is not one, or the audit's question has changed since.
        MissingError: a run is not where it was; says how to name its place.
    """
    path = folder / KEY_FILE
    try:
        key = Key.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{folder} is no sheet: it has no {KEY_FILE}; fourhands audit sheet makes one"
        ) from None
    except ValidationError as error:
        raise InputError(f"{path}: {error}; bring back the file as it was written") from None
    audit = AUDITS[key.audit]
    if key.audit_version != audit.version:
        raise InputError(
            f"{path}: audit_version: the sheet asks version {key.audit_version} of the question of {key.audit}, "
            f"which is now version {audit.version}: draw another sheet"
        )
    return key, audit, [_run(folder, each, path) for each in key.runs]


def _run(folder: Path, run: KeyRun, key: Path) -> RunFolder:
    found = RunFolder(Path(os.path.normpath(folder / run.path)))
    if not found.plan_path.exists():
        raise MissingError(
            f"{key}: run {run.run} is not at {found.path} any more: bring it back, or write its place, from the "
            "sheet's folder, into the key's runs"
        )
    if (known := found.plan().run_id) != run.run:
        raise InputError(f"{key}: {found.path} is run {known}, and not {run.run}, of which the sheet is")
    return found
