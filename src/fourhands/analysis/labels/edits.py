"""Whether the user's own edits may be what broke a requirement, under four hands."""

from __future__ import annotations

from collections.abc import Sequence

from fourhands.analysis.labels.places import Changes, Place
from fourhands.analysis.ledger_labels import code_states
from fourhands.analysis.lines import follow_user_lines
from fourhands.model.ablation import Ablation, Cause, Conclusion, ProbeName
from fourhands.model.event import Event, EventKind

__all__ = ["UserEdits", "of_final_state"]


def of_final_state(ablation: Ablation | None, events: Sequence[Event]) -> Ablation | None:
    """An ablation, unless the state that it was made of is not the one that was verified in the end."""
    verified = (e.body["tree"] for e in reversed(events) if e.kind is EventKind.VERIFIED and _is_final(e))
    return ablation if ablation and ablation.tree == next(verified, None) else None


def _is_final(event: Event) -> bool:
    return event.body.get("phase") is None


class UserEdits:
    """The edits of an attempt's user, and what causal ablation said of them; ``None``: nobody ablated."""

    def __init__(self, events: Sequence[Event], ablation: Ablation | None) -> None:
        self._ablation = ablation = of_final_state(ablation, events)
        self._changes = Changes.of(events)
        self._states = code_states(events)
        self._stands = bool(self._changes.user) and (ablation is None or ablation.stood) and _stands(events)

    def caused(self) -> bool:
        """Whether the failure is shown to be the edit's alone: without it everything is met.

        That the reference in its place is resolved shows no such thing: the agent's own part may lack as well.
        """
        ablation = self._ablation
        return ablation is not None and (ablation.conclusion, ablation.by) == (
            Conclusion.EDIT_CAUSED,
            Cause.REMOVAL,
        )

    def may_have_broken(
        self, requirement: str, held: Place | None = None, lost: Place | None = None
    ) -> int | None:
        """A change of the user's between the state that had a requirement and the first that had it not.

        Without such states it is the last one. ``None`` where there is none; where the agent changed something there
        too, and nothing of the user's edits stands in the end; and where the same state without the edit was checked,
        and lacks the requirement.
        """
        edit = self._changes.last_of_user(held, lost)
        if edit is None:
            return None
        if held is not None and lost is not None and not self._changes.has_agents(held, lost):
            return edit
        return None if not self._stands or self._lacks_without(requirement) else edit

    def _lacks_without(self, requirement: str) -> bool:
        probe = self._ablation.probe(ProbeName.WITHOUT_EDIT) if self._ablation else None
        return probe is not None and any(
            state.body["tree"] == probe.tree and state.body["requirements"].get(requirement) is False
            for state in self._states
        )


def _stands(events: Sequence[Event]) -> bool:
    """Whether anything of them is left; a record that does not follow lines may have all of them."""
    lines = follow_user_lines(events)
    if lines is None:
        return True
    return any(not line.absent_at_end for line in lines.lines) or any(
        not gone.put_back for gone in lines.deletions
    )
