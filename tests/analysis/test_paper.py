"""The numbers that the SWE-Touch paper prints come out of our functions, from outcomes that agree with its counts.

The paper's trials are not public. Per agent the resolved of 600 are, decoded from its means, and the transitions of
majorities; outcomes per task and repeat are made up to agree with both, and with the printed deviations.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from fourhands.analysis.findings.conditions import condition_table
from fourhands.analysis.findings.controls import control_table
from fourhands.analysis.findings.k_sweep import k_sweep
from fourhands.analysis.findings.long_horizon import LongHorizonRow, long_horizon_table
from fourhands.analysis.findings.main import MainRow, main_table
from fourhands.analysis.findings.revision import revision_table
from fourhands.analysis.findings.transitions import TransitionRow, transition_table
from fourhands.analysis.study import Study

from .frames import study, trial

TASKS, REPEATS = 200, 3
SIDES = {"vanilla": "vanilla", "counter": "counter-edit"}

Paper = Mapping[str, Any]


@pytest.fixture(scope="module")
def paper(shared_data: Path) -> Paper:
    found: Paper = json.loads((shared_data / "papers" / "swe-touch.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def verified(paper: Paper) -> Study:
    """Nine agents, 200 tasks, three repeats, two conditions; and what became of the edits of failed trials."""
    trials = [row for model in paper["table3"] for row in _trials(paper, model)]
    return study(trials, list(_interventions(paper, trials)))


@pytest.fixture(scope="module")
def table3(verified: Study) -> dict[str, MainRow]:
    return {row.model: row for row in main_table(verified)}


@pytest.fixture(scope="module")
def table10(verified: Study) -> dict[str, TransitionRow]:
    return {row.model: row for row in transition_table(verified)}


def _printed(value: float, digits: int = 1) -> float:
    """As the paper prints it."""
    return round(value, digits) + 0.0


def _percent(value: float | None) -> float:
    assert value is not None
    return _printed(value * 100)


def _majorities(paper: Paper, model: str) -> dict[str, frozenset[int]]:
    """The tasks that are majority-solved on each side, in the numbers of Table 10."""
    found = paper["table10_transitions"][model]
    kept, lost, gained = (
        found[name] for name in ("solved_kept", "solved_to_unresolved", "unresolved_to_solved")
    )
    return {
        "vanilla": frozenset(range(kept + lost)),
        "counter": frozenset(range(kept)) | frozenset(range(kept + lost, kept + lost + gained)),
    }


@cache
def _repeats(total: int, sd: float) -> tuple[int, int, int]:
    """Resolved of 200 in each repeat, nearest to each other, so that the sample deviation prints as ``sd``."""
    third = round(total / REPEATS)
    return next(
        (low, middle, total - low - middle)
        for low in range(third, third - 40, -1)
        for middle in range(low, third + 40)
        if middle <= total - low - middle
        if _printed(stdev([low / 2, middle / 2, (total - low - middle) / 2])) == sd
    )


def _outcomes(solved: frozenset[int], counts: Sequence[int]) -> dict[tuple[int, int], bool]:
    """Task and repeat -> resolved: solved tasks miss at most one repeat, others have at most one.

    A repeat with more resolved than there are solved tasks has the rest among the others, and one with fewer misses
    some; beyond that as many of either change places as there is room for a half of.
    """
    unsolved = [task for task in range(TASKS) if task not in solved]
    missed = [max(0, len(solved) - count) for count in counts]
    gained = [max(0, count - len(solved)) for count in counts]
    room = min(len(solved) - sum(missed), len(unsolved) - sum(gained))
    assert room >= 0
    found = {(task, repeat): task in solved for task in range(TASKS) for repeat in range(REPEATS)}
    left, right = iter(sorted(solved, reverse=True)), iter(unsolved)
    for repeat in range(REPEATS):
        for _ in range(missed[repeat] + room // 6):
            found[next(left), repeat] = False
        for _ in range(gained[repeat] + room // 6):
            found[next(right), repeat] = True
    return found


def _trials(paper: Paper, model: str) -> Iterator[dict[str, Any]]:
    row, decoded = paper["table3"][model], paper["table3_resolved_of_600_decoded"][model]
    for side, label in SIDES.items():
        counts = _repeats(decoded[label.replace("-", "_")], row[f"{side}_sd"])
        outcomes = _outcomes(_majorities(paper, model)[side], counts)
        steps, tokens = round(row[f"{side}_steps"] * len(outcomes)), row[f"{side}_tokens_k"] * 1000
        for number, ((task, repeat), solved) in enumerate(outcomes.items()):
            yield trial(
                f"t{task:03}",
                label,
                model=model,
                repeat=repeat + 1,
                solved=solved,
                steps=steps // len(outcomes) + (number < steps % len(outcomes)),
                tokens=tokens,
            )


def _interventions(paper: Paper, trials: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Of as many failed trials of each agent as Figure 4c is of, with as many revised."""
    failed: dict[str, int] = {}
    for row in trials:
        revised, of = paper["figure4c_revision_rate"][row["model"]]
        seen = failed.setdefault(row["model"], 0)
        if row["failed_touched"] and seen < of:
            failed[row["model"]] += 1
            yield {
                "run": row["run"],
                "trial": row["trial"],
                "intervention": "i1",
                "shadow_of": [],
                "delivered": True,
                "has_edit": True,
                "written": 1,
                "ever_revised": int(seen < revised),
            }


