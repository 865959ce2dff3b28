"""The released SWE-Touch record format: read, checked, and turned into what the touching user plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fourhands.model.errors import InputError
from fourhands.model.intervention import Delivery, Intervention, Trigger, TriggerEvent
from fourhands.model.text import LineRange, Region
from fourhands.tasks.folder import problems
from fourhands.user.message_claims import claims_change
from fourhands.user.message_talk import betrays_mistake

__all__ = [
    "NotApplicable",
    "Record",
    "change_message",
    "co_edit_interventions",
    "counter_edit_interventions",
    "load_record",
    "read_records",
]


class _Part(BaseModel):
    """Further fields of a release are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")


class RecordRegion(_Part):
    """Lines ``start_line``..``end_line`` of ``path``, 1-based and inclusive, at the base commit."""

    path: str = Field(min_length=1)
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)

    @model_validator(mode="after")
    def _is_in_order(self) -> RecordRegion:
        if self.end_line < self.start_line:
            raise ValueError(f"end_line {self.end_line} comes before start_line {self.start_line}")
        return self

    def region(self) -> Region:
        """The same as a ``Region``."""
        return Region(self.path, LineRange(self.start_line, self.end_line))


class RecordPatch(_Part):
    """A user's edit. Pro and DeepSWE records have no ``user_claim`` and no ``plausibility``."""

    id: str = Field(min_length=1)
    diff: str = Field(pattern=r"^diff --git ")
    user_claim: str | None = None
    mistaken_belief: str | None = None
    plausibility: str | None = None
    expected_failure: str | None = None
    target_regions: tuple[RecordRegion, ...] = ()


class RecordTrigger(_Part):
    """When an intervention comes."""

    event: Literal["read", "edit", "read_or_edit"]
    regions: tuple[RecordRegion, ...]
    max_triggers: int = Field(ge=1)

    def trigger(self) -> Trigger:
        """The same as a ``Trigger``."""
        return Trigger(TriggerEvent(self.event), tuple(region.region() for region in self.regions))


class RecordIntervention(_Part):
    """One intervention; without a patch it is a message alone.

    ``message``, which the released records do not have, are the user's exact words.
    """

    order: int = Field(ge=1)
    delivery: Delivery
    trigger: RecordTrigger
    patch: RecordPatch | None = None
    message: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _has_its_patch(self) -> RecordIntervention:
        if (self.patch is None) != (self.delivery is Delivery.MESSAGE_ONLY):
            raise ValueError(
                f"delivery {self.delivery} does not fit: patch is {self.patch and self.patch.id}"
            )
        return self


class CheckedEdit(_Part):
    """What validation found; Pro and DeepSWE keep the details with each intervention."""

    status: str


class CounterEdit(_Part):
    """The Counter-Edit, with its schedule."""

    mode: Literal["patch", "text_only"]
    max_interventions: int = Field(ge=1)
    interventions: tuple[RecordIntervention, ...] = Field(min_length=1)
    validation: CheckedEdit


class CoEdit(_Part):
    """The Co-Edit; without a patch it is a hint at a region."""

    mode: Literal["patch", "region_hint"]
    max_interventions: int = Field(ge=1)
    trigger_event: TriggerEvent
    target_regions: tuple[RecordRegion, ...]
    patch: RecordPatch | None = None
    validation: CheckedEdit


class Controls(_Part):
    """Edits to compare with."""

    helpful_edit: CoEdit | None = None


class Record(_Part):
    """One record: a task's critical regions, its Counter-Edit and its controls."""

    schema_version: Literal["1.0.0"]
    benchmark: Literal["swe_bench_verified", "swe_bench_pro", "deepswe", "fourhands"]
    instance_id: str = Field(min_length=1)
    task_critical_regions: tuple[RecordRegion, ...]
    counter_edit: CounterEdit
    controls: Controls = Controls()

    @property
    def status(self) -> str:
        """What the Counter-Edit's validation found: ``validated_counter_edit`` or why not."""
        return self.counter_edit.validation.status


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A condition that a record does not offer, and why: counted, never expected."""

    reason: str


def load_record(path: Path) -> Record:
    """The record in a JSON file.

    Raises:
        InputError: it is none; the message names the file and the field.
    """
    return _parsed(path.read_bytes(), str(path))


def read_records(path: Path) -> Iterator[Record]:
    """The records of a JSONL file, one by one. Raises as ``load_record``, with the line's number."""
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield _parsed(line, f"{path}, line {number}")


