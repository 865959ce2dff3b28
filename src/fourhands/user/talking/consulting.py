"""A model asked for an answer of a given form: it may look first, is told what was wrong, and has a few tries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fourhands.model.objection import Objection, ObjectionKind, kinds_of
from fourhands.model.user import Rejection, Utterance
from fourhands.model.view import NO_VIEW, Looked, WorkspaceView
from fourhands.user.speaking import MAX_REJECTED_CHARACTERS
from fourhands.user.talking.asking_a_model import Message, ModelClient
from fourhands.user.talking.prompts import AGAIN, NO_MORE_LOOKS, form_prompt, shown_prompt
from fourhands.user.talking.scene import NOTHING_CONSULTED, Consulted

__all__ = ["ATTEMPTS", "MOST_LOOKS", "Consultation", "Form", "consult", "on_record"]

ATTEMPTS: Final = 3
"""Replies of no use, after which nothing more is asked."""
MOST_LOOKS: Final = 6
"""Rounds of looking before an answer; the released SWE-Interact simulator's as well."""
_MOST_OPENINGS: Final = 64
"""Braces of a reply at which a JSON document is looked for."""
_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)


class Form(BaseModel):
    """What a model is to reply. Keys that nobody asked for are no reason to ask again."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Look(Form):
    look: Annotated[list[str], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Consultation[F: Form]:
    """``found`` is of the form that was asked for; ``None`` where no reply was of use: then ``consulted`` says why.

    ``shown`` are the outputs of the looks.
    """

    found: F | None
    consulted: Consulted
    shown: tuple[str, ...] = ()


class _UnusableError(Exception):
    """The reply cannot be used; the message says why, to the model as well."""

    def __init__(self, why: str, kinds: tuple[ObjectionKind, ...] = (ObjectionKind.FORM,)) -> None:
        super().__init__(why)
        self.kinds = kinds


type Objecting[F] = Callable[[F, tuple[str, ...]], str | Sequence[Objection] | None]
"""Why a reply of the form cannot be used all the same, given the outputs of the looks; falsy where it can."""


async def consult[F: Form](
    client: ModelClient,
    prompt: tuple[str, str],
    form: type[F],
    *,
    purpose: str,
    objection: Objecting[F] = lambda *_: None,
    view: WorkspaceView = NO_VIEW,
    looks: int = 0,
) -> Consultation[F]:
    """Ask until a reply is of use. Never fails.

    Args:
        client: who is asked.
        prompt: what it is, and what it is asked about.
        form: of the reply, as JSON.
        purpose: a word for what it is asked, for the record.
        objection: see `Objecting`.
        view: what it may look at.
        looks: rounds of looking, at most.
    """
    asking = _Asking(client, purpose, _opening(prompt, form, looks))
    while asking.failures < ATTEMPTS and not asking.is_over:
        text = await asking.reply()
        if text is None:
            continue
        try:
            value = _json_in(text)
            argv = _look_in(value, asking.looks, looks)
            found = None if argv else _checked(form, value, objection, tuple(asking.shown))
        except _UnusableError as error:
            asking.refuse(text, error)
            continue
        if argv:
            asking.show(text, argv, await view.look(argv))
        else:
            return Consultation(found, asking.consulted, tuple(asking.shown))
    return Consultation(None, asking.consulted, tuple(asking.shown))


def on_record(said: Utterance, consulted: Consulted) -> Utterance:
    """Words, with what it took to find them."""
    return replace(
        said,
        rejected=consulted.rejected,
        usage=consulted.usage,
        model=consulted.model,
        exchanges=consulted.exchanges,
    )


@dataclass(slots=True)
class _Asking:
    """The conversation with the model, as far as it has come."""

    client: ModelClient
    purpose: str
    messages: list[Message]
    consulted: Consulted = NOTHING_CONSULTED
    shown: list[str] = field(default_factory=list)
    failures: int = 0
    looks: int = 0
    is_over: bool = False

    async def reply(self) -> str | None:
        """The text of the next reply; ``None`` where none came: then that is on record."""
        replied = await self.client.complete(self.messages)
        found = replied.completion
        self.consulted += Consulted(self.client.model, found.usage, (replied.exchange,))
        if found.problem is None:
            return found.text
        self._record(found.text, found.problem)
        self.is_over = found.final
        return None

    def refuse(self, text: str, error: _UnusableError) -> None:
        """The reply is of no use; the model is told why."""
        self._record(text, str(error), error.kinds)
        self._exchange(text, AGAIN.format(reason=error))

    def show(self, text: str, argv: list[str], found: Looked) -> None:
        """The model looked."""
        self.looks += 1
        self.shown.append(found.output)
        self._exchange(text, shown_prompt(argv, found))

    def _exchange(self, text: str, answer: str) -> None:
        self.messages = [
            *self.messages,
            _message("assistant", _kept(text) or "(nothing)"),
            _message("user", answer),
        ]

    def _record(self, text: str, reason: str, kinds: tuple[ObjectionKind, ...] = ()) -> None:
        self.failures += 1
        rejection = Rejection(_kept(text), _kept(f"{self.purpose}: {reason}"), kinds)
        self.consulted += Consulted(rejected=(rejection,))


def _opening(prompt: tuple[str, str], form: type[Form], looks: int) -> list[Message]:
    who, what = prompt
    schema = json.dumps(form.model_json_schema())
    return [
        _message("system", f"{who}\n\n{form_prompt(schema, looks)}"),
        _message("user", what),
    ]


def _message(role: str, text: str) -> Message:
    """Without lone surrogates, which no request can carry."""
    return {"role": role, "content": _whole(text)}


def _kept(text: str) -> str:
    return _whole(text[:MAX_REJECTED_CHARACTERS])


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _json_in(text: str) -> dict[str, Any]:
    """The first JSON object that stands in a reply, whatever stands around it.

    Raises:
        _UnusableError: there is none.
    """
    bare = _THOUGHTS.sub("", text)
    if not bare.strip():
        raise _UnusableError("the reply is empty")
    decoder = json.JSONDecoder()
    for at in _openings(bare):
        try:
            value, _ = decoder.raw_decode(bare, at)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
    raise _UnusableError("there is no JSON object in the reply")


def _openings(text: str) -> Iterator[int]:
    at = -1
    for _ in range(_MOST_OPENINGS):
        at = text.find("{", at + 1)
        if at < 0:
            return
        yield at


def _look_in(value: dict[str, Any], looked: int, most: int) -> list[str]:
    """The argument list of a look that a reply asks for; empty where it asks for none.

    Raises:
        _UnusableError: it is no argument list, or one too many.
    """
    if "look" not in value or not most:
        return []
    if looked == most:
        raise _UnusableError(NO_MORE_LOOKS)
    return _read(_Look, value).look


def _checked[F: Form](
    form: type[F],
    value: dict[str, Any],
    objection: Objecting[F],
    shown: tuple[str, ...],
) -> F:
    found = _read(form, value)
    reason = objection(found, shown)
    if isinstance(reason, str):
        raise _UnusableError(reason)
    if reason:
        raise _UnusableError("; ".join(each.words for each in reason), kinds_of(reason))
    return found


def _read[F: Form](form: type[F], value: dict[str, Any]) -> F:
    try:
        return form.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(each) for each in found["loc"])
        raise _UnusableError(f"{where or 'the object'}: {found['msg']}") from None
