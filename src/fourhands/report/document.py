"""A `Study` as one JSON document: what was run, every table, and each trial with what the user did in it."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache, partial
from typing import Any, Final

import orjson
import polars as pl

from fourhands.analysis.costs import TrialCost, prices_json
from fourhands.analysis.findings.judged import goals_voice
from fourhands.analysis.headline import cautions, headline
from fourhands.analysis.study import RunInfo, Study
from fourhands.analysis.trust import Trust, Voice, trust_in
from fourhands.model.audit import AuditName
from fourhands.report.price_notes import models_asked
from fourhands.report.rendering.records import records
from fourhands.report.views import VIEWS

__all__ = ["CIRCUMSTANCES", "SCHEMA", "study_document"]

SCHEMA: Final = 3
"""The version of the document."""
CIRCUMSTANCES: Final = frozenset({"runs", "run", "attempt", "started", "seconds", "record_problems"})
"""Fields that tell when and how often something was run, and where: but for these, wherever they stand, the documents
of two runs of the same plan in which the same happened are equal, also if one was interrupted and gone on with."""

_AS_JSON: Final = {
    "trials": ("threads", "judged", "audits", "failure_labels", "failure_typing"),
    "interventions": ("proof",),
}
"""Columns that hold JSON as text: here they are what it says."""


def study_document(study: Study) -> dict[str, Any]:
    """Plain JSON; of the derived tables those that have rows, but for ``trials``, which are there in full."""
    tables = study.tables
    models = TrialCost(models=frozenset(models_asked(study)))
    return {
        "schema": SCHEMA,
        "runs": [_run(run) for run in study.runs],
        "skipped": list(study.skipped),
        "headline": list(headline(study)),
        "cautions": list(cautions(study)),
        "tables": {
            name: records(view)
            for name, make in VIEWS.items()
            if name != "trials" and (view := make(study)) is not None
        },
        "trials": _trials(study),
        "interventions": _rows("interventions", tables.interventions),
        "lines": _rows("lines", tables.lines),
        "prices": prices_json(study.prices, [models]),
    }


def _run(run: RunInfo) -> dict[str, Any]:
    """What was run; of its tasks the names, their digests and what is known of their records, without the patches."""
    told = asdict(run)
    told["tasks"] = [
        {
            "name": task.name,
            "digest": task.digest,
            "benchmark": task.benchmark,
            "record_status": task.record_status,
        }
        for task in run.tasks
    ]
    return told


def _trials(study: Study) -> list[dict[str, Any]]:
    """Each with what judges said of it, and beside that how far each of them is to be trusted."""
    rows = _rows("trials", study.tables.trials)
    trusted = cache(partial(trust_in, study))
    for row in rows:
        for said in row["judged"] or ():
            said.update(_trust(trusted(goals_voice(said["judge"], said["prompt_version"]), (row["run"],))))
        for said in row["audits"] or ():
            versions = said["audit_version"], said["prompt_version"]
            voice = Voice(AuditName(said["audit"]), versions[0], said["judge"], versions[1])
            said.update(_trust(trusted(voice, (row["run"],))))
    return rows


def _trust(trust: Trust) -> dict[str, Any]:
    return {"audited": trust.is_audited, "trusted": trust.is_trusted, "kappa": trust.kappa}


def _rows(name: str, frame: pl.DataFrame) -> list[dict[str, Any]]:
    rows = frame.rows(named=True)
    for column in _AS_JSON.get(name, ()):
        for row in rows:
            if row[column] is not None:
                row[column] = orjson.loads(row[column])
    return rows
