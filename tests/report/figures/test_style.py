from __future__ import annotations

from itertools import combinations

import pytest

from fourhands.report.figures import after_edit, failures, response_mode, revision, transitions
from fourhands.report.figures.style import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION, Fill, look

OKABE_ITO = {"#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"}


def lightness(colour: str) -> float:
    """CIE L* from 0 to 100: how light a colour is when it is seen in grey."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    light = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * light ** (1 / 3) - 16 if light > 0.008856 else 903.3 * light


def test_the_palette_is_okabe_and_ito_s_and_never_ink() -> None:
    assert {BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY} == OKABE_ITO
    assert INK.upper() not in OKABE_ITO


@pytest.mark.parametrize(
    "fills",
    [
        [fill for _, fill in after_edit.FILLS],
        [fill for _, fill in revision.FILLS],
        [fill for _, fill in transitions.BANDS],
        list(response_mode.FILLS.values()),
        [*failures.FILLS, failures.OPEN],
    ],
)
def test_areas_that_lie_beside_each_other_are_told_apart_in_grey(fills: list[Fill]) -> None:
    for one, other in combinations(fills, 2):
        same_colour = one.colour == other.colour
        seen = [lightness(fill.colour) if fill.colour.startswith("#") else 100.0 for fill in (one, other)]
        assert not same_colour
        assert one.hatch != other.hatch or one.alpha != other.alpha or abs(seen[0] - seen[1]) > 15


def test_the_first_twelve_series_differ_in_marker_and_the_first_eighty_four_in_something() -> None:
    assert len({look(index).marker for index in range(12)}) == 12
    assert len({(look(index).marker, look(index).colour) for index in range(84)}) == 84
