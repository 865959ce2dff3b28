"""A model that says why a trial failed; what it cannot show by events of the record is no answer."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from fourhands.judge.answers import Answered, Answers, Kind
from fourhands.judge.audit.blocks import RecordText
from fourhands.judge.audit.prompts import AUDIT_PROMPT_VERSION, audit_prompt
from fourhands.judge.prompts import HOW_TO_REPLY
from fourhands.model.audit import Audit, AuditName, Choice, Opinion, OpinionLabel
from fourhands.model.failure import FailureLabel
from fourhands.report.text import visible
from fourhands.tasks.cache import content_key
from fourhands.user.talking.asking_a_model import ModelClient
from fourhands.user.talking.consulting import Consultation, Form, consult

__all__ = ["OPINIONS", "Audited", "Auditor"]

OPINIONS: Final = Kind("opinion", Opinion, AUDIT_PROMPT_VERSION)
"""As which its answers are kept."""

_MOST_TOLD: Final = 3
"""Problems of one reply that the model is told of."""
_MOST_EVENTS: Final = 10
_MOST_WHY: Final = 1_000
_TASK: Final = 0
"""The event that begins a record. It shows what was wanted, and nothing of what came of it."""


def _number(value: object) -> object:
    """``"#12"`` and ``"[#12]"`` as the number that they are; a truth value is none, whatever Python takes it for."""
    if isinstance(value, bool):
        return "a truth value"
    return value.strip().strip("[]#") if isinstance(value, str) else value


class _Label(Form):
    label: str
    events: Annotated[list[Annotated[int, BeforeValidator(_number)]], Field(max_length=_MOST_EVENTS)]
    why: Annotated[str, Field(max_length=_MOST_WHY)]
    requirement: str | None = None


class _Labels(Form):
    labels: Annotated[list[_Label], Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class Audited:
    """An opinion; ``cached`` if it had been given before."""

    opinion: Opinion
    cached: bool


class Auditor:
    """Asks ``client`` why trials failed, and keeps what came back in ``answers``.

    ``provider`` is where the model is reached: another place may have another model of that name.
    """

    def __init__(self, client: ModelClient, answers: Answers[Opinion], *, provider: str = "") -> None:
        self._client = client
        self._answers = answers
        self._provider = provider

    @property
    def name(self) -> str:
        """As every number of its is marked: ``judge:MODEL``."""
        return f"judge:{self._client.model}"

    async def ask(self, audit: Audit, record: RecordText, said: Mapping[str, bool] | None = None) -> Audited:
        """Its opinion of one record. Never fails: where there is none, its ``problem`` says why.

        An opinion without a problem is kept, and not asked for again. It gives labels of the audit alone, as many as
        the audit asks for, each with events that the record shows, and, where the audit asks for one, requirements of
        ``said`` alone, which maps each to whether the agent was told it.
        """
        about = dict(said or {}) if audit.name is AuditName.SWE_INTERACT else {}
        prompt = audit_prompt(audit, record.text, tuple(about))
        key = self._key(audit, prompt, about)
        opinion, known = await self._answers.once(
            key, self.name, lambda: self._ask(key, audit, record, about, prompt)
        )
        return Audited(opinion, cached=known)

    def _key(self, audit: Audit, prompt: tuple[str, str], said: Mapping[str, bool]) -> str:
        form = json.dumps(_Labels.model_json_schema(), sort_keys=True)
        versions = f"{audit.name} {audit.version} {AUDIT_PROMPT_VERSION}"
        words = (part.encode("utf-8", "surrogatepass") for part in (*prompt, repr(said)))
        who = (self._provider, self._client.model)
        return content_key("opinion", versions, HOW_TO_REPLY, form, *who, *words)

    async def _ask(
        self,
        key: str,
        audit: Audit,
        record: RecordText,
        said: Mapping[str, bool],
        prompt: tuple[str, str],
    ) -> Answered[Opinion]:
        def objection(found: _Labels, _: tuple[str, ...]) -> str | None:
            problems = list(_problems(audit, found.labels, record, said))
            return "; ".join(problems[:_MOST_TOLD]) or None

        asked = await consult(self._client, prompt, _Labels, purpose="auditing", objection=objection)
        opinion = Opinion(
            audit=audit.name,
            audit_version=audit.version,
            judge=self.name,
            prompt_version=AUDIT_PROMPT_VERSION,
            key=key,
            labels=tuple(map(_label, asked.found.labels)) if asked.found else (),
            left_out=record.left_out,
            problem=None if asked.found else _why(asked),
            usage=asked.consulted.usage,
        )
        return Answered(opinion, asked.consulted.exchanges, asked.found is not None)


def _problems(
    audit: Audit, labels: Sequence[_Label], record: RecordText, said: Mapping[str, bool]
) -> Iterator[str]:
    if audit.choice is Choice.ONE and len(labels) != 1:
        yield f"labels must hold exactly one label, and holds {len(labels)}"
    for (name, requirement), times in Counter((each.label, each.requirement) for each in labels).items():
        if times > 1:
            yield f"{name!r} is given {times} times{f' of {requirement}' if requirement else ''}: once is enough"
    for each in labels:
        yield from _problems_of(each, audit, record, said)


def _problems_of(label: _Label, audit: Audit, record: RecordText, said: Mapping[str, bool]) -> Iterator[str]:
    name = label.label[:80]
    if label.label not in audit.names:
        yield f"there is no label {name!r}: the labels are {', '.join(f'"{each}"' for each in audit.names)}"
        return
    if not label.events:
        yield f"{name!r} names no events: name what shows it"
    if wrong := [number for number in label.events if number not in record.shown]:
        yield f"{name!r}: the record shows no block #{wrong[0]}"
    elif set(label.events) == {_TASK}:
        yield f"{name!r}: #{_TASK} alone shows what was wanted, and nothing of what came of it"
    if not label.why.strip():
        yield f"{name!r}: why is empty"
    if label.requirement is not None and label.requirement not in said:
        known = f"the ids are {', '.join(said)}" if said else "it must be null"
        yield f"{name!r}: there is no requirement {label.requirement[:80]!r}: {known}"
    if label.label == FailureLabel.MISSING and said.get(label.requirement or ""):
        yield f"{name!r}: the user said {label.requirement}, and the agent got it"


def _label(label: _Label) -> OpinionLabel:
    why = " ".join(visible(label.why).split())
    return OpinionLabel(label.label, tuple(sorted(set(label.events))), why, label.requirement)


def _why(asked: Consultation[_Labels]) -> str:
    rejected = asked.consulted.rejected
    reason = rejected[-1].reason if rejected else "it was not asked"
    return f"the judge gave no answer of use ({len(rejected)} tries): {reason.removeprefix('auditing: ')}"
