"""The manners of scripted agents that converse: one that works with its user, and others that do one thing wrong.

Each is a script for a `ConversingPlayer`. They know what an oracle knows (see `walk`); what they do with it is
a manner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from fourhands.engine.scripted.walk import Known, Walk
from fourhands.gateway.conversing import Opening, Script, Way

__all__ = ["MANNERS", "planted_in", "script_of"]

_MOST_TIMES: Final = 40
"""That the same is asked."""
_NOTHING_MORE: Final = 2
"""Answers in a row that tell nothing new, after which it is no longer asked for."""


type _Manner = Callable[[Walk, Known], Way]


def script_of(manner: str, known: Known) -> Script:
    """The script of a manner on one task.

    Raises:
        KeyError: there is no such manner.
        InputError: the manner spoils a requirement, and the task has none that can be spoilt so.
    """
    way = MANNERS[manner]
    planted_in(manner, known)  # said now, not in the middle of a trial
    return partial(_begin, way, known)


def planted_in(manner: str, known: Known) -> str | None:
    """The requirement that a manner does wrong; ``None`` of one that spoils none.

    Raises:
        InputError: the task has none that can be spoilt so.
    """
    if manner == "misreads":
        return known.misread()[0]
    return known.early() if manner in {"forgets", "breaks", "botches"} else None


def _begin(way: _Manner, known: Known, opening: Opening) -> Way:
    return way(Walk(known, opening), known)


def _work(walk: Walk) -> Way:
    """Agree on a plan, do it until the user is content, and test it."""
    yield from walk.plan()
    yield from walk.rounds()
    yield from walk.test()


def _listens(walk: Walk, known: Known) -> Way:
    """Agrees on a plan, writes what it is told, and asks for a review until the user is content."""
    del known
    yield from walk.look()
    yield from _work(walk)
    yield from walk.end()


def _never_asks(walk: Walk, known: Known) -> Way:
    """Does what the first words say, commits, and ends."""
    del known
    yield from walk.look()
    yield from walk.write() if walk.told else walk.stub()
    yield from walk.end()


def _forgets(walk: Walk, known: Known) -> Way:
    """Listens, but for one requirement that is told early: it is never in the code, nor in anything it says."""
    walk.spoilt = known.early()
    yield from _listens(walk, known)


def _misreads(walk: Walk, known: Known) -> Way:
    """Listens, but takes one requirement that is told early for something else: it says that, and does it so."""
    walk.misread = known.misread()
    yield from _listens(walk, known)


def _botches(walk: Walk, known: Known) -> Way:
    """Listens, but gets one requirement wrong that is told early: it says it rightly, and its code for it fails."""
    walk.botched = known.early()
    yield from _listens(walk, known)


def _breaks(walk: Walk, known: Known) -> Way:
    """Listens, and takes one requirement out again in its last commit."""
    yield from walk.look()
    yield from _work(walk)
    walk.spoilt = known.early()
    yield from walk.write("Tidy up")
    yield from walk.end()


def _hurries(walk: Walk, known: Known) -> Way:
    """Ends at the first word of agreement, whatever stands beside it."""
    del known
    yield from walk.look()
    answered = yield from walk.plan()
    yield from walk.write() if walk.told else walk.stub()
    for _ in range(_MOST_TIMES):
        if answered.is_ok or not walk.can_ask:
            break
        answered = yield from walk.review()
        yield from walk.write()
    yield from walk.end()


def _asks_all(walk: Walk, known: Known) -> Way:
    """Asks for everything at once, again and again, before it does anything."""
    del known
    yield from walk.look()
    silent = 0
    for _ in range(_MOST_TIMES):
        answered = yield from walk.ask(
            "Please tell me all of your requirements at once, every single one, with all the details."
        )
        silent = 0 if answered.fresh else silent + 1
        if silent == _NOTHING_MORE:
            break
    yield from _work(walk)
    yield from walk.end()


def _argues(walk: Walk, known: Known) -> Way:
    """Disputes what a review says, the first time twice, and gives in then."""
    del known
    yield from walk.look()
    yield from walk.plan()
    yield from walk.write()
    disputes = 2
    yield from walk.review()
    while walk.unwritten:
        for _ in range(disputes):
            yield from walk.ask(
                "I do not think so. What I have committed is right as it is. Please review it again."
            )
        disputes = 1
        yield from walk.write("All right, as you say")
        yield from walk.review()
    yield from walk.test()
    yield from walk.end()


MANNERS: Final[Mapping[str, _Manner]] = MappingProxyType(
    {
        "listens": _listens,
        "never-asks": _never_asks,
        "forgets": _forgets,
        "misreads": _misreads,
        "botches": _botches,
        "breaks": _breaks,
        "hurries": _hurries,
        "asks-all": _asks_all,
        "argues": _argues,
    }
)
"""By the name that follows ``scripted/``."""
