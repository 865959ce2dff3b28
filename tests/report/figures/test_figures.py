from __future__ import annotations

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fourhands.analysis.findings.survival import Curve, Ending, Point
from fourhands.report.figures import FIGURES, Figure, figures
from fourhands.report.figures import cost_performance as costs
from fourhands.report.figures import forest as forests
from fourhands.report.figures import survival as survivals
from fourhands.report.figures import transitions as flows

from ...analysis.frames import study, trial  # noqa: TID252 - tests are no package that could be named
from .studies import a_study

SVG = "{http://www.w3.org/2000/svg}"


def words(figure: Figure | None) -> list[str]:
    assert figure is not None
    return [text.text or "" for text in ET.fromstring(figure.svg).iter(f"{SVG}text")]


def height(figure: Figure | None) -> float:
    assert figure is not None
    return float(ET.fromstring(figure.svg).attrib["height"].removesuffix("pt")) / 72


def test_a_study_without_trials_has_no_figure() -> None:
    assert figures(study([])) == ()


def test_a_study_without_a_touched_trial_has_only_what_it_costs() -> None:
    drawn = figures(study([trial(model="a"), trial(model="b")]))
    assert [figure.name for figure in drawn] == ["cost-performance"]


def test_one_agent_one_task_and_one_condition_are_enough() -> None:
    drawn = figures(a_study(("only",), conditions=("counter-edit",), tasks=1))
    assert {"forest", "transitions", "cost-performance", "response-mode", "after-edit", "survival"} <= {
        figure.name for figure in drawn
    }


def test_every_caption_says_how_many() -> None:
    for figure in figures(a_study()):
        assert re.search(r"n = [\d,]+( to [\d,]+)?\N{NO-BREAK SPACE}[a-z]", figure.caption), figure.caption


@pytest.mark.parametrize(
    "name",
    ["forest", "transitions", "response-mode", "after-edit", "survival", "revision", "cost-performance"],
)
def test_a_figure_grows_with_its_agents(name: str) -> None:
    few, many = (
        FIGURES[name](
            a_study([f"model-{place}" for place in range(agents)], conditions=("counter-edit",), tasks=5)
        )
        for agents in (3, 40)
    )
    assert height(many) > 1.3 * height(few)
    if name != "revision":  # an agent without a failed trial has nothing to be shown there
        assert {f"model-{place}" for place in range(40)} <= set(words(many))


def test_the_forest_shows_the_differences_of_the_paper(shared_data: Path) -> None:
    table = json.loads((shared_data / "papers" / "swe-touch.json").read_bytes())["table3"]
    effects = [
        forests.Effect(name, "counter-edit", row["delta_resolve"], None, None, 200)
        for name, row in table.items()
    ]
    drawn = forests.draw(effects)
    assert drawn is not None
    assert "Qwen3-Coder-480B, counter-edit: −16.5" in drawn.alt
    assert {"−16.5", "−1.8", "−13.8"} <= set(words(drawn))
    assert "incomplete" not in drawn.caption


def test_the_forest_is_of_the_study_and_says_what_is_incomplete() -> None:
    rows = [
        *(trial(task, "vanilla", model=model) for task in "abcd" for model in "xy"),
        *(trial(task, "counter-edit", model=model, solved=task in "ab") for task in "abc" for model in "xy"),
        *(trial("d", "counter-edit", model=model, solved=None) for model in "xy"),
    ]
    drawn = FIGURES["forest"](study(rows))
    told = words(drawn)
    assert drawn is not None
    assert "x, counter-edit: −33.3 (" in drawn.alt
    assert "mean of 2 agents" in told
    assert told.count("3 (+1 inc.)") == 2
    assert "2 incomplete (inc.)" in drawn.caption


def test_an_agent_without_a_pair_stays_in_the_forest() -> None:
    drawn = forests.draw(
        [
            forests.Effect("a", "counter-edit", -5.0, -9.0, -1.0, 8),
            forests.Effect("b", "counter-edit", None, None, None, 0, incomplete=8),
        ]
    )
    assert {"b", "no complete pair", "0 (+8 inc.)", "−5.0 [−9.0, −1.0]"} <= set(words(drawn))


def test_the_flows_show_both_sides_and_what_changed_them() -> None:
    drawn = flows.draw([flows.Flow("Kimi K2.6", "counter-edit", 123, 18, 9, 50)])
    assert {"141", "59", "132", "68", "lost 18 · gained 9"} <= set(words(drawn))
    assert drawn is not None
    assert "n = 200\N{NO-BREAK SPACE}tasks" in drawn.caption


def test_what_does_not_fit_the_flows_is_said() -> None:
    drawn = flows.draw([flows.Flow(f"a{place}", "counter-edit", 1, 1, 1, 1) for place in range(70)])
    assert drawn is not None
    assert "The first 60 of 70 diagrams" in drawn.caption
    assert "a59" in words(drawn)
    assert "a60" not in words(drawn)


