"""The files of a report: whole or not at all, and no more of them than there need to be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fourhands.analysis.study import Study
from fourhands.model.errors import InputError
from fourhands.report.html.writer import write_html_report
from fourhands.report.loading import load_study

FOURHANDS = Path(sys.executable).with_name("fourhands")


@pytest.fixture(scope="module")
def study(thin_run: Path) -> Study:
    return load_study([thin_run])


def _names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.mark.slow
def test_a_small_report_is_one_file_and_the_same_each_time(study: Study, tmp_path: Path) -> None:
    out = tmp_path / "new" / "report.html"
    write_html_report(study, out)
    first = out.read_bytes()
    write_html_report(study, out)
    assert out.read_bytes() == first
    assert _names(out.parent) == {"report.html"}


@pytest.mark.slow
def test_stories_beside_it_are_kept_while_they_are_good_and_removed_when_not(
    study: Study, tmp_path: Path
) -> None:
    out, place = tmp_path / "report.html", tmp_path / "report_stories"
    write_html_report(study, out, most_inline=0)
    (shelf,) = place.iterdir()
    written = shelf.stat().st_mtime_ns
    (place / "notes.txt").write_text("a reader's own")
    (place / f"{'0' * 20}.js").write_text("of an earlier report")
    write_html_report(study, out, most_inline=0)
    assert _names(place) == {shelf.name, "notes.txt"}
    assert shelf.stat().st_mtime_ns == written
    write_html_report(study, out)
    assert _names(place) == {"notes.txt"}
    assert _names(tmp_path) == {"report.html", "report_stories"}


@pytest.mark.slow
def test_an_interrupted_report_leaves_the_old_one(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "report.html"
    write_html_report(study, out, most_inline=0)
    before = out.read_bytes(), _names(tmp_path / "report_stories")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fourhands.report.html.writer.page_text", stop)
        with pytest.raises(KeyboardInterrupt):
            write_html_report(study, out, most_inline=0)
    assert (out.read_bytes(), _names(tmp_path / "report_stories")) == before
    assert _names(tmp_path) == {"report.html", "report_stories"}


@pytest.mark.slow
def test_of_very_many_stories_the_page_comes_first_and_an_interrupt_loses_none(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, place = tmp_path / "report.html", tmp_path / "report_stories"

    def stop(*_: object) -> None:
        assert out.exists(), "the page is there before any story"
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fourhands.report.html.writer.write_shelves", stop)
        with pytest.raises(KeyboardInterrupt):
            write_html_report(study, out, most_waited_for=0)
    assert _names(place) == set()
    page = out.read_bytes()
    there: list[bool] = []
    write_html_report(study, out, most_waited_for=0, page_is_there=lambda: there.append(out.exists()))
    assert there == [True]
    assert out.read_bytes() == page
    (shelf,) = _names(place)
    assert shelf.removesuffix(".js").encode() in page
    assert _names(tmp_path) == {"report.html", "report_stories"}


@pytest.mark.slow
def test_what_a_killed_report_left_is_removed(study: Study, tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    left, other = tmp_path / f".report_stories.{ended.pid}", tmp_path / f".report_stories.{os.getppid()}"
    left.mkdir()
    other.mkdir()
    write_html_report(study, tmp_path / "report.html")
    assert _names(tmp_path) == {"report.html", other.name}


@pytest.mark.slow
def test_a_place_that_cannot_be_is_an_error_that_names_it(study: Study, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file"):
        write_html_report(study, tmp_path / "file" / "report.html")


@pytest.mark.slow
def test_the_command_writes_into_the_run_and_says_where(thin_run: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    done = subprocess.run(
        [FOURHANDS, "report", thin_run, "--figures", figures], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()) == thin_run / "report.html"
    assert (thin_run / "report.html").stat().st_size > 10_000
    assert all(each.suffix == ".svg" for each in figures.iterdir())
    assert len(_names(figures)) >= 2


@pytest.mark.slow
def test_several_runs_need_a_place(thin_run: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [FOURHANDS, "report", thin_run, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--out" in done.stderr
