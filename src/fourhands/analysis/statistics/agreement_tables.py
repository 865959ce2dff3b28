"""What two annotators say of the items of a population, as a table, from items that were drawn by strata.

The first annotator's answer is known of the whole population, the second's of the items that were drawn. Within each
stratum, and each answer of the first there, those tell how the second answers; as many of the population follow (Begg
and Greenes 1983). So a sample that has more of what a judge flagged than the population has is no advantage, and what
the judge missed counts by how much it stands for.

What is not known is drawn: how the second answers in each cell is Dirichlet-distributed, with a little added to what
was seen, and so are the cells' sizes, for the population is itself a draw. A cell where nobody
found a label may still hold it: a bootstrap, or a variance, would never say so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAWS", "Floats", "Question", "Seen"]

DRAWS: Final = 10_000
_PRIOR: Final = 2.0
"""Items that are added in all, alike for each answer of the first, half of them where the second says the same.

Of two categories that is Jeffreys's half of an item in each place.
"""
_LEAST: Final = 1e-12

type Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """An item that both have answered, with numbers of categories. Items of one ``cluster`` (task) may be alike."""

    stratum: str
    cluster: str
    first: int
    second: int


@dataclass(frozen=True)
class Question:
    """What was asked of both.

    Args:
        items: that were drawn; ``None`` where one of the two has not answered. Of several questions about the same
            items, in the same order.
        population: how many items there are, by stratum and the first's answer; those that were drawn among them.
        categories: how many there are.
        ordered: whether answers that are further apart agree less, by the square.
    """

    items: Sequence[Seen | None]
    population: Mapping[tuple[str, int], float]
    categories: int
    ordered: bool = False

    @cached_property
    def seen(self) -> tuple[Seen, ...]:
        """Items that both have answered."""
        return tuple(item for item in self.items if item)

    @cached_property
    def cells(self) -> dict[tuple[str, int], Floats]:
        """Of each stratum and answer of the first that were seen, how often the second gave each answer."""
        found: defaultdict[tuple[str, int], Floats] = defaultdict(lambda: np.zeros(self.categories))
        for item in self.seen:
            found[item.stratum, item.first][item.second] += 1
        return dict(sorted(found.items()))

    @cached_property
    def sizes(self) -> dict[tuple[str, int], float]:
        """How many items of the population each cell that was seen stands for.

        Those of a cell of which nothing was seen are counted to the others with that answer, by their sizes.
        """
        whole, known = (
            [sum(n for (_, first), n in part if first == answer) for answer in range(self.categories)]
            for part in (
                list(self.population.items()),
                [(cell, self.population[cell]) for cell in self.cells],
            )
        )
        return {cell: self.population[cell] * whole[cell[1]] / known[cell[1]] for cell in self.cells}

    @cached_property
    def unseen(self) -> dict[int, float]:
        """How many items of the population have an answer of the first of which nothing was seen, by that answer."""
        answers = {first for _, first in self.cells}
        found: dict[int, float] = {}
        for (_, first), n in sorted(self.population.items()):
            if first not in answers and n:
                found[first] = found.get(first, 0.0) + n
        return found

    @cached_property
    def clusters(self) -> int:
        """How many there are."""
        return len({item.cluster for item in self.seen})

    @cached_property
    def worth(self) -> Floats:
        """How much two answers agree, 0 to 1, by category of the one and of the other."""
        if not self.ordered:
            return np.eye(self.categories)
        places = np.arange(self.categories)
        apart = (places[:, None] - places[None, :]) / (self.categories - 1)
        return np.asarray(1 - apart**2, dtype=np.float64)

    @cached_property
    def weights(self) -> Floats:
        """Of each item that was seen, the share of the population that it stands for."""
        total = sum(self.sizes.values())
        shares = {cell: self.sizes[cell] / total / counts.sum() for cell, counts in self.cells.items()}
        return np.array([shares[item.stratum, item.first] for item in self.seen])

    def design_effect(self, moves: Floats) -> float:
        """How many times the variance of an estimate is what it would be if no items were alike; at least 1.

        Args:
            moves: by how much each item that was seen moves the estimate, to first order; they sum to 0.
        """
        alone = float(moves @ moves)
        if alone < _LEAST**2:
            return 1.0
        _, places = np.unique([item.cluster for item in self.seen], return_inverse=True)
        sums = np.bincount(places, weights=moves)
        return max(1.0, float(sums @ sums) / alone)

    @cached_property
    def answers(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Of all items that were seen, the first's answers and the second's."""
        first, second = ([getattr(item, side) for item in self.seen] for side in ("first", "second"))
        return np.array(first, dtype=np.intp), np.array(second, dtype=np.intp)

    @cached_property
    def table(self) -> Floats:
        """Shares of the population by the first's and the second's answer, as far as it was seen."""
        found = np.zeros((self.categories, self.categories))
        np.add.at(found, self.answers, self.weights)
        return found

    def drawn(self, moves: Floats) -> Floats:
        """Tables that may be true, `DRAWS` of them, each of the whole population; always the same.

        What was seen counts for as many times less as items of one cluster are alike in what the tables are drawn
        for: an estimate that each item moves by ``moves`` (see `design_effect`).
        """
        effect = self.design_effect(moves)
        chance = np.random.default_rng(0)
        k = self.categories
        whole = [sum(n for (_, first), n in self.sizes.items() if first == answer) for answer in range(k)]
        cells = [
            (first, self.sizes[stratum, first], counts, self.sizes[stratum, first] / whole[first])
            for (stratum, first), counts in self.cells.items()
        ]
        cells += [(first, n, np.zeros(k), 1.0) for first, n in self.unseen.items()]
        sizes = chance.dirichlet([size / effect for _, size, _, _ in cells], DRAWS)
        tables = np.zeros((DRAWS, k, k))
        for place, (first, _, counts, share) in enumerate(cells):
            prior = np.where(np.arange(k) == first, 0.5, 0.5 / (k - 1)) * _PRIOR / k
            answers = chance.dirichlet(counts / effect + share * prior, DRAWS)
            tables[:, first] += sizes[:, place, None] * answers
        return tables

    def within_cells(self, moves: Floats) -> Floats:
        """By how much each item that was seen moves an estimate, without what is common to its cell."""
        numbers = {cell: place for place, cell in enumerate(self.cells)}
        places = np.array([numbers[item.stratum, item.first] for item in self.seen])
        means = np.bincount(places, weights=moves) / np.bincount(places)
        return np.asarray(moves - means[places], dtype=np.float64)