def test_without_a_price_tokens_stand_in_for_the_cost_and_the_caption_says_so() -> None:
    drawn = FIGURES["cost-performance"](a_study(cost=None))
    assert drawn is not None
    assert "mean tokens of a trial" in words(drawn)
    assert "tokens stand in its place" in drawn.caption
    priced = FIGURES["cost-performance"](a_study())
    assert "mean cost of a trial, US dollars" in words(priced)


def test_what_has_no_known_cost_is_left_out_and_counted() -> None:
    drawn = costs.draw(
        [
            costs.Point("a", None, "vanilla", 0.1, 100.0, 0.5, 9),
            costs.Point("a", None, "counter-edit", 0.1, 100.0, 0.5, 9),
            costs.Point("b", None, "vanilla", None, 100.0, 0.5, 9),
        ]
    )
    assert drawn is not None
    assert "1 of 3 points are left out" in drawn.caption
    assert "b" not in words(drawn)


def test_costs_far_apart_are_on_a_logarithmic_axis() -> None:
    def at(dollars: float) -> Figure:
        first = costs.Point("a", None, "vanilla", 0.1, None, 0.5, 9)
        drawn = costs.draw([first, costs.Point("b", None, "vanilla", dollars, None, 0.5, 9)])
        assert drawn is not None
        return drawn

    assert "logarithmic" in at(5.0).caption
    assert "$1" in words(at(5.0))
    assert "logarithmic" not in at(0.2).caption


def test_a_shift_of_nothing_is_drawn() -> None:
    points = [
        costs.Point("a", None, condition, 0.1, None, 1.0, 9) for condition in ("vanilla", "counter-edit")
    ]
    assert "→ counter-edit" in words(costs.draw(points))


def test_no_axis_of_rates_goes_beyond_100() -> None:
    for name in ("cost-performance", "edit-frequency"):
        drawn = FIGURES[name](
            a_study(("a", "b"), benchmarks=("x",), tasks=3, conditions=("counter-edit", "counter-edit[k=1]"))
        )
        numbers = [float(word) for word in words(drawn) if re.fullmatch(r"\d+(\.\d+)?", word)]
        assert max(numbers) <= 100


def test_a_sweep_has_a_panel_for_each_benchmark_and_skips_what_was_run_with_one_k() -> None:
    drawn = FIGURES["edit-frequency"](
        a_study(benchmarks=("pro", "deep"), conditions=("counter-edit", "counter-edit[k=1]", "co-edit"))
    )
    told = words(drawn)
    assert {"pro", "deep"} <= set(told)
    assert told.count("K, the most edits") == 2
    assert drawn is not None
    assert "co-edit" not in drawn.alt
    assert FIGURES["edit-frequency"](a_study(conditions=("counter-edit",))) is None


def test_lines_at_risk_stand_below_the_curves() -> None:
    def curve(ending: Ending, *points: Point) -> Curve:
        return Curve("a", "m", "counter-edit", ending, 2, 4, 0, 0, points)

    revised = curve("revised", Point(5, 4, 1, 0.75), Point(10, 3, 1, 0.5), Point(20, 2, 0, 0.5))
    gone = curve("gone", Point(20, 4, 0, 1.0))
    drawn = survivals.draw([survivals.Survival("m", "counter-edit", revised, gone)])
    told = words(drawn)
    assert [word for word in told if word in {"2", "3", "4"}] == ["4", "4", "3", "2", "2"] + ["4"] * 5
    assert drawn is not None
    assert "in the end 50.0\N{NO-BREAK SPACE}% unrevised and 100.0\N{NO-BREAK SPACE}% present" in drawn.alt


def test_revision_is_set_against_the_loss_of_three_agents_but_not_of_two() -> None:
    three = FIGURES["revision"](a_study(tasks=12, conditions=("counter-edit",)))
    two = FIGURES["revision"](a_study(("hasty", "stubborn"), tasks=12, conditions=("counter-edit",)))
    assert any(re.fullmatch(r". = −?\d\.\d\d \(3 agents\)", word) for word in words(three))
    assert not any("agents)" in word for word in words(two))
    assert "ever revised, %" not in words(two)


def test_shares_of_responses_fill_their_bar() -> None:
    drawn = FIGURES["response-mode"](a_study(("only",), conditions=("counter-edit",), tasks=30))
    assert drawn is not None
    told = [float(share) for share in re.findall(r"([\d.]+)\N{NO-BREAK SPACE}%", drawn.alt)]
    assert math.isclose(sum(told), 100, abs_tol=0.3)
    assert "n = 30" in words(drawn)
