"""Every answer of a judge, by the content it was asked about: ``FOLDER/KEY.json``, schema 1.

``{"schema": 1, "judge", "prompt_version", KIND: {…}, "exchanges": [requests and replies]}``, where KIND is
``judgement`` or ``opinion``.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fourhands.trajectories.run_folder import write_atomically

__all__ = ["Answered", "Answers", "Kind"]


_FILE: Final = TypeAdapter(dict[str, Any])


class _Keyed(Protocol):
    @property
    def key(self) -> str:
        """A hash of all that was asked."""
        ...


@dataclass(frozen=True, slots=True)
class Kind[T: _Keyed]:
    """What is answered: its ``name`` in a file, its ``type``, and the version of the prompt it is asked by."""

    name: str
    type: type[T]
    prompt_version: int


@dataclass(frozen=True, slots=True)
class Answered[T: _Keyed]:
    """What came of asking. ``is_settled``: it is the model's own answer, and to be kept."""

    answer: T
    exchanges: tuple[bytes, ...]
    is_settled: bool


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = Field(alias="schema")
    judge: str
    prompt_version: int
    exchanges: list[dict[str, Any]]


class Answers[T: _Keyed]:
    """Answers of one kind in ``folder``, which is made with the first; those in ``earlier`` are read as well."""

    def __init__(self, folder: Path, kind: Kind[T], *, earlier: Path | None = None) -> None:
        self._folder = folder
        self._places = (folder,) if earlier is None else (folder, earlier)
        self._kind = kind
        self._type: TypeAdapter[T] = TypeAdapter(kind.type)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def once(self, key: str, judge: str, ask: Callable[[], Awaitable[Answered[T]]]) -> tuple[T, bool]:
        """What was answered to ``key``, asked for only where that is not known; and whether it was known."""
        async with self._locks[key]:
            known = await asyncio.to_thread(self.read, key)
            if known:
                return known, True
            asked = await ask()
            if asked.is_settled:
                await asyncio.to_thread(self.write, asked.answer, judge, asked.exchanges)
            return asked.answer, False

    def read(self, key: str) -> T | None:
        """What was answered; ``None`` if that has not been asked, or the file is spoiled."""
        return next((found for place in self._places if (found := self._read(place, key))), None)

    def write(self, answer: T, judge: str, exchanges: tuple[bytes, ...]) -> None:
        """Keep an answer, whole or not at all."""
        document = {
            "schema": 1,
            "judge": judge,
            "prompt_version": self._kind.prompt_version,
            self._kind.name: answer,
            "exchanges": [_without_version(orjson.loads(each)) for each in exchanges],
        }
        data = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        write_atomically(self._folder / f"{answer.key}.json", data)

    def _read(self, folder: Path, key: str) -> T | None:
        try:
            document = _FILE.validate_json((folder / f"{key}.json").read_bytes())
            found = self._type.validate_python(document.pop(self._kind.name, None))
            _Entry.model_validate(document)
        except (FileNotFoundError, NotADirectoryError, ValidationError):  # one that is spoiled is made anew
            return None
        return found if found.key == key else None


def _without_version(exchange: dict[str, Any]) -> dict[str, Any]:
    """A request and its reply; the version of the user's prompts says nothing of a judge's."""
    return {name: value for name, value in exchange.items() if name not in {"schema", "prompt"}}
