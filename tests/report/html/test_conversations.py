"""Conversations on the page: why each thing was said, the ledger, talks and plans side by side, a real session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from fourhands.report.html.exhibits import exhibits
from fourhands.report.html.sessions import session_data
from fourhands.report.html.writer import write_html_report
from fourhands.report.loading import load_study

from .hostile_run import MARKUP
from .talk_run import COUNT, GOOD, NIGHT, OTHER, slug, write_hostile_talk, write_talk_run
from .watched import faults, opened

PICKY, NEUTRAL, ALONE, FAILED = (
    quote(slug(model, condition), safe="")
    for model, condition in (
        (GOOD, "interactive"),
        (GOOD, "interactive[persona=neutral]"),
        (GOOD, "single-turn"),
        (OTHER, "interactive"),
    )
)
FOURHANDS = Path(sys.executable).with_name("fourhands")
HOSTILE = f"{MARKUP}\x1b[2J\u202e"


def _session(path: Path, *turns: tuple[str, str]) -> Path:
    rows = [
        {"type": who, "sessionId": "s", "uuid": str(at), "message": {"role": who, "content": text}}
        for at, (who, text) in enumerate(turns)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talks") / "talks"
    write_talk_run(folder)
    return folder


@pytest.fixture(scope="module")
def page(run: Path) -> Path:
    """Of four trials, and of a real session in which hostile things are said."""
    turns = ("user", "Make it open all night."), ("assistant", "It is."), ("user", HOSTILE)
    log = _session(run.parent / "shop.jsonl", *turns)
    write_html_report(load_study([run]), run.parent / "report.html", sessions=session_data([log]))
    return run.parent / "report.html"


def _texts(page: Page, selector: str) -> list[str]:
    return [" ".join(text.split()) for text in page.locator(selector).all_inner_texts()]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1600)])
def test_nothing_is_amiss_in_any_of_its_views(browser: Browser, page: Path, scheme: str, width: int) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, page, color_scheme=scheme, viewport=size) as watched:
        for address in (f"trial={FAILED}", f"plans={PICKY},{FAILED}", f"talk={PICKY},{NEUTRAL},session:1"):
            watched.go(address)
            kind = {"plans": "planning", "talk": "talking"}.get(address.partition("=")[0], "story")
            watched.page.wait_for_selector(f"article.{kind}")
            assert faults(watched.page) == [], address
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= width, address
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_a_message_says_its_move_of_what_it_speaks_why_and_what_was_not_said(
    browser: Browser, page: Path
) -> None:
    with opened(browser, page, f"#trial={PICKY}") as watched:
        watched.story()
        shown = watched.page
        answer = shown.locator(".entry.answered").first
        assert answer.locator(".move").inner_text() == "reveal"
        assert "plan: held" in answer.inner_text()
        assert _texts(shown, ".entry.answered .step-of") == ["→ revealed R1", "→ revealed R2"]
        blocked = answer.locator("details.blocked")
        expect(blocked.locator("blockquote")).to_be_hidden()
        blocked.locator("summary").click()
        expect(blocked.locator("blockquote")).to_have_text("the test says 7")
        assert "the fixed words, in place of small's" in shown.locator(".entry.answered").nth(1).inner_text()
        first = shown.locator(".entry").first
        assert "opens the conversation" in first.inner_text()
        first.locator("summary", has_text="all that the agent was told").click()
        assert "Ask before you change anything." in first.inner_text()


@pytest.mark.slow
def test_a_requirement_tells_what_it_is_to_pointer_keyboard_and_finger(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#trial={PICKY}", has_touch=True) as watched:
        watched.story()
        shown = watched.page
        chip = shown.locator(".entry.answered button.req").first
        tip = shown.locator("#tip")
        chip.scroll_into_view_if_needed()
        chip.hover()
        expect(tip).to_have_text(f"R1: {NIGHT}")
        shown.mouse.move(0, 0)
        expect(tip).to_be_hidden()
        chip.focus()
        expect(tip).to_be_visible()
        shown.keyboard.press("Escape")
        expect(tip).to_be_hidden()
    with opened(browser, page, f"#trial={PICKY}", has_touch=True) as watched:
        watched.story()
        watched.page.locator(".matrix button.req").nth(1).tap()
        expect(watched.page.locator("#tip")).to_have_text(f"R2: {COUNT}")


@pytest.mark.slow
def test_a_state_says_what_it_is_worth_and_what_it_lost_with_its_diff_on_demand(
    browser: Browser, page: Path
) -> None:
    with opened(browser, page, f"#trial={FAILED}") as watched:
        watched.story()
        shown = watched.page
        commit = shown.locator(".entry.of-commit")
        assert "“Open it”" in commit.inner_text()
        assert "1 of 2 checks pass" in commit.inner_text()
        expect(commit.locator(".plus")).to_be_hidden()
        commit.locator("summary", has_text="diff").click()
        expect(commit.locator(".plus").first).to_have_text("+open\n")
        stop = shown.locator(".entry.of-stop")
        assert _texts(shown, ".entry.of-stop .req.lost") == ["↓R1"]
        assert "the agent first wants to end" in stop.inner_text()
        at_will = shown.locator(".story-head .facts div", has_text="at will")
        at_will.locator("a.seq").click()
        expect(stop).to_be_focused()


@pytest.mark.slow
def test_each_change_in_the_ledger_leads_to_what_brought_it_about(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#trial={FAILED}") as watched:
        watched.story()
        shown = watched.page
        rows = shown.locator(".matrix tbody tr")
        letters = [" ".join(row.locator("td.state").all_inner_texts()) for row in rows.all()]
        assert letters == ["R S V", "H R F"]
        assert NIGHT in rows.first.inner_text()
        assert "regression" in rows.first.inner_text()
        shown.get_by_role("link", name="R1, turn 2: satisfied").click()
        expect(shown.locator(".entry.of-commit")).to_be_focused()
        assert "&at=" in shown.url
        shown.locator(".matrix thead a").nth(1).click()
        expect(shown.locator(".entry.answered").nth(1)).to_be_focused()


@pytest.mark.slow
def test_the_talk_alone_is_a_key_away_and_messages_are_walked_by_keys(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#trial={PICKY}") as watched:
        watched.story()
        shown = watched.page
        entry = shown.locator(".entry.acted")
        expect(entry).to_be_visible()
        shown.keyboard.press("t")
        expect(entry).to_be_hidden()
        expect(shown.locator(".talk-switch")).to_have_attribute("aria-pressed", "true")
        assert shown.locator(".entry.speaks:visible").count() == 6
        walked = []
        for _ in range(6):
            shown.keyboard.press("m")
            walked.append(shown.evaluate("document.activeElement.classList[2]"))
        assert walked == ["opened", "asked", "answered", "asked", "answered", "said"]
        shown.keyboard.press("M")
        assert "answered" in shown.evaluate("document.activeElement.className")
        shown.locator(".matrix td a").first.click()
        shown.keyboard.press("t")
        expect(entry).to_be_visible()


@pytest.mark.slow
def test_why_it_failed_is_shown_with_events_and_judges_are_marked(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#trial={FAILED}") as watched:
        watched.story()
        shown = watched.page
        why = shown.locator(".evidence section", has_text="Why it failed").first
        assert "R1 regression" in " ".join(why.inner_text().split())
        why.locator("a.seq").first.click()
        shown.wait_for_function("document.activeElement.classList.contains('entry')")
        said = _texts(shown, ".opinions > li")
        assert "judge:new on swe-interact unaudited" in said[0]
        assert "judge:weak on swe-interact κ 0.41 < 0.6 with people" in said[1]
        assert "R2 forgotten requirement Nothing counts 240." in said[0]


@pytest.mark.slow
def test_three_whole_stories_stand_side_by_side_and_keep_to_themselves(browser: Browser, page: Path) -> None:
    size = {"width": 1700, "height": 900}
    with opened(browser, page, f"#compare={ALONE},{PICKY},{FAILED}", viewport=size) as watched:
        shown = watched.page
        expect(shown.locator("article.story")).to_have_count(3)
        boxes = [each.bounding_box() for each in shown.locator("article.story").all()]
        assert all(boxes)
        edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
        assert edges[0][1] <= edges[1][0]
        assert edges[1][1] <= edges[2][0]
        ids = shown.evaluate("[...document.querySelectorAll('[id]')].map(each => each.id)")
        assert len(ids) == len(set(ids))
        third = shown.locator("article.story").nth(2)
        third.locator(".matrix td a").first.click()
        expect(third.locator(".entry.answered").first).to_be_focused()
        expect(shown.locator("article.story")).to_have_count(3)
        first = _texts(shown, "article.story:first-child .matrix td.end")
        assert first == ["S", "S"], "what was given as a whole held nothing back"
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_plans_stand_side_by_side_with_each_goal_by_source(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#plans={PICKY},{FAILED}") as watched:
        shown = watched.page
        expect(shown.locator("article.planning")).to_have_count(2)
        assert _texts(shown, ".plan") == [f"1. open it, as {GOOD}", f"1. open it, as {OTHER}"]
        second = shown.locator("article.planning").nth(1).locator("table.goals")
        assert [" ".join(head.split()) for head in second.locator("thead th").all_inner_texts()] == [
            "goal",
            "plan, by words",
            "plan, judge:new, unaudited",
            "the end, by checks",
            "the end, judge:new, unaudited",
        ]
        cells = second.locator("tbody tr").first.locator("td").all_inner_texts()
        assert cells == ["25", "75", "50", "–"]
        assert "Open all night" in second.inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1280])
def test_a_wide_table_keeps_its_rows_names_in_sight_and_details_a_press_away(
    browser: Browser, page: Path, width: int
) -> None:
    with opened(browser, page, viewport={"width": width, "height": 900}) as watched:
        table = watched.page.locator("#table-single-multi")
        button = watched.page.locator("button.all[data-table=table-single-multi]")
        assert table.locator("th.detail").count() > 0
        expect(table.locator("th.detail").first).to_be_hidden()
        before = table.evaluate("table => table.scrollWidth")
        button.click()
        expect(button).to_have_attribute("aria-pressed", "true")
        expect(table.locator("th.detail").first).to_be_visible()
        assert table.evaluate("table => table.scrollWidth") > before
        table.evaluate("table => (table.parentElement.scrollLeft = 500)")
        place = (
            "cell => cell.getBoundingClientRect().left - cell.closest('.wide').getBoundingClientRect().left"
        )
        names = ["agent", "model", "condition"] if width > 1000 else ["condition"]
        for name in names:
            header = table.locator(f"th[data-name={name}]")
            number = header.evaluate("cell => cell.cellIndex")
            cell = table.locator("tbody tr").first.locator("td").nth(number)
            assert header.evaluate(place) == cell.evaluate(place) >= 0, name


@pytest.mark.slow
def test_talks_of_a_real_a_picky_and_a_neutral_user_stand_side_by_side(browser: Browser, page: Path) -> None:
    with opened(browser, page, "#section-exhibits") as watched:
        shown = watched.page
        shown.locator("#section-exhibits li", has_text="a real session × nitpicker × neutral").locator(
            "a"
        ).click()
        columns = shown.locator("article.talking")
        expect(columns).to_have_count(3)
        real, picky, neutral = (" ".join(text.split()) for text in columns.all_inner_texts())
        assert real.startswith("real session shop.jsonl")
        assert "Make it open all night." in real
        assert r"\x1b[2J\u202e" in real
        assert "Until 02:00, says the nitpicker one." in picky
        assert "Until 02:00, says the neutral one." in neutral
        assert "It is done: I am at your service." in picky, (
            "words that go with no action are said to somebody"
        )
        assert "I ask first." not in picky
        assert "user 2 messages" in picky, "the opening is no message, here as in the whole story"
        assert shown.evaluate("globalThis.owned") is None
        shown.get_by_role("link", name="Whole stories").click()
        expect(shown.locator("article.story:not(.talking)")).to_have_count(2)
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_a_third_is_put_beside_two_and_a_session_beside_a_trial(browser: Browser, page: Path) -> None:
    with opened(browser, page, f"#compare={PICKY},{NEUTRAL}") as watched:
        shown = watched.page
        expect(shown.locator("article.story")).to_have_count(2)
        shown.locator(".besides select").first.select_option(label=f"thin · {GOOD} · single-turn · repeat 1")
        expect(shown.locator("article.story")).to_have_count(3)
        shown.set_viewport_size({"width": 1280, "height": 900})
        tops = [each.bounding_box() for each in shown.locator("article.story").all()]
        assert len({top["y"] for top in tops if top}) == 1, "three stand beside each other"
        watched.go(f"trial={PICKY}")
        expect(shown.locator("article.story")).to_have_count(1)
        shown.locator(".besides select").select_option(label="real session shop.jsonl")
        expect(shown.locator("article.talking")).to_have_count(2)
        watched.go("plans=session:1")
        expect(shown.get_by_role("alert")).to_contain_text("only its talk")


@pytest.mark.slow
def test_hostile_words_in_a_conversation_do_nothing_and_are_all_shown(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hostile-talk")
    write_hostile_talk(folder / "run", HOSTILE)
    write_html_report(load_study([folder / "run"]), folder / "report.html")
    with opened(browser, folder / "report.html") as watched:
        shown = watched.page
        shown.locator("#trials tbody a").first.click()
        watched.story()
        told = shown.locator("#telling").inner_text()
        assert told.count(MARKUP) > 20
        assert r"\x1b[2J\u202e" in told
        shown.locator(".matrix button.req").focus()
        assert MARKUP in shown.locator("#tip").inner_text()
        for view in ("The talk alone", "The plans alone"):
            shown.get_by_role("link", name=view).click()
            shown.wait_for_selector("article.talking, article.planning")
            assert MARKUP in shown.locator("#telling").inner_text()
        assert shown.evaluate("globalThis.owned") is None
        assert shown.evaluate("document.querySelectorAll('#telling script, #telling img').length") == 0
        watched.see_that_it_was_quiet()


def test_exhibits_are_what_has_two_sides_and_no_more(run: Path) -> None:
    (found,) = exhibits(load_study([run]))
    assert found.task == "hours"
    told = {shelf.what: [(link.of, link.address) for link in shelf.links] for shelf in found.shelves}
    assert told == {
        "The talk, nitpicker × neutral": [(f"thin · {GOOD} · interactive", f"talk={PICKY},{NEUTRAL}")],
        "The whole story, single-turn × interactive": [(f"thin · {GOOD}", f"compare={ALONE},{PICKY}")],
        f"The plans, {GOOD} × {OTHER}": [("thin · interactive", f"plans={PICKY},{FAILED}")],
    }


def test_the_command_refuses_what_is_no_session_before_it_reads_the_run(run: Path, tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("Dear diary")
    command = (FOURHANDS, "report", run, "--out", tmp_path / "r.html", "--session", tmp_path / "diary.txt")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "diary.txt: in no known format" in " ".join(done.stderr.split())
    assert not (tmp_path / "r.html").exists()


def test_a_session_is_bounded_and_two_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    turns = [("user", "x" * 50_000), *((("assistant", "y"),) * 400)]
    paths = [_session(tmp_path / name / "s.jsonl", *turns) for name in ("a", "b")]
    first, second = session_data(paths)
    assert (first["name"], second["name"]) == ("a/s.jsonl", "b/s.jsonl")
    assert (len(first["said"]), first["left_out"]) == (300, 101)
    assert len(json.dumps(first)) < 50_000
    assert first["said"][0]["text"]["left_out"]
