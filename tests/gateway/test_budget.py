from __future__ import annotations

import threading
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fourhands.gateway.budget import Budget, see_that_all_is_priced
from fourhands.model.errors import InputError
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.price import Price, PriceTable, Rates
from fourhands.model.usage import Usage
from fourhands.trajectories.events import EventLog, read_events

DOLLAR = Usage(input=1_000_000)
"""What costs one of them."""
PRICES = PriceTable(
    "t",
    (
        Price("m", Rates(Decimal(1), Decimal(10), Decimal("0.1")), "here", "2026-11-30"),
        Price("user", Rates(Decimal(2), Decimal(2)), "here", "2026-11-30"),
    ),
)


def _called(usage: Usage | None, status: int = 200) -> dict[str, Any]:
    counts = usage and {
        "input": usage.input,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "reasoning": usage.reasoning,
    }
    body = {"usage": counts, "status": status, "side": False, "complete": usage is not None}
    return {**body, "request": 1, "step": None, "model": "m", "tools": [], "milliseconds": 1.0}


def _said(model: str | None, tokens: int) -> dict[str, Any]:
    body = {"message": "m1", "model": model, "usage": {"input": tokens, "output": 0}, "text": "So."}
    return {**body, "intervention": "e", "anchor": [], "question": "q1", "elapsed": 1.0}


def test_no_request_is_answered_once_the_limit_is_reached_exactly() -> None:
    budget = Budget(Decimal(3), PRICES)
    spend = budget.account("m")
    assert [spend(DOLLAR) for _ in range(3)] == [True, True, False]
    assert budget.is_reached
    assert budget.spent.usd == 3


def test_trials_at_once_share_it_and_none_is_lost_or_counted_twice() -> None:
    budget = Budget(Decimal(1000), PRICES)
    answers: list[bool] = []

    def trial() -> None:
        spend = budget.account("m")
        answers.extend(spend(Usage(input=1)) for _ in range(5_000))

    threads = [threading.Thread(target=trial) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.spent.usd == Decimal("0.04")
    assert all(answers)
    assert not budget.account("m")(Usage(input=10**9))
    assert not budget.account("m")(Usage()), "another trial learns of it without spending"


def test_what_is_spent_is_the_same_after_a_resume_be_the_attempt_ended_or_cut(tmp_path: Path) -> None:
    live, number = Budget(Decimal(100), PRICES), count(1)
    logs = []
    for attempt in ("ended", "cut"):
        logs.append(path := tmp_path / attempt)
        log = EventLog(path, live.see)
        spend = live.account("m")
        for usage in (DOLLAR, Usage(cache_read=1_000_000, output=50_000), Usage(input=next(number))):
            log.append(Actor.AGENT, EventKind.MODEL_CALLED, _called(usage), thread="sub-1")
            spend(usage)
        log.append(Actor.AGENT, EventKind.MODEL_CALLED, _called(None, status=529))
        log.append(Actor.USER, EventKind.MESSAGE_SENT, _said("user", 500_000))
        log.append(Actor.USER, EventKind.MESSAGE_SENT, _said(None, 0))
        log.append(Actor.USER, EventKind.ANSWERED, _said("user", 250_000))
        log.close()
    with logs[1].open("ab") as file:
        file.write(b'{"v": 1, "torn')
    resumed = Budget(Decimal(100), PRICES)
    for path in logs:
        resumed.count("m", read_events(path).events)
    assert resumed.spent == live.spent
    assert live.spent.usd == Decimal("6.200003")  # twice 1 + 0.6 + 1.5, and three tokens


def test_the_users_own_model_spends_as_well() -> None:
    budget = Budget(Decimal(1), PRICES)
    log_body = _said("user", 500_000)
    budget.see(_event(EventKind.MESSAGE_SENT, log_body))
    assert budget.is_reached
    assert budget.spent.usd == 1


def test_events_of_the_agents_replies_are_left_to_its_account() -> None:
    budget = Budget(Decimal(1), PRICES)
    budget.see(_event(EventKind.MODEL_CALLED, _called(DOLLAR)))
    assert budget.spent.usd == 0


def test_a_provider_that_does_not_tell_tokens_ends_it_for_nobody_could_say_when() -> None:
    budget = Budget(Decimal(1), PRICES)
    assert not budget.account("m")(None)
    assert budget.is_reached
    assert budget.is_blind
    assert budget.spent.usd is None


def test_a_cut_reply_of_an_earlier_attempt_does_not_stop_a_resume() -> None:
    budget = Budget(Decimal(1), PRICES)
    budget.count("m", [_event(EventKind.MODEL_CALLED, _called(None))])
    assert not budget.is_reached
    assert budget.spent.usd is None


def test_cached_input_without_a_price_is_counted_as_input_so_that_the_limit_holds() -> None:
    budget = Budget(Decimal(2), PRICES)
    assert not budget.account("user")(Usage(cache_write=1_000_000))
    assert budget.spent.usd == 2


def test_a_model_without_a_price_is_refused_beforehand() -> None:
    see_that_all_is_priced(PRICES, ["m", "user"])
    with pytest.raises(InputError, match=r"--budget: the price table 't' has no price for 'n': .*--prices"):
        see_that_all_is_priced(PRICES, ["m", "n"])


def _event(kind: EventKind, body: dict[str, Any]) -> Event:
    return Event(0, "", MAIN_THREAD, Actor.AGENT, kind, body)
