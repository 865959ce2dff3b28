from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

from fourhands.model.errors import InputError
from fourhands.model.price import PriceTable
from fourhands.model.usage import Usage
from fourhands.presets import price_preset, price_presets
from fourhands.trajectories import prices
from fourhands.trajectories.prices import read_prices

MODEL = """\
schema = 1
name = "t"
[[model]]
name = "m"
input = 1
output = 2.5
source = "somewhere"
date = 2026-11-30
"""


def _preset(name: str) -> PriceTable:
    return read_prices(price_preset(name), name)


def test_the_papers_table_is_its_table_7(shared_data: Path) -> None:
    paper = json.loads((shared_data / "papers" / "swe-touch.json").read_text())["table7_usd_per_million"]
    table = _preset("paper")
    rows = sorted((price.rates.input, price.rates.output) for price in table.prices)
    assert rows == sorted((Decimal(str(row["input"])), Decimal(str(row["output"]))) for row in paper.values())
    assert table.cached_as_input
    for price in table.prices:
        assert "Table 7" in price.source
        assert price.date == "2026-07-27"


def test_by_the_papers_table_a_trial_costs_its_tokens_whether_cached_or_not() -> None:
    told, cached = Usage(input=367_000, output=10_000), Usage(input=7_000, cache_read=360_000, output=10_000)
    costs = {_preset("paper").cost("claude-opus-4-8", usage).usd for usage in (told, cached)}
    assert costs == {Decimal("2.085")}


def test_every_current_price_says_whose_it_is_and_of_when() -> None:
    for price in _preset("current").prices:
        assert "https://" in price.source, price.model
        assert price.date.startswith("2026-"), price.model
        assert price.rates.cache_read is None or price.rates.cache_read < price.rates.input, price.model


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("claude-opus-4-8", "claude-opus-4-8"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-haiku-4.5", "claude-haiku-4-5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("gpt-5.5-pro", "gpt-5.5-pro"),
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-2", None),
        ("gpt-5.6-sol", None),
        ("scripted/keeps", None),
    ],
)
def test_a_snapshot_has_the_price_of_its_model_and_another_model_has_not(
    name: str, model: str | None
) -> None:
    price = _preset("current").price_of(name)
    assert (price and price.model) == model


def test_presets_are_listed_and_an_unknown_one_says_which_there_are() -> None:
    assert price_presets() == ("current", "paper")
    with pytest.raises(InputError, match=r"no price table 'old': name a file, or one of current, paper"):
        price_preset("old")


def test_the_documented_example_is_a_price_table() -> None:
    assert prices.__doc__ is not None
    example = re.sub(r"^    ", "", prices.__doc__.split("\n\n", 1)[1], flags=re.MULTILINE)
    (price,) = read_prices(example, "example").prices
    assert (price.rates.cache_read, price.date, price.above) == (Decimal("0.50"), "2026-11-30", 200_000)


def test_prices_are_decimal_numbers_as_they_are_written() -> None:
    (price,) = read_prices(MODEL.replace("= 1\noutput", "= 0.1\noutput"), "p").prices
    assert price.cost(Usage(input=3), cached_as_input=False).usd == Decimal("0.0000003")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (MODEL.replace('"t"', "t"), r"p\.toml is not TOML: .*line 2"),
        (MODEL.replace("schema = 1", "schema = 2"), r"p\.toml: schema: "),
        (MODEL.replace("output = 2.5\n", ""), r"p\.toml: model 'm', output: Field required"),
        (MODEL.replace("2.5", "-2.5"), r"model 'm', output: .*greater than or equal to 0"),
        (MODEL.replace("2.5", '"dear"'), r"model 'm', output: .*decimal"),
        (MODEL.replace("input", "inputs"), r"model 'm', inputs: Extra inputs"),
        (MODEL.replace('source = "somewhere"\n', ""), r"model 'm', source: Field required"),
        (MODEL.replace("2026-11-30", '"lately"'), r"model 'm', date: "),
        (MODEL.replace('name = "m"\n', ""), r"model number 1, name: Field required"),
        (MODEL + MODEL.split("\n", 2)[2].replace('"m"', '"n"\naliases = ["m"]'), r"'m' names two models"),
        (MODEL + "long_prompt = { above = 5, input = 1 }\n", r"model 'm', long_prompt: .*input and output"),
        (
            MODEL + "long_prompt = { input = 1, output = 1 }\n",
            r"model 'm', long_prompt, above: Field required",
        ),
    ],
)
def test_an_error_names_the_file_the_model_and_the_field(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read_prices(text, "p.toml")
