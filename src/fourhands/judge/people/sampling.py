"""Which items of a population people look at: all, some at random, or some of each answer that a judge gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from fourhands.model.audit import Audit, Choice
from fourhands.model.errors import InputError

__all__ = ["ONE_STRATUM", "draw", "draw_halves", "see_that_both_are_drawn", "strata_of"]

ONE_STRATUM: Final = "all"
"""Of a population that is not told apart."""
_NONE: Final = "none of the labels"
_SILENT: Final = "no opinion"


def strata_of(audit: Audit, answers: Sequence[frozenset[str] | None]) -> list[str]:
    """The stratum of each item by a judge's answer; ``None``: it gave none.

    Of several labels the rarest counts, so that each has items of its own however rare it is.
    """
    counts = Counter(label for answer in answers if answer for label in answer)

    def name(answer: frozenset[str] | None) -> str:
        if answer is None:
            return _SILENT
        return min(answer, key=lambda label: (counts[label], audit.names.index(label)), default=_NONE)

    return [name(answer) for answer in answers]


def draw(strata: Sequence[str], size: int, seed: int) -> list[int]:
    """Places of ``size`` items, in an order that tells nothing of their strata; all, where there are no more.

    Half of them go to all strata alike, half by their sizes; each has at least one.

    Raises:
        InputError: ``size`` is less than the strata are.
    """
    by_stratum: dict[str, list[int]] = {}
    for place, stratum in enumerate(strata):
        by_stratum.setdefault(stratum, []).append(place)
    if size < len(by_stratum):
        raise InputError(
            f"--size {size}: there are {len(by_stratum)} kinds of items ({', '.join(sorted(by_stratum))}), and each "
            f"must be in the sheet: give --size {len(by_stratum)} or more"
        )
    shares = _shares({name: len(places) for name, places in by_stratum.items()}, size)
    chance = random.Random(seed)  # noqa: S311 - a sample that anybody can draw again, not a secret
    chosen = [
        place
        for name in sorted(by_stratum)
        for place in sorted(chance.sample(by_stratum[name], shares[name]))
    ]
    chance.shuffle(chosen)
    return chosen


def draw_halves(strata: Sequence[str], left: Sequence[bool], size: int, seed: int) -> list[int]:
    """As `draw`, half of them from what is ``left`` open, as far as there is so much, and half from the rest.

    Raises:
        InputError: ``size`` is less than the strata are.
    """
    parts = [[place for place, is_left in enumerate(left) if is_left is side] for side in (True, False)]
    if not all(parts):
        return draw(strata, size, seed)
    size = min(size, len(strata))
    n = min(len(parts[0]), max((size + 1) // 2, size - len(parts[1])))
    chosen = [
        part[at]
        for part, share in zip(parts, (n, size - n), strict=True)
        for at in draw([strata[place] for place in part], share, seed)
    ]
    random.Random(seed).shuffle(chosen)  # noqa: S311 - as above
    return chosen


def see_that_both_are_drawn(
    audit: Audit, answers: Sequence[frozenset[str] | None], chosen: Collection[int], remedy: str
) -> None:
    """See that a sample has, for each label, items to which the judge does not give it, where there are any.

    From positives alone nobody can tell what a judge flags wrongly or misses.

    Raises:
        InputError: it has not; says ``remedy``.
    """
    drawn = [answers[place] for place in chosen]
    kinds: dict[str, tuple[bool, bool]] = {
        f"'{label}'": tuple(any(_lacks(answer, label) for answer in part) for part in (answers, drawn))  # type: ignore[misc]
        for label in audit.names
    }
    if audit.choice is Choice.ANY:
        kinds["any label"] = (
            any(a is not None and not a for a in answers),
            any(a is not None and not a for a in drawn),
        )
    for what, (is_there, is_drawn) in kinds.items():
        if is_there and not is_drawn:
            raise InputError(
                f"positives only: the sample has no item to which the judge does not give {what}, though there are "
                f"some; {remedy}"
            )


def _lacks(answer: frozenset[str] | None, label: str) -> bool:
    return answer is not None and label not in answer


def _shares(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many of each stratum, as near as whole numbers come to half alike and half by size."""
    total = sum(sizes.values())
    size = min(size, total)
    wanted = {name: size / 2 / len(sizes) + size / 2 * n / total for name, n in sizes.items()}
    shares = {name: min(sizes[name], max(1, int(wanted[name]))) for name in sizes}
    while (left := size - sum(shares.values())) != 0:
        step = 1 if left > 0 else -1
        able = [n for n in sizes if (shares[n] < sizes[n] if step > 0 else shares[n] > 1)]
        # Whoever is furthest from what it wants comes next; of equals the first by name.
        name = max(sorted(able), key=lambda n: step * (wanted[n] - shares[n]))
        shares[name] += step
    return shares
