from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.report.html.writer import write_html_report
from fourhands.report.loading import load_study


@pytest.fixture(scope="session")
def report(thin_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a real run."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    write_html_report(load_study([thin_run]), out)
    return out
