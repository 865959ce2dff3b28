"""What judges said in audits of a run, and how far they agree with people; the record is never touched.

RUN/trials/KEY/attempt-N/audits/AUDIT--JUDGE.json   an opinion on an attempt
RUN/audits/agreement/AUDIT--JUDGE--SHEET.json       how far that judge agrees with people, by one sheet
RUN/audits/answers/KEY.json                         every answer, by the content it was asked about

All have schema 1, and are written whole or not at all.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from fourhands.model.agreement import Agreement
from fourhands.model.audit import AuditName, Opinion
from fourhands.trajectories.documents import DocumentKind
from fourhands.trajectories.run_folder import Attempt, RunFolder

__all__ = [
    "agreement_path",
    "agreements_of",
    "audit_answers_path",
    "judge_file_name",
    "opinion_from_json",
    "opinion_json",
    "opinion_path",
    "opinions_folder",
    "opinions_of",
    "read_agreement",
    "read_opinion",
    "write_agreement",
    "write_opinion",
]

_OPINION: Final = DocumentKind(TypeAdapter(Opinion), "fourhands audit judge")
_AGREEMENT: Final = DocumentKind(TypeAdapter(Agreement), "fourhands audit agreement")


def judge_file_name(judge: str) -> str:
    """Of a judge; models whose names differ only in what a file's name cannot hold have files of their own."""
    model = judge.removeprefix("judge:")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model)[:80].strip("-.")
    return plain if plain == model else f"{plain}-{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def opinions_folder(attempt: Attempt) -> Path:
    """Where stands what judges said of an attempt, once one has."""
    return attempt.path / "audits"


def opinion_path(attempt: Attempt, audit: AuditName, judge: str) -> Path:
    """Where stands what ``judge`` said of an attempt in an audit, once it has."""
    return opinions_folder(attempt) / f"{audit}--{judge_file_name(judge)}.json"


def agreement_path(folder: RunFolder, agreement: Agreement) -> Path:
    """Where an agreement stands in a run; of another sheet it is another file, so that none takes another's place."""
    name = f"{agreement.audit}--{judge_file_name(agreement.judge)}--{agreement.sheet[:12]}.json"
    return folder.path / "audits" / "agreement" / name


def audit_answers_path(folder: RunFolder) -> Path:
    """The folder of a run's answers."""
    return folder.path / "audits" / "answers"


def opinions_of(attempt: Attempt) -> list[Opinion]:
    """All that judges said of an attempt, by the file's name. Raises as `read_opinion`."""
    return [read_opinion(path) for path in sorted(opinions_folder(attempt).glob("*.json"))]


def agreements_of(folder: RunFolder) -> list[Agreement]:
    """Of all judges of a run that were measured, by the file's name. Raises as `read_agreement`."""
    return [read_agreement(path) for path in sorted((folder.path / "audits" / "agreement").glob("*.json"))]


def read_opinion(path: Path) -> Opinion:
    """What one file holds.

    Raises:
        InputError: it is none of ours, or is not there.
    """
    return _OPINION.read(path)


def read_agreement(path: Path) -> Agreement:
    """What one file holds. Raises as `read_opinion`."""
    return _AGREEMENT.read(path)


def write_opinion(path: Path, opinion: Opinion) -> None:
    """Write a file, whole or not at all."""
    _OPINION.write(path, opinion)


def write_agreement(path: Path, agreement: Agreement) -> None:
    """Write a file, whole or not at all."""
    _AGREEMENT.write(path, agreement)


def opinion_json(opinion: Opinion) -> dict[str, Any]:
    """The fields that a file holds."""
    return _OPINION.fields(opinion)


def opinion_from_json(fields: dict[str, Any]) -> Opinion:
    """What `opinion_json` has made."""
    return _OPINION.adapter.validate_python(fields)
