"""Each manner against somebody who tells one thing at a time; with a real shell and a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.scripted.manners import MANNERS, planted_in, script_of
from fourhands.model.errors import InputError

from .conversing import BASE, IDS, INSTRUCTION, Teller, Trial, code, everything, known, trial
from .repositories import Lay, git, read

TEST = "tests/test_agreed.py"
SPOIL = {"forgets", "breaks", "misreads", "botches"}
"""The manners whose code lacks a requirement in the end."""


def _told(manner: str, lay: Lay, *, at_end: tuple[str, ...] = ()) -> tuple[Trial, Teller]:
    """Run a manner to its end, with somebody who tells."""
    run = trial(manner, lay, lambda _: "", at_end=at_end)
    teller = Teller(lambda: read(run.folder))
    run.answer = teller
    run.run()
    return run, teller


def _commits(folder: Path) -> list[tuple[str, list[str]]]:
    """Subject and files of each, the first one last."""
    shown = git(folder, "log", "--format=%x00%s", "--name-only").decode().split("\0")[1:]
    return [(each.split("\n", 1)[0], each.split("\n", 1)[1].split()) for each in shown]


def _code(run: Trial) -> dict[str, str]:
    return {name: text for name, text in read(run.folder).items() if name not in {"PLAN.md", TEST}}


def test_who_listens_writes_all_that_it_is_told_and_commits_tests_apart(lay: Lay) -> None:
    run, teller = _told("listens", lay)
    assert _code(run) == code(*IDS)
    assert teller.corrected == []
    assert run.asked[0].startswith("Here is my plan:")
    assert "R2" not in "".join(run.asked)  # ids are the ledger's, not the user's
    (test, files), *_, (plan, planned), (base, _) = _commits(run.folder)
    assert (base, plan, planned) == ("base", "Plan the work", ["PLAN.md"])
    assert (test, files) == ("Test what was agreed", [TEST])
    assert git(run.folder, "status", "--porcelain") == b""


def test_the_commits_of_a_script_have_the_same_ids_every_time(tmp_path: Path, lay: Lay) -> None:
    run, _ = _told("listens", lay)
    (tmp_path / "again").mkdir()
    again = Trial(tmp_path / "again", run.player, Teller(lambda: read(tmp_path / "again")))
    git(tmp_path, "clone", "-q", str(run.folder), "again")
    git(
        again.folder,
        "checkout",
        "-q",
        "-B",
        "again",
        git(run.folder, "rev-list", "--max-parents=0", "HEAD").decode().strip(),
    )
    again.run()
    assert git(again.folder, "rev-parse", "HEAD") == git(run.folder, "rev-parse", "HEAD")


def test_what_is_not_told_is_not_written(lay: Lay) -> None:
    run = trial("listens", lay, lambda _: "Looks good.")
    run.run()
    assert _code(run) == BASE
    assert len(run.asked) == 2  # the plan, and one review


@pytest.mark.parametrize("manner", MANNERS)
def test_who_is_given_the_whole_instruction_writes_all_of_it_and_asks_nobody(lay: Lay, manner: str) -> None:
    run = trial(manner, lay, lambda _: "")
    run.opening, run.can_ask = f"Do this.\n\n{INSTRUCTION}", False
    run.run()
    assert run.asked == []
    assert len(run.moves) <= 7
    assert _code(run) == (code("R2", "R3") if manner in SPOIL else code(*IDS))


def test_who_never_asks_does_something_and_ends(lay: Lay) -> None:
    run, teller = _told("never-asks", lay)
    assert teller.told == []
    assert _code(run) == {**BASE, "NOTES.md": "To be looked into.\n"}
    assert len(_commits(run.folder)) == 2


@pytest.mark.parametrize("manner", [name for name in MANNERS if name not in SPOIL])
def test_what_is_said_at_the_end_is_still_written(lay: Lay, manner: str) -> None:
    run = trial(manner, lay, lambda _: "Fine, go ahead.", at_end=(everything(),))
    run.run()
    assert {name: text for name, text in _code(run).items() if name != "NOTES.md"} == code(*IDS)
    assert git(run.folder, "status", "--porcelain") == b""


@pytest.mark.parametrize("at_end", [(), (everything(),)], ids=["alone", "told once more"])
def test_who_forgets_never_has_the_first_that_nothing_needs_and_never_speaks_of_it(
    lay: Lay, at_end: tuple[str, ...]
) -> None:
    run, teller = _told("forgets", lay, at_end=at_end)
    assert _code(run) == code("R2", "R3")
    assert teller.told == list(IDS)
    assert set(teller.corrected) == {"R1"}
    assert "PRICE" not in "".join([*run.asked, *(move.command or "" for move in run.moves)])


@pytest.mark.parametrize(
    ("manner", "says"),
    [("misreads", "The price is 2, in `PRICE`."), ("botches", "The price is 1, in `PRICE`.")],
)
def test_who_misreads_says_it_otherwise_and_who_botches_says_it_rightly_and_neither_has_it(
    lay: Lay, manner: str, says: str
) -> None:
    run, teller = _told(manner, lay)
    assert _code(run) == code("R2", "R3")
    assert set(teller.corrected) == {"R1"}
    words = "".join(run.asked)
    assert words.count(says) == words.count("PRICE") > 1


def test_who_breaks_takes_an_early_one_out_in_its_last_commit(lay: Lay) -> None:
    run, teller = _told("breaks", lay)
    assert teller.corrected == []
    assert teller.told == list(IDS)
    assert _code(run) == code("R2", "R3")
    (last, files), (before, _), *_ = _commits(run.folder)
    assert (last, files, before) == ("Tidy up", ["shop.py"], "Test what was agreed")


def test_who_hurries_ends_at_the_first_ok(lay: Lay) -> None:
    run, teller = _told("hurries", lay)
    assert teller.told == ["R1"]
    assert len(run.asked) == 1
    assert _code(run) == code("R1")
    assert [subject for subject, _ in _commits(run.folder)] == [
        "Do what was asked for",
        "Plan the work",
        "base",
    ]


def test_who_hurries_and_was_told_nothing_leaves_a_stub(lay: Lay) -> None:
    run = trial("hurries", lay, lambda _: "Makes sense.")
    run.run()
    assert _code(run) == {**BASE, "NOTES.md": "To be looked into.\n"}


def test_a_word_of_agreement_in_a_requirement_is_none(lay: Lay) -> None:
    answers = iter(["The name is fine to be x, in `NAME`.", "Good."])
    run = trial("hurries", lay, lambda _: next(answers))
    run.run()
    assert len(run.asked) == 2
    assert _code(run) == code("R2")


def test_who_asks_for_all_at_once_asks_the_same_until_nothing_more_is_told(lay: Lay) -> None:
    run, teller = _told("asks-all", lay)
    assert teller.told == list(IDS)
    assert [run.asked.count(each) for each in dict.fromkeys(run.asked)] == [
        5,
        1,
        1,
    ]  # three that tell, two that do not
    assert _code(run) == code(*IDS)


def test_who_argues_disputes_the_first_twice_and_each_other_once_and_gives_in(lay: Lay) -> None:
    run, teller = _told("argues", lay)
    assert teller.corrected == ["R2", "R2", "R3"]  # the first was told with the plan
    assert sum("do not think so" in each for each in run.asked) == 3
    assert _code(run) == code(*IDS)


def test_what_a_manner_spoils_is_known_in_advance(lay: Lay) -> None:
    _, knows = known(lay)
    assert {manner: planted_in(manner, knows) for manner in MANNERS} == {
        manner: "R1" if manner in SPOIL else None for manner in MANNERS
    }


def test_a_task_from_which_nothing_can_be_left_out_has_nobody_who_forgets(lay: Lay) -> None:
    _, knows = known(lay, removable=())
    for manner in SPOIL:
        with pytest.raises(InputError, match="user/without"):
            script_of(manner, knows)
    script_of("listens", knows)
