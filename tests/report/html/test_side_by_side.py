"""The page of two trials side by side: it opens at them, and claims nothing of the runs' results."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from fourhands.cli.side_by_side import write_side_by_side

from .watched import opened


@pytest.fixture(scope="module")
def page(thin_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a real run and of a second one, which was recorded alike."""
    folder = tmp_path_factory.mktemp("side")
    other = folder / "other"
    shutil.copytree(thin_run, other)
    plan = json.loads((other / "plan.json").read_text())
    (other / "plan.json").write_text(json.dumps(plan | {"run_id": "other"}))
    write_side_by_side((thin_run, other), "ledger-rounding", None, folder / "story.html")
    return folder / "story.html"


@pytest.mark.slow
def test_it_opens_at_both_stories_and_the_way_to_the_trials_is_open(browser: Browser, page: Path) -> None:
    with opened(browser, page) as watched:
        stories = watched.page.locator("article.story")
        expect(stories).to_have_count(2)
        assert "#compare=" in watched.page.url
        first, second = (chips.split() for chips in stories.locator(".what").all_inner_texts())
        assert first[0] != second[0], "each names its run"
        assert first[1:] == second[1:], "the same agent, model, condition and repeat"
        watched.page.locator("#back").click()
        expect(watched.page.locator("#overview")).to_be_visible()
        expect(watched.page.locator("#count")).to_have_text("4 trials")
        watched.page.go_back()
        expect(stories).to_have_count(2)
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_an_address_of_one_story_is_followed_all_the_same(browser: Browser, page: Path) -> None:
    trial = "other/ledger-rounding__thin-scripted-keeps__counter-edit__r1"
    with opened(browser, page, f"#trial={trial}") as watched:
        expect(watched.page.locator("article.story")).to_have_count(1)
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_it_says_what_it_is_and_what_was_run_and_nothing_of_results(browser: Browser, page: Path) -> None:
    with opened(browser, page, "#section-run") as watched:
        shown = watched.page
        assert shown.locator("h1").inner_text() == "ledger-rounding in run and other"
        assert shown.locator(".headline, .cautions, #section-tables, #section-figures").count() == 0
        runs = shown.locator("#section-run .run").all_inner_texts()
        assert len(runs) == 2
        assert all("8 planned, 8 scored" in each and "vanilla" in each for each in runs), "of the whole runs"
        conditions = shown.locator("#trials tbody tr td:nth-child(5)").all_inner_texts()
        assert set(conditions) == {"counter-edit"}
