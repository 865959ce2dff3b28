"""How the user behaves in a trial: a condition, its parameters, and the label that says both."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, Literal

from fourhands.model.intervention import COUNTED, Delivery, TriggerEvent
from fourhands.model.persona import Disclosure
from fourhands.model.user import ACTION_MOMENTS, Moment

__all__ = [
    "DEFAULT_K",
    "DEFAULT_PERSONA",
    "GROUNDED",
    "TALK_PARAMETERS",
    "Condition",
    "ConditionName",
    "Coverage",
    "EditSource",
    "MessageSource",
    "NeutralKind",
    "TriggerChoice",
]

DEFAULT_K: Final = 3
"""Interventions a trial, at most: the SWE-Touch paper's."""

GROUNDED: Final = "grounded"
"""The talking user without a model: executable checks, and the persona's own sentences."""
DEFAULT_PERSONA: Final = "nitpicker"
"""The SWE-Interact paper's."""

MessageSource = Literal["fixed", "live"]
NeutralKind = Literal["rename", "comment", "reformat"]
Coverage = Literal["full", "at-will"]
"""Whether an agent that stops while requirements are held is told them in one last message, and may go on."""


class ConditionName(StrEnum):
    """How the user behaves in a trial."""

    VANILLA = "vanilla"
    COUNTER_EDIT = "counter-edit"
    CO_EDIT = "co-edit"
    NEUTRAL_EDIT = "neutral-edit"
    MESSAGE_ONLY = "message-only"
    EDIT_ONLY = "edit-only"
    SINGLE_TURN = "single-turn"
    INTERACTIVE = "interactive"
    FOUR_HANDS = "four-hands"


class EditSource(StrEnum):
    """Whose edit it is that the user makes, or speaks of."""

    COUNTER_EDIT = "counter-edit"
    CO_EDIT = "co-edit"
    NEUTRAL_EDIT = "neutral-edit"


_DELIVERIES: Final = {
    ConditionName.MESSAGE_ONLY: Delivery.MESSAGE_ONLY,
    ConditionName.EDIT_ONLY: Delivery.PATCH_ONLY,
}
_UNTOUCHED: Final = frozenset({ConditionName.VANILLA, ConditionName.SINGLE_TURN, ConditionName.INTERACTIVE})
_TALKING: Final = frozenset({ConditionName.INTERACTIVE, ConditionName.FOUR_HANDS})
TALK_PARAMETERS: Final = ("simulator", "persona", "disclosure", "coverage")
"""Those of conditions whose user talks."""


@dataclass(frozen=True, slots=True)
class TriggerChoice:
    """A trigger in place of the record's own.

    ``at`` are the counts of a `step` or `elapsed` trigger, one for each intervention, of which the last serves all
    further ones; `progress` has none: intervention i of K comes at i/(K+1) of the task's steps.
    """

    event: TriggerEvent
    at: tuple[float, ...] = ()

    def __str__(self) -> str:
        return f"{self.event}:{'+'.join(map(_exact, self.at))}" if self.at else str(self.event)

    @classmethod
    def parse(cls, text: str) -> TriggerChoice:
        """Read ``edit``, ``progress``, ``step:5+12``, ``elapsed:60``.

        Raises:
            ValueError: it is none of these; says what there is.
        """
        name, colon, counts = text.partition(":")
        if name not in list(TriggerEvent):
            raise ValueError(f"unknown trigger {text!r}: choose from {', '.join(TriggerEvent)}")
        event = TriggerEvent(name)
        takes_counts = event in COUNTED and event is not TriggerEvent.PROGRESS
        if takes_counts and not re.fullmatch(r"\d+(\.\d+)?(\+\d+(\.\d+)?)*", counts):
            raise ValueError(f"trigger {text!r} needs its counts: {event}:10, or {event}:10+20+30")
        if colon and not takes_counts:
            raise ValueError(f"trigger {text!r}: {event} takes no counts")
        return cls(event, tuple(float(each) for each in counts.split("+")) if takes_counts else ())


