"""A run's budget in US dollars, shared by all its trials: what is spent, and whether there is more to spend."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from decimal import Decimal

from fourhands.model.errors import InputError
from fourhands.model.event import Event
from fourhands.model.price import Cost, PriceTable
from fourhands.model.spending import spendings
from fourhands.model.usage import Usage

__all__ = ["Budget", "see_that_all_is_priced"]


def see_that_all_is_priced(prices: PriceTable, models: Iterable[str]) -> None:
    """See that a budget can be kept.

    Raises:
        InputError: a model has no price.
    """
    for model in models:
        if prices.price_of(model) is None:
            raise InputError(
                f"--budget: the price table {prices.name!r} has no price for {model!r}: name a table that has one "
                "with --prices, or leave the budget out"
            )


class Budget:
    """Counts what a run's models cost. May be used from any thread.

    What is counted may pass ``limit`` by the replies that were under way when it was reached. Cached input without
    a price of its own is counted at the input price: an unknown price must not let a run spend more than it may.
    """

    def __init__(self, limit: Decimal, prices: PriceTable) -> None:
        self.limit = limit
        self._prices = prices
        self._lock = threading.Lock()
        self._spent = Cost()
        self._blind = False

    @property
    def spent(self) -> Cost:
        """So far, over all attempts; a lower bound where a reply's tokens were not told."""
        with self._lock:
            return self._spent

    @property
    def is_reached(self) -> bool:
        """Whether no further request may be answered."""
        with self._lock:
            return self._reached()

    @property
    def is_blind(self) -> bool:
        """Whether a provider does not tell the tokens of its replies, so that no budget can be kept."""
        with self._lock:
            return self._blind

    def count(self, model: str, events: Iterable[Event]) -> None:
        """Take in what the record of an earlier attempt says that was spent; ``model`` is its agent's."""
        for each in spendings(events):
            self._add(each.user_model or model, each.usage)

    def account(self, model: str) -> Callable[[Usage | None], bool]:
        """What the conversation of a trial with ``model`` tells each reply's usage to.

        The answer is whether further requests are to be answered. A whole reply whose usage is not told (``None``)
        ends it: nobody could say when the money is spent.
        """

        def spend(usage: Usage | None) -> bool:
            self._add(model, usage)
            with self._lock:
                self._blind = self._blind or usage is None
                return not self._reached()

        return spend

    def see(self, event: Event) -> None:
        """Count what the user's own model took for what it said in ``event``."""
        for each in spendings([event]):
            if each.user_model is not None:
                self._add(each.user_model, each.usage)

    def _reached(self) -> bool:
        return self._blind or self._spent.known >= self.limit

    def _add(self, model: str, usage: Usage | None) -> None:
        cost = self._prices.cost(model, usage)
        price = self._prices.price_of(model)
        if usage is not None and price is not None and not cost.is_whole:
            cost = price.cost(usage, cached_as_input=True)
        with self._lock:
            self._spent += cost
