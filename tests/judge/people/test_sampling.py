"""Items are drawn so that rare labels and their absence are among them, and so that anybody can draw them again."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.judge.people.sampling import draw, draw_halves, see_that_both_are_drawn, strata_of
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.errors import InputError

ANY, STEP = AUDITS[AuditName.SWE_INTERACT], AUDITS[AuditName.GOALS]
BUG, FORGOTTEN, REGRESSION = ANY.names[:3]


def test_of_several_labels_the_rarest_names_the_stratum() -> None:
    both, bug, none = frozenset({BUG, REGRESSION}), frozenset({BUG}), frozenset[str]()
    assert strata_of(ANY, [both, bug, bug, none, None]) == [
        REGRESSION,
        BUG,
        BUG,
        "none of the labels",
        "no opinion",
    ]


@given(st.lists(st.sampled_from("abcd"), min_size=4, max_size=80), st.integers(4, 100), st.integers(0, 9))
def test_every_stratum_is_drawn_from_and_the_same_seed_draws_the_same(
    strata: list[str], size: int, seed: int
) -> None:
    chosen = draw(strata, size, seed)
    assert len(chosen) == len(set(chosen)) == min(size, len(strata))
    assert {strata[place] for place in chosen} == set(strata)
    assert chosen == draw(strata, size, seed)


def test_rare_strata_get_more_than_their_share_and_common_ones_the_most() -> None:
    strata = ["common"] * 180 + ["rare"] * 20
    counts = Counter(strata[place] for place in draw(strata, 40, 1))
    assert counts == {"common": 28, "rare": 12}
    assert sorted(draw(strata, 40, 1)) != sorted(draw(strata, 40, 2))


def test_the_order_tells_nothing_of_the_strata() -> None:
    strata = ["a"] * 50 + ["b"] * 50
    drawn = [strata[place] for place in draw(strata, 100, 0)]
    changes = sum(one != other for one, other in pairwise(drawn))
    assert changes > 30


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.integers(1, 100), st.integers(0, 9))
def test_half_of_the_items_are_left_open_as_far_as_there_are_so_many(
    left: list[bool], size: int, seed: int
) -> None:
    size = max(size, len(set(left)))
    chosen = draw_halves(["all"] * len(left), left, size, seed)
    assert len(chosen) == len(set(chosen)) == min(size, len(left))
    n = sum(left[place] for place in chosen)
    assert n == sum(left) or n >= len(chosen) / 2
    assert len(chosen) - n == len(left) - sum(left) or len(chosen) - n >= len(chosen) // 2
    assert chosen == draw_halves(["all"] * len(left), left, size, seed)


def test_fewer_items_than_strata_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"--size 1: there are 2 kinds of items \(a, b\).*give --size 2 or more"
    ):
        draw(["a", "b"], 1, 0)


def test_a_sample_of_positives_alone_is_refused_and_one_where_there_are_no_others_is_not() -> None:
    bug, both, none = frozenset({BUG}), frozenset({BUG, FORGOTTEN}), frozenset[str]()
    with pytest.raises(InputError, match=f"does not give '{BUG}', though there are some; draw more"):
        see_that_both_are_drawn(ANY, [bug, both, none], [0, 1], "draw more")
    with pytest.raises(InputError, match="does not give any label"):
        see_that_both_are_drawn(ANY, [bug, frozenset({FORGOTTEN}), none], [0, 1], "draw more")
    see_that_both_are_drawn(ANY, [bug, both, none], [0, 2], "draw more")
    see_that_both_are_drawn(ANY, [bug, bug, None], [0], "draw more")
    with pytest.raises(InputError, match="does not give 'yes'"):
        see_that_both_are_drawn(STEP, [frozenset({"yes"}), frozenset({"no"})], [0], "draw more")