def test_table_3_resolve_rates_and_all_their_deviations(paper: Paper, table3: dict[str, MainRow]) -> None:
    for model, printed in paper["table3"].items():
        for name, side in (("vanilla", table3[model].vanilla), ("counter", table3[model].touched)):
            assert side is not None
            assert _percent(side.resolve) == printed[f"{name}_resolve"]
            assert _percent(side.sd) == printed[f"{name}_sd"]
            assert (side.repeats, side.scored) == (REPEATS, TASKS * REPEATS)


def test_table_3_differences_come_from_unrounded_means(paper: Paper, table3: dict[str, MainRow]) -> None:
    rounded = []
    for model, printed in paper["table3"].items():
        assert _percent(table3[model].delta) == printed["delta_resolve"]
        rounded.append(_printed(printed["counter_resolve"] - printed["vanilla_resolve"]))
    assert rounded != [printed["delta_resolve"] for printed in paper["table3"].values()]


def test_table_3_ranks_and_their_changes(paper: Paper, table3: dict[str, MainRow]) -> None:
    for model, printed in paper["table3"].items():
        row = table3[model]
        assert row.vanilla is not None
        assert row.touched is not None
        assert (row.vanilla.rank, row.touched.rank) == (printed["vanilla_rank"], printed["counter_rank"])
        assert row.rank_change == printed["rank_change"]
        assert not row.vanilla.tied
        assert not row.touched.tied


def test_table_3_steps_and_tokens(paper: Paper, table3: dict[str, MainRow]) -> None:
    for model, printed in paper["table3"].items():
        row = table3[model]
        assert row.vanilla is not None
        assert row.vanilla.steps is not None
        assert row.delta_steps is not None
        assert _printed(row.vanilla.steps) == printed["vanilla_steps"]
        assert row.vanilla.tokens == printed["vanilla_tokens_k"] * 1000
        assert _printed(row.delta_steps) == printed["delta_steps"]


def test_table_3_retention_beside_a_null_that_is_not_all(paper: Paper, table3: dict[str, MainRow]) -> None:
    for model, printed in paper["table3"].items():
        retention = table3[model].retention
        assert retention is not None
        assert retention.null is not None
        assert _percent(retention.rate) == printed["retention"]
        assert retention.null < 1


def test_table_10_transitions(paper: Paper, table10: dict[str, TransitionRow]) -> None:
    for model, printed in paper["table10_transitions"].items():
        assert {name: getattr(table10[model], name) for name in printed} == printed
        assert (table10[model].tasks, table10[model].few_repeats) == (TASKS, False)


def test_pooled_retention_is_84_1_percent(table10: dict[str, TransitionRow]) -> None:
    kept = sum(row.solved_kept for row in table10.values())
    lost = sum(row.solved_to_unresolved for row in table10.values())
    assert _percent(kept / (kept + lost)) == 84.1


def test_the_mean_difference_is_minus_7_7_points(verified: Study) -> None:
    (row,) = control_table(verified)
    assert _percent(row.mean_delta) == -7.7
    assert (len(row.agents), row.tasks) == (9, TASKS)
    assert row.mean_interval is not None
    assert row.mean_interval.low < -0.077 < row.mean_interval.high < 0


def test_revision_goes_with_signed_difference_at_0_8(paper: Paper, verified: Study) -> None:
    # With the size of the loss instead of Δ the same agents give −0.8.
    (row,) = revision_table(verified)
    assert row.rho == pytest.approx(paper["spearman_revision_rate_vs_delta"], abs=1e-9)
    found = {each.model: [each.revision.revised, each.revision.trials] for each in row.agents}
    assert found == paper["figure4c_revision_rate"]
    assert sum(trials for _, trials in found.values()) == paper["figure4a_failure_share_percent"]["n"]


