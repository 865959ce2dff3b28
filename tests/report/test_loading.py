"""Folders of runs -> the tidy tables: each trial once, whatever the records are like."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

from fourhands.analysis.cautions import cautions
from fourhands.analysis.findings.delivery import delivery_table
from fourhands.analysis.schema import TABLES
from fourhands.model.errors import InputError
from fourhands.report import digests
from fourhands.report.loading import load_events, load_study
from fourhands.report.prices import price_table

TOUCHED = pl.col("condition") == "counter-edit"


def _copy(run: Path, to: Path) -> Path:
    shutil.copytree(run, to, symlinks=True)
    return to


def _renamed(run: Path, to: Path, run_id: str, **settings: object) -> Path:
    """The same trials as another run, as if it had been run again."""
    _copy(run, to)
    plan = json.loads((to / "plan.json").read_text())
    plan["run_id"] = run_id
    plan["settings"] |= settings
    (to / "plan.json").write_text(json.dumps(plan))
    return to


def _events(run: Path, slug_part: str) -> Path:
    (found,) = run.glob(f"trials/*{slug_part}*/attempt-1/events.jsonl")
    return found


@pytest.mark.slow
def test_every_planned_trial_is_a_row_and_every_column_is_there(thin_run: Path) -> None:
    study = load_study([thin_run])
    tables = study.tables
    assert tables.trials.columns == [column.name for column in TABLES["trials"]]
    assert tables.interventions.columns == [column.name for column in TABLES["interventions"]]
    assert tables.lines.columns == [column.name for column in TABLES["lines"]]
    assert tables.trials.height == 8
    assert tables.trials["scored"].all()
    assert set(tables.trials["benchmark"]) == {"fourhands"}
    keeps = tables.trials.filter(TOUCHED & (pl.col("model") == "scripted/keeps"))
    assert keeps["resolved"].to_list() == [False, False]
    assert keeps["ablation"].to_list() == ["edit_caused"] * 2
    assert keeps["would_trigger"].to_list() == [[], []]
    vanilla = tables.trials.filter(~TOUCHED)
    assert vanilla["would_trigger"].to_list() == [["counter-edit"]] * 4
    assert study.skipped == ()
    (info,) = study.runs
    assert (info.kind, info.repeats) == ("run", 1)
    assert set(info.agents) == {"thin"}
    assert all(task.reference and task.patches["counter-edit"] for task in info.tasks)


@pytest.mark.slow
def test_counts_of_lines_agree_with_the_lines_themselves(thin_run: Path) -> None:
    tables = load_study([thin_run]).tables
    delivered = tables.interventions.filter(pl.col("delivered"))
    assert delivered.height >= 4
    written = tables.lines.filter(pl.col("kind") == "written")
    by_fate = written.group_by("run", "trial", "intervention").agg(
        pl.len().alias("n"), (pl.col("fate") == "removed").sum().alias("gone")
    )
    joined = delivered.join(by_fate, on=["run", "trial", "intervention"], how="left")
    assert joined["written"].to_list() == joined["n"].fill_null(0).to_list()
    assert joined["removed"].to_list() == joined["gone"].fill_null(0).to_list()
    revised = written.filter(pl.col("ever_revised"))
    assert revised.height > 0
    assert (revised["first_revised_step"] > revised["written_step"]).all()
    assert written.filter(~pl.col("ever_revised"))["first_revised_step"].is_null().all()


@pytest.mark.slow
def test_the_same_run_given_twice_or_as_a_copy_counts_once(thin_run: Path, tmp_path: Path) -> None:
    copy = _copy(thin_run, tmp_path / "copy")
    study = load_study([thin_run, thin_run, copy])
    assert study.tables.trials.height == 8
    (told,) = study.skipped
    assert str(copy) in told
    assert "not counted again" in told


@pytest.mark.slow
def test_further_runs_of_the_same_trials_are_further_repeats(thin_run: Path, tmp_path: Path) -> None:
    again = _renamed(thin_run, tmp_path / "again", "another")
    trials = load_study([thin_run, again]).tables.trials
    assert trials.height == 16
    repeats = trials.group_by("task", "model", "condition").agg(pl.col("repeat").sort())
    assert repeats["repeat"].to_list() == [[1, 2]] * 8
    assert trials.n_unique(["run", "trial"]) == 16


@pytest.mark.slow
def test_a_replay_beside_what_it_replays_is_no_further_evidence(thin_run: Path, tmp_path: Path) -> None:
    replay = _renamed(thin_run, tmp_path / "replay", "replay", replay=str(thin_run))
    study = load_study([replay, thin_run])
    assert study.tables.trials.height == 8
    assert any("replays" in told for told in study.skipped)
    assert load_study([replay]).tables.trials.height == 8


@pytest.mark.slow
def test_of_several_replays_of_one_run_one_counts(thin_run: Path, tmp_path: Path) -> None:
    first = _renamed(thin_run, tmp_path / "first", "first", replay=str(thin_run))
    other = _renamed(thin_run, tmp_path / "other", "other", replay=str(thin_run))
    again = _renamed(first, tmp_path / "again", "again", replay=str(first))
    assert load_study([first, other]).tables.trials.height == 8
    of_the_original = load_study([again, thin_run])
    assert of_the_original.tables.trials.height == 8
    assert [run.path for run in of_the_original.runs] == [str(thin_run.resolve())]


@pytest.mark.slow
def test_a_vanilla_that_did_not_watch_for_a_condition_tells_nothing_of_it(
    thin_run: Path, tmp_path: Path
) -> None:
    blind = _renamed(thin_run, tmp_path / "blind", "blind")
    plan = json.loads((blind / "plan.json").read_text())
    plan["users"] = [user for user in plan["users"] if not user["shadow_of"]]
    (blind / "plan.json").write_text(json.dumps(plan))
    rows = {
        row.condition: row for row in delivery_table(load_study([thin_run, blind])) if "keeps" in row.model
    }
    would = rows["counter-edit"].would
    assert would is not None
    assert (would.count, would.n) == (2, 2), "of the run that watched, not of both"
    assert rows["counter-edit"].excess == 0
    (row, *_) = delivery_table(load_study([blind]))
    assert row.would is None


@pytest.mark.slow
@pytest.mark.parametrize("lock", ["[]", '{"resolved": [{"agents": [1]}]}', '{"agents": 3}', "\0"])
def test_a_lock_that_is_none_is_said(thin_run: Path, tmp_path: Path, lock: str) -> None:
    run = _copy(thin_run, tmp_path / "run")
    (run / "lock.json").write_text(lock)
    study = load_study([run])
    assert study.tables.trials["agent_version"].null_count() == 8
    assert any("which versions were run is not known" in told for told in study.skipped)


@pytest.mark.slow
def test_all_versions_of_an_agent_are_told_also_of_what_is_kept(
    thin_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_KEPT_FROM", 1)
    run = _copy(thin_run, tmp_path / "run")
    load_study([run])
    lock = json.loads((run / "lock.json").read_text())
    later = json.loads(json.dumps(lock["resolved"][-1]))
    later["agents"]["thin"]["version"] = "9"
    (run / "lock.json").write_text(json.dumps(lock | {"resolved": [*lock["resolved"], later]}))
    study = load_study([run])
    assert set(study.tables.trials["agent_version"]) == {"1, 9"}
    assert any("versions 1, 9 are counted together" in told for told in cautions(study))


@pytest.mark.slow
def test_a_plain_harbor_job_counts_as_vanilla(thin_run: Path, tmp_path: Path) -> None:
    jobs = _copy(thin_run / "jobs", tmp_path / "jobs")
    first = min(each.name for each in jobs.iterdir())
    with pytest.raises(InputError, match="were run by Fourhands and left out: name their run"):
        load_study([thin_run, jobs])
    for path in jobs.glob("*/*/*.json"):  # as if Harbor had run them by itself
        path.write_text(
            re.sub(r'"import_path":\s*"fourhands[^"]*"', '"import_path": "other:Agent"', path.read_text())
        )
    study = load_study([thin_run, jobs])
    foreign = study.tables.trials.filter(pl.col("run") != study.runs[0].run)
    assert foreign.height == 8
    assert set(foreign["condition"]) == {"vanilla"}
    assert foreign["scored"].all()
    assert sorted(foreign["resolved"]) == sorted(load_study([thin_run]).tables.trials["resolved"])
    assert study.runs[1].kind == "Harbor job"
    assert foreign["would_trigger"].is_null().all()
    assert (foreign["seconds"] > 0).all()
    for paths in ([jobs, jobs / first], [jobs / first, _copy(jobs / first, tmp_path / "copy" / first)]):
        twins = load_study(paths)
        assert twins.tables.trials.height == (8 if paths[0] == jobs else 2)
        assert any("are here already" in told for told in twins.skipped)


@pytest.mark.slow
def test_costs_are_told_by_the_prices_that_are_given(thin_run: Path, tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(
        'schema = 1\nname = "ours"\n[[model]]\nname = "scripted/keeps"\ninput = 1.0\noutput = 2.0\n'
        'cache_read = 1.0\ncache_write = 1.0\nsource = "made up"\ndate = 2026-01-01\n'
    )
    trials = load_study([thin_run], price_table(str(table))).tables.trials
    known = trials.filter(pl.col("model") == "scripted/keeps")
    expected = (known["tokens"] + known["tokens_output"]) / 1e6
    assert known["cost"].to_list() == pytest.approx(expected.to_list())
    assert trials.filter(pl.col("model") != "scripted/keeps")["cost"].is_null().all()


@pytest.mark.slow
def test_what_is_kept_of_a_large_run_is_what_would_be_read_again(
    thin_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_KEPT_FROM", 1)
    run = _copy(thin_run, tmp_path / "run")
    first = load_study([run]).tables
    assert list((run / ".tables").iterdir())
    monkeypatch.setattr(digests, "_digest_all", _must_not_be_called)
    kept = load_study([run]).tables
    assert kept.trials.equals(first.trials)
    assert kept.interventions.equals(first.interventions)
    assert kept.lines.equals(first.lines)


def _must_not_be_called(batch: object) -> None:
    raise AssertionError(f"read again: {batch}")


@pytest.mark.slow
def test_a_record_that_has_changed_is_read_anew(
    thin_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_KEPT_FROM", 1)
    run = _copy(thin_run, tmp_path / "run")
    before = load_study([run]).tables.trials
    (folder,) = run.glob("trials/ledger*keeps*counter-edit*/attempt-1")
    (folder / "ablation.json").unlink()
    after = load_study([run]).tables.trials
    assert after["trial"].to_list() == before["trial"].to_list(), "in the plan's order as before"
    assert after["ablation"].null_count() == before["ablation"].null_count() + 1
    for spoiled in (run / ".tables").glob("*/trials.parquet"):
        spoiled.write_bytes(b"no parquet")
    assert load_study([run]).tables.trials.equals(after)


@pytest.mark.slow
def test_a_run_that_cannot_be_written_to_is_read_all_the_same(
    thin_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "_KEPT_FROM", 1)
    run = _copy(thin_run, tmp_path / "run")
    (run / ".tables").write_text("in the way of the folder")
    assert load_study([run]).tables.trials.height == 8


@pytest.mark.slow
def test_spoiled_records_are_said_and_the_others_counted(thin_run: Path, tmp_path: Path) -> None:
    run = _copy(thin_run, tmp_path / "run")
    torn = _events(run, "ledger-rounding__thin-scripted-keeps__vanilla")
    torn.write_bytes(torn.read_bytes()[:-40])  # cut in its last event: it has not ended
    foreign = _events(run, "ledger-rounding__thin-scripted-reconciles__vanilla")
    foreign.write_bytes(b'{"a": 1}\n\xff\xfe not even text\n')
    twice = _events(run, "sheet-ranges__thin-scripted-keeps__vanilla")
    lines = twice.read_bytes().splitlines(keepends=True)
    twice.write_bytes(b"".join([*reversed(lines), lines[3]]))
    study = load_study([run])
    trials = study.tables.trials
    assert trials.height == 8
    assert trials["scored"].sum() == 6
    assert {torn.parents[1].name, foreign.parents[1].name} == set(trials.filter(~pl.col("scored"))["trial"])
    for path in (torn, foreign, twice):
        assert any(str(path) in told for told in study.skipped), path


@pytest.mark.slow
def test_blobs_that_are_missing_are_counted_and_said(thin_run: Path, tmp_path: Path) -> None:
    run = _copy(thin_run, tmp_path / "run")
    (folder,) = run.glob("trials/ledger*keeps*counter-edit*/attempt-1/blobs")
    shutil.rmtree(folder)
    study = load_study([run])
    assert study.tables.trials["scored"].all()
    assert any("blobs are missing" in told for told in study.skipped)


@pytest.mark.slow
def test_events_are_rows_with_the_step_they_came_at(thin_run: Path) -> None:
    events = load_events([thin_run])
    assert events.columns == [column.name for column in TABLES["events"]]
    of_one = events.filter(pl.col("trial").str.contains("ledger.*keeps.*counter"))
    assert of_one["seq"].to_list() == list(range(of_one.height))
    edits = of_one.filter((pl.col("actor") == "user") & (pl.col("kind") == "workspace_changed"))
    assert (edits["lines_added"] > 0).all()
    assert edits["step"].is_not_null().all()


@pytest.mark.parametrize("name", ["nothing-there", "empty"])
def test_what_is_no_run_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        load_study([tmp_path / name])