def _exact(count: float) -> str:
    """Read back as the same number; whole ones without a point, and none with an exponent."""
    return str(int(count)) if count == int(count) else f"{count:.15f}".rstrip("0")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition with its parameters.

    ``k`` is the most interventions a trial may see. ``trigger`` takes the place of the record's triggers. ``moment``
    is when the user acts. ``message`` says whether a model puts the user's messages into words. ``of`` is whose edit
    `message-only` and `edit-only` are about. ``kind`` of neutral edit; without it the first that is possible.

    Of the talking user: ``simulator`` is the model that plays it, or `GROUNDED`; ``persona`` is a name or a file;
    ``disclosure`` says who decides what is said; ``coverage`` what happens to what was not.
    """

    name: ConditionName
    k: int = DEFAULT_K
    trigger: TriggerChoice | None = None
    moment: Moment = Moment.AFTER_ACTION
    message: MessageSource = "fixed"
    of: EditSource = EditSource.COUNTER_EDIT
    kind: NeutralKind | None = None
    simulator: str = GROUNDED
    persona: str = DEFAULT_PERSONA
    disclosure: Disclosure = "ledger"
    coverage: Coverage = "full"

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing for the condition.

        Raises:
            ValueError: names the parameter.
        """
        given = {f.name for f in fields(self) if f.name != "name" and getattr(self, f.name) != f.default}
        if wrong := sorted(given - self.takes):
            takes = f"it takes {', '.join(sorted(self.takes))}" if self.takes else "it takes no parameters"
            raise ValueError(f"{self.name} has no use for {', '.join(wrong)}: {takes}")
        if self.k < 1:
            raise ValueError(f"k is {self.k}: it must be 1 or more")
        if self.delivery is Delivery.MESSAGE_ONLY and self.edit is EditSource.NEUTRAL_EDIT:
            raise ValueError("message-only of a neutral-edit: without its edit there is nothing to say")
        if self.disclosure == "prompt" and self.simulator == GROUNDED:
            raise ValueError("disclosure=prompt leaves all to a model: name one with simulator=MODEL")

    @property
    def talks(self) -> bool:
        """Whether the user holds requirements, and says them in conversation."""
        return self.name in _TALKING

    @property
    def touches(self) -> bool:
        """Whether a touching user acts."""
        return self.name not in _UNTOUCHED

    @property
    def conflicts(self) -> bool:
        """Whether the user writes what stands against the task: an edit of theirs, and not words alone."""
        is_written = self.touches and self.delivery is not Delivery.MESSAGE_ONLY
        return is_written and self.edit is EditSource.COUNTER_EDIT

    @property
    def needs_ledger(self) -> bool:
        """Whether the task must have been made a conversation."""
        return self.talks or self.name is ConditionName.SINGLE_TURN

    @property
    def takes(self) -> frozenset[str]:
        """The parameters that mean something for the condition."""
        if not self.touches:
            return frozenset(TALK_PARAMETERS if self.talks else ())
        useless = dict.fromkeys(() if self.talks else TALK_PARAMETERS, True) | {
            "k": self.edit is EditSource.CO_EDIT,  # a co-edit is made once
            "of": self.name not in _DELIVERIES,
            "kind": self.edit is not EditSource.NEUTRAL_EDIT,
            "message": self.delivery is Delivery.PATCH_ONLY,
        }
        return frozenset(f.name for f in fields(self) if f.name != "name" and not useless.get(f.name))

    @property
    def delivery(self) -> Delivery:
        """What an intervention consists of."""
        return _DELIVERIES.get(self.name, Delivery.PATCH_AND_MESSAGE)

    @property
    def edit(self) -> EditSource:
        """Whose edit the user makes or speaks of; where they do not touch the code, whose they would have made."""
        if self.name in _DELIVERIES or not self.touches:
            return self.of
        return EditSource.COUNTER_EDIT if self.name is ConditionName.FOUR_HANDS else EditSource(self.name)

    @property
    def label(self) -> str:
        """The name and every non-default parameter: ``counter-edit[k=5,trigger=edit]``."""
        parameters = ",".join(
            f"{f.name}={getattr(self, f.name)}"
            for f in fields(self)
            if f.name != "name" and getattr(self, f.name) != f.default
        )
        return f"{self.name}[{parameters}]" if parameters else str(self.name)

    @classmethod
    def parse(cls, label: str) -> Condition:
        """Read a label.

        Raises:
            ValueError: the label names no condition, or an unknown or useless parameter; says which there are.
        """
        match = re.fullmatch(r"([a-z-]+)(?:\[([^\[\]]*)\])?", label.strip())
        if not match:
            raise ValueError(f"{label!r} is no condition: write NAME or NAME[parameter=value,…]")
        parameters: dict[str, str] = {}
        for part in filter(None, (match[2] or "").split(",")):
            name, equals, value = part.strip().partition("=")
            if not equals or name in parameters:
                raise ValueError(f"{label!r}: write each parameter once, as name=value")
            parameters[name] = value
        return cls.of_parameters(match[1], parameters)

    @classmethod
    def of_parameters(cls, name: str, parameters: Mapping[str, str]) -> Condition:
        """The condition ``name`` with parameters as text.

        Raises:
            ValueError: as `parse`.
        """
        if name not in list(ConditionName):
            raise ValueError(f"unknown condition {name!r}: choose from {', '.join(ConditionName)}")
        if unknown := sorted(set(parameters) - set(_READERS)):
            raise ValueError(f"{name}: unknown parameter {unknown[0]!r}: choose from {', '.join(_READERS)}")
        read = {
            each: _READERS[each](value)
            for each, value in parameters.items()
            if (each, value) != ("trigger", "record")  # the default, by name
        }
        return cls(ConditionName(name), **read)


def _one_of(name: str, choices: tuple[str, ...]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise ValueError(f"{name}={value}: choose from {', '.join(choices)}")
        return value

    return read


def _named(name: str) -> Callable[[str], str]:
    def read(value: str) -> str:
        if not value:
            raise ValueError(f"{name}=: say which")
        if wrong := set(value) & set(",[]"):
            raise ValueError(
                f"{name}={value}: a name in a condition's label has no {min(wrong)!r}: use another name"
            )
        return value

    return read


def _read_k(value: str) -> int:
    if not re.fullmatch(r"[1-9]\d*", value):
        raise ValueError(f"k={value}: it must be a whole number, 1 or more")
    return int(value)


_READERS: Final[dict[str, Callable[[str], Any]]] = {
    "k": _read_k,
    "trigger": TriggerChoice.parse,
    "moment": lambda value: Moment(_one_of("moment", ACTION_MOMENTS)(value)),
    "message": _one_of("message", ("fixed", "live")),
    "of": lambda value: EditSource(_one_of("of", tuple(EditSource))(value)),
    "kind": _one_of("kind", ("rename", "comment", "reformat")),
    "simulator": _named("simulator"),
    "persona": _named("persona"),
    "disclosure": _one_of("disclosure", ("ledger", "prompt")),
    "coverage": _one_of("coverage", ("full", "at-will")),
}
