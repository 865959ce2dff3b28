"""The page as a reader has it: opened from disk, by mouse and by keyboard, in light and dark, and on paper."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from fourhands.report.html.writer import write_html_report
from fourhands.report.loading import load_study
from fourhands.report.rendering.comma_separated import comma_separated, comma_separated_lines
from fourhands.report.views import VIEWS

from .watched import faults, opened

TOUCHED = "ledger-rounding__thin-scripted-keeps__counter-edit__r1"
UNTOUCHED = "ledger-rounding__thin-scripted-keeps__vanilla__r1"


def _column(page: Page, table: str, number: int) -> list[str]:
    return page.locator(f"{table} tbody tr td:nth-child({number})").all_inner_texts()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_amiss_in_overview_and_story(
    browser: Browser, report: Path, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, report, color_scheme=scheme, viewport=size) as watched:
        assert faults(watched.page) == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        watched.go(f"trial={TOUCHED}")
        watched.story()
        assert faults(watched.page) == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_every_part_is_there(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        page = watched.page
        assert page.locator(".headline").count() == 2
        assert "scripted" in page.locator(".cautions").first.inner_text()
        what = page.locator("#section-run").inner_text()
        assert all(word in what for word in ("thin", "scripted/keeps", "counter-edit", "8 planned, 8 scored"))
        assert page.locator("table.result").count() >= 3
        assert page.locator("#section-figures svg").count() >= 2
        assert page.locator("#trials tbody tr").count() == 8
        expect(page.locator("#count")).to_have_text("8 trials")


@pytest.mark.slow
def test_a_table_is_sorted_by_the_keyboard_and_says_so(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        page = watched.page
        original = _column(page, "#trials", 1)
        header = page.locator("#trials thead th", has_text="steps")
        number = page.locator("#trials thead th").all_inner_texts().index("steps") + 1
        header.locator("button").focus()
        page.keyboard.press("Enter")
        expect(header).to_have_attribute("aria-sort", "ascending")
        steps = [int(text) for text in _column(page, "#trials", number)]
        assert steps == sorted(steps)
        assert len(set(steps)) > 1
        page.keyboard.press("Space")
        expect(header).to_have_attribute("aria-sort", "descending")
        assert [int(text) for text in _column(page, "#trials", number)] == sorted(steps, reverse=True)
        page.keyboard.press("Enter")
        expect(header).to_have_attribute("aria-sort", "none")
        assert _column(page, "#trials", 1) == original


@pytest.mark.slow
def test_result_tables_sort_by_what_their_cells_mean_not_by_how_they_look(
    browser: Browser, report: Path
) -> None:
    with opened(browser, report) as watched:
        table = watched.page.locator("#table-conditions")
        header = table.locator("th[data-name=delta]")
        header.locator("button").click()
        number = header.evaluate("cell => cell.cellIndex")
        cells = table.locator(f"tbody tr td:nth-child({number + 1})")
        values = [
            float(text) for text in cells.evaluate_all("all => all.map(each => each.dataset.value)") if text
        ]
        assert values == sorted(values)
        assert len(values) == 2
        assert not cells.last.get_attribute("data-value")  # what is not known stands last


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1280, 1600])
def test_figures_are_never_smaller_than_on_paper(browser: Browser, report: Path, width: int) -> None:
    with opened(browser, report, viewport={"width": width, "height": 900}) as watched:
        for figure in watched.page.locator("#section-figures svg").all():
            drawn, own = figure.evaluate(
                "svg => [svg.getBoundingClientRect().width, parseFloat(svg.getAttribute('width')) * 96 / 72]"
            )
            assert drawn >= own - 1
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_filters_narrow_the_trials_and_tell_how_many_are_left(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        page = watched.page
        page.keyboard.press("/")
        expect(page.locator("#text")).to_be_focused()
        page.keyboard.type("ledger keeps")
        expect(page.locator("#count")).to_have_text("2 of 8 trials")
        page.locator("#filter-condition").select_option(label="vanilla")
        expect(page.locator("#count")).to_have_text("1 of 8 trials")
        assert page.locator("#trials tbody tr").count() == 1
        page.get_by_role("button", name="Show all").click()
        expect(page.locator("#count")).to_have_text("8 trials")


@pytest.mark.slow
def test_a_story_is_a_view_with_an_address_and_back_works(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        page = watched.page
        page.locator("#text").fill("counter-edit keeps")
        link = page.locator("#trials tbody tr a", has_text="ledger-rounding")
        link.click()
        watched.story()
        assert page.url.endswith(f"#trial={TOUCHED}")
        expect(page.locator("#overview")).to_be_hidden()
        expect(page.locator("article h2")).to_be_focused()
        assert TOUCHED in page.title()
        page.go_back()
        expect(page.locator("#overview")).to_be_visible()
        expect(page.locator("#count")).to_have_text("2 of 8 trials")
        expect(link).to_be_focused()
        page.go_forward()
        watched.story()
        page.keyboard.press("Escape")
        expect(page.locator("#overview")).to_be_visible()
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_a_story_shows_both_hands_and_who_wrote_each_line(browser: Browser, report: Path) -> None:
    with opened(browser, report, f"#trial={TOUCHED}") as watched:
        watched.story()
        page = watched.page
        user, agent = page.locator(".entry.user .card").first, page.locator(".entry.agent .card").first
        boxes = user.bounding_box(), agent.bounding_box()
        assert boxes[0]
        assert boxes[1]
        assert boxes[1]["x"] + boxes[1]["width"] < boxes[0]["x"]  # two lanes
        assert page.locator(".entry.messaged .speech").count() >= 1
        written = page.locator(".entry.user .diff tr.user.added")
        assert written.count() >= 1
        assert written.first.locator(".who").inner_text().startswith("U")
        assert written.first.locator(".sign").inner_text().startswith("+")
        assert page.locator(".entry.agent .diff tr.agent.added").count() >= 1
        assert page.locator(".chip", has_text="watched region").count() >= 1
        evidence = page.locator(".evidence").inner_text()
        assert all(title in evidence for title in ("Tests", "s lines", "Proof of delivery"))


@pytest.mark.slow
def test_of_a_trial_left_alone_it_says_when_a_user_would_have_acted_and_nothing_of_delivery(
    browser: Browser, report: Path
) -> None:
    with opened(browser, report, f"#trial={UNTOUCHED}") as watched:
        watched.story()
        facts = watched.page.locator(".story-head .facts div").all_inner_texts()
        (told,) = [fact for fact in facts if "would have acted" in fact]
        assert " ".join(told.split()) == "a user would have acted 2 of 3"
        assert not any("interventions" in fact for fact in facts)
        proof = watched.page.locator(".proof > li").all_inner_texts()
        assert len(proof) == 3
        assert all("shadow of counter-edit" in each and "delivered" not in each for each in proof)
        watched.go(f"trial={TOUCHED}")
        watched.page.wait_for_function(
            "document.querySelector('article .what').innerText.includes('counter')"
        )
        facts = watched.page.locator(".story-head .facts div").all_inner_texts()
        assert any(fact.split()[0] == "interventions" for fact in facts)
        assert not any("would have acted" in fact for fact in facts)


@pytest.mark.slow
def test_the_keyboard_walks_through_a_story_and_finds_the_user(browser: Browser, report: Path) -> None:
    with opened(browser, report, f"#trial={TOUCHED}") as watched:
        watched.story()
        page = watched.page
        focused = "document.activeElement.className"
        page.keyboard.press("j")
        assert "entry agent" in page.evaluate(focused)
        first = page.evaluate("document.activeElement.id")
        page.keyboard.press("ArrowDown")
        second = page.evaluate("document.activeElement.id")
        assert second != first
        page.keyboard.press("k")
        assert page.evaluate("document.activeElement.id") == first
        page.keyboard.press("u")
        assert "entry user" in page.evaluate(focused)


@pytest.mark.slow
def test_the_proof_leads_to_the_events_that_prove_it(browser: Browser, report: Path) -> None:
    with opened(browser, report, f"#trial={TOUCHED}") as watched:
        watched.story()
        watched.page.locator(".proof a.seq").first.click()
        watched.page.wait_for_function("document.activeElement.classList.contains('entry')")
        assert "&at=" in watched.page.url


@pytest.mark.slow
def test_two_trials_stand_side_by_side(browser: Browser, report: Path) -> None:
    with opened(browser, report, f"#compare={TOUCHED},{UNTOUCHED}") as watched:
        watched.story()
        page = watched.page
        page.wait_for_function("document.querySelectorAll('article.story').length === 2")
        boxes = [each.bounding_box() for each in page.locator("article.story").all()]
        assert boxes[0]
        assert boxes[1]
        assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
        assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_an_address_of_nothing_says_so(browser: Browser, report: Path) -> None:
    with opened(browser, report, "#trial=no%20such%E0%A4%A") as watched:
        expect(watched.page.get_by_role("alert")).to_contain_text("has no trial")
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_the_theme_is_chosen_and_remembered(browser: Browser, report: Path) -> None:
    with opened(browser, report, color_scheme="light") as watched:
        page = watched.page
        background = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(background)
        page.locator("#theme").click()
        expect(page.locator("#theme")).to_have_attribute("aria-pressed", "true")
        dark = page.evaluate(background)
        assert dark != light
        page.reload()
        assert page.evaluate(background) == dark


@pytest.mark.slow
def test_a_table_is_copied_as_csv(browser: Browser, report: Path, thin_run: Path) -> None:
    with opened(browser, report, permissions=["clipboard-read", "clipboard-write"]) as watched:
        watched.page.locator("button.copy[data-table=table-conditions]").click()
        expect(watched.page.locator("#status")).to_have_text("Copied as CSV")
        copied = "navigator.clipboard.readText()"
        view = VIEWS["conditions"](load_study([thin_run]))
        assert view is not None
        assert watched.page.evaluate(copied) == comma_separated(view)
        head, *rows = comma_separated_lines(view)
        assert {"delta_low", "delta_high", "pairs", "p_method"} <= set(head.strip().split(","))
        watched.page.locator("#table-conditions th[data-name=steps] button").click()
        watched.page.locator("#table-conditions th[data-name=steps] button").click()
        watched.page.locator("button.copy[data-table=table-conditions]").click()
        expect(watched.page.locator("#status")).to_have_text("Copied as CSV")
        steps = [float(row["steps"]) for row in csv.DictReader([head, *rows])]
        down = [rows[at] for at in sorted(range(len(rows)), key=lambda at: -steps[at])]
        assert down != rows
        assert watched.page.evaluate(copied) == "".join([head, *down])


@pytest.mark.slow
def test_a_column_is_explained_to_whoever_points_at_it_or_goes_there(browser: Browser, report: Path) -> None:
    with opened(browser, report) as watched:
        button = watched.page.locator("#table-conditions th[data-name=delta] button")
        button.focus()
        expect(watched.page.locator("#tip")).to_be_visible()
        meaning = watched.page.locator(f"#{button.get_attribute('aria-describedby')}")
        assert watched.page.locator("#tip").inner_text() == meaning.text_content()


@pytest.mark.slow
def test_it_prints_whole_ink_on_white_with_nothing_left_closed(browser: Browser, report: Path) -> None:
    with opened(browser, report, f"#trial={TOUCHED}", color_scheme="dark") as watched:
        watched.story()
        page = watched.page
        assert page.locator("details:not([open])").count() > 0
        closed = "document.querySelectorAll('details:not([open])').length"
        page.evaluate(f"addEventListener('beforeprint', () => {{ globalThis.closed = {closed}; }})")
        assert page.pdf().startswith(b"%PDF")
        assert page.evaluate("closed") == 0
        page.emulate_media(media="print")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        expect(page.locator(".bar")).to_be_hidden()


@pytest.mark.slow
def test_stories_come_from_a_folder_beside_it_and_it_says_when_that_is_gone(
    browser: Browser, thin_run: Path, tmp_path: Path
) -> None:
    out = tmp_path / "large.html"
    write_html_report(load_study([thin_run]), out, most_inline=0)
    with opened(browser, out) as watched:
        watched.see_that_it_was_quiet()
        watched.go(f"trial={TOUCHED}")
        watched.story()
        watched.go(f"trial={UNTOUCHED}")
        watched.page.wait_for_function(
            "document.querySelector('article .what').innerText.includes('vanilla')"
        )
        watched.see_that_it_was_quiet(loaded=1)
    (tmp_path / "large_stories").rename(tmp_path / "elsewhere")
    with opened(browser, out, f"#trial={TOUCHED}") as watched:
        expect(watched.page.get_by_role("alert")).to_contain_text("large_stories")


@pytest.mark.slow
def test_without_scripts_tables_and_figures_are_still_there(browser: Browser, report: Path) -> None:
    with opened(browser, report, java_script_enabled=False) as watched:
        text = watched.page.locator("#overview").inner_text()
        assert re.search(r"scripted/keeps", text)
        assert "needs scripts" in text
