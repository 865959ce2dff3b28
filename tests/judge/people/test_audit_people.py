"""From a real run to a sheet, to answers, to an agreement in the run's tables; and all that must not be possible."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import typer

from fourhands.cli.audit_agreement import agreement
from fourhands.cli.audit_sheet import sheet
from fourhands.judge.people.drawing import unit_of
from fourhands.judge.people.key_file import Key, read_key, write_key
from fourhands.judge.people.population import attempt_of
from fourhands.model.audit import AUDITS, Audit, AuditName, Opinion, OpinionLabel
from fourhands.model.errors import FourhandsError, InputError, MissingError
from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements
from fourhands.report.loading import load_study
from fourhands.trajectories.audits import agreements_of, opinion_path, write_opinion
from fourhands.trajectories.judgements import judgements_path, write_judgements
from fourhands.trajectories.run_folder import RunFolder

from ...engine.thin_runs import models_of, run_trials  # noqa: TID252 - no package has tests

pytestmark = pytest.mark.slow

TASK = "ledger-rounding"
AT_WILL = "interactive[persona=paster,coverage=at-will]"
CONDITIONS = (AT_WILL, "four-hands[persona=paster]")
INTERACT = AUDITS[AuditName.SWE_INTERACT]
BUG, FORGOTTEN, *_, MISSING = INTERACT.names


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """An agent that hardly asks, and fails in conversations; two repeats of two conditions."""
    arguments = ("--model", models_of(["hurries"]), "--condition", ",".join(CONDITIONS), "--repeats", "2")
    return run_trials(tmp_path_factory.mktemp("run"), [TASK], *arguments, step_limit=40)


@pytest.fixture
def run(recorded: RunFolder, tmp_path: Path) -> RunFolder:
    return copied(recorded, tmp_path / "run")


@pytest.fixture
def runs(recorded: RunFolder, tmp_path: Path) -> list[RunFolder]:
    """Six times the same, which no command can know: enough items to measure by."""
    return [copied(recorded, tmp_path / name, name) for name in "abcdef"]


def copied(recorded: RunFolder, place: Path, name: str | None = None) -> RunFolder:
    shutil.copytree(recorded.path, place, symlinks=True)
    run = RunFolder(place)
    if name:
        run.write_plan(run.plan().model_copy(update={"run_id": name}))
    return run


def drawn(runs: Sequence[RunFolder], out: Path, audit: str = "swe-interact", **options: int | str) -> Key:
    sheet([run.path for run in runs], audit=audit, out=out, **options)  # type: ignore[arg-type]
    return read_key(out)[0]


def as_if_open(out: Path) -> Key:
    """The sheet as if execution and events had decided nothing, and every item were of a task of its own."""
    key, *_ = read_key(out)
    population = [
        entry.model_copy(update={"left": True, "task": f"task-{place}"})
        for place, entry in enumerate(key.population)
    ]
    write_key(out, key.model_copy(update={"population": tuple(population)}))
    return read_key(out)[0]


def filled(
    out: Path, folder: Path, names: Sequence[str], answer: Callable[[int, str], frozenset[str]], audit: Audit
) -> list[Path]:
    """``sheet.csv`` as each of ``names`` fills it in; ``answer``: of the how manieth person, to which item."""
    head, *rows = csv.reader(io.StringIO((out / "sheet.csv").read_text("utf-8-sig")))
    files = []
    for person, name in enumerate(names):
        with (folder / f"answers-{name}.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(head)
            for item, *_ in rows:
                given = answer(person, item)
                if head[1] == "answer":
                    table.writerow([item, *given, ""])
                else:
                    table.writerow([item, *("x" if label in given else "no" for label in audit.names), ""])
        files.append(folder / f"answers-{name}.csv")
    return files


def opinions(runs: Sequence[RunFolder], key: Key, judge: str, labels: Callable[[str], Sequence[str]]) -> None:
    """What a judge says of each item's attempt."""
    for place, item in key.drawn:
        attempt = attempt_of(runs[key.population[place].run], unit_of(key.population[place]))
        given = tuple(OpinionLabel(label, (0,), "So it ends.") for label in labels(item))
        write_opinion(
            opinion_path(attempt, key.audit, judge),
            Opinion(key.audit, key.audit_version, judge, 1, "k", given),
        )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_sheet_shows_every_failed_trial_and_not_whose_it_is(run: RunFolder, tmp_path: Path) -> None:
    key = drawn([run], tmp_path / "sheet")
    plan = run.plan()
    assert len(key.drawn) == len(plan.trials) == 4
    assert {entry.trial for entry in key.population} == {trial.key.slug for trial in plan.trials}
    assert (key.sampled, key.by) == ("all", None)
    files = contents(tmp_path / "sheet")
    assert set(files) == {"sheet.html", "sheet.csv", "key.json"}
    page, table = files["sheet.html"].decode(), files["sheet.csv"].decode("utf-8-sig")
    assert page.count('<article class="item"') == 4
    assert "+++ b/src/tally/allocation.py" in page
    texts = re.findall(r'<article class="item".*?</article>', page, re.DOTALL)
    for trial in plan.trials:
        hidden = [
            trial.agent,
            trial.model,
            trial.condition,
            trial.key.slug,
            plan.run_id,
            "hurries",
            "at-will",
        ]
        for name in [*hidden, *trial.condition.split("[")[:1]]:
            pattern = rf"(?<![\w-]){re.escape(name)}(?![\w-])"
            assert not re.search(pattern, "".join(texts) + table, re.IGNORECASE), name
    again = tmp_path / "again"
    drawn([run], again)
    assert contents(again) == files
    drawn([run], again)  # over itself
    with pytest.raises(InputError, match="again: holds another sheet: choose another folder"):
        drawn([run], again, seed=1)


