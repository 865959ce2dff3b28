from __future__ import annotations

import pytest

from fourhands.user.message_checks import objections
from fourhands.user.message_claims import claims_change

TASK = "`split` in `ledger.py` rounds shares half down; the pennies must add up. See docs/money.rst."


@pytest.mark.parametrize(
    "text",
    [
        "There's an edit in `ledger.py` that rounds up. Please build on it.",
        "You will see that `split` rounds up.",
        "`split` now rounds up, so go on from there.",
        "`split` rounds up now, so go on from there.",
        "The edit in `ledger.py` makes it round up.",
        "It is done: shares round up in `split`.",
        "The ceiling is already in place in `split`.",
        "Since the change to `split`, shares round up.",
        "Please go on from the new version of `split`.",
        "A moment ago the floor went away in `split`.",
        "The updated `split` rounds up, go on from it.",
        "There is a ceiling in `split` now.",
        "The ceiling has been added to `split` for you.",
        "`split` has a ceiling since today, please go on.",
        "Your copy of `ledger.py` is out of date, `split` rounds up.",
        "The file on your side was changed, have another look.",
        "Please re-read `ledger.py` before you go on, it looks different from before.",
        "The floor division is gone from `split`.",
        "Just so you know, `split` no longer rounds down.",
        "Heads up: `split` got a ceiling.",
        "FYI, the ceiling went in.",
        "I want to let you know that `split` was rounded up.",
        "I wanted it to round up, and it does.",
        "I think you should keep the ceiling that was added in `split`.",
        "I ought to tell you that `split` was given a ceiling.",
        "I should say the floor division has gone.",
        "I hope you like the new `split`.",
        "Don't overwrite the ceiling in `split` when you go on.",
        "Please don't revert the rounding in `split`.",
        "The version of `split` in front of you rounds up.",
        "What stands in `ledger.py` is what I want: shares round up.",
        "It should all be there in `ledger.py`: shares round up.",
        "I did not like the floor division, so it had to go.",
        "Floor division replaced by a ceiling in `split`.",
        "Ceiling added to `split`, please go on.",
        "The share calculation looks different; that is how I want it.",
        "`split` is rounding up at the moment thanks to a small edit.",
    ],
)
def test_a_change_that_nobody_made_is_not_said_to_be_there(text: str) -> None:
    assert claims_change(text)
    assert "claims a change that was not made" in "; ".join(objections(text, task=TASK, patch=None))


@pytest.mark.parametrize(
    "text",
    [
        "Please do that now, so that shares no longer come out low.",
        "I want it changed to a ceiling, please.",
        "Please have a ceiling added to `split`.",
        "A ceiling should be introduced in `split`.",
        "For now the ceiling is all that matters.",
        "The new default should be the ceiling.",
        "Braces should be split first, so commas no longer break them.",
        "The change should be small, please.",
    ],
)
def test_a_wish_for_a_change_may_be_said(text: str) -> None:
    assert not claims_change(text)
    assert not objections(text, task=TASK, patch=None)
