"""What a reader sees: no words outside of a figure, none upon others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from fourhands.report.figures import figures

from .studies import HOSTILE, a_study

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STUDIES = {
    "three agents": a_study,
    "one agent, one condition": lambda: a_study(("only",), conditions=("counter-edit",), tasks=3),
    "forty agents": lambda: a_study(
        [f"a-model-of-a-long-name-{place}" for place in range(40)], conditions=("counter-edit",), tasks=3
    ),
    "four benchmarks": lambda: a_study(benchmarks=("SWE-bench Verified", "SWE-Bench Pro", "DeepSWE", None)),
    "hostile names": lambda: a_study((HOSTILE, "b" + HOSTILE), agent=HOSTILE, benchmarks=(HOSTILE,)),
    "large numbers": lambda: a_study(cost=123456.0, tokens=987654321, steps=4000, tasks=4),
}

BOXES = """svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(t => t.textContent.trim()).map(text => {
    const box = text.getBoundingClientRect();
    return {words: text.textContent, left: box.left - frame.left, right: box.right - frame.left,
            top: box.top - frame.top, bottom: box.bottom - frame.top,
            width: frame.width, height: frame.height};
  });
}"""
SLACK = 1.5
"""CSS pixels: what a font's box has beyond its letters."""


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_all_words_are_within_their_figure_and_none_lies_upon_another(study: Any, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 700})
    try:
        for figure in figures(study()):
            page.set_content(f"<!doctype html><body>{figure.svg}</body>")
            boxes = page.eval_on_selector("svg", BOXES)
            assert len(boxes) > 5
            assert outside(boxes) == [], figure.name
            assert overlapping(boxes) == [], figure.name
    finally:
        page.close()


def outside(boxes: Sequence[dict[str, Any]]) -> list[str]:
    return [
        box["words"]
        for box in boxes
        if box["left"] < -SLACK
        or box["top"] < -SLACK
        or box["right"] > box["width"] + SLACK
        or box["bottom"] > box["height"] + SLACK
    ]


def overlapping(boxes: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    found = []
    for place, one in enumerate(boxes):
        for other in boxes[place + 1 :]:
            across = min(one["right"], other["right"]) - max(one["left"], other["left"])
            down = min(one["bottom"], other["bottom"]) - max(one["top"], other["top"])
            if across > SLACK and down > 2 * SLACK:
                found.append((one["words"], other["words"]))
    return found
