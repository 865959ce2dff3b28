"""Whose lack an unmet requirement is, in the final state and where the agent first wanted to end."""

from __future__ import annotations

import pytest

from fourhands.analysis.ledger_labels import by_label, fates, with_labels
from fourhands.model.failure import FailureLabel as Label
from fourhands.model.failure import FoundBy, FoundLabel, LabelledFailure
from fourhands.model.ledger_state import RequirementState as State

from .talks import Talk


def _labels(talk: Talk, *, at_will: bool = False) -> dict[str, Label | None]:
    return {fate.requirement: fate.label for fate in fates(talk.events, at_will=at_will)}


def test_what_was_told_and_never_met_has_no_label_before_the_agents_words_are_read_but_a_state() -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1", "R2", "R3")
    talk.move("R2", "acknowledged")
    talk.checkpoint("commit", {"R1": False, "R2": False, "R3": True}, lines=3)
    talk.checkpoint("end", {"R1": False, "R2": False, "R3": True})
    talk.end("unresolved")
    assert _labels(talk) == dict.fromkeys(("R1", "R2", "R3"))
    states = {fate.requirement: fate.state for fate in fates(talk.events)}
    assert states == {"R1": State.FORGOTTEN, "R2": State.VIOLATED, "R3": State.SATISFIED}


def test_a_later_plan_takes_up_what_was_told_and_an_earlier_one_does_not() -> None:
    talk = Talk()
    talk.checkpoint("plan", {"R1": True, "R2": False})
    talk.answer(talk.ask(), "reveal", "R1", "R2")
    talk.checkpoint("plan", {"R1": False, "R2": True})
    talk.checkpoint("end", {"R1": False, "R2": False})
    assert [fate.state for fate in fates(talk.events)] == [State.FORGOTTEN, State.VIOLATED]


def test_what_a_checkpoint_held_and_the_end_does_not_is_a_regression_even_if_it_was_never_taken_up() -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("commit", {"R1": True}, lines=3)
    talk.checkpoint("end", {"R1": False}, lines=1)
    assert _labels(talk) == {"R1": Label.REGRESSION}


def test_with_full_coverage_nothing_is_missing_and_at_will_each_untold_requirement_is_named() -> None:
    """The accounting: what is missing at will is exactly what the last message hands over, and does not hold."""
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("commit", {"R1": True, "R2": False, "R3": True}, lines=3)
    talk.checkpoint("stop", {"R1": True, "R2": False, "R3": True})
    talk.say("hand_over", "R2", "R3")
    talk.checkpoint("end", {"R1": True, "R2": False, "R3": True}, lines=1)
    talk.end("unresolved")
    early, final = fates(talk.events, at_will=True), fates(talk.events)
    assert [fate.requirement for fate in early if not fate.told] == ["R2", "R3"]
    assert by_label(early, Label.MISSING) == ["R2"]  # R3 holds already: nothing fails for it
    assert all(fate.told for fate in final)
    assert by_label(final, Label.MISSING) == []
    assert [fate.requirement for fate in final if fate.met is False] == ["R2"]


@pytest.mark.parametrize(
    ("termination", "label"), [("step_limit", None), ("agent_timeout", None), ("finished", Label.MISSING)]
)
def test_an_agent_that_was_cut_before_it_wanted_to_end_is_judged_where_it_was_cut(
    termination: str, label: Label | None
) -> None:
    """What it had not been told by then nobody can call missing: the user might have said it yet."""
    talk = Talk()
    talk.checkpoint("end", {"R1": False})
    talk.end("unresolved", termination=termination)
    assert _labels(talk) == _labels(talk, at_will=True) == {"R1": label}


def test_what_was_told_last_of_all_is_not_forgotten_if_the_agent_took_no_step_after_it() -> None:
    for acts, state in ((False, State.REVEALED), (True, State.FORGOTTEN)):
        talk = Talk()
        talk.answer(talk.ask(), "reveal", "R1")
        if acts:
            talk.ask("And then?")
        talk.checkpoint("end", {"R1": False})
        talk.end("unresolved", termination="step_limit")
        assert [fate.state for fate in fates(talk.events)] == [state]


@pytest.mark.parametrize(
    ("label", "state"),
    [(None, State.REVEALED), (Label.FORGOTTEN, State.FORGOTTEN), (Label.TECHNICAL, State.VIOLATED)],
)
def test_what_is_called_forgotten_bears_that_label_and_nothing_else_does(
    label: Label | None, state: State
) -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("commit", {"R1": False}, lines=3)
    talk.checkpoint("end", {"R1": False})
    found = [FoundLabel(label, FoundBy.EVENTS, "R1", (), "")] if label else []
    (fate,) = with_labels(fates(talk.events), LabelledFailure(tuple(found)))
    assert (fate.label, fate.state) == (label, state)


@pytest.mark.parametrize(("judged", "label"), [("satisfied", None), ("violated", Label.REGRESSION)])
def test_what_no_check_can_show_is_as_a_judge_last_said(judged: str, label: Label | None) -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.move("R1", "acknowledged")
    talk.move("R1", "satisfied", {"judge": "it is there"})
    if judged == "violated":
        talk.move("R1", "violated", {"judge": "it is gone"})
    talk.checkpoint("end", {"R1": None})
    assert _labels(talk) == {"R1": label}


def test_checks_that_could_not_be_run_in_the_end_leave_it_unknown_whatever_they_found_before() -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("commit", {"R1": False}, lines=1)
    talk.checkpoint("end", {"R1": None}, problem="out of time")
    (fate,) = fates(talk.events)
    assert (fate.met, fate.label, fate.state) == (None, None, State.REVEALED)


def test_what_was_never_told_and_nobody_can_tell_of_is_not_called_missing() -> None:
    talk = Talk()
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("end", {"R1": True, "R2": None, "R3": False})
    assert _labels(talk) == {"R1": None, "R2": None, "R3": Label.MISSING}
