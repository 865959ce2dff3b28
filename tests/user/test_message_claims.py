from __future__ import annotations

import pytest

from fourhands.language.ground import Ground
from fourhands.user.message_claims import claims, claims_change

ONE_PLACE = b"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
TWO_PLACES = ONE_PLACE + b"@@ -9 +9 @@\n-a\n+b\n"


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


@pytest.mark.parametrize(
    "text",
    [
        "I also cleaned up the callers.",
        "I made it round up and cleaned up the callers.",
        "I made it round up and updated all call sites.",
        "I fixed the remaining docs.",
        "I renamed it everywhere.",
    ],
)
def test_an_edit_of_one_place_is_not_said_to_be_of_more(text: str) -> None:
    assert "claims a change elsewhere" in "; ".join(claims(text, Ground.of("", ONE_PLACE)))
    assert not list(claims(text, Ground.of("", TWO_PLACES)))


def test_what_an_edit_of_one_place_did_may_be_said() -> None:
    assert not list(
        claims("I changed x.py so that it rounds up, and callers need nothing.", Ground.of("", ONE_PLACE))
    )
