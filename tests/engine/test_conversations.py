"""Whole conversations, with real trials of scripted agents: each manner gets the outcome and the states it should.

No model anywhere: the user is the grounded one, who runs the ledger's acceptance tests on each commit.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import batched
from pathlib import Path
from typing import Any, Final

import pytest

from fourhands.analysis.failure_labels import failure_labels
from fourhands.engine.scripted.manners import MANNERS
from fourhands.model.event import Event, EventKind
from fourhands.model.failure import FailureLabel
from fourhands.model.ledger_state import LedgerState, RequirementState
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.tasks.ledger_file import load_ledger
from fourhands.trajectories.run_folder import RunFolder

from .thin_runs import models_of, run_trials

pytestmark = pytest.mark.slow

TASK: Final = "ledger-rounding"
SPOILT: Final = "R1"
"""The first requirement of the task that can be left out, and that no other depends on."""
PERSONA: Final = "paster"
"""Says four things at a time: there is half as much talk to wait for, with more than one message of it."""
AT_A_TIME: Final = 4
PATIENCE: Final = 3
"""Corrections of the same that they make."""
SATISFIED, REVEALED = RequirementState.SATISFIED, RequirementState.REVEALED
ENDS: Final = {  # the verdict, the one at the agent's first end, and how it ended
    "listens": ("resolved", "resolved", "finished"),
    "never-asks": ("resolved", "unresolved", "protocol_failure"),
    "forgets": ("unresolved", "unresolved", "finished"),
    "misreads": ("unresolved", "unresolved", "finished"),
    "botches": ("unresolved", "unresolved", "finished"),
    "breaks": ("unresolved", "unresolved", "finished"),
    "hurries": ("resolved", "unresolved", "finished"),
    "asks-all": ("resolved", "resolved", "finished"),
    "argues": ("resolved", "resolved", "finished"),
}


def _ids() -> tuple[str, ...]:
    task = load_task(bundled_tasks()[TASK])
    assert task.ledger
    return load_ledger(task.ledger, task.instruction).ids


IDS: Final = _ids()
TOLD: Final = [list(names) for names in batched(IDS, AT_A_TIME)]
"""What each message says where nothing goes wrong."""


@dataclass(frozen=True)
class Trial:
    """What is on record of one."""

    events: tuple[Event, ...]
    read_blob: Callable[[str], bytes]

    def bodies(self, *kinds: EventKind) -> list[dict[str, Any]]:
        return [dict(event.body) for event in self.events if event.kind in kinds]

    @property
    def ended(self) -> dict[str, Any]:
        return self.bodies(EventKind.TRIAL_ENDED)[0]

    @property
    def words(self) -> list[tuple[str, str]]:
        """All that was said, by whom."""
        said = (EventKind.ASKED, EventKind.ANSWERED, EventKind.MESSAGE_SENT)
        return [(event.actor.value, event.body["text"]) for event in self.events if event.kind in said]

    @property
    def questions(self) -> list[str]:
        return [body["text"] for body in self.bodies(EventKind.ASKED)]

    @property
    def commits(self) -> list[dict[str, Any]]:
        return [body for body in self.bodies(EventKind.CHECKPOINT) if body["of"] == "commit"]

    @property
    def labels(self) -> dict[str | None, list[FailureLabel]]:
        """Why it failed, by requirement; nothing is left undecided."""
        found = failure_labels(self.events, self.read_blob)
        assert found
        assert found.undecided == ()
        seqs = {event.seq for event in self.events}
        assert all(seqs.issuperset(each.events) and each.events for each in found.found)
        labels: dict[str | None, list[FailureLabel]] = {}
        for each in found.found:
            labels.setdefault(each.requirement, []).append(each.label)
        return labels

    @property
    def state(self) -> LedgerState:
        state = LedgerState.of(IDS)
        for event in self.events:
            state.observe(event)
        return state

    def moves(self, kind: str) -> list[list[str]]:
        """The requirements of each message that did this, in order."""
        said = self.bodies(EventKind.ANSWERED, EventKind.MESSAGE_SENT)
        return [body["requirements"] for body in said if body.get("move") == kind]

    def found(self, of: str) -> dict[str, bool]:
        """What the checks said of the last state of a kind, by requirement."""
        found: dict[str, bool] = [body for body in self.bodies(EventKind.CHECKPOINT) if body["of"] == of][-1][
            "requirements"
        ]
        return found


def _read(run: RunFolder) -> dict[tuple[str, str], Trial]:
    trials = {}
    for planned in run.plan().trials:
        attempt = run.final_attempt(planned.key)
        assert attempt
        key = planned.model.removeprefix("scripted/"), planned.condition.partition("[")[0]
        trials[key] = Trial(tuple(attempt.read().events), attempt.blobs.get)
    return trials


def _run(folder: Path, manners: Iterable[str], conditions: str, *more: str) -> dict[tuple[str, str], Trial]:
    arguments = ("--model", models_of([*manners]), "--condition", conditions, "--persona", PERSONA, *more)
    return _read(run_trials(folder, [TASK], *arguments, step_limit=60))


def test_a_task_that_is_no_conversation_is_refused_before_anything_is_run(tmp_path: Path) -> None:
    task = shutil.copytree(bundled_tasks()[TASK], tmp_path / TASK)
    for part in ("checks", "without"):
        shutil.rmtree(task / "user" / part)
    (task / "user" / "ledger.json").unlink()
    with pytest.raises(AssertionError, match=r"is no conversation: it has no\s+user/ledger\.json"):
        run_trials(tmp_path, [task], "--model", models_of(["listens"]), "--condition", "vanilla")
    assert not (tmp_path / "run" / "trials").exists()


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """One of each manner."""
    run = _run(tmp_path_factory.mktemp("manners"), MANNERS, "interactive")
    return {manner: trial for (manner, _), trial in run.items()}


@pytest.mark.parametrize("manner", MANNERS)
def test_a_conversation_ends_as_the_agents_manner_implies_and_nothing_is_left_untold(
    trials: dict[str, Trial], manner: str
) -> None:
    ended = trials[manner].ended
    assert (ended["verdict"], ended["at_will"]["verdict"], ended["termination"]) == ENDS[manner]
    assert ended["coverage"] == {
        "told": [*IDS],
        "held": [],
    }  # full coverage: whatever was held is handed over
    assert {each["slip"] for each in ended["slips"]} == (
        {"never_asked", "no_plan"} if manner == "never-asks" else set()
    )


def test_who_listens_is_told_one_part_after_the_other_and_has_it_all(trials: dict[str, Trial]) -> None:
    trial = trials["listens"]
    assert trial.moves("reveal") == TOLD
    assert trial.moves("correct") == trial.moves("hand_over") == []
    assert trial.moves("approve") == [[]]
    assert set(trial.state.states.values()) == {SATISFIED}
    last = trial.commits[-1]
    assert last["tests_only"]
    assert last["score"] == 100
    for name in IDS:  # taken up in words before it is in the code
        before = [(move.before, move.after) for move in trial.state.moves if move.requirement == name]
        acknowledged = RequirementState.ACKNOWLEDGED
        assert before == [
            (RequirementState.HELD, REVEALED),
            (REVEALED, acknowledged),
            (acknowledged, SATISFIED),
        ]


@pytest.mark.parametrize("manner", ["never-asks", "hurries"])
def test_who_does_not_ask_is_told_all_that_is_left_in_one_message_at_its_end(
    trials: dict[str, Trial], manner: str
) -> None:
    trial = trials[manner]
    assert trial.moves("hand_over") == [[*IDS]]
    assert trial.moves("reveal") == []
    assert len(trial.questions) == (manner == "hurries")
    assert not all(trial.found("stop").values())
    assert all(trial.found("end").values())


def test_who_forgets_is_corrected_until_the_users_patience_ends_and_never_has_it(
    trials: dict[str, Trial],
) -> None:
    trial = trials["forgets"]
    assert trial.moves("correct") == [[SPOILT]] * PATIENCE
    assert trial.moves("approve") == []
    assert trial.moves("stop")
    assert trial.state.states == dict.fromkeys(IDS, SATISFIED) | {SPOILT: REVEALED}
    assert {body["requirements"][SPOILT] for body in trial.bodies(EventKind.CHECKPOINT)} == {False}
    assert {name for name, met in trial.found("end").items() if not met} == {SPOILT}


def test_who_breaks_has_all_when_the_user_approves_and_lacks_one_in_the_end(trials: dict[str, Trial]) -> None:
    trial = trials["breaks"]
    assert trial.moves("approve") == [[]]
    *_, tests, last = trial.commits
    assert all(tests["requirements"].values())
    assert {name for name, met in last["requirements"].items() if not met} == {SPOILT}
    assert trial.found("end") == last["requirements"]
    assert trial.state.ever(SPOILT, SATISFIED)


def test_who_asks_for_all_at_once_is_told_no_more_with_a_message_than_anybody(
    trials: dict[str, Trial],
) -> None:
    trial = trials["asks-all"]
    begging = trial.questions[0]
    assert trial.questions.count(begging) == len(TOLD) + 2
    assert trial.moves("reveal") == TOLD
    assert trial.moves("decline") == [[], []]


def test_who_argues_is_corrected_and_gives_in_before_patience_ends(trials: dict[str, Trial]) -> None:
    trial = trials["argues"]
    corrected = [name for names in trial.moves("correct") for name in names]
    assert corrected
    assert max(corrected.count(name) for name in corrected) < PATIENCE
    assert set(trial.state.states.values()) == {SATISFIED}


@pytest.mark.parametrize(
    ("manner", "labels"),
    [
        ("forgets", {SPOILT: [FailureLabel.FORGOTTEN]}),
        ("breaks", {SPOILT: [FailureLabel.REGRESSION]}),
        ("botches", {SPOILT: [FailureLabel.TECHNICAL]}),
        # It held until there was anything to share out, and not any more when it was said: no regression.
        ("misreads", {"R6": [FailureLabel.MISINTERPRETATION]}),
    ],
)
def test_a_planted_fault_is_found_for_what_it_is_by_execution_and_events_alone(
    trials: dict[str, Trial], manner: str, labels: dict[str, list[FailureLabel]]
) -> None:
    assert trials[manner].labels == labels


def test_what_nobody_said_is_missing_where_nothing_is_handed_over(tmp_path: Path) -> None:
    (trial,) = _run(tmp_path, ["hurries"], "interactive", "--coverage", "at-will").values()
    unmet = {name for name, met in trial.found("end").items() if not met}
    assert trial.ended["coverage"]["told"] == []
    assert trial.labels == {name: [FailureLabel.MISSING] for name in IDS if name in unmet}
    assert unmet


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trial]:
    """The one that listens, once more, and under the other conditions of a conversation."""
    run = _run(tmp_path_factory.mktemp("again"), ["listens"], "interactive,single-turn,four-hands")
    return {condition: trial for (_, condition), trial in run.items()}


def test_a_run_that_is_repeated_says_the_same_word_for_word_and_commits_the_same(
    trials: dict[str, Trial], again: dict[str, Trial]
) -> None:
    first, second = trials["listens"], again["interactive"]
    assert first.words == second.words
    assert [each["commit"] for each in first.commits] == [each["commit"] for each in second.commits]
    assert first.state.moves
    assert [(each.requirement, each.after, each.turn, each.evidence) for each in first.state.moves] == [
        (each.requirement, each.after, each.turn, each.evidence) for each in second.state.moves
    ]


def test_with_the_whole_instruction_nobody_is_asked_and_the_task_is_resolved(again: dict[str, Trial]) -> None:
    trial = again["single-turn"]
    assert trial.words == []
    assert trial.ended["verdict"] == "resolved"
    assert all(trial.found("end").values())
    assert not trial.ended.get("slips")


def test_with_four_hands_the_user_edits_and_talks_and_the_agent_is_resolved_all_the_same(
    again: dict[str, Trial],
) -> None:
    trial = again["four-hands"]
    assert trial.bodies(EventKind.EDIT_APPLIED)
    assert {name for names in trial.moves("reveal") for name in names} == set(IDS)
    assert trial.ended["verdict"] == "resolved"
    assert set(trial.state.states.values()) == {SATISFIED}
