"""Events of a trial -> what it cost, by thread, and apart what the user's own model cost. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any, Final

from fourhands.model.event import Event
from fourhands.model.price import Cost, PriceTable, Rates
from fourhands.model.spending import spendings

__all__ = ["TrialCost", "cost_json", "dollars", "prices_json", "trial_cost"]

_LEAST_SHOWN: Final = Decimal("0.001")


@dataclass(frozen=True, slots=True)
class TrialCost:
    """``threads`` are of the agent's model: steps, side calls and replies that were not accepted; ``user`` is apart.

    ``models`` are the names of all that were asked.
    """

    threads: Mapping[str, Cost] = field(default_factory=dict)
    user: Cost = field(default_factory=Cost)
    models: frozenset[str] = frozenset()

    @property
    def agent(self) -> Cost:
        """Of all threads."""
        return sum(self.threads.values(), Cost())

    def as_json(self) -> dict[str, Any]:
        """As ``results --json`` prints it."""
        return {
            **cost_json("cost", self.agent),
            "threads": {thread: cost_json("cost", cost) for thread, cost in self.threads.items()},
            **cost_json("user_cost", self.user),
        }


def trial_cost(model: str, events: Iterable[Event], prices: PriceTable) -> TrialCost:
    """Price every reply in the record of an attempt whose agent's model is ``model``."""
    threads: dict[str, Cost] = {}
    user = Cost()
    models = set()
    for each in spendings(events):
        asked = each.user_model or model
        models.add(asked)
        cost = prices.cost(asked, each.usage)
        if each.user_model is None:
            threads[each.thread] = threads.get(each.thread, Cost()) + cost
        else:
            user += cost
    return TrialCost(threads, user, frozenset(models))


def prices_json(prices: PriceTable, trials: Iterable[TrialCost]) -> dict[str, Any]:
    """The prices behind the costs: of each model that was asked, ``null`` where there is none."""
    models: dict[str, Any] = {}
    for name in sorted({name for trial in trials for name in trial.models}):
        price = prices.price_of(name)
        models[name] = price and {
            **_rates_json(price.rates),
            "long_prompt": None
            if price.above is None
            else {"above": price.above, **(_rates_json(price.long_prompt) if price.long_prompt else {})},
            "source": price.source,
            "date": price.date,
            "note": price.note,
        }
    return {"table": prices.name, "cached_as_input": prices.cached_as_input, "models": models}


def _rates_json(rates: Rates) -> dict[str, float | None]:
    values = ((each.name, getattr(rates, each.name)) for each in fields(rates))
    return {name: None if value is None else float(value) for name, value in values}


def cost_json(name: str, cost: Cost | None) -> dict[str, float | None]:
    """``NAME`` in US dollars, ``null`` where it is unknown, and ``NAME_at_least``, which is always known."""
    if cost is None:
        return {name: None, f"{name}_at_least": None}
    usd = cost.usd
    return {name: None if usd is None else float(usd), f"{name}_at_least": float(cost.known)}


def dollars(cost: Cost) -> str:
    """For people: ``$0.042``, ``$1,204.50``; ``≥ $1.20`` where more was used at no known price, or ``unknown``."""
    if not cost.is_whole and not cost.known:
        return "unknown"
    mark = "" if cost.is_whole else "≥ "
    if 0 < cost.known < _LEAST_SHOWN:
        return f"{mark}<${_LEAST_SHOWN}"
    return f"{mark}${cost.known:,.{2 if cost.known >= 1 else 3}f}"
