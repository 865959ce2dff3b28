"""Each rule by which a failure under the user's hands gets its type, and which goes before which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import pytest

from fourhands.analysis.failure_types import failure_typing
from fourhands.model.ablation import Ablation, Cause, Conclusion, Probe, ProbeName, ProbeScope
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.failure import FailureType, FailureTyping, FoundBy
from fourhands.model.outcome import Verdict

YES, NO, NONE = Verdict.RESOLVED, Verdict.UNRESOLVED, Verdict.NONE
EXECUTION, EVENTS = FoundBy.EXECUTION, FoundBy.EVENTS
TREE: Final = "f" * 40
WITHOUT, INSTEAD, BESIDE = ProbeName.WITHOUT_EDIT, ProbeName.REFERENCE_INSTEAD, ProbeName.REFERENCE_BESIDE
AROUND, ELSEWHERE, CONTROL = (
    ProbeName.REFERENCE_AROUND,
    ProbeName.REFERENCE_ELSEWHERE,
    ProbeName.WITHOUT_PLACE,
)
AT_PLACE, TESTED, BEFORE = (
    ProbeName.PLACE_AS_REFERENCE,
    ProbeName.AS_LAST_TESTED,
    ProbeName.BEFORE_LAST_CHANGE,
)


class Trial:
    """The user's edit of ``f`` writes two lines; ``fates`` are what the agent made of them."""

    def __init__(
        self,
        *fates: str,
        condition: str = "counter-edit",
        delivers: bool = True,
        changes: tuple[str, ...] = ("f", "g"),
        followed: bool = True,
        ending: dict[str, str] | None = None,
        broken: dict[str, str] | None = None,
        mended: str = "failed",
        deletion: bool = False,
        whitespace: bool = False,
    ) -> None:
        self.events: list[Event] = []
        self.followed = followed
        self.whitespace = whitespace
        self.blobs = {"arguments": b"{}"}
        self.add(Actor.HARNESS, EventKind.TRIAL_STARTED, {"condition": condition})
        self.add(Actor.AGENT, EventKind.ACTION_SEEN, {"call": "c1", "tool": "bash", "arguments": "arguments"})
        if delivers:
            self.change(Actor.USER, "f", *(["deleted"] if deletion else ["written", "written"]))
            self.add(Actor.USER, EventKind.EDIT_APPLIED, {"intervention": "i1"})
        for path in changes:
            self.change(Actor.AGENT, path, *(fates if path == "f" else ()))
        tests = {"test_x": "failed", "test_y": mended}
        verified = {"tree": TREE, "fail_to_pass": tests, "pass_to_pass_failed": broken or {}}
        self.add(Actor.VERIFIER, EventKind.VERIFIED, verified)
        ended = {"verdict": "unresolved", "termination": "finished", **(ending or {})}
        self.add(Actor.HARNESS, EventKind.TRIAL_ENDED, ended)

    def add(self, actor: Actor, kind: EventKind, body: dict[str, Any]) -> None:
        self.events.append(Event(len(self.events), "", MAIN_THREAD, actor, kind, body))

    def change(self, actor: Actor, path: str, *fates: str) -> None:
        seq = len(self.events)
        lines = [
            {
                "intervention": "i1",
                "line": n,
                "fate": fate,
                "path": path,
                "number": None if fate in {"removed", "deleted"} else n,
                "whitespace": self.whitespace,
            }
            for n, fate in enumerate(fates, 1)
        ]
        old, modes = (None, [None, 1]) if path == "new" else (f"{path}{seq}", [1, 1])
        file = {"path": path, "old": old, "new": f"{path}{seq + 1}", "modes": modes, "hunks": []}
        body: dict[str, Any] = {"by": actor.value, "files": [file]}
        if self.followed:
            body["user_lines"] = lines
        self.add(actor, EventKind.WORKSPACE_CHANGED, body)

    def typing(self, ablation: Ablation | None) -> FailureTyping:
        found = failure_typing(self.events, self.blobs.__getitem__, ablation)
        assert found
        return found


def ablated(*probes: Probe, by: Cause | None = None, stood: bool = True, **other: Any) -> Ablation:
    fields: dict[str, Any] = {"tree": TREE, "reference_paths": ("f", "h"), "is_typed": True, **other}
    return Ablation(
        conclusion=Conclusion.EDIT_CAUSED if by else Conclusion.ALSO_BROKEN_WITHOUT,
        by=by,
        detail="as was found",
        stood=stood,
        user_lines={"i1": 2},
        key="k",
        probes=probes,
        **fields,
    )


