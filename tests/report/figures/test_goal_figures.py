"""Figures of goals over a conversation: what they say, and that no words lie outside or upon others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from fourhands.analysis.study import Anchors, RunInfo, Study, TaskInfo
from fourhands.model.ledger_state import RequirementState
from fourhands.report.figures import FIGURES, Figure
from fourhands.report.figures import requirement_states as state_areas

from ...analysis.findings.talked import judged, scored  # noqa: TID252 - tests are no package that could be named
from ...analysis.frames import study  # noqa: TID252
from .studies import HOSTILE
from .test_in_browser import BOXES, outside, overlapping

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("discovery", "goals-verifier", "requirement-states")
SVG = "{http://www.w3.org/2000/svg}"


def talks(
    models: Sequence[str] = ("careful", "hasty"),
    *,
    conditions: Sequence[str] = ("interactive", "four-hands"),
    judges: Sequence[str] = ("judge:gpt-5.5",),
    tasks: int = 3,
) -> Study:
    """Each model ends lower than the one before it; judges give the reference 96 as a plan and 80 as code."""
    rows = [
        scored(
            f"t{task}",
            20.0 + task,
            [30.0, 60.0, max(0.0, 100.0 - 15 * place - task)],
            base=10,
            condition=condition,
            model=model,
            solved=place == 0,
            judges=[judged(90, 40, 60, 95, judge=judge) for judge in judges],
        )
        for place, model in enumerate(models)
        for condition in conditions
        for task in range(tasks)
    ]
    infos = tuple(
        TaskInfo(f"t{task}", "d", anchors=tuple(Anchors(judge, 2, 0, 80, 96) for judge in judges))
        for task in range(tasks)
    )
    return replace(study(rows), runs=(RunInfo("run", "/runs/a", "run", tasks=infos),))


def drawn(name: str, of: Study) -> Figure:
    figure = FIGURES[name](of)
    assert figure is not None
    return figure


def words(figure: Figure) -> list[str]:
    return [text.text or "" for text in ET.fromstring(figure.svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("name", NAMES)
def test_one_trial_is_enough_and_the_caption_says_how_many(name: str) -> None:
    figure = drawn(name, talks(("only",), conditions=("interactive",), judges=(), tasks=1))
    assert figure.name == name
    assert "n = 1\N{NO-BREAK SPACE}scored trial " in figure.caption


@pytest.mark.parametrize("name", NAMES)
def test_without_a_conversation_there_is_none(name: str) -> None:
    assert FIGURES[name](study([])) is None


def test_discovery_has_a_panel_for_each_source_and_condition_and_a_judge_is_marked() -> None:
    figure = drawn("discovery", talks())
    told = words(figure)
    assert [word for word in told if word in {"interactive", "four-hands"}] == [
        "interactive",
        "four-hands",
    ] * 2
    assert [word for word in told if word.startswith("goals, by")] == [
        *["goals, by checks"] * 2,
        *["goals, by judge:gpt-5.5, unaudited"] * 2,
    ]
    assert {"no change", "the reference", "the reference as a plan", "plan"} <= set(told)
    assert (
        "careful, interactive, by checks: plan 21.0, first code 30.0, half way 60.0, end 99.0." in figure.alt
    )
    assert "judge:gpt-5.5, unaudited" in figure.caption


def test_anchors_that_nobody_tells_are_not_in_the_key() -> None:
    told = words(drawn("discovery", talks(judges=())))
    assert "the reference as a plan" not in told
    assert {"no change", "the reference"} <= set(told)


def test_goals_show_counts_by_verdict_and_score_and_say_what_is_left_out() -> None:
    of = talks(("a", "b"), conditions=("interactive",), judges=())
    figure = drawn("goals-verifier", of)
    assert "a, interactive, by checks: score 99.0, reward 1.00; 3 resolved, score ≥ 90." in figure.alt
    assert "b, interactive, by checks: score 84.0, reward 0.00; 3 unresolved, score < 90." in figure.alt
    assert "left out" not in figure.caption
    informed = scored("x", 0, [100], source="hidden-tests", model="a")
    known = scored("y", 0, [100], model="a")
    assert "1\N{NO-BREAK SPACE}trial left out" in drawn("goals-verifier", study([informed, known])).caption


def test_a_judges_name_and_trust_stand_whole_above_its_rows() -> None:
    assert "interactive, by judge:gpt-5.5, unaudited" in words(drawn("goals-verifier", talks()))


def test_kinds_of_conversations_that_are_clipped_alike_are_not_merged() -> None:
    known = [f"interactive[persona={persona},coverage=at-will]" for persona in ("vague", "mixture")]
    told = words(drawn("goals-verifier", talks(("m",), conditions=known, judges=())))
    assert {
        "interactive, vague persona, at-will, by checks",
        "interactive, mixture persona, at-will,",
    } <= set(told)
    assert told.count("m") == 2


def test_two_prompts_of_one_judge_are_told_apart() -> None:
    read = [judged(90, 40, 60, judge="judge:j", version=version) for version in (1, 2)]
    of = study([scored("a", 20, [30.0, 60.0], judges=read)])
    for name in ("discovery", "goals-verifier"):
        told = " ".join(words(drawn(name, of)))
        assert "by judge:j v1, unaudited" in told, name
        assert "by judge:j v2, unaudited" in told, name


def test_the_reference_by_checks_is_said_to_be_so_by_definition() -> None:
    figure = drawn("discovery", talks(judges=()))
    assert words(figure).count("by definition") == 2
    assert "By checks the reference has 100 by definition" in figure.caption
    of_judges = [panel for panel in words(drawn("discovery", talks())) if panel == "by definition"]
    assert len(of_judges) == 2  # not in the two of the judge


def test_an_anchor_is_the_mean_over_the_tasks_of_all_agents() -> None:
    """One agent has a task that is worth 0, the other this one and two that are worth 30: 20 together, not 10."""
    of = study(
        [
            scored("a", 0, [50], base=0, model="one"),
            *(
                scored(task, 0, [50], base=base, model="two")
                for task, base in (("a", 0), ("b", 30), ("c", 30))
            ),
        ]
    )
    svg = drawn("discovery", of).svg
    level = {
        value: _height(drawn("discovery", study([scored("a", 0, [50], base=value)])).svg)
        for value in (10, 20)
    }
    assert _height(svg) - _height(drawn("discovery", study([scored("a", 0, [50], base=20)])).svg) == (
        pytest.approx(0, abs=1e-3)
    )
    assert level[10] != level[20]


def _height(svg: str) -> float:
    """Of the line of no change, above the x axis of one panel."""
    (dotted,) = [
        path
        for path in ET.fromstring(svg).iter(f"{SVG}path")
        if path.get("stroke") == "currentColor"
        and len(_points(path)) == 2
        and path.get("stroke-width") == "0.8"
        and _points(path)[0][1] > 20
    ]
    return _points(dotted)[0][1]


def _points(path: ET.Element) -> list[tuple[float, float]]:
    numbers = [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?", path.get("d") or "")]
    return list(zip(numbers[::2], numbers[1::2], strict=False))


def test_scores_are_drawn_as_the_steps_that_they_are_and_at_their_place() -> None:
    svg = ET.fromstring(
        drawn("discovery", talks([f"m{n}" for n in range(8)], conditions=("interactive",), judges=())).svg
    )
    curves = [points for path in svg.iter(f"{SVG}path") if len(points := _points(path)) == 21]
    assert len(curves) == 8
    for curve in curves:
        steps = pairwise(curve)
        assert all(before[0] == after[0] or before[1] == after[1] for before, after in steps)
    assert len({(curve[0][0], curve[-1][0]) for curve in curves}) == 1


def test_the_final_state_of_the_requirements_has_a_width() -> None:
    held, lost = (
        dict.fromkeys(RequirementState, 0.0) | {state: 1.0}
        for state in (RequirementState.HELD, RequirementState.FORGOTTEN)
    )
    figure = state_areas.draw([state_areas.States("a", "interactive", [0, 1], [held, lost], 1)])
    assert figure is not None
    widths = [
        max(x for x, _ in found) - min(x for x, y in found if y < max(y for _, y in found))
        for path in ET.fromstring(figure.svg).iter(f"{SVG}path")
        if "url(#" in (path.get("fill") or "") and (found := _points(path))
    ]
    assert max(widths) > 5


def test_only_hidden_tests_are_no_figure_of_goals() -> None:
    assert FIGURES["goals-verifier"](study([scored("x", 0, [100], source="hidden-tests")])) is None


def test_states_have_a_panel_each_and_only_what_occurs_is_in_the_key() -> None:
    figure = drawn("requirement-states", talks())
    told = words(figure)
    assert {"careful · interactive", "hasty · four-hands", "held", "satisfied"} <= set(told)
    assert not {"violated", "forgotten", "revealed", "acknowledged"} & set(told)
    assert "careful, interactive, in the end: satisfied 100.0\N{NO-BREAK SPACE}%." in figure.alt


def test_panels_of_states_that_do_not_fit_are_counted() -> None:
    share = dict.fromkeys(RequirementState, 0.0) | {RequirementState.HELD: 1.0}
    many = [state_areas.States(f"a{n}", "interactive", [0, 1], [share, share], 1) for n in range(31)]
    figure = state_areas.draw(many)
    assert figure is not None
    assert figure.caption.endswith("The first 30 of 31 panels.")
    assert "a29" in words(figure)
    assert "a30" not in words(figure)


def test_areas_and_lines_differ_in_more_than_colour() -> None:
    share = dict.fromkeys(RequirementState, 1 / 6)
    areas = state_areas.draw([state_areas.States("a", "interactive", [0, 1], [share, share], 1)])
    assert areas is not None
    assert areas.svg.count("<pattern") == 4  # satisfied and held are told by their colour and by having none
    lines = drawn("discovery", talks(("a", "b"), conditions=("interactive",), judges=())).svg
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', lines))) >= 3  # the second agent and two anchors
    mixed = [
        scored(task, 0, [score], solved=solved)
        for task, score, solved in (("a", 95, True), ("b", 50, True), ("c", 95, False), ("d", 50, False))
    ]
    assert drawn("goals-verifier", study(mixed)).svg.count("<pattern") == 2


@pytest.mark.parametrize(
    "of",
    [
        talks(),
        talks(("only",), conditions=("interactive",), judges=()),
        talks([f"a-model-of-a-long-name-{place}" for place in range(7)], tasks=1),
        talks((HOSTILE, "b" + HOSTILE), judges=(f"judge:{HOSTILE}",)),
    ],
    ids=["two agents", "one", "many agents", "hostile names"],
)
def test_all_words_are_within_their_figure_and_none_lies_upon_another(of: Any, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 700})
    try:
        for name in NAMES:
            page.set_content(f"<!doctype html><body>{drawn(name, of).svg}</body>")
            boxes = page.eval_on_selector("svg", BOXES)
            assert len(boxes) > 5
            assert outside(boxes) == [], name
            assert overlapping(boxes) == [], name
    finally:
        page.close()
