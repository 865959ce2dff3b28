"""Where the prices are from, what is unknown, and what all of it cost."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from fourhands.analysis.costs import dollars
from fourhands.analysis.study import Study
from fourhands.model.price import Cost
from fourhands.model.trial import RECORDED, SCRIPTED

__all__ = ["cost_of", "models_asked", "price_notes"]


def cost_of(whole: float | None, at_least: float | None) -> Cost:
    """A cost from its two columns; by way of text, for a float's text is the amount that was written."""
    return Cost(Decimal(str(at_least or 0)), is_whole=whole is not None)


def models_asked(study: Study) -> list[str]:
    """The names of all models that replied, the user's own too, sorted."""
    return sorted(set(study.tables.trials["models"].explode().drop_nulls().to_list()))


def price_notes(study: Study) -> Iterator[str]:
    """One sentence each."""
    prices, asked = study.prices, models_asked(study)
    priced = {name: price for name in asked if (price := prices.price_of(name)) is not None}
    trials = study.tables.trials
    agents = [cost_of(*each) for each in trials.select("cost", "cost_at_least").iter_rows()]
    users = [cost_of(*each) for each in trials.select("user_cost", "user_cost_at_least").iter_rows()]
    ran = [termination is not None for termination in trials["termination"]]
    agent = sum((cost for cost, is_run in zip(agents, ran, strict=True) if is_run), Cost())
    user = sum((cost for cost, is_run in zip(users, ran, strict=True) if is_run), Cost())
    if priced:
        how = ", cached input at the input price" if prices.cached_as_input else ""
        dates = ", ".join(f"{name} {price.date}" for name, price in priced.items())
        total = f"{dollars(agent)} for the agents of all trials"
        if not user.is_whole or user.known:
            total += f", and {dollars(user)} for the user's own model"
        yield f"cost: by {prices.name} ({dates}){how}; {total}."
        yield from (f"{name}: {price.note}." for name, price in priced.items() if price.note)
    unknown = [name for name in asked if name not in priced and not name.startswith((SCRIPTED, RECORDED))]
    if unknown:
        yield f"unknown: {prices.name} has no price for {', '.join(unknown)}; --prices takes another table."
    if any(not cost.is_whole and cost.known for cost in agents):
        yield "≥ before a cost: a part has no known price, or its tokens were not told."