def probe(name: ProbeName, verdict: Verdict, scope: ProbeScope | None = None, **other: Any) -> Probe:
    if verdict is NONE:
        return Probe(name, verdict, scope=scope, conflicts=("f",))
    return Probe(name, verdict, "t", scope=scope, **other)


def _short(found: FailureTyping) -> tuple[FailureType | None, FoundBy | None]:
    return found.type, found.by


UNREMOVED: Final = probe(WITHOUT, NO)
PLACE_NO, PLACE_YES = probe(INSTEAD, NO, "place"), probe(INSTEAD, YES, "place")


def test_what_is_no_failure_under_the_users_hands_has_no_type() -> None:
    for trial in (
        Trial(condition="vanilla"),
        Trial(condition="interactive"),
        Trial(condition="co-edit"),
        Trial(condition="neutral-edit"),
        Trial(condition="message-only"),
        Trial(condition="edit-only[of=co-edit]"),
        Trial(ending={"verdict": "resolved"}),
        Trial(ending={"termination": "infrastructure_error"}),
    ):
        assert failure_typing(trial.events, trial.blobs.__getitem__, None) is None
    assert failure_typing(Trial().events[:-1], dict[str, bytes]().__getitem__, None) is None
    assert failure_typing([], dict[str, bytes]().__getitem__, None) is None


@pytest.mark.parametrize("condition", ["co-edit", "neutral-edit"])
def test_an_edit_that_was_not_made_to_conflict_is_no_retained_conflict(condition: str) -> None:
    removed = ablated(probe(WITHOUT, YES), by=Cause.REMOVAL)
    trial = Trial(condition=condition)
    assert failure_typing(trial.events, trial.blobs.__getitem__, removed) is None


def test_an_edit_whose_removal_solves_it_was_retained() -> None:
    found = Trial().typing(ablated(probe(WITHOUT, YES), by=Cause.REMOVAL))
    assert _short(found) == (FailureType.RETAINED_CONFLICT, EXECUTION)
    assert found.events == (3, 6)


def test_a_state_of_the_agents_own_that_was_right_was_spoiled() -> None:
    found = Trial().typing(ablated(UNREMOVED, probe(TESTED, YES, seq=4)))
    assert _short(found) == (FailureType.VERIFICATION_BREAKDOWN, EXECUTION)
    assert found.events == (4, 5, 6)
    assert "as it last ran tests" in found.why
    cut = Trial(ending={"termination": "step_limit"}).typing(
        ablated(UNREMOVED, probe(TESTED, NO, seq=4), probe(BEFORE, YES, seq=4))
    )
    assert _short(cut) == (FailureType.VERIFICATION_BREAKDOWN, EXECUTION)
    assert "before its last change" in cut.why
    assert "it was cut (step_limit)" in cut.why


def test_work_on_other_files_is_off_target_and_goes_before_all_but_a_state_that_was_right() -> None:
    trial = Trial(changes=("g",))
    harm = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, NO, "place"), by=Cause.REPLACEMENT)
    found = trial.typing(harm)
    assert _short(found) == (FailureType.OFF_TARGET, EVENTS)
    assert "its change is in g" in found.why
    assert "no test that the task is to mend passes" in found.why
    assert "nothing is changed" in Trial(changes=()).typing(ablated(UNREMOVED)).why
    right = replace(harm, probes=(*harm.probes, probe(TESTED, YES, seq=2)))
    assert _short(trial.typing(right))[0] is FailureType.VERIFICATION_BREAKDOWN
    assert _short(Trial(changes=("h",)).typing(harm))[0] is FailureType.RETAINED_CONFLICT


@pytest.mark.parametrize(
    "trial",
    [
        pytest.param(Trial(changes=("g",), ending={"termination": "step_limit"}), id="cut on its way"),
        pytest.param(Trial(changes=(), ending={"termination": "agent_timeout"}), id="cut while reading"),
        pytest.param(Trial(changes=("g", "new")), id="a module of its own"),
        pytest.param(Trial(changes=("g",), mended="passed"), id="part of the task is done there"),
    ],
)
def test_who_may_have_worked_on_the_task_is_not_off_target_by_its_files(trial: Trial) -> None:
    harm = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, NO, "place"), by=Cause.REPLACEMENT)
    assert _short(trial.typing(harm)) == (FailureType.RETAINED_CONFLICT, EXECUTION)
    found = trial.typing(None)
    assert _short(found) == (None, None)
    assert "not ablated" in found.why


def test_an_edit_that_spoils_even_the_reference_was_retained() -> None:
    harm = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, NO, "place"), by=Cause.REPLACEMENT)
    assert _short(Trial().typing(harm)) == (FailureType.RETAINED_CONFLICT, EXECUTION)


