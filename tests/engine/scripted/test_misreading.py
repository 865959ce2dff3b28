"""What becomes of a requirement that is read wrong."""

from __future__ import annotations

import pytest

from fourhands.engine.scripted.misreading import misread
from fourhands.model.ledger import Requirement


@pytest.mark.parametrize(
    ("text", "negations", "values", "read"),
    [
        ("It must not be stored.", ("must not be stored",), (), "It must be stored."),
        ("A load shouldn't break it.", ("shouldn't break",), ("3",), "A load should break it."),
        (
            "Never touch the layers; they never move.",
            ("never move",),
            (),
            "Never touch the layers; they always move.",
        ),
        ("Until 02:00, not 12:02:00.", (), ("02:00",), "Until 03:00, not 12:02:00."),
        ("For 9 guests, not 3,99.", (), ("9",), "For 10 guests, not 3,99."),
        ("From `2024-01-31` on.", (), ("off", "2024-01-31"), "From `2025-01-31` on."),
        ("The sums add up.", (), (), None),
        ("Only `off` will do.", ("Only",), ("off",), None),
    ],
)
def test_a_negation_is_lost_or_a_number_is_another_and_nothing_is_made_up(
    text: str, negations: tuple[str, ...], values: tuple[str, ...], read: str | None
) -> None:
    assert misread(Requirement("R1", text, (0, 1), negations=negations, values=values)) == read
