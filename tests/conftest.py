from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("fourhands", deadline=None)  # machines are shared: a slow moment is no failure
settings.load_profile("fourhands")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The released records and real trajectories that some tests read."""
    root = Path(__file__).parents[1]
    place = Path(os.environ.get("FOURHANDS_DATA") or root.parent / "shared" / "data")
    if not place.is_dir():
        pytest.skip(f"no shared data at {place}: set FOURHANDS_DATA to its folder")
    return place