@pytest.mark.parametrize(
    ("fates", "type_"),
    [
        (("kept", "kept"), FailureType.RETAINED_CONFLICT),
        (("moved", "kept"), FailureType.RETAINED_CONFLICT),
        (("removed", "removed"), FailureType.INCORRECT_REPLACEMENT),
        (("removed", "changed"), None),
        (("kept", "removed"), None),
        # A comment that stands does not say that the code below it, reworded, still means what it did.
        (("kept", "changed"), None),
        (("changed", "changed"), None),
    ],
)
def test_whose_work_it_is_where_both_wrote_is_told_by_the_lines(
    fates: tuple[str, str], type_: FailureType | None
) -> None:
    mixed = ablated(probe(WITHOUT, NONE), PLACE_YES, probe(BESIDE, NO, "place"), by=Cause.REPLACEMENT)
    found = Trial(*fates).typing(mixed)
    assert _short(found) == (type_, EVENTS if type_ else None)
    assert "of the 2 lines that the user wrote stand" in found.why
    unknown = Trial(*fates, followed=False).typing(mixed)
    assert _short(unknown) == (FailureType.INSUFFICIENT_EVIDENCE, EVENTS)


def test_lines_that_were_reformatted_stand() -> None:
    mixed = ablated(probe(WITHOUT, NONE), PLACE_YES, probe(BESIDE, NO, "place"), by=Cause.REPLACEMENT)
    found = Trial("kept", "changed", whitespace=True).typing(mixed)
    assert _short(found) == (FailureType.RETAINED_CONFLICT, EVENTS)
    assert "2 of the 2 lines that the user wrote stand, 0 were reworded" in found.why


def test_where_the_edit_is_gone_and_the_reference_there_solves_it_its_replacement_is_wrong() -> None:
    found = Trial().typing(ablated(UNREMOVED, PLACE_YES, stood=False))
    assert _short(found) == (FailureType.INCORRECT_REPLACEMENT, EXECUTION)
    over = ablated(UNREMOVED, PLACE_NO, probe(AT_PLACE, YES), stood=False)
    assert _short(Trial().typing(over)) == (FailureType.INCORRECT_REPLACEMENT, EXECUTION)


def test_an_edit_of_which_no_line_stands_is_gone_by_its_lines() -> None:
    rest = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, YES, "place"))
    found = Trial("removed", "removed").typing(rest)
    assert _short(found) == (FailureType.INCORRECT_REPLACEMENT, EVENTS)
    back = Trial("put_back", deletion=True).typing(rest)
    assert _short(back) == (FailureType.INCORRECT_REPLACEMENT, EVENTS)
    out = Trial(deletion=True).typing(rest)
    assert _short(out) == (FailureType.OTHER_DEFECT, EXECUTION)


def test_an_edit_that_does_no_harm_beside_the_reference_is_not_the_matter() -> None:
    harmless = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, YES, "place"))
    found = Trial().typing(harmless)
    assert _short(found) == (FailureType.OTHER_DEFECT, EXECUTION)
    assert "the edit does no harm" in found.why


def test_an_edit_that_lies_on_the_references_lines_was_retained_by_its_lines() -> None:
    around = ablated(UNREMOVED, PLACE_YES, probe(BESIDE, NO, "place"), probe(AROUND, NO, "place"))
    assert _short(Trial().typing(around)) == (FailureType.RETAINED_CONFLICT, EVENTS)
    assert _short(Trial("removed", "kept").typing(around)) == (None, None)


def test_a_place_that_is_right_without_what_depends_on_it_is_incomplete() -> None:
    found = Trial().typing(ablated(UNREMOVED, PLACE_NO, probe(ELSEWHERE, YES), probe(CONTROL, NO)))
    assert _short(found) == (FailureType.INCOMPLETE_RECONCILIATION, EXECUTION)
    unneeded = Trial().typing(ablated(UNREMOVED, PLACE_NO, probe(ELSEWHERE, YES), probe(CONTROL, YES)))
    assert _short(unneeded) == (FailureType.OTHER_DEFECT, EXECUTION)
    first = ablated(UNREMOVED, PLACE_YES, probe(ELSEWHERE, YES), probe(CONTROL, NO), stood=False)
    assert _short(Trial().typing(first))[0] is FailureType.INCORRECT_REPLACEMENT


