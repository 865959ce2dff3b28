"""Figures of conversations: what they say, nothing by colour alone, and no words upon others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from fourhands.analysis.study import Study
from fourhands.report.figures import FIGURES, Figure, at_will, single_multi, user_activity

from ...analysis.frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named
from .studies import HOSTILE, conversations
from .test_in_browser import BOXES, outside, overlapping

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("single-multi", "at-will", "user-activity", "churn")
SVG = "{http://www.w3.org/2000/svg}"
SPACE = "\N{NO-BREAK SPACE}"
VERMILION = "#D55E00"


def drawn(name: str, of: Study) -> Figure:
    figure = FIGURES[name](of)
    assert figure is not None
    return figure


def words(figure: Figure) -> list[str]:
    return [text.text or "" for text in ET.fromstring(figure.svg).iter(f"{SVG}text")]


def height(figure: Figure) -> float:
    return float(ET.fromstring(figure.svg).attrib["height"].removesuffix("pt")) / 72


def test_single_and_multi_have_their_rates_and_both_differences_paired_by_task() -> None:
    rows = [
        *(trial(task, "single-turn") for task in "abcd"),
        *(talk(task, solved=task != "d", resolved_at_will=task == "a") for task in "abcd"),
    ]
    figure = drawn("single-multi", study(rows))
    at_once, first, end = (f"{share}{SPACE}% of 4" for share in ("100.0", "25.0", "75.0"))
    assert figure.alt.endswith(
        f"m, interactive: told at once {at_once}, in conversation, at will {first}, in conversation, end {end}."
    )
    told = words(figure)
    assert [word.split()[0] for word in told if "[" in word] == ["−75.0", "−25.0"]
    assert told.count("4") == 2
    assert "Wilson's" in figure.caption
    assert "clustered by task" in figure.caption


def test_at_will_stands_above_full_coverage_with_what_each_is_of() -> None:
    rows = [
        talk("a", resolved_at_will=False, held_at_will=["R1"]),
        talk("b"),
        talk("c", solved=False, termination="step_limit", held=["R1"], held_at_will=["R1"]),
    ]
    figure = drawn("at-will", study(rows))
    assert {"at will 1/3", "full coverage 2/2"} <= set(words(figure))
    assert f"at will 33.3{SPACE}% of 3, full coverage 100.0{SPACE}% of 2." in figure.alt


def test_activity_has_mean_median_and_most_and_who_ended_early() -> None:
    rows = [
        talk("a", said=2, looks=0, held_at_will=["R1"], corrections_at_will=0),
        talk("b", said=3, looks=1, held_at_will=["R1"], corrections_at_will=2),
        talk("c", said=10, looks=2),
        talk("d", said=1, looks=9),
    ]
    figure = drawn("user-activity", study(rows))
    assert (
        "interactive: 4.0 messages, median 2.5, at most 10; 3.0 looks, median 1.5, at most 9; "
        f"50.0{SPACE}% ended early, 25.0{SPACE}% after one correction or none."
    ) in figure.alt
    assert {"messages", "looks", "ended early", "4.0", "3.0", "n = 4"} <= set(words(figure))


def test_churn_shows_each_trial_the_medians_and_what_has_none() -> None:
    rows = [
        talk("a", churn_overhead=0.5, late_change_share=0.1),
        talk("b", churn_overhead=0.5, late_change_share=0.2),
        talk("c", churn_overhead=2.0, late_change_share=0.6),
        talk("d", churn_overhead=None, late_change_share=0.5, final_lines=0),
    ]
    figure = drawn("churn", study(rows))
    assert f"median overhead 50{SPACE}%, late share 35{SPACE}%, 1 undefined." in figure.alt
    assert "n = 4, 1 undef." in words(figure)
    assert "undef.: trials that leave nothing" in figure.caption
    assert "logarithmic" not in figure.caption
    far = drawn("churn", study([talk("a", churn_overhead=0.0), talk("b", churn_overhead=70.0)]))
    assert "logarithmic beyond 100" in far.caption
    assert {"0", "100", "1,000"} <= set(words(far))


@pytest.mark.parametrize("name", NAMES)
def test_one_trial_is_enough_and_without_any_there_is_no_figure(name: str) -> None:
    figure = drawn(name, study([trial(), talk()]))
    assert re.search(rf"n = 1{SPACE}(scored )?trial", figure.caption)
    assert FIGURES[name](study([])) is None
    assert (
        FIGURES[name](study([trial(), talk(solved=None, churn_overhead=None, late_change_share=None)]))
        is None
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_figure_grows_with_its_agents(name: str) -> None:
    few, many = (
        drawn(name, conversations([f"model-{n}" for n in range(count)], conditions=("interactive",), tasks=2))
        for count in (2, 12)
    )
    assert height(many) > 2 * height(few)
    assert {f"model-{n}" for n in range(12)} <= set(words(many))


@pytest.mark.parametrize("name", ["at-will", "user-activity", "churn", "single-multi"])
def test_each_condition_has_a_heading_of_its_own(name: str) -> None:
    told = "interactive[simulator=sim-{},disclosure=prompt]"
    known = [told.format(one) for one in ("good", "inventor", "leaky")]
    headings = words(drawn(name, conversations(("m",), conditions=known, tasks=2)))
    assert {
        "interactive, sim-good, prompt",
        "interactive, sim-inventor,",
        "interactive, sim-leaky, prompt",
    } <= set(headings)
    assert "interactive, all simulators," in headings
    assert headings.count("m") == 4


def test_a_dot_below_the_median_is_seen() -> None:
    svg = ET.fromstring(drawn("churn", study([talk("a"), talk("b"), talk("c")])).svg)
    diamonds = [use for use in svg.iter() if (use.get("stroke") or "").upper() == VERMILION]
    assert any(use.get("fill") == "none" for use in diamonds)
    assert not any((use.get("fill") or "").upper() == VERMILION for use in svg.iter())


def test_dots_of_many_trials_that_lie_upon_each_other_are_drawn_once() -> None:
    few, crowd = (
        drawn("churn", conversations(("m",), conditions=("interactive",), tasks=tasks))
        for tasks in (40, 1200)
    )
    assert len(crowd.svg) < 3 * len(few.svg)


def test_marks_differ_in_shape_and_areas_in_hatch() -> None:
    for looks in (at_will.LOOKS, single_multi.LOOKS):
        assert len({look.marker for _, look in looks}) == len(looks)
    assert user_activity.EARLY.hatch
    assert user_activity.PREMATURE.hatch
    assert user_activity.EARLY.hatch != user_activity.PREMATURE.hatch


@pytest.mark.parametrize(
    "of",
    [
        conversations(),
        conversations(("only",), conditions=("four-hands[k=5,simulator=a-model-of-a-long-name-2026-01-01]",)),
        conversations((HOSTILE, "b" + HOSTILE), agent=HOSTILE, tasks=3),
        conversations(said=123_456, looks=98_765, churn_overhead=4321.0, tasks=3),
    ],
    ids=["three agents", "long condition", "hostile names", "large numbers"],
)
def test_all_words_are_within_their_figure_and_none_lies_upon_another(of: Study, browser: Browser) -> None:
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
