"""What judges said of a run, beside its record, which is never touched; one file a judge.

RUN/trials/KEY/attempt-N/judgements/JUDGE.json   of an attempt's checkpoints
RUN/judgements/anchors/TASK--JUDGE.json          of what every task's numbers are to be read against
RUN/judgements/answers/KEY.json                  every answer, by the content it was asked about
"""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from fourhands.model.judgement import Judgements
from fourhands.trajectories.audits import judge_file_name
from fourhands.trajectories.documents import DocumentKind
from fourhands.trajectories.run_folder import Attempt, RunFolder

__all__ = [
    "anchors_of",
    "anchors_path",
    "answers_path",
    "judgements_folder",
    "judgements_json",
    "judgements_of",
    "judgements_path",
    "read_judgements",
    "write_judgements",
]

_JUDGEMENTS: Final = DocumentKind(TypeAdapter(Judgements), "fourhands conversations score")


def judgements_folder(attempt: Attempt) -> Path:
    """Where stands what judges said of an attempt, once one has."""
    return attempt.path / "judgements"


def judgements_path(attempt: Attempt, judge: str) -> Path:
    """Where stands what ``judge`` said of an attempt, once it has."""
    return judgements_folder(attempt) / f"{judge_file_name(judge)}.json"


def anchors_path(folder: RunFolder, task: str, judge: str) -> Path:
    """Where stands what ``judge`` said of a task's anchors, once it has."""
    return folder.path / "judgements" / "anchors" / f"{task}--{judge_file_name(judge)}.json"


def anchors_of(folder: RunFolder, task: str) -> list[Judgements]:
    """All that judges said of a task's anchors, by the file's name.

    Raises:
        InputError: a file is none of ours.
    """
    none = anchors_path(folder, task, "")
    paths = none.parent.glob(f"{glob.escape(none.stem)}*.json")
    found = ((path, read_judgements(path)) for path in sorted(paths))
    # Another task's name may go on with two hyphens, too.
    return [each for path, each in found if path == anchors_path(folder, task, each.judge)]


def answers_path(folder: RunFolder) -> Path:
    """The folder of a run's answers."""
    return folder.path / "judgements" / "answers"


def judgements_of(attempt: Attempt) -> list[Judgements]:
    """All that judges said of an attempt, by the file's name.

    Raises:
        InputError: a file is none of ours.
    """
    return [read_judgements(path) for path in sorted(judgements_folder(attempt).glob("*.json"))]


def read_judgements(path: Path) -> Judgements:
    """What one file holds.

    Raises:
        InputError: it is none of ours, or is not there.
    """
    return _JUDGEMENTS.read(path)


def write_judgements(path: Path, judgements: Judgements) -> None:
    """Write a file, whole or not at all."""
    _JUDGEMENTS.write(path, judgements)


def judgements_json(judgements: Judgements) -> dict[str, Any]:
    """The fields that a file holds."""
    return _JUDGEMENTS.fields(judgements)
