"""Whatever agents, models, tasks and users write is shown, and does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from fourhands.report.html.writer import write_html_report
from fourhands.report.loading import load_study

from .hostile_run import MARKUP, write_hostile_run
from .watched import opened


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    write_hostile_run(folder / "run")
    out = folder / "report.html"
    write_html_report(load_study([folder / "run"]), out)
    return out


def test_all_of_the_record_is_read(hostile: Path) -> None:
    study = load_study([hostile.parent / "run"])
    assert study.skipped == ()
    assert study.tables.trials["record_problems"].to_list() == [[]]


def test_nothing_runs_and_all_of_it_shows(browser: Browser, hostile: Path) -> None:
    with opened(browser, hostile) as watched:
        page = watched.page
        assert MARKUP in page.locator("#overview").inner_text()
        page.locator("#trials tbody a").first.click()
        watched.story()
        told = page.locator("#telling").inner_text()
        assert MARKUP in told
        assert r"\x1b[2J" in told
        assert r"\u202e" in told
        assert "\N{REPLACEMENT CHARACTER}" in told
        assert "left out" in told
        assert f"told its model of a changed file: “{MARKUP}”" in told
        assert page.evaluate("globalThis.owned") is None
        assert (
            page.evaluate(
                "document.querySelectorAll('img, iframe, #telling script, #overview script').length"
            )
            == 0
        )
        page.locator("#text").evaluate("field => field.value = '<img src=x onerror=owned=1>'")
        page.pdf()
        watched.see_that_it_was_quiet()


def test_the_file_stays_small_and_is_utf_8(hostile: Path) -> None:
    text = hostile.read_bytes().decode("utf-8")
    assert len(text) < 3_000_000
    assert "\x1b" not in text
    assert "\u202e" not in text
