"""What tokens cost, in exact US dollars. Unknown is unknown: a price that is not given is never zero."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from fourhands.model.usage import Usage

__all__ = ["NO_PRICES", "Cost", "Price", "PriceTable", "Rates"]


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars: ``known`` is what could be priced. Unless ``is_whole``, more was used at no known price."""

    known: Decimal = Decimal(0)
    is_whole: bool = True

    @property
    def usd(self) -> Decimal | None:
        """The cost, or ``None`` where it is unknown; ``known`` is then a lower bound."""
        return self.known if self.is_whole else None

    def __add__(self, other: Cost) -> Cost:
        """The sum is known when both are."""
        return Cost(self.known + other.known, self.is_whole and other.is_whole)

    def __truediv__(self, count: int) -> Cost:
        """A mean over ``count``, to the 28 digits of decimal arithmetic."""
        return Cost(self.known / count, self.is_whole)


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens; ``None`` where no price is given."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, usage: Usage, *, cached_as_input: bool) -> Cost:
        """Of one reply. With ``cached_as_input``, tokens read from or written to a cache are input like any other."""
        read = self.input if cached_as_input else self.cache_read
        write = self.input if cached_as_input else self.cache_write
        known = usage.input * self.input + usage.output * self.output
        is_whole = True
        for tokens, rate in ((usage.cache_read, read), (usage.cache_write, write)):
            if rate is not None:
                known += tokens * rate
            elif tokens:
                is_whole = False
        return Cost(known.scaleb(-6), is_whole)


@dataclass(frozen=True, slots=True)
class Price:
    """What one model costs, who said so (``source``) and when (``date``, ISO 8601, maybe without its day).

    A reply to a prompt of more than ``above`` tokens, cached ones included, is priced by ``long_prompt`` as a whole;
    where that is not given it costs more than ``rates``, and nobody knows how much. ``aliases`` are other names of
    the model; ``*`` in them stands for anything.
    """

    model: str
    rates: Rates
    source: str
    date: str
    aliases: tuple[str, ...] = ()
    long_prompt: Rates | None = None
    above: int | None = None
    note: str = ""

    def cost(self, usage: Usage, *, cached_as_input: bool) -> Cost:
        """Of one reply; see `Rates.cost`."""
        prompt = usage.input + usage.cache_read + usage.cache_write
        if self.above is None or prompt <= self.above:
            return self.rates.cost(usage, cached_as_input=cached_as_input)
        if self.long_prompt is None:
            return Cost(self.rates.cost(usage, cached_as_input=cached_as_input).known, is_whole=False)
        return self.long_prompt.cost(usage, cached_as_input=cached_as_input)


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices of models. ``cached_as_input`` charges cached input at the input rate, whatever its own price is."""

    name: str
    prices: tuple[Price, ...]
    cached_as_input: bool = False
    _found: dict[str, Price | None] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was looked up before: a report prices hundreds of thousands of replies of a few models."""

    def price_of(self, model: str) -> Price | None:
        """By its exact name, else by an exact alias, else by the first alias in the table whose ``*`` fits."""
        if model not in self._found:
            self._found[model] = self._look_up(model)
        return self._found[model]

    def _look_up(self, model: str) -> Price | None:
        exact = (price for price in self.prices if price.model == model)
        alias = (price for price in self.prices if model in price.aliases)
        fitting = (price for price in self.prices if any(_fits(each, model) for each in price.aliases))
        return next(exact, None) or next(alias, None) or next(fitting, None)

    def cost(self, model: str, usage: Usage | None) -> Cost:
        """Of one reply of ``model``; ``usage`` is ``None`` where the provider did not tell it."""
        price = self.price_of(model)
        if price is None or usage is None:
            return Cost(is_whole=False)
        return price.cost(usage, cached_as_input=self.cached_as_input)


def _fits(alias: str, model: str) -> bool:
    return "*" in alias and re.fullmatch(".*".join(map(re.escape, alias.split("*"))), model) is not None


NO_PRICES: Final = PriceTable("none", ())
"""By it every cost is unknown."""
