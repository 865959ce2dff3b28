from __future__ import annotations

from collections.abc import Iterator

import pytest

from .provider import Provider
from .stage import Stage, play


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One run of two trials at once: both search and knock; then one cheats, and one does honest work."""
    provider = Provider()
    try:
        yield play(tmp_path_factory.mktemp("stage"), provider)
    finally:
        provider.close()
