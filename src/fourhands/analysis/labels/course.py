"""What became of each requirement in the states of the code, with the events that show it: tests and checks alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fourhands.analysis.labels.places import Placed, placed_states
from fourhands.analysis.ledger_labels import Fate, fates
from fourhands.model.event import Event, EventKind
from fourhands.model.ledger import Ledger

__all__ = ["Course", "Courses", "courses"]

_PASSED: Final = "passed"


@dataclass(frozen=True, slots=True)
class Course:
    """One requirement; events are named by their numbers.

    ``told`` is the event in which the user said it. ``met`` is what the final state (``end``) shows: its checks, and
    hidden ``tests`` that fail for it and for nothing else that is known to lack. ``checked``: its own checks pass.
    ``judged``: a model's word alone tells, for there are neither checks nor failing tests. ``held`` is the last state
    before the final one that had it, ``lost`` the first behind that which had it not. ``by_chance``: the same as
    ``held``, but all such states were over when it was said, and none came of any work on it. ``gained`` is a state
    in which a check of it passed that had failed before, after it was said, and passes in the end.
    """

    requirement: str
    told: int | None
    met: bool | None
    checked: bool
    judged: bool
    held: Placed | None
    lost: Placed | None
    by_chance: int | None
    gained: int | None
    end: int | None
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Courses:
    """All requirements, in the ledger's order, and the failing tests that are nobody's.

    ``verified`` is the event of the final verdict. ``shared`` tests fail, and belong to several requirements whose
    checks pass; ``unmapped`` ones belong to none. Of these two ``broken`` passed before the agent began.
    """

    requirements: tuple[Course, ...]
    verified: int | None = None
    shared: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


def courses(events: Sequence[Event], ledger: Ledger | None) -> Courses:
    """Fold the events of an attempt; without a ledger no hidden test belongs to any requirement."""
    found = {fate.requirement: fate for fate in fates(events)}
    verified = next((event for event in reversed(events) if _is_final_verdict(event)), None)
    failing = _failing(verified)
    states = placed_states(events)
    by_checks = {name: fate.met if _has_checks(name, states) else None for name, fate in found.items()}
    blamed, shared, unmapped = _blamed(failing, by_checks, ledger)
    told = _told(events)
    return Courses(
        tuple(_course(fate, ledger, states, told, blamed.get(name, ())) for name, fate in found.items()),
        verified.seq if verified else None,
        shared,
        unmapped,
        tuple(test for test in (*shared, *unmapped) if failing[test]),
    )


def _told(events: Iterable[Event]) -> dict[str, int]:
    """By requirement, the event in which it was first said."""
    found: dict[str, int] = {}
    for event in events:
        if event.kind is EventKind.REQUIREMENT_MOVED:
            found.setdefault(event.body["requirement"], event.seq)
    return found


def _is_final_verdict(event: Event) -> bool:
    return event.kind is EventKind.VERIFIED and event.body.get("phase") is None


def _failing(verified: Event | None) -> dict[str, bool]:
    """Failing tests, each with whether it passed before the agent began."""
    if verified is None:
        return {}
    wanted = {test: False for test, status in verified.body["fail_to_pass"].items() if status != _PASSED}
    return {**wanted, **dict.fromkeys(verified.body["pass_to_pass_failed"], True)}


def _has_checks(name: str, states: Iterable[Placed]) -> bool:
    return any(state.met(name) is not None for state in states)


def _blamed(
    failing: Iterable[str], by_checks: Mapping[str, bool | None], ledger: Ledger | None
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], tuple[str, ...]]:
    """Each failing test with the one requirement it is about, where that is one.

    What a requirement's own checks show to lack explains tests of others, too: they may go through the same lines. A
    model's word explains none.
    """
    owners: dict[str, list[str]] = {}
    for each in ledger.requirements if ledger else ():
        for test in each.tests:
            owners.setdefault(test, []).append(each.id)
    blamed: dict[str, tuple[str, ...]] = {}
    shared, unmapped = [], []
    lacks_one = False in by_checks.values()
    for test in failing:
        standing = {name: by_checks[name] for name in owners.get(test, ()) if name in by_checks}
        unknown = [name for name, met in standing.items() if met is None]
        suspects = unknown or list(standing)
        if not standing:
            unmapped.append(test)
        elif lacks_one and None not in standing.values():
            continue
        elif len(suspects) == 1:
            blamed[suspects[0]] = (*blamed.get(suspects[0], ()), test)
        else:
            shared.append(test)
    return blamed, tuple(shared), tuple(unmapped)


def _course(
    fate: Fate,
    ledger: Ledger | None,
    states: Sequence[Placed],
    told: Mapping[str, int],
    tests: tuple[str, ...],
) -> Course:
    name = fate.requirement
    has_checks = _has_checks(name, states)
    said = told.get(name)
    had = [at for at, state in enumerate(states[:-1]) if state.met(name)] if fate.met is False else []
    is_chance = bool(had) and said is not None and _is_chance(name, states, had, said)
    held = had[-1] if had and not is_chance else None
    return Course(
        requirement=name,
        told=said if fate.told else None,
        met=False if tests else fate.met,
        checked=bool(fate.met) and has_checks,
        judged=fate.met is not None and not has_checks and not tests,
        held=None if held is None else states[held],
        lost=None if held is None else next((e for e in states[held + 1 :] if e.met(name) is False), None),
        by_chance=states[had[-1]].seq if is_chance else None,
        gained=_gained(ledger[name].checks if ledger and name in ledger.ids else (), states, said),
        end=states[-1].seq if states else None,
        tests=tests,
    )


def _is_chance(name: str, states: Sequence[Placed], had: Sequence[int], told: int) -> bool:
    """Whether it held only as long as nothing was there that could break it, and was lost before it was said."""
    is_of_work = any(state.met(name) is False for state in states[: had[-1]])
    return not is_of_work and not states[had[-1]].place.stood_after(told)


def _gained(checks: Iterable[str], states: Sequence[Placed], told: int | None) -> int | None:
    if told is None or not states:
        return None
    last: Mapping[str, Any] = states[-1].state.body["checks"] or {}
    for check in checks:
        if not last.get(check):
            continue
        found = [(state.seq, (state.state.body["checks"] or {}).get(check)) for state in states]
        failed = [seq for seq, passed in found if passed is False]
        if failed and failed[-1] < states[-1].seq:
            passed_at = next(seq for seq, passed in found if passed and seq > failed[-1])
            if passed_at > told:
                return passed_at
    return None