def test_answers_make_an_agreement_in_the_runs_tables(
    runs: list[RunFolder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheet"
    assert not any(entry.left is None for entry in drawn(runs, out).population)
    key = as_if_open(out)
    truth = {item: frozenset({MISSING} if place % 3 else {BUG}) for place, item in key.drawn}
    first = key.drawn[0][1]

    def answer(person: int, item: str) -> frozenset[str]:
        return truth[item] | ({FORGOTTEN} if person == 0 and item == first else set())

    files = filled(out, tmp_path, ["ann", "bob", "eve"], answer, INTERACT)
    with pytest.raises(InputError, match=r"--judge a/b: has not answered here; have answered: none"):
        agreement(out, files, judge="a/b")
    opinions(runs, key, "judge:a/b", lambda item: sorted(truth[item]))
    opinions(runs, key, "judge:constant", lambda _: [BUG])
    capsys.readouterr()
    agreement(out, files)
    told = capsys.readouterr()
    assert "swe-interact: 24 items (all); answered: ann 24, bob 24, eve 24" in told.out
    assert "judge:constant: not trusted: κ 0.00 < 0.6" in told.out
    assert "judge:a/b: trusted: κ 1.00" in told.out
    assert "test takes 30 items of each annotator" in told.out
    study = load_study([run.path for run in runs])
    assert len(study.runs) == 6
    for info in study.runs:
        model, constant = info.agreements
        assert (constant.judge, constant.is_trusted) == ("judge:constant", False)
        assert (model.judge, model.is_trusted, model.items) == ("judge:a/b", True, 24)
        assert model.measured_on == tuple("abcdef")
        assert model.sheet == key.digest
    agreement(out, files, judge="a/b", json=True)
    document = json.loads(capsys.readouterr().out)
    (judged,) = document["judges"]
    assert (document["schema"], judged["verdict"], judged["trusted"]) == (1, "trusted: κ 1.00", True)
    assert judged["agreement"]["kappa"]["value"] == 1.0
    assert judged["agreement"]["counted"]["items"] == 24
    with pytest.raises(
        InputError, match="was measured with the answers of eve as well: give theirs too, or --replace"
    ):
        agreement(out, files[:2], judge="a/b")
    assert [len(each.annotators) for each in agreements_of(runs[5])] == [3, 3]
    agreement(out, files[:2], judge="a/b", replace=True)
    assert [len(each.annotators) for each in agreements_of(runs[5])] == [2, 3]
    # Another sheet stands beside it, and takes nothing's place.
    write_key(out, key.model_copy(update={"seed": 1}))
    agreement(out, files, judge="a/b")
    assert len(agreements_of(runs[5])) == 3


def test_it_is_written_into_further_runs_with_their_own_shares(
    runs: list[RunFolder], recorded: RunFolder, tmp_path: Path
) -> None:
    out, other = tmp_path / "sheet", copied(recorded, tmp_path / "other", "other")
    key = drawn(runs, out)
    half = {item: [BUG] if number % 2 else [MISSING] for number, (_, item) in enumerate(key.drawn)}
    opinions(runs, key, "judge:m", half.__getitem__)
    files = filled(out, tmp_path, ["ann"], lambda _, item: frozenset(half[item]), INTERACT)
    opinions([other], drawn([other], tmp_path / "of-other"), "judge:m", lambda _: [BUG])
    with pytest.raises(FourhandsError, match="nowhere"):
        agreement(out, files, into=[other.path, tmp_path / "nowhere"])
    assert [agreements_of(run) for run in (*runs, other)] == [[]] * 7
    agreement(out, files, into=[other.path, runs[0].path])
    (own,), (others,) = agreements_of(runs[0]), agreements_of(other)
    assert (own.classes[0].judged, others.classes[0].judged) == (0.5, 1.0)
    assert others.classes[0].corrected
    assert others.classes[0].corrected.value == 1.0
    assert own.kappa == others.kappa


def test_what_is_not_what_people_read_is_refused(runs: list[RunFolder], tmp_path: Path) -> None:
    out = tmp_path / "sheet"
    key = drawn(runs, out)
    opinions(runs, key, "judge:m", lambda item: [BUG] if item == key.drawn[0][1] else [MISSING])
    files = filled(out, tmp_path, ["ann"], lambda _, __: frozenset({BUG}), INTERACT)
    with pytest.raises(
        InputError, match="positives only: people give 'technical implementation bug' to every item"
    ):
        agreement(out, files)
    assert agreements_of(runs[0]) == []
    text = (out / "key.json").read_text("utf-8")
    (out / "key.json").write_text(text.replace('"audit_version": 1', '"audit_version": 0'), "utf-8")
    with pytest.raises(
        InputError, match=r"key.json: audit_version: the sheet asks version 0 of the question"
    ):
        agreement(out, files)
    (out / "key.json").write_text(text, "utf-8")
    place, name = key.drawn[0]
    entry = key.population[place]
    events = attempt_of(runs[entry.run], unit_of(entry)).events_path
    record = events.read_bytes()
    events.write_bytes(record + b"\n")
    with pytest.raises(InputError, match=rf"events.jsonl: has changed since {name} was drawn of it"):
        agreement(out, files)
    events.unlink()
    with pytest.raises(InputError, match=r"events.jsonl is gone"):
        agreement(out, files)
    runs[3].path.rename(tmp_path / "elsewhere")
    with pytest.raises(
        MissingError, match=r"run d is not at .*d any more: bring it back, or write its place"
    ):
        agreement(out, files)
    (tmp_path / "d").symlink_to(tmp_path / "c")
    with pytest.raises(InputError, match=r"key.json: .*d is run c, and not d, of which the sheet is"):
        agreement(out, files)
    with pytest.raises(InputError, match=r"is no sheet: it has no key.json"):
        agreement(tmp_path, files)
    with pytest.raises(InputError, match="run a is given twice"):
        drawn([runs[0], runs[0]], tmp_path / "twice")


def test_where_several_judges_have_answered_one_draws_and_one_that_cannot_be_measured_stops_no_other(
    runs: list[RunFolder], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheet"
    drawn(runs, out)
    key = as_if_open(out)
    bugs = {item for number, (_, item) in enumerate(key.drawn) if number % 4 == 0}
    opinions(runs, key, "judge:a", lambda item: [BUG] if item in bugs else [])
    opinions(runs, key, "judge:b", lambda _: [BUG])
    with pytest.raises(InputError, match="2 judges have answered: name one with --judge: judge:a, judge:b"):
        drawn(runs, tmp_path / "by", size=20)
    with pytest.raises(InputError, match=r"--size 19: 20 items are needed to compare judge:a with people"):
        drawn(runs, tmp_path / "by", size=19, judge="a")
    by = drawn(runs, tmp_path / "by", size=20, judge="a")
    assert (by.sampled, by.by, len(by.drawn)) == ("stratified", "judge:a", 20)
    strata = {
        by.population[at].stratum.removesuffix(", open").removesuffix(", decided") for at, _ in by.drawn
    }
    assert strata == {BUG, "none of the labels"}
    assert all(by.population[at].left_out is not None for at, _ in by.drawn)
    for at, _ in key.drawn[:5]:
        unit = unit_of(key.population[at])
        opinion_path(attempt_of(runs[unit.run], unit), key.audit, "judge:b").unlink()
    with pytest.raises(InputError, match="judge:b has read 19 of the items: 20 are needed"):
        drawn(runs, tmp_path / "few", judge="b")
    two = ["ann", "bob"]
    files = filled(out, tmp_path, two, lambda _, item: frozenset({BUG} if item in bugs else ()), INTERACT)
    capsys.readouterr()
    with pytest.raises(typer.Exit):
        agreement(out, files)
    told = capsys.readouterr()
    assert "judge:a: trusted: κ 1.00" in told.out
    assert "unaudited: judge:b: 19 of the sheet's items have its opinion" in told.err
    with pytest.raises(InputError, match="judge:b: 19 of the sheet's items have its opinion"):
        agreement(out, files, judge="b")


def goals_judged(run: RunFolder, key: Key, judge: str, score: Callable[[int], float]) -> None:
    """A judge's scores of every goal of the population."""
    by_trial: dict[str, dict[str, list[CriterionScore]]] = {}
    for place, entry in enumerate(key.population):
        assert entry.checkpoint
        assert entry.goal
        states = by_trial.setdefault(entry.trial, {})
        states.setdefault(entry.checkpoint, []).append(
            CriterionScore(entry.goal, score(place), ("q",), score(place))
        )
    for entry in key.population:
        judged = tuple(
            JudgedState(state, "commit", Judgement("k", "implementation", tuple(scores), 50.0))
            for state, scores in by_trial[entry.trial].items()
        )
        path = judgements_path(attempt_of(run, unit_of(entry)), judge)
        write_judgements(path, Judgements(judge, 1, judged))


def test_goals_are_asked_about_plans_and_code_and_a_judges_scores_count_as_steps(
    run: RunFolder, tmp_path: Path
) -> None:
    goals = AUDITS[AuditName.GOALS]
    whole = drawn([run], tmp_path / "whole", audit="goals")
    assert {entry.goal for entry in whole.population} == {"G1", "G2", "G3"}
    assert len({entry.checkpoint for entry in whole.population}) > 1
    goals_judged(run, whole, "judge:m", lambda place: (0.0, 0.2, 0.3, 0.7, 0.8, 1.0)[place % 6])
    out = tmp_path / "sheet"
    key = drawn([run], out, audit="goals", size=24)
    assert key.sampled == "stratified"
    assert {key.population[place].stratum for place, _ in key.drawn} == {"no", "partly", "yes"}
    page = (out / "sheet.html").read_text("utf-8")
    assert page.count('<blockquote class="asks">') == 24
    step = {item: goals.names[place % 6 // 2] for place, item in key.drawn}
    files = filled(out, tmp_path, ["ann", "bob"], lambda _, item: frozenset({step[item]}), goals)
    agreement(out, files)
    (found,) = agreements_of(run)
    assert (found.audit, found.items, found.sampled) == (AuditName.GOALS, 24, "stratified")
    assert found.kappa
    assert found.kappa.value == 1.0
    assert found.people == 1.0
    third = [each.judged for each in found.classes]
    assert third == pytest.approx([1 / 3] * 3, abs=0.1)
