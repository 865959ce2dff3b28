"""``fourhands power`` as a user types it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from fourhands.cli.power import power as command
from fourhands.model.errors import InputError

FOURHANDS: Final = Path(sys.executable).with_name("fourhands")


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FOURHANDS, *arguments],
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


def power(*arguments: str | Path) -> dict[str, Any]:
    done = fourhands("power", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    assert document["schema"] == 1
    return document


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks, two repeats, by a model that draws lots; and one condition that was not run but once."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = fourhands(
        *("run", "--agent", "thin", "--tasks", "ledger-rounding,config-layers", "--repeats", "2"),
        *("--model", "scripted/stochastic[p=0.5,touched=0.5]", "--condition", "vanilla,counter-edit"),
        *("--out", folder),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_from_assumed_rates_it_tells_the_tasks_needed_for_each_number_of_repeats() -> None:
    document = power("--rate", "0.75", "--delta", "-5", "--repeats", "1,3,5")
    assert (document["source"], document["rate"], document["spread"]) == ("assumed", 0.75, 0.3)
    assert (document["delta"], document["power"]) == (-0.05, 0.8)
    one, three, five = document["needed"]
    assert [each["repeats"] for each in document["needed"]] == [1, 3, 5]
    assert one["tasks"] > three["tasks"] > five["tasks"]
    assert one["trials"] < three["trials"] < five["trials"], "more tasks show more than more repeats do"
    # Two independent rates of 75 % and 70 %, unpaired: 1,251 a side, by the textbook; pairing spares some of them.
    assert 600 < one["tasks"] < 1251
    shown = fourhands("power", "--rate", "0.75", "--delta", "-5", "--repeats", "1,3,5").stdout
    assert "75% → 70% (Δ = −5.0 points)" in shown
    assert f"{three['trials']:,}" in shown


def test_without_any_spread_it_is_the_sample_size_of_two_independent_rates() -> None:
    (needed,) = power("--rate", "0.75", "--delta", "-5", "--spread", "0", "--repeats", "1")["needed"]
    variance = 0.75 * 0.25 + 0.7 * 0.3
    closed_form = (1.959964 + 0.841621) ** 2 * variance / 0.05**2
    assert needed["tasks"] == pytest.approx(closed_form, abs=4)


@pytest.mark.slow
def test_from_a_finished_run_it_tells_its_power_and_how_rough_that_is(run: Path) -> None:
    document = power(run, "--delta", "-50")
    (row,) = document["rows"]
    assert (row["model"], row["condition"]) == ("scripted/stochastic[p=0.5,touched=0.5]", "counter-edit")
    assert (row["tasks"], row["repeats"]) == (2, 2)
    assert row["power"] == 0, "two tasks can show nothing at 5 %"
    shown = fourhands("power", run, "--delta", "-50").stdout
    assert "counter-edit" in shown
    assert "To show Δ = −50.0 points with a chance of 80%." in shown
    assert ("2 tasks tell a variance roughly" in shown) == (row["variance"] is not None)
    assert ("too small to tell: all 2 tasks came out alike" in shown) == (row["variance"] is None)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "give a finished run, or --rate"),
        ({"spread": 0.1}, "give a finished run, or --rate"),
        ({"rate": 0.5, "runs": [Path()]}, "give a finished run, or --rate"),
        ({"rate": 75}, "rate is 75: give a fraction from 0 to 1"),
        ({"rate": 0.02}, "rate [+] Δ is -0.03"),
        ({"rate": 0.5, "delta": 0}, "--delta 0: give percentage points from -100 to 100, and not 0"),
        ({"rate": 0.5, "delta": math.nan}, "--delta nan: give percentage points"),
        ({"rate": 0.5, "delta": -500}, "--delta -500: give percentage points"),
        ({"runs": [Path("nowhere")], "delta": math.inf}, "--delta inf: give percentage points"),
        ({"rate": 0.5, "power": 80}, "power .*80: give fraction"),
        ({"rate": 0.5, "repeats": "1,x"}, "--repeats '1,x': give whole numbers from 1"),
        ({"rate": 0.5, "repeats": "0"}, "--repeats '0': give whole numbers from 1"),
        ({"rate": 0.5, "spread": 2}, "spread is 2: give a fraction"),
        ({"runs": [Path("nowhere")]}, "nowhere"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        command(**options)


def test_a_wrong_option_is_exit_code_2() -> None:
    done = fourhands("power", "--repeats", "many", "--rate", "0.5")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --repeats 'many'")
