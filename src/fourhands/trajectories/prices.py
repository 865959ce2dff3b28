"""A price table as a file: TOML, one table ``[[model]]`` for each model.

schema = 1
name = "ours"
cached_as_input = false     # true: cached input is charged at the input rate

[[model]]
name = "some-model"
aliases = ["provider/some-model", "some-model-2026-*"]
input = 5.00                # US dollars per million tokens
cache_read = 0.50           # leave out what is not known
cache_write = 6.25
output = 25.00
source = "https://provider.example/pricing"
date = 2026-11-30
long_prompt = { above = 200_000, input = 10.00, cache_read = 1.00, output = 37.50 }   # or only `above`
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections import Counter
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fourhands.model.errors import InputError
from fourhands.model.price import Price, PriceTable, Rates

__all__ = ["read_prices"]

_Dollars = Annotated[Decimal, Field(ge=0)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rates(_Strict):
    input: _Dollars
    output: _Dollars
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None

    def rates(self) -> Rates:
        return Rates(self.input, self.output, self.cache_read, self.cache_write)


class _LongPrompt(_Strict):
    above: int = Field(gt=0)
    input: _Dollars | None = None
    output: _Dollars | None = None
    cache_read: _Dollars | None = None
    cache_write: _Dollars | None = None

    @model_validator(mode="after")
    def _all_or_nothing(self) -> Self:
        if (self.input is None) != (self.output is None) or (
            self.input is None and (self.cache_read, self.cache_write) != (None, None)
        ):
            raise ValueError("give input and output, or neither where only `above` is known")
        return self

    def rates(self) -> Rates | None:
        if self.input is None or self.output is None:
            return None
        return Rates(self.input, self.output, self.cache_read, self.cache_write)


class _Model(_Rates):
    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    source: str = Field(min_length=1)
    date: str = Field(pattern=r"^\d{4}-\d{2}(-\d{2})?$")
    note: str = ""
    long_prompt: _LongPrompt | None = None

    @field_validator("date", mode="before")
    @classmethod
    def _iso(cls, value: Any) -> Any:
        return value.isoformat() if isinstance(value, dt.date) else value

    def price(self) -> Price:
        long = self.long_prompt
        return Price(
            model=self.name,
            rates=self.rates(),
            source=self.source,
            date=self.date,
            aliases=self.aliases,
            long_prompt=long.rates() if long else None,
            above=long.above if long else None,
            note=self.note,
        )


class _Table(_Strict):
    schema_version: Annotated[Literal[1], Field(alias="schema")]
    name: str = Field(min_length=1)
    cached_as_input: bool = False
    model: tuple[_Model, ...] = ()


def read_prices(text: str, where: str) -> PriceTable:
    """Read a price table.

    Args:
        text: the file's.
        where: the file's name, for errors.

    Raises:
        InputError: it is none; names the file, the model and the field.
    """
    try:
        # Prices are decimal numbers: binary floats would be others.
        values = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not TOML: {error}") from None
    try:
        table = _Table.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{where}: {_problems(error, values)}") from None
    names = Counter(name for model in table.model for name in {model.name, *model.aliases})
    if twice := [name for name, times in names.items() if times > 1]:
        raise InputError(f"{where}: {twice[0]!r} names two models: take it out of one of them")
    return PriceTable(table.name, tuple(model.price() for model in table.model), table.cached_as_input)


def _problems(error: ValidationError, values: dict[str, Any]) -> str:
    """Each with its field, and a model by its name rather than its place."""
    problems = []
    for each in error.errors(include_url=False):
        where = list(each["loc"])
        if where[:1] == ["model"] and len(where) > 1 and isinstance(where[1], int):
            model = values["model"][where[1]]
            name = model.get("name") if isinstance(model, dict) else None
            where[:2] = [f"model {name!r}" if name else f"model number {where[1] + 1}"]
        problems.append(f"{', '.join(map(str, where))}: {each['msg']}")
    return "; ".join(problems)
