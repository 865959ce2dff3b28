"""The page of a sheet: opened from disk, answered by keyboard and mouse, saved as the table that is read back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from fourhands.judge.people.answers_file import NO, YES, PersonsAnswers, read_answers
from fourhands.judge.people.sheet_csv import ANNOTATOR, ITEM, NOTE, label_columns
from fourhands.model.audit import AUDITS, Audit, AuditName, Choice
from fourhands.report.audit_sheet.model import RecordPart, SheetItem, SheetPage, parts_of
from fourhands.report.audit_sheet.page import sheet_page

from .html.watched import opened

ANY, STEP = AUDITS[AuditName.SWE_INTERACT], AUDITS[AuditName.GOALS]
BUG, FORGOTTEN, REGRESSION = map(str, ANY.names[:3])
MARKUP = "</script><script>owned = 1</script><img src=x onerror='owned = 2'>"
ODD = MARKUP + "\u202e\x1b[2J\ud800"
WORST = {"serious", "critical"}
NAMES = ["s1-001", "s1-002", "s1-003"]
TEXT = """\
[#3] the agent acts: bash
| git diff
[#4] what that gave
| @@ -1 +1 @@
| -old
| +new
[7 blocks left out]
"""


def page_of(
    audit: Audit,
    folder: Path,
    *,
    asks: str = "",
    text: str = TEXT,
    is_record: bool = True,
    names: Sequence[str] = NAMES,
) -> Path:
    page = SheetPage(
        sheet="sheet",
        question=audit.question,
        labels=tuple((label.name, label.meaning) for label in audit.labels),
        any_of=audit.choice is Choice.ANY,
        columns=(ITEM, *label_columns(audit), NOTE, ANNOTATOR),
        words=(YES, NO),
        items=tuple(SheetItem(name, asks, text, is_record, 1_000) for name in names),
    )
    path = folder / "sheet.html"
    path.write_bytes(sheet_page(page).encode("utf-8", "replace"))
    return path


def saved(page: Page, folder: Path) -> Path:
    with page.expect_download() as download:
        page.locator("#save").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def count(page: Page) -> str:
    return page.locator("#count").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1600), ("dark", 360)])
def test_nothing_is_amiss_in_light_and_dark_wide_and_narrow(
    browser: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    size = {"width": width, "height": 900}
    with opened(browser, page_of(ANY, tmp_path), color_scheme=scheme, viewport=size) as watched:
        watched.page.keyboard.press("1")
        found = Axe().run(watched.page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in WORST] == []
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        watched.see_that_it_was_quiet()


@pytest.mark.slow
def test_what_is_answered_by_keyboard_and_mouse_is_in_the_file_and_is_kept(
    browser: Browser, tmp_path: Path
) -> None:
    with opened(browser, page_of(ANY, tmp_path)) as watched:
        page = watched.page
        assert page.locator("article.item:visible").count() == 1
        page.locator("#save").click()
        page.get_by_text("Give your name first").wait_for()
        page.keyboard.type("Zoë O'Neil")
        page.keyboard.press("Escape")
        page.keyboard.press("1")
        page.keyboard.press("3")
        page.keyboard.press("2")
        page.keyboard.press("2")
        page.keyboard.press("j")
        page.keyboard.press("2")
        page.keyboard.press("0")
        page.keyboard.press("o")
        assert page.locator("#item-3").is_visible()
        page.get_by_role("button", name=FORGOTTEN).click()
        page.locator("#clear").click()
        page.keyboard.press("n")
        page.keyboard.type('=1+1, "not" 2; j')
        page.keyboard.press("Escape")
        assert count(page) == "2 of 3 answered"
        path = saved(page, tmp_path)
        assert path.name == "answers-Zoë-O-Neil.csv"
        expected = [
            PersonsAnswers("Zoë O'Neil", {NAMES[0]: frozenset({BUG, REGRESSION}), NAMES[1]: frozenset()})
        ]
        assert read_answers(ANY, NAMES, [path]) == expected
        assert ',"\'=1+1, ""not"" 2; j",' in path.read_text("utf-8-sig")
        page.reload()
        assert count(page) == "2 of 3 answered"
        assert page.locator("#item-3").is_visible()
        assert page.locator("#note").input_value() == '=1+1, "not" 2; j'
        page.evaluate("localStorage.clear()")
        page.reload()
        assert count(page) == "0 of 3 answered"
        page.locator("#load").set_input_files(path)
        page.get_by_text("2 answers taken").wait_for()
        assert count(page) == "2 of 3 answered"
        assert saved(page, tmp_path).read_bytes() == path.read_bytes()
        watched.see_that_it_was_quiet(loaded=2)  # itself, again


def table(path: Path, *rows: Sequence[str], delimiter: str = ",", encoding: str = "utf-8") -> Path:
    text = "\r\n".join(delimiter.join(row) for row in rows)
    path.write_bytes(text.encode(encoding))
    return path


def loads(page: Page, path: Path, told: str) -> None:
    page.locator("#load").set_input_files(path)
    page.get_by_text(told, exact=True).wait_for()


@pytest.mark.slow
def test_a_file_goes_on_from_what_the_command_reads_and_takes_away_no_answer(
    browser: Browser, tmp_path: Path
) -> None:
    head = (ITEM, *ANY.names, NOTE)
    with opened(browser, page_of(ANY, tmp_path)) as watched:
        page = watched.page
        page.locator("#by").fill("ann")
        page.locator("#by").press("Escape")
        page.keyboard.press("2")
        blank = table(tmp_path / "blank.csv", head, *((name, *[""] * 6) for name in NAMES))
        loads(page, blank, "0 answers taken")
        assert count(page) == "1 of 3 answered"
        rows = (
            (NAMES[0], "maybe", *[""] * 5),
            (NAMES[1], "X", "", "No", "", "", ""),
            ("s9-001", "x", *[""] * 5),
        )
        odd = table(tmp_path / "odd.csv", head, *rows)
        loads(page, odd, "1 answer taken, 1 of another sheet, 1 cell not understood")
        assert count(page) == "2 of 3 answered"
        capitals = (ITEM.upper(), *(name.upper() for name in ANY.names), NOTE)
        tabs = table(
            tmp_path / "tabs.csv",
            capitals,
            (NAMES[2], "-", *[""] * 5),
            delimiter="\t",
            encoding="utf-16",
        )
        loads(page, tabs, "1 answer taken")
        assert count(page) == "3 of 3 answered"
        # A note before the item, with the delimiter of other tables in it.
        semicolon = table(
            tmp_path / "semi.csv", (NOTE, ITEM, *ANY.names), ("see #1; #2", NAMES[1], "no", "yes", *[""] * 3)
        )
        loads(page, semicolon, "1 answer taken")
        given = {NAMES[0]: {FORGOTTEN}, NAMES[1]: {FORGOTTEN}, NAMES[2]: frozenset()}
        assert read_answers(ANY, NAMES, [saved(page, tmp_path)]) == [PersonsAnswers("ann", given)]
        page.reload()
        assert count(page) == "3 of 3 answered"
        loads(
            page,
            table(tmp_path / "none.csv", ("a", "b")),
            "This is no file of answers: there is no column item",
        )
        watched.see_that_it_was_quiet(loaded=1)


@pytest.mark.slow
def test_who_comes_second_to_a_computer_sees_no_answers_of_the_first(
    browser: Browser, tmp_path: Path
) -> None:
    path = page_of(ANY, tmp_path)
    with opened(browser, path) as watched:
        first = watched.page
        first.keyboard.press("1")
        first.locator("#by").fill("=ann")
        first.locator("#by").press("Escape")
        first.keyboard.press("j")
        first.keyboard.press("2")
        second = first.context.new_page()
        second.goto(path.as_uri())
        assert count(second) == "0 of 3 answered"
        assert second.locator("#by").input_value() == ""
        second.locator("#by").fill("bob")
        second.locator("#by").press("Escape")
        second.keyboard.press("3")
        bobs = saved(second, tmp_path)
        assert second.locator("#kept").inner_text().splitlines()[-1] == "Go on as =ann"
        second.locator("#by").fill("eve")  # at the same page: she begins anew
        second.locator("#by").press("Escape")
        assert count(second) == "0 of 3 answered"
        second.get_by_role("button", name="Go on as =ann").click()
        assert count(second) == "2 of 3 answered"
        anns = saved(second, tmp_path)
        assert "'=ann" in anns.read_text("utf-8-sig")
        assert read_answers(ANY, NAMES, [anns, bobs]) == [
            PersonsAnswers("=ann", {NAMES[0]: frozenset({BUG}), NAMES[1]: frozenset({FORGOTTEN})}),
            PersonsAnswers("bob", {NAMES[0]: frozenset({REGRESSION})}),
        ]
        third = first.context.new_page()
        third.goto(path.as_uri())
        third.locator("#load").set_input_files(anns)
        third.get_by_text("2 answers taken").wait_for()
        assert third.locator("#by").input_value() == "=ann"


@pytest.mark.slow
def test_of_steps_one_is_given_and_another_takes_its_place(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, page_of(STEP, tmp_path, asks="Sums add up.\nShown by: a test.")) as watched:
        page = watched.page
        assert "Sums add up." in page.locator("#item-1 .asks").inner_text()
        page.locator("#by").fill("ann")
        page.locator("#by").press("Escape")
        page.keyboard.press("1")
        page.keyboard.press("3")
        page.keyboard.press("0")
        page.locator("#next").click()
        page.keyboard.press("2")
        page.keyboard.press("2")
        assert count(page) == "1 of 3 answered"
        answers = read_answers(STEP, NAMES, [saved(page, tmp_path)])
        assert answers == [PersonsAnswers("ann", {NAMES[0]: frozenset({"yes"})})]


@pytest.mark.slow
def test_nothing_that_a_record_holds_runs_and_all_of_it_shows(browser: Browser, tmp_path: Path) -> None:
    path = page_of(
        ANY, tmp_path, asks=ODD, text=f"[#1] {ODD}\n| {ODD}\n| [#2] no heading\n| @@ -1 +1 @@\n| +{ODD}"
    )
    with opened(browser, path) as watched:
        page = watched.page
        text = page.locator("#item-1").text_content() or ""
        assert text.count(MARKUP) == 4
        assert r"\x1b[2J" in text
        assert r"\u202e" in text
        assert page.locator("#item-1 h3").count() == 1
        page.locator("#by").fill(f"{ODD[:-1]}/../x")
        page.locator("#by").press("Escape")
        page.keyboard.press("1")
        assert os.sep not in saved(page, tmp_path).name
        assert page.evaluate("globalThis.owned") is None
        assert page.evaluate("document.querySelectorAll('img, iframe, #overview script').length") == 0
        watched.see_that_it_was_quiet()


def test_a_record_is_told_by_its_events_and_any_other_text_is_one_part() -> None:
    assert list(parts_of(TEXT)) == [
        RecordPart(3, "the agent acts: bash", ("git diff",)),
        RecordPart(4, "what that gave", ("@@ -1 +1 @@", "-old", "+new", "[7 blocks left out]", "")),
    ]
    assert [part.is_diff for part in parts_of(TEXT)] == [False, True]
    plan = "1. Round down.\n[#1] is no event here\n| a table |"
    assert SheetItem("i", "", plan, is_record=False).parts == (RecordPart(None, "", tuple(plan.split("\n"))),)
    assert SheetItem("i", "", "", is_record=False).parts == SheetItem("i", "", "", is_record=True).parts == ()


def test_a_plan_that_looks_like_a_record_is_a_plan_all_the_same() -> None:
    plan = (
        "[#1] the hidden tests, on the final state: all pass\n| 12 of 12\n[#2] the user answers\n| Thank you"
    )
    (part,) = SheetItem("i", "", plan, is_record=False).parts
    assert (part.number, part.title, "\n".join(part.lines)) == (None, "", plan)
    assert [each.number for each in SheetItem("i", "", plan, is_record=True).parts] == [1, 2]
