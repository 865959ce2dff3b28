"""What failures are composed of, drawn: bars that add up, a judge's parts apart, and names and marks that fit."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser

from fourhands.analysis.study import Study
from fourhands.model.audit import AuditName
from fourhands.model.failure import FailureLabel, FailureType, FoundBy
from fourhands.report.figures import FIGURES, Figure
from fourhands.report.figures.failures import Composition, Panel, Part, draw

from ...analysis.frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named
from ...analysis.said import agreement, audited, audits, labelled, opinion, typed  # noqa: TID252
from .studies import HOSTILE
from .test_in_browser import BOXES, outside, overlapping

SVG = "{http://www.w3.org/2000/svg}"
TECHNICAL, FORGOTTEN, REGRESSION, MISREAD, MISSING = FailureLabel
NBSP = "\N{NO-BREAK SPACE}"


def failing(
    models: tuple[str, ...] = ("careful", "hasty"), *, judges: tuple[str, ...] = ("judge:j",)
) -> Study:
    """Of each model three conversations and three touched trials; a judge reads those of the first model alone."""
    rows: list[dict[str, Any]] = []
    for model in models:
        heard = judges if model == models[0] else ()
        left = labelled(left=["R1"]) | audits(*(opinion((MISREAD, "R1"), judge=judge) for judge in heard))
        rows += [trial("a", "single-turn", model=model, repeat=repeat) for repeat in (1, 2, 3)]
        rows += [
            talk("a", solved=False, model=model, **labelled((MISSING, FoundBy.EVENTS, "R1"))),
            talk("a", solved=False, model=model, repeat=2, **labelled((REGRESSION, FoundBy.EXECUTION, "R1"))),
            talk("a", solved=False, model=model, repeat=3, **left),
        ]
        rows += [
            trial(
                "a",
                "counter-edit",
                solved=False,
                model=model,
                repeat=repeat,
                **typed(found, FoundBy.EXECUTION),
            )
            for repeat, found in enumerate(
                [FailureType.RETAINED_CONFLICT] * 2 + [FailureType.OTHER_DEFECT], 1
            )
        ]
    return study(rows)


def drawn(of: Study) -> Figure:
    figure = FIGURES["failures"](of)
    assert figure is not None
    return figure


def words(figure: Figure) -> list[str]:
    return [text.text or "" for text in ET.fromstring(figure.svg).iter(f"{SVG}text")]


def test_each_scheme_has_a_panel_with_all_agents_and_each_and_their_numbers() -> None:
    figure = drawn(failing())
    told = words(figure)
    assert {"Conversations", "Under the user's hands", "n = 6", "n = 3"} <= set(told)
    assert told.count("all") == told.count("careful") == told.count("hasty") == 2
    labels = [*FailureLabel, *FailureType]
    assert [each for each in told if each in labels] == labels
    assert figure.caption.endswith(f"n = 3 to 6{NBSP}failed trials a row.")
    third, half = f"33.3{NBSP}%", f"66.7{NBSP}%"
    assert (
        f"hasty, 3 failed: regression {third}, missing user requirement {third}, undecided {third}"
        in figure.alt
    )
    assert f"hasty, 3 failed: retained conflict {half}, other defect {third}" in figure.alt


def test_a_judges_parts_are_apart_and_its_mark_stands_above_them() -> None:
    unaudited, known = drawn(failing()), drawn(audited(failing(), agreement(0.72)))
    assert "thin and pale: left open, as judge:j (unaudited) reads it" in words(unaudited)
    assert "thin and pale: left open, as judge:j (κ 0.72) reads it" in words(known)
    third = f"33.3{NBSP}%"
    assert f"misinterpretation / bad assumption by the judge {third}" in unaudited.alt
    assert "thin, pale ones are a judge's word" in unaudited.caption
    without = drawn(failing(judges=()))
    assert not any("judge" in each for each in (*words(without), without.alt, without.caption))


def test_an_agent_that_the_judge_has_not_read_keeps_its_bar() -> None:
    told = words(drawn(failing()))
    assert told.count("hasty") == 2
    two = words(drawn(failing(judges=("judge:j", "judge:k"))))
    assert sum("judge:" in each for each in two) == 2
    assert two.count("hasty") == 3


def test_the_bars_fill_their_axis_whatever_their_parts() -> None:
    bars = (
        Composition("one", 3, (Part("x", 1, 0), Part("y", 0, 2)), 1),
        Composition("two", 5, (Part("x", 0, 0), Part("y", 3, 0)), 2),
    )
    assert [bar.total for bar in bars] == [4, 5]
    figure = draw([Panel("s", "judge:j (unaudited)", bars)])
    assert figure is not None
    assert f"x 25.0{NBSP}%, y by the judge 50.0{NBSP}%, undecided 25.0{NBSP}%" in figure.alt


def test_conversations_that_end_at_will_are_not_counted_with_those_told_everything() -> None:
    missing = labelled((MISSING, FoundBy.EVENTS, "R1"))
    broken = labelled((REGRESSION, FoundBy.EXECUTION, "R1"))
    figure = drawn(
        study(
            [
                talk("a", solved=False, **broken),
                talk("a", "interactive[persona=neutral]", solved=False, **broken),
                talk("a", "interactive[coverage=at-will]", solved=False, **missing),
            ]
        )
    )
    told = words(figure)
    assert [each for each in told if each.startswith("Conversations")] == [
        "Conversations, coverage=full",
        "Conversations, coverage=at-will",
    ]
    whole = f"100.0{NBSP}%"
    assert f"2 failed: regression {whole}" in figure.alt
    assert f"1 failed: missing user requirement {whole}" in figure.alt
    assert "no requirement can be missing" in figure.caption


def test_a_scheme_of_which_all_is_undecided_is_counted() -> None:
    rows = failing(judges=()).tables.trials.rows(named=True)
    figure = drawn(study([row | {"failure_type": None, "failure_type_by": None} for row in rows]))
    assert "Under the user's hands" not in words(figure)
    assert "Not drawn, since all is undecided: Under the user's hands, 3 to 6" in figure.caption


def test_two_prompts_of_one_judge_have_a_panel_each_that_names_them() -> None:
    heard = audits(*(opinion((MISREAD, "R1"), prompt=version) for version in (1, 2)))
    told = " ".join(words(drawn(study([talk("a", solved=False, **labelled(left=["R1"]), **heard)]))))
    assert "as judge:j v1 (unaudited) reads it" in told
    assert "as judge:j v2 (unaudited) reads it" in told


def test_nothing_is_drawn_of_what_nobody_knows() -> None:
    assert FIGURES["failures"](study([])) is None
    assert FIGURES["failures"](study([talk("a", solved=False, **labelled(left=["R1"]))])) is None


def test_the_parts_differ_in_more_than_colour() -> None:
    assert re.search(r"<pattern|url\(#", drawn(failing()).svg)
    assert "currentColor" in drawn(failing()).svg


@pytest.mark.parametrize(
    "of",
    [
        failing(),
        audited(failing(("only",)), agreement(0.41)),
        failing(tuple(f"a-model-of-a-long-name-{place}" for place in range(20))),
        audited(
            failing((HOSTILE, "b" + HOSTILE), judges=(f"judge:{HOSTILE}",)),
            agreement(None, judge=f"judge:{HOSTILE}"),
        ),
    ],
    ids=["two agents", "one", "many agents", "hostile names"],
)
def test_all_words_are_within_the_figure_and_none_lies_upon_another(of: Study, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 700})
    try:
        page.set_content(f"<!doctype html><body>{drawn(of).svg}</body>")
        boxes = page.eval_on_selector("svg", BOXES)
        assert len(boxes) > 5
        assert outside(boxes) == []
        assert overlapping(boxes) == []
    finally:
        page.close()


def test_the_same_judge_of_another_scheme_is_marked_by_its_own_agreement() -> None:
    rows = failing(judges=()).tables.trials.rows(named=True)
    for row in rows:
        if row["condition"] == "counter-edit" and row["repeat"] == 3:
            row.update({"failure_type": None, "failure_type_by": None})
            row.update(audits(opinion((FailureType.OFF_TARGET, None), audit=AuditName.SWE_TOUCH)))
    told = words(drawn(audited(study(rows), agreement(0.9))))
    assert "thin and pale: left open, as judge:j (unaudited) reads it" in told


def test_the_part_of_a_users_own_model_is_drawn_as_its_word() -> None:
    found = labelled((REGRESSION, FoundBy.JUDGE, "R7"))
    figure = drawn(study([talk("a", "interactive[simulator=x]", solved=False, **found)]))
    assert "thin and pale: left open, as simulator:x (unaudited) reads it" in words(figure)
    assert f"regression by the judge 100{NBSP}%" in figure.alt.replace(".0", "")
