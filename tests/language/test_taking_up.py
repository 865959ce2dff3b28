from __future__ import annotations

import pytest

from fourhands.language.taking_up import legible, takes_up
from fourhands.model.ledger import Requirement


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1½ cups, ⅓ and ⅞", "1½ cups, ⅓ and ⅞"),
        ("\ufb01le \uff38\uff39", "file XY"),
        ("ho\u200bld", "hold"),
    ],
)
def test_a_text_is_read_as_a_person_would_and_a_fraction_stays_apart_from_the_number_before_it(
    text: str, read: str
) -> None:
    assert legible(text) == read


def test_a_fraction_is_a_value_that_can_be_taken_up() -> None:
    requirement = Requirement("R1", "A cup and a half is written as `1½ cups`.", (0, 1), values=("1½ cups",))
    assert takes_up(requirement, legible("I will write a cup and a half as `1½ cups`."))
    assert not takes_up(requirement, legible("I will write a cup and a half as `1⅓ cups`."))
