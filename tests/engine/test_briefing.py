"""What an agent is told at the start of a conversation."""

from __future__ import annotations

import pytest

from fourhands.engine.briefing import briefing
from fourhands.language.ground import Ground
from fourhands.model.ledger import Ledger, Requirement
from fourhands.user.message_talk import talk

LEDGER = Ledger("Make {it} better.\n", (Requirement("R1", "It is vermilion.", (0, 1), ("vermilion",)),), ())


@pytest.mark.parametrize("asks_by_command", [True, False])
def test_the_brief_comes_first_and_nothing_held_is_told(asks_by_command: bool) -> None:
    told = briefing(LEDGER, asks_by_command=asks_by_command)
    assert told.startswith("Make {it} better.\n\n")
    assert "vermilion" not in told
    assert told.count("PLAN.md") == 2
    assert ("`ask-the-user`" in told, "`ask_the_user`" in told) == (asks_by_command, not asks_by_command)


def test_it_is_the_words_of_a_colleague_and_betrays_no_benchmark() -> None:
    found = talk(briefing(LEDGER, asks_by_command=False), Ground("", None))
    assert [each for each in found if not each.startswith("speaks of tests")] == []
