from __future__ import annotations

import re
from pathlib import Path

from .test_repository_states import STATES

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "hostile.md"


def test_every_test_that_the_page_names_is_there_and_every_state_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    named = set(re.findall(r"`(test_\w+)`", page))
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert len(named) > 30
    assert named - there == set()
    assert set(re.findall(r"\[([^\]]+)\]", page)) == STATES.keys()
