"""States of the code that were the agent's own, and are not the final one: the last tested, the last but one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.outcome import Termination
from fourhands.trajectories.testing import action_runs_tests

__all__ = ["EarlierState", "EarlierStates", "earlier_states"]


@dataclass(frozen=True, slots=True)
class EarlierState:
    """A ``tree``, and the event that shows it: the test run on it, or the change that made it."""

    tree: str
    seq: int


@dataclass(frozen=True, slots=True)
class EarlierStates:
    """Of an attempt, since anybody but the agent changed the code; each is another tree than the final one.

    Attributes:
        last_tested: as the agent last ran tests on it.
        before_last_change: as it was before the agent's last change, where no test run tells more: there was none,
            the last change came with it, or the agent was cut by a limit and may have been in the middle of it.
    """

    last_tested: EarlierState | None = None
    before_last_change: EarlierState | None = None


def earlier_states(events: Sequence[Event], read_blob: Callable[[str], bytes]) -> EarlierStates:
    """Fold the events of an attempt.

    What an action changes is recorded behind its result: a change that comes with a test run is taken to have been
    made before the tests ran, as in ``sed -i … && pytest``.

    Args:
        events: in order.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
    """
    fold = _Fold(read_blob)
    for event in events:
        fold.observe(event)
    return fold.done()


class _Fold:
    def __init__(self, read_blob: Callable[[str], bytes]) -> None:
        self._read_blob = read_blob
        self._states: list[EarlierState] = []
        """Since the last change that was not the agent's, which made the first of them."""
        self._testing: dict[str, int] = {}
        """Calls that run tests, with their events; their results have not come."""
        self._tested: EarlierState | None = None
        self._open_test: int | None = None
        """The test run of which the change, if it made one, would come next."""
        self._last_change_tested = False
        self._is_cut = False

    def observe(self, event: Event) -> None:
        match event.kind:
            case EventKind.TRIAL_STARTED:
                self._states = [EarlierState(event.body["base_tree"], event.seq)]
            case EventKind.ACTION_SEEN:
                self._open_test = None
                if action_runs_tests(event.body, self._read_blob):
                    self._testing[event.body["call"]] = event.seq
            case EventKind.ACTION_RESULT:
                self._ran(self._testing.pop(event.body["call"], None))
            case EventKind.WORKSPACE_CHANGED:
                self._changed(event)
            case EventKind.TRIAL_ENDED:
                self._is_cut = Termination(event.body["termination"]).is_cut
            case _:
                pass

    def _ran(self, action: int | None) -> None:
        self._open_test = action
        if action is not None and self._states:
            self._tested = EarlierState(self._states[-1].tree, action)

    def _changed(self, event: Event) -> None:
        state = EarlierState(event.body["tree"], event.seq)
        if event.actor is not Actor.AGENT:
            self._states, self._tested, self._open_test = [state], None, None
            return
        self._states.append(state)
        self._last_change_tested = self._open_test is not None
        if self._open_test is not None:
            self._tested = EarlierState(state.tree, self._open_test)
        self._open_test = None

    def done(self) -> EarlierStates:
        if not self._states:
            return EarlierStates()
        final = self._states[-1].tree
        tested = self._tested
        last_tested = tested if tested and tested.tree != final else None
        says_more = self._tested is None or self._last_change_tested or self._is_cut
        before = self._states[-2] if len(self._states) > 1 and says_more else None
        if before and (before.tree == final or (last_tested and before.tree == last_tested.tree)):
            before = None
        return EarlierStates(last_tested, before)
