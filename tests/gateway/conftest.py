from __future__ import annotations

from pathlib import Path

import pytest

from .scene import MakeScene, scene_maker


@pytest.fixture
def scene(tmp_path: Path) -> MakeScene:
    return scene_maker(tmp_path)
