"""When a story that was told before is as good as new."""

from __future__ import annotations

import os
from pathlib import Path

from fourhands.report.html.shelves import PER_SHELF, find_shelves


def _attempts(folder: Path, count: int) -> list[Path]:
    attempts = [folder / f"trial-{number}" / "attempt-1" for number in range(count)]
    for attempt in attempts:
        attempt.mkdir(parents=True)
        (attempt / "events.jsonl").write_text("{}\n")
        os.utime(attempt / "events.jsonl", ns=(1, 1))
    return attempts


def test_every_attempt_has_its_place(tmp_path: Path) -> None:
    attempts = _attempts(tmp_path, 2 * PER_SHELF + 1)
    shelves = find_shelves(attempts)
    assert [path for shelf in shelves for path in shelf.attempts] == attempts
    assert [len(shelf.attempts) for shelf in shelves] == [PER_SHELF, PER_SHELF, 1]
    assert len({shelf.name for shelf in shelves}) == 3


def test_a_run_that_was_moved_keeps_its_shelves(tmp_path: Path) -> None:
    here, there = _attempts(tmp_path / "here", 3), _attempts(tmp_path / "there", 3)
    assert find_shelves(here)[0].name == find_shelves(there)[0].name


def test_a_record_or_an_ablation_that_changes_takes_only_its_own_shelf_along(tmp_path: Path) -> None:
    attempts = _attempts(tmp_path, PER_SHELF + 1)
    before = [shelf.name for shelf in find_shelves(attempts)]
    os.utime(attempts[-1] / "events.jsonl", ns=(2, 2))
    with_time = [shelf.name for shelf in find_shelves(attempts)]
    assert with_time[0] == before[0]
    assert with_time[1] != before[1]
    (attempts[-1] / "ablation.json").write_text("{}")
    assert [shelf.name for shelf in find_shelves(attempts)][1] not in {before[1], with_time[1]}