def test_table_5_rates_and_differences(paper: Paper) -> None:
    labels = (
        "vanilla",
        "message-only",
        "edit-only",
        "counter-edit[k=1]",
        "counter-edit",
        "counter-edit[k=5]",
    )
    table = {model: rates for model, rates in paper["table5"].items() if model != "rows"}
    found = study(
        trial(f"t{task:03}", label, model=model, solved=task < rate * 2)
        for model, rates in table.items()
        for label, rate in zip(labels, rates, strict=True)
        for task in range(TASKS)
    )
    rows = {(row.model, row.condition): row for row in condition_table(found)}
    for model, rates in table.items():
        for label, rate in zip(labels, rates, strict=True):
            row = rows[model, label]
            assert row.rate == rate / 100
            if label != "vanilla":
                assert row.delta == pytest.approx((rate - rates[0]) / 100, abs=1e-12)
                assert row.family == 5
        sweep = [point for point in k_sweep(found) if (point.model, point.family) == (model, "counter-edit")]
        assert [point.k for point in sweep] == [0, 1, 3, 5]
        assert [point.rate for point in sweep] == [rates[index] / 100 for index in (0, 3, 4, 5)]


Runs = tuple[tuple[int, int], tuple[int, int]]
"""Of two runs, resolved and scored."""
OF = 25
"""Tasks of each long-horizon benchmark."""


def _rate(runs: Runs) -> float:
    return sum(resolved / scored for resolved, scored in runs) / 2 * 100


@cache
def _runs() -> dict[float, list[Runs]]:
    """What two runs of at most five unscored trials may print, the likeliest first: full, and alike."""
    found: dict[float, list[Runs]] = {}
    runs = [(resolved, scored) for scored in range(OF - 5, OF + 1) for resolved in range(scored + 1)]
    pairs = [(one, two) for one in runs for two in runs if one[1] <= two[1]]
    for pair in sorted(pairs, key=_unlikely):
        found.setdefault(_printed(_rate(pair)), []).append(pair)
    return found


def _unlikely(pair: Runs) -> float:
    (a, n), (b, m) = pair
    return 2 * OF - n - m + OF * abs(a / n - b / m)


def _counts(vanilla: float, counter: float, delta: float) -> tuple[Runs, Runs]:
    """Counts of both sides that print as the paper does, their difference too."""
    return next(
        (before, after)
        for before in _runs()[vanilla]
        for after in _runs()[counter]
        if _printed(_rate(after) - _rate(before)) == delta
    )


def _long_trials(model: str, benchmark: str, label: str, runs: Runs) -> Iterator[dict[str, Any]]:
    for repeat, (resolved, scored) in enumerate(runs, 1):
        for task in range(OF):
            solved = task < resolved if task < scored else None
            yield trial(
                f"{benchmark}{task}", label, model=model, benchmark=benchmark, repeat=repeat, solved=solved
            )


@pytest.fixture(scope="module")
def table4(paper: Paper) -> dict[tuple[str, str], LongHorizonRow]:
    trials: list[dict[str, Any]] = []
    for model, printed in paper["table4_pro_then_deepswe"].items():
        for benchmark in ("pro", "deepswe"):
            sides = _counts(*(printed[f"{benchmark}_{name}"] for name in ("vanilla", "counter", "delta")))
            for label, runs in zip(SIDES.values(), sides, strict=True):
                trials += _long_trials(model, benchmark, label, runs)
    return {(row.model, row.benchmark or ""): row for row in long_horizon_table(study(trials))}


def test_table_4_rates_and_differences(paper: Paper, table4: dict[tuple[str, str], LongHorizonRow]) -> None:
    for model, printed in paper["table4_pro_then_deepswe"].items():
        for benchmark in ("pro", "deepswe"):
            row = table4[model, benchmark]
            assert _percent(row.vanilla.rate) == printed[f"{benchmark}_vanilla"]
            assert _percent(row.touched.rate) == printed[f"{benchmark}_counter"]
            assert _percent(row.delta) == printed[f"{benchmark}_delta"]


def test_table_4s_odd_difference_is_one_of_unrounded_rates(
    table4: dict[tuple[str, str], LongHorizonRow],
) -> None:
    # 16.8 − 19.4 is −2.6, and −2.5 is printed: runs of 22 and 25 scored trials give all three.
    row = table4["GLM 5.1", "deepswe"]
    assert (row.vanilla.scored, row.touched.scored) == ((22, 25), (22, 25))
    assert (_percent(row.vanilla.rate), _percent(row.touched.rate), _percent(row.delta)) == (19.4, 16.8, -2.5)
