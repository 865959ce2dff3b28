from __future__ import annotations

import pytest

from fourhands.user.message_claims import claims_change


@pytest.mark.parametrize(
    "text",
    [
        "I changed it.",
        "I've just renamed x.",
        "I\u2019ve updated foo",
        "We already fixed that",
        "See my edit.",
        "I made f strict.",
    ],
)
def test_a_claim_of_an_edit_is_seen(text: str) -> None:
    assert claims_change(text)


@pytest.mark.parametrize(
    "text",
    [
        "Integer slices should be shifted.",
        "I believe the order changed long ago.",
        "Please change it.",
        "I think it is so.",
    ],
)
def test_a_belief_or_a_wish_is_no_claim(text: str) -> None:
    assert not claims_change(text)