def counter_edit_interventions(
    record: Record, k: int, delivery: Delivery = Delivery.PATCH_AND_MESSAGE
) -> tuple[Intervention, ...] | NotApplicable:
    """Up to ``k`` interventions, in the record's order; beyond its list the last one repeats.

    Without the edit, or the words, that ``delivery`` needs, the record does not offer the condition.
    """
    listed = sorted(record.counter_edit.interventions, key=lambda each: each.order)
    schedule = (listed + listed[-1:] * max(0, k - len(listed)))[:k]
    planned = [
        _planned(f"counter-edit-{number}", each.trigger.trigger(), each.patch, each.message, delivery)
        for number, each in enumerate(schedule, 1)
    ]
    if missing := [each for each in planned if isinstance(each, NotApplicable)]:
        return NotApplicable(f"{record.instance_id}: its Counter-Edit {missing[0].reason}")
    return tuple(
        replace(each, message=None) if asked.delivery is Delivery.PATCH_ONLY and each.patch else each
        for asked, each in zip(schedule, planned, strict=True)
        if isinstance(each, Intervention)
    )


def co_edit_interventions(
    record: Record, delivery: Delivery = Delivery.PATCH_AND_MESSAGE
) -> tuple[Intervention, ...] | NotApplicable:
    """The one intervention of the Co-Edit, if the record has one with what ``delivery`` needs."""
    helpful = record.controls.helpful_edit
    if helpful is None:
        return NotApplicable(f"{record.instance_id}: the record has no Co-Edit")
    trigger = Trigger(helpful.trigger_event, tuple(region.region() for region in helpful.target_regions))
    planned = _planned("co-edit-1", trigger, helpful.patch, None, delivery)
    if isinstance(planned, NotApplicable):
        return NotApplicable(f"{record.instance_id}: its Co-Edit ({helpful.mode}) {planned.reason}")
    return (planned,)


def change_message(claim: str | None) -> str:
    """One fixed form for an edit, so that no two agents are told differently; ``claim`` is a whole sentence."""
    return " ".join(
        filter(None, ("I made a change in the code while you were working.", claim, "Please build on it."))
    )


def _planned(
    identifier: str, trigger: Trigger, patch: RecordPatch | None, words: str | None, delivery: Delivery
) -> Intervention | NotApplicable:
    if delivery is Delivery.MESSAGE_ONLY or patch is None:
        belief = words if words and not claims_change(words) else _belief(patch) if patch else None
        if delivery is Delivery.PATCH_ONLY:
            return NotApplicable("has no patch")
        if belief is None:
            return NotApplicable(
                "has neither a patch nor words" if patch is None else "has no belief to speak of"
            )
        return Intervention(identifier, trigger, None, belief)
    message = words or change_message(patch.user_claim or patch.mistaken_belief)
    return Intervention(
        identifier, trigger, patch.diff.encode(), None if delivery is Delivery.PATCH_ONLY else message
    )


def _belief(patch: RecordPatch) -> str | None:
    """What the user thinks, without an edit to speak of: never words that claim one, or that call it mistaken."""
    thoughts = (patch.mistaken_belief, patch.user_claim)
    thought = next(
        (each for each in thoughts if each and not (claims_change(each) or betrays_mistake(each))), None
    )
    return f"A thought on the code you are at: {thought} Please go by that." if thought else None


def _parsed(data: bytes, where: str) -> Record:
    try:
        return Record.model_validate_json(data)
    except ValidationError as error:
        raise InputError(f"{where}: {problems(error)}") from error
