"""What ``run``, ``demo`` and ``results`` print of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourhands.analysis.study import Study
    from fourhands.report.summary import Summary

__all__ = ["document_text", "tell"]


def tell(summary: Summary, study: Study, runs: Sequence[Path]) -> None:
    """Print the summary of a study of these folders, which are named as they were given."""
    from fourhands.cli.console import output
    from fourhands.report.rendering.summary import print_summary

    given = {str(path.resolve()): str(path) for path in runs}
    paths = {run.run: given.get(run.path, run.path) for run in study.runs}
    print_summary(summary, paths, output())


def document_text(study: Study, run: Path | None = None) -> str:
    """The study as JSON; with ``run``, also which folder it is of, as it was given."""
    import json

    import orjson

    from fourhands.report.document import study_document

    document = study_document(study)
    if run is not None:
        document = {"schema": document["schema"], "run": str(run), **document}
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"
    except orjson.JSONEncodeError:  # a folder's name is no UTF-8: ASCII with escapes tells it all the same
        return json.dumps(document, indent=2) + "\n"