@pytest.mark.parametrize("scope", ["files", "all"])
def test_more_of_the_reference_blames_the_place_if_without_it_nothing_helps(scope: ProbeScope) -> None:
    more = (UNREMOVED, PLACE_NO, probe(ELSEWHERE, NO), probe(INSTEAD, YES, scope))
    gone = Trial().typing(ablated(*more, stood=False))
    assert _short(gone) == (FailureType.INCORRECT_REPLACEMENT, EXECUTION)
    assert "without its part at the edit's place it is not" in gone.why
    harmful = ablated(*more, probe(BESIDE, NO, scope), probe(AROUND, YES, scope))
    assert _short(Trial().typing(harmful)) == (FailureType.RETAINED_CONFLICT, EXECUTION)
    harmless = ablated(*more, probe(BESIDE, YES, scope))
    assert _short(Trial().typing(harmless)) == (FailureType.OTHER_DEFECT, EXECUTION)
    undivided = ablated(UNREMOVED, PLACE_NO, probe(INSTEAD, YES, scope), stood=False)
    assert _short(Trial().typing(undivided)) == (FailureType.OTHER_DEFECT, EXECUTION)
    unknown = ablated(UNREMOVED, PLACE_NO, probe(ELSEWHERE, NONE), probe(INSTEAD, YES, scope), stood=False)
    assert _short(Trial().typing(unknown)) == (None, None)
    no_control = ablated(*more, probe(BESIDE, NONE, scope))
    assert _short(Trial().typing(no_control)) == (None, None)


def test_what_fails_with_all_of_the_reference_is_another_defect() -> None:
    probes = (UNREMOVED, PLACE_NO, probe(ELSEWHERE, NO), probe(INSTEAD, NO, "all"))
    found = Trial(broken={"test_a": "failed", "test_b": "error"}).typing(ablated(*probes, stood=False))
    assert _short(found) == (FailureType.OTHER_DEFECT, EXECUTION)
    assert "2 tests that passed before fail" in found.why
    uncomposed = ablated(UNREMOVED, PLACE_NO, probe(ELSEWHERE, NO), probe(INSTEAD, NONE, "all"))
    assert _short(Trial().typing(uncomposed)) == (None, None)


def test_what_cannot_be_composed_is_a_judges_unless_the_record_tells_nothing() -> None:
    stuck = ablated(probe(WITHOUT, NONE), probe(INSTEAD, NONE, "place"))
    found = Trial().typing(stuck)
    assert _short(found) == (None, None)
    assert "could not be made (f)" in found.why
    unfollowed = Trial(followed=False).typing(stuck)
    assert _short(unfollowed) == (FailureType.INSUFFICIENT_EVIDENCE, EVENTS)
    spoiled = Trial()
    spoiled.blobs["arguments"] = b""
    unreadable = spoiled.typing(stuck)
    assert _short(unreadable) == (FailureType.INSUFFICIENT_EVIDENCE, EVENTS)
    assert "nothing of what the agent did can be read" in unreadable.why


def test_a_record_without_its_final_state_is_no_evidence() -> None:
    trial = Trial()
    events = [event for event in trial.events if event.kind is not EventKind.VERIFIED]
    found = failure_typing(events, trial.blobs.__getitem__, None)
    assert found
    assert _short(found) == (FailureType.INSUFFICIENT_EVIDENCE, EVENTS)


@pytest.mark.parametrize(
    ("trial", "ablation", "why"),
    [
        pytest.param(Trial(), None, "not ablated: run fourhands ablate", id="not ablated"),
        pytest.param(Trial(delivers=False), None, "no edit was delivered", id="no edit"),
        pytest.param(Trial(), ablated(UNREMOVED, tree="0" * 40), "not ablated", id="of another state"),
        pytest.param(
            Trial(), ablated(UNREMOVED, PLACE_NO, is_typed=False), "run fourhands ablate again", id="old"
        ),
        pytest.param(
            Trial(), ablated(UNREMOVED, probe(INSTEAD, NO, "place", timed_out=True)), "out of time", id="late"
        ),
    ],
)
def test_what_was_not_executed_is_open_and_says_what_to_do(
    trial: Trial, ablation: Ablation | None, why: str
) -> None:
    found = trial.typing(ablation)
    assert _short(found) == (None, None)
    assert why in found.why


def test_an_agent_that_never_changed_a_thing_needs_no_execution() -> None:
    for delivers in (True, False):
        found = Trial(changes=(), delivers=delivers).typing(None)
        assert _short(found) == (FailureType.OFF_TARGET, EVENTS)


def test_what_older_versions_and_tests_out_of_time_showed_for_sure_is_kept() -> None:
    removed = ablated(probe(WITHOUT, YES), by=Cause.REMOVAL, is_typed=False, reference_paths=None)
    assert _short(Trial().typing(removed)) == (FailureType.RETAINED_CONFLICT, EXECUTION)
    late = ablated(probe(WITHOUT, NO, timed_out=True), probe(TESTED, YES, seq=4))
    assert _short(Trial().typing(late)) == (FailureType.VERIFICATION_BREAKDOWN, EXECUTION)
