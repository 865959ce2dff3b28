from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.price import Cost, Price, PriceTable, Rates
from fourhands.model.usage import Usage

RATES = Rates(Decimal(5), Decimal(25), Decimal("0.50"), Decimal("6.25"))
TOKENS = st.integers(0, 10**9)
USAGES = st.builds(Usage, input=TOKENS, cache_read=TOKENS, cache_write=TOKENS, output=TOKENS)
DOLLARS = st.decimals(0, 1000, places=6, allow_nan=False)


def _price(model: str = "m", rates: Rates = RATES, *aliases: str) -> Price:
    return Price(model, rates, "somewhere", "2026-11-30", aliases)


@given(USAGES, st.builds(Rates, input=DOLLARS, output=DOLLARS, cache_read=DOLLARS, cache_write=DOLLARS))
def test_a_cost_is_exact_to_the_last_digit(usage: Usage, rates: Rates) -> None:
    assert rates.cache_read is not None
    assert rates.cache_write is not None
    exact = (
        usage.input * Fraction(rates.input)
        + usage.cache_read * Fraction(rates.cache_read)
        + usage.cache_write * Fraction(rates.cache_write)
        + usage.output * Fraction(rates.output)
    ) / 1_000_000
    usd = rates.cost(usage, cached_as_input=False).usd
    assert usd is not None
    assert Fraction(usd) == exact


@given(st.lists(USAGES, max_size=30))
def test_many_replies_cost_what_their_tokens_cost_together(usages: list[Usage]) -> None:
    apart = sum((RATES.cost(usage, cached_as_input=False) for usage in usages), Cost())
    together = sum(usages, Usage())
    assert apart == RATES.cost(together, cached_as_input=False)


def test_cached_input_has_its_own_price_or_that_of_input_as_in_the_paper() -> None:
    usage = Usage(input=1_000, cache_read=90_000, cache_write=9_000, output=2_000)
    own, as_paper = (PriceTable("t", (_price(),), each).cost("m", usage).usd for each in (False, True))
    assert own == Decimal("0.15625")  # 0.005 + 0.045 + 0.05625 + 0.05
    assert as_paper == Decimal("0.55")  # 100,000 at 5, and 2,000 at 25


def test_a_cache_price_that_is_not_given_is_unknown_once_it_is_needed() -> None:
    rates = Rates(Decimal(1), Decimal(2))
    assert rates.cost(Usage(input=1_000_000), cached_as_input=False) == Cost(Decimal(1))
    cost = rates.cost(Usage(input=1_000_000, cache_write=1), cached_as_input=False)
    assert cost.usd is None
    assert cost.known == 1


@pytest.mark.parametrize("usage", [None, Usage(input=5)])
def test_neither_an_unknown_model_nor_an_untold_usage_costs_nothing(usage: Usage | None) -> None:
    table = PriceTable("t", (_price("another"),))
    assert table.cost("m", usage).usd is None
    assert table.cost("another", usage).usd == (None if usage is None else Decimal("0.000025"))


def test_one_unknown_part_makes_a_sum_and_a_mean_a_lower_bound() -> None:
    total = Cost(Decimal(3)) + Cost(Decimal(1), is_whole=False) + Cost(Decimal(2))
    assert total.usd is (total / 3).usd is None
    assert total.known == 6
    assert (total / 3).known == 2


@pytest.mark.parametrize(("cached", "usd"), [(140_000, "0.26"), (140_001, "0.520002")])
def test_a_long_prompt_is_priced_as_a_whole_and_cached_tokens_are_part_of_it(cached: int, usd: str) -> None:
    cheap, dear = Rates(Decimal(1), Decimal(10), Decimal(1)), Rates(Decimal(2), Decimal(20), Decimal(2))
    price = Price("m", cheap, "somewhere", "2026-11", long_prompt=dear, above=200_000)
    usage = Usage(input=60_000, cache_read=cached, output=6_000)
    assert price.cost(usage, cached_as_input=False).usd == Decimal(usd)


def test_what_a_long_prompt_costs_beyond_the_rates_may_be_unknown() -> None:
    price = Price("m", RATES, "somewhere", "2026", above=10)
    assert price.cost(Usage(input=10), cached_as_input=False).is_whole
    cost = price.cost(Usage(input=11), cached_as_input=False)
    assert (cost.usd, cost.known) == (None, Decimal("0.000055"))


def test_a_name_is_matched_exactly_before_aliases_and_aliases_before_patterns() -> None:
    table = PriceTable(
        "t",
        (
            _price("wide", RATES, "gpt-*"),
            _price("alias", RATES, "gpt-5"),
            _price("gpt-5-mini"),
            _price("narrow", RATES, "gpt-5-*"),
            _price("drawn", RATES, "drawn[p=*]"),
        ),
    )
    names = ("gpt-5-mini", "gpt-5", "gpt-5-nano", "claude", "GPT-5", "drawn[p=0.8]", "drawnp")
    found = [price.model if (price := table.price_of(name)) else None for name in names]
    assert found == ["gpt-5-mini", "alias", "wide", None, None, "drawn", None]
