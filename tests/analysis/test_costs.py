from __future__ import annotations

from decimal import Decimal
from itertools import count
from typing import Any

import pytest

from fourhands.analysis.costs import TrialCost, dollars, prices_json, trial_cost
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.price import NO_PRICES, Cost, Price, PriceTable, Rates

PRICES = PriceTable(
    "t",
    (
        Price("m", Rates(Decimal(1), Decimal(10), Decimal("0.1")), "here", "2026-11-30", note="by day"),
        Price("user", Rates(Decimal(2), Decimal(2)), "there", "2026-11-01"),
    ),
)
_NUMBER = count()


def _event(kind: EventKind, body: dict[str, Any], thread: str = MAIN_THREAD) -> Event:
    return Event(next(_NUMBER), "", thread, Actor.AGENT, kind, body)


def _called(
    input_: int | None, output: int = 0, *, thread: str = MAIN_THREAD, side: bool = False, status: int = 200
) -> Event:
    usage = None if input_ is None else {"input": input_, "output": output}
    body = {"usage": usage, "status": status, "side": side, "model": "as the agent calls it"}
    return _event(EventKind.MODEL_CALLED, body, thread)


def _said(model: str | None, tokens: int) -> Event:
    return _event(EventKind.MESSAGE_SENT, {"model": model, "usage": {"input": tokens, "output": 0}})


EVENTS = [
    _called(1_000_000, 10_000),
    _called(2_000_000, thread="sub-1"),
    _called(500_000, side=True),
    _called(None, status=529),
    _said("user", 250_000),
    _event(EventKind.MESSAGE_SENT, {"source": "fixed"}),
    _called(1_000_000),
]


def test_each_thread_has_its_cost_and_the_users_model_is_apart() -> None:
    cost = trial_cost("m", EVENTS, PRICES)
    usd = {thread: each.usd for thread, each in cost.threads.items()}
    assert usd == {"main": Decimal("2.1"), "sub-1": 2, "side": Decimal("0.5")}
    assert cost.agent.usd == Decimal("4.6")
    assert cost.user.usd == Decimal("0.5")
    assert cost.models == {"m", "user"}


def test_a_reply_whose_tokens_were_not_told_leaves_a_lower_bound_in_its_thread_alone() -> None:
    cost = trial_cost("m", [*EVENTS, _called(None, thread="sub-1")], PRICES)
    assert cost.threads["main"].usd == Decimal("2.1")
    assert cost.threads["sub-1"] == Cost(Decimal(2), is_whole=False)
    assert (cost.agent.usd, cost.agent.known) == (None, Decimal("4.6"))


def test_a_user_model_that_told_no_tokens_has_an_unknown_cost_not_none() -> None:
    assert trial_cost("m", [_said("user", 0)], PRICES).user == Cost(is_whole=False)


def test_a_refused_request_costs_nothing_and_leaves_nothing_unknown() -> None:
    assert trial_cost("m", [_called(None, status=429)], PRICES).agent == Cost()


def test_without_a_price_all_is_unknown_in_json_and_in_words() -> None:
    cost = trial_cost("m", EVENTS, NO_PRICES)
    assert dollars(cost.agent) == "unknown"
    assert cost.as_json()["cost"] is None
    assert cost.as_json()["threads"]["sub-1"] == {"cost": None, "cost_at_least": 0.0}


@pytest.mark.parametrize(
    ("cost", "says"),
    [
        (Cost(Decimal("0.0421")), "$0.042"),
        (Cost(Decimal("0.0004")), "<$0.001"),
        (Cost(Decimal("1204.5")), "$1,204.50"),
        (Cost(Decimal("1.2"), is_whole=False), "≥ $1.20"),
        (Cost(is_whole=False), "unknown"),
        (Cost(), "$0.000"),
    ],
)
def test_how_a_cost_is_told(cost: Cost, says: str) -> None:
    assert dollars(cost) == says


def test_prices_are_told_with_their_source_and_missing_ones_are_null() -> None:
    told = prices_json(PRICES, [TrialCost(models=frozenset({"m", "n"}))])
    assert told["table"] == "t"
    assert told["models"]["n"] is None
    assert told["models"]["m"]["cache_read"] == 0.1
    assert (told["models"]["m"]["cache_write"], told["models"]["m"]["note"]) == (None, "by day")
    assert (told["models"]["m"]["source"], told["models"]["m"]["date"]) == ("here", "2026-11-30")
