"""Final states that fail for known reasons, ablated by the real verifier in real sandboxes."""

from __future__ import annotations

import asyncio
import json
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourhands.edits.plan import plan_run
from fourhands.edits.records.files import load_record
from fourhands.engine.ablation import Ablated, ablate_run
from fourhands.model.ablation import Ablation, Cause, Conclusion, ProbeName
from fourhands.model.condition import Condition
from fourhands.model.errors import InputError
from fourhands.model.outcome import Verdict
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.cache import cache_root
from fourhands.tasks.find import find_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.trajectories.ablations import ablation_path, read_ablation
from fourhands.trajectories.run_folder import RunFolder, Settings

from .finished_trials import FinishedTrial, objects_of

FILE = "src/tally/allocation.py"
ROUNDED = b"    minors = [round_half_even(share) for share in exact]\n"
COMMENT = b"    # Nobody is charged less than their exact share: the payer must not make up the difference.\n"
RAISED = b"    minors = [max(minor, round_up(share)) for minor, share in zip(minors, exact, strict=True)]\n"
SIGN = b"    sign = -1 if total.minor < 0 else 1\n"


def _user_edits(trial: FinishedTrial) -> None:
    trial.swap("user", FILE, SIGN, SIGN + COMMENT + RAISED)


def _solved_but_for_the_edit(trial: FinishedTrial) -> None:
    trial.write("agent", trial.patched(trial.task.reference))
    _user_edits(trial)


def _broken_elsewhere(trial: FinishedTrial) -> None:
    _solved_but_for_the_edit(trial)
    trial.write("agent", {"src/tally/money.py": b"raise ImportError('planted')\n"})


def _written_over(trial: FinishedTrial) -> None:
    _user_edits(trial)
    trial.swap("agent", FILE, COMMENT + RAISED, b"    minors = list(map(int, minors))\n")


def _mixed_up_where_the_reference_is_silent(trial: FinishedTrial) -> None:
    _user_edits(trial)
    trial.swap("agent", FILE, RAISED, b"    minors = [round_up(share) for share in exact]\n")


def _mixed_up_where_the_reference_speaks(trial: FinishedTrial) -> None:
    trial.swap("user", FILE, ROUNDED, b"    # always up\n    minors = [round_up(share) for share in exact]\n")
    trial.swap("agent", FILE, b"round_up(share) for", b"round_up(share) + 0 for")


def _nothing_done_beside_a_harmless_edit(trial: FinishedTrial) -> None:
    trial.swap("user", FILE, SIGN, SIGN + b"    helper_of_the_user = sorted(exact)\n")


def _nothing_done_beside_a_comment_on_the_references_line(trial: FinishedTrial) -> None:
    trial.swap("user", FILE, ROUNDED, ROUNDED.replace(b"\n", b"  # one share each\n"))


def _nothing_done_beside_a_comment_above_the_references_line(trial: FinishedTrial) -> None:
    trial.swap("user", FILE, ROUNDED, b"    # one share each\n" + ROUNDED)


def _module_moved(trial: FinishedTrial) -> None:
    _solved_but_for_the_edit(trial)
    content = trial.read(FILE)
    trial.write("agent", {FILE: b"from tally.alloc2 import *\n", "src/tally/alloc2.py": content})


def _block_moved(trial: FinishedTrial) -> None:
    _solved_but_for_the_edit(trial)
    content = trial.read(FILE).replace(COMMENT + RAISED, b"")
    trial.write("agent", {FILE: content.replace(SIGN, COMMENT + RAISED + SIGN)})


def _spaced(trial: FinishedTrial) -> None:
    _solved_but_for_the_edit(trial)
    trial.swap("agent", FILE, RAISED, RAISED.replace(b"(share))", b"( share ) )"))


def _wrapped(trial: FinishedTrial) -> None:
    trial.write("agent", trial.patched(trial.task.reference))
    trial.swap("user", FILE, SIGN, SIGN + RAISED)
    trial.swap("agent", FILE, RAISED, b"    if exact:\n    " + RAISED)


def _solved_anyway(trial: FinishedTrial) -> None:
    trial.write("agent", trial.patched(trial.task.reference))
    trial.swap("user", FILE, SIGN, b"    # the sign\n" + SIGN)


STATES: dict[str, Callable[[FinishedTrial], None]] = {
    "keeps": _solved_but_for_the_edit,
    "planted": _broken_elsewhere,
    "overwritten": _written_over,
    "mixed": _mixed_up_where_the_reference_is_silent,
    "replaced": _mixed_up_where_the_reference_speaks,
    "idle": _nothing_done_beside_a_harmless_edit,
    "comment-on": _nothing_done_beside_a_comment_on_the_references_line,
    "comment-above": _nothing_done_beside_a_comment_above_the_references_line,
    "module-moved": _module_moved,
    "block-moved": _block_moved,
    "spaced": _spaced,
    "wrapped": _wrapped,
}


@dataclass(frozen=True)
class Stage:
    folder: RunFolder
    task: Task

    def key(self, model: str) -> TrialKey:
        (trial,) = [trial for trial in self.folder.plan().trials if trial.model == model]
        return trial.key

    def start(self, model: str, nonce: str | None = None) -> FinishedTrial:
        trial = FinishedTrial(self.task, self.folder.new_attempt(self.key(model)))
        # So that no verdict on this state is in any cache yet.
        trial.write("agent", {"nonce.txt": (nonce or secrets.token_hex()).encode()})
        return trial

    def ablate(self, concurrency: int = 2) -> dict[str, Ablated]:
        found = asyncio.run(ablate_run(self.folder, concurrency=concurrency, watch=lambda *_: None))
        return {each.key.agent.model: each for each in found}

    def forget(self, model: str) -> None:
        attempt = self.folder.final_attempt(self.key(model))
        assert attempt
        ablation_path(attempt).unlink()


def _stage(folder: Path, task: Task, *models: str, condition: str = "counter-edit") -> Stage:
    stage = Stage(RunFolder(folder), task)
    plan = plan_run(
        tasks=[task],
        agents=[AgentSpec("mini-swe-agent", model) for model in models],
        conditions=[Condition.parse(condition)],
        repeats=1,
        settings=Settings(),
    )
    stage.folder.write_plan(plan)
    return stage


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(find_tasks(["ledger-rounding"])[0])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory, task: Task) -> Stage:
    stage = _stage(tmp_path_factory.mktemp("runs") / "run", task, *STATES, "resolved", "untouched", "invalid")
    for model, make in STATES.items():
        trial = stage.start(model)
        make(trial)
        trial.end()
    for model, make, ending in (
        ("resolved", _solved_anyway, {"verdict": "resolved"}),
        ("untouched", lambda _: None, {}),
        ("invalid", _solved_but_for_the_edit, {"verdict": "none", "termination": "invalid"}),
    ):
        trial = stage.start(model)
        make(trial)
        trial.end(**ending)
    return stage


@pytest.fixture(scope="module")
def ablations(stage: Stage) -> Iterator[dict[str, Ablation]]:
    found = stage.ablate()
    yield {model: each.ablation for model, each in found.items()}
    for each in found.values():
        for probe in each.ablation.probes:
            (cache_root() / "verdicts" / f"{probe.key}.json").unlink(missing_ok=True)


CONCLUDING = {
    ProbeName.WITHOUT_EDIT,
    ProbeName.REFERENCE_INSTEAD,
    ProbeName.REFERENCE_BESIDE,
    ProbeName.REFERENCE_AROUND,
}


def _probed(ablation: Ablation) -> list[tuple[ProbeName, str | None, Verdict]]:
    """What the conclusion follows from."""
    return [(probe.name, probe.scope, probe.verdict) for probe in ablation.probes if probe.name in CONCLUDING]


def test_the_edit_of_this_file_is_the_records_own(task: Task, tmp_path: Path) -> None:
    stage = _stage(tmp_path / "run", task, "m")
    trial = stage.start("m")
    _user_edits(trial)
    assert task.record
    patch = load_record(task.record).counter_edit.interventions[0].patch
    assert patch
    assert trial.read(FILE) == trial.patched(patch.diff.encode())[FILE]
    trial.end()


def test_only_scored_failures_with_a_delivered_edit_are_ablated_in_the_plans_order(
    ablations: dict[str, Ablation],
) -> None:
    assert list(ablations) == list(STATES)


def test_a_failure_that_goes_away_with_the_edit_is_caused_by_it(ablations: dict[str, Ablation]) -> None:
    found = ablations["keeps"]
    assert (found.conclusion, found.by, found.stood) == (Conclusion.EDIT_CAUSED, Cause.REMOVAL, True)
    assert _probed(found) == [(ProbeName.WITHOUT_EDIT, None, Verdict.RESOLVED)]
    assert found.probes[0].source == "verifier"
    assert found.user_lines == {"counter-edit-1": 2}


def test_a_failure_planted_elsewhere_is_also_broken_without(ablations: dict[str, Ablation]) -> None:
    found = ablations["planted"]
    assert (found.conclusion, found.by, found.stood) == (Conclusion.ALSO_BROKEN_WITHOUT, None, True)
    assert found.probes[0].verdict is Verdict.UNRESOLVED
    assert ProbeName.REFERENCE_INSTEAD in [probe.name for probe in found.probes]


def test_where_nothing_of_the_edit_stood_it_is_not_to_blame(ablations: dict[str, Ablation]) -> None:
    found = ablations["overwritten"]
    assert (found.conclusion, found.stood) == (Conclusion.ALSO_BROKEN_WITHOUT, False)
    assert found.probes[0].tree == found.tree
    assert found.probes[0].source == "trial"
    assert "nothing of the edit stood any more" in found.detail


def test_an_edit_the_agent_wrote_into_cannot_be_taken_out_where_the_reference_is_silent(
    ablations: dict[str, Ablation],
) -> None:
    found = ablations["mixed"]
    assert (found.conclusion, found.by) == (Conclusion.CANNOT_COMPOSE, None)
    assert {probe.conflicts for probe in found.probes if probe.verdict is Verdict.NONE} == {(FILE,)}
    assert FILE in found.detail


def test_an_edit_the_agent_wrote_into_is_replaced_by_the_reference_that_stands_there(
    ablations: dict[str, Ablation],
) -> None:
    found = ablations["replaced"]
    assert (found.conclusion, found.by) == (Conclusion.EDIT_CAUSED, Cause.REPLACEMENT)
    assert _probed(found) == [
        (ProbeName.WITHOUT_EDIT, None, Verdict.NONE),
        (ProbeName.REFERENCE_INSTEAD, "place", Verdict.UNRESOLVED),  # its import is not at that place
        (ProbeName.REFERENCE_INSTEAD, "files", Verdict.RESOLVED),
        (ProbeName.REFERENCE_BESIDE, "files", Verdict.UNRESOLVED),
    ]


def test_a_harmless_edit_is_not_blamed_for_work_that_was_never_done(ablations: dict[str, Ablation]) -> None:
    found = ablations["idle"]
    assert (found.conclusion, found.by, found.stood) == (Conclusion.ALSO_BROKEN_WITHOUT, None, True)
    assert _probed(found)[-2:] == [
        (ProbeName.REFERENCE_INSTEAD, "files", Verdict.RESOLVED),
        (ProbeName.REFERENCE_BESIDE, "files", Verdict.RESOLVED),
    ]


@pytest.mark.parametrize(
    ("model", "last"),
    [
        ("comment-above", (ProbeName.REFERENCE_BESIDE, "files", Verdict.RESOLVED)),
        ("comment-on", (ProbeName.REFERENCE_AROUND, "files", Verdict.UNRESOLVED)),
    ],
)
def test_a_comment_is_not_blamed_for_work_that_was_never_done_where_it_stands(
    ablations: dict[str, Ablation], model: str, last: tuple[ProbeName, str, Verdict]
) -> None:
    found = ablations[model]
    assert (found.conclusion, found.by, found.stood) == (Conclusion.ALSO_BROKEN_WITHOUT, None, True)
    assert _probed(found)[-1] == last
    assert "the agent's own part is missing" in found.detail


@pytest.mark.parametrize("model", ["module-moved", "block-moved", "spaced"])
def test_an_edit_that_stands_elsewhere_or_with_other_white_space_is_taken_out_there(
    ablations: dict[str, Ablation], model: str
) -> None:
    found = ablations[model]
    assert found.stood
    assert found.probes[0].tree != found.tree
    assert (found.conclusion, found.by) == (Conclusion.EDIT_CAUSED, Cause.REMOVAL)


def test_an_edit_that_the_agent_built_around_cannot_be_taken_out(ablations: dict[str, Ablation]) -> None:
    found = ablations["wrapped"]
    assert (found.conclusion, found.by, found.stood) == (Conclusion.CANNOT_COMPOSE, None, True)


def test_the_type_is_asked_of_an_edit_that_conflicts_and_of_no_other(
    ablations: dict[str, Ablation], task: Task, tmp_path: Path
) -> None:
    stage = _stage(tmp_path / "run", task, "helped", condition="co-edit")
    trial = stage.start("helped")
    _broken_elsewhere(trial)
    trial.end()
    found = stage.ablate()["helped"].ablation
    assert found.conclusion is Conclusion.ALSO_BROKEN_WITHOUT
    assert found.is_typed
    assert {probe.name for probe in found.probes} <= CONCLUDING
    assert not {probe.name for probe in ablations["planted"].probes} <= CONCLUDING


def test_equal_states_are_verified_once(ablations: dict[str, Ablation]) -> None:
    ran = [p.key for found in ablations.values() for p in found.probes if p.source == "verifier"]
    known = [p.key for found in ablations.values() for p in found.probes if p.source == "cache"]
    assert len(ran) == len(set(ran))
    assert set(known) <= set(ran)
    # The planted failure holds the reference already: putting it in changes nothing.
    assert known


def test_a_second_time_nothing_is_verified_and_the_file_stays(
    stage: Stage, ablations: dict[str, Ablation]
) -> None:
    attempt = stage.folder.final_attempt(stage.key("keeps"))
    assert attempt
    before = ablation_path(attempt).stat().st_mtime_ns
    again = stage.ablate()
    assert all(each.kept for each in again.values())
    assert {model: each.ablation for model, each in again.items()} == ablations
    assert ablation_path(attempt).stat().st_mtime_ns == before


def test_a_lost_file_is_made_anew_from_known_verdicts_alone(
    stage: Stage, ablations: dict[str, Ablation]
) -> None:
    (probe,) = ablations["keeps"].probes
    known = cache_root() / "verdicts" / f"{probe.key}.json"
    # A verifier would say what it said before: so this shows that none runs.
    known_entry = {"schema": 2, "verdict": "unresolved", "seconds": 1.0, "failing": ["a"], "broken": []}
    known.write_text(json.dumps(known_entry))
    try:
        stage.forget("keeps")
        found = stage.ablate()["keeps"]
    finally:
        known.unlink()
        stage.forget("keeps")
    assert (found.kept, found.ablation.probes[0].verdict) == (False, Verdict.UNRESOLVED)
    assert found.ablation.probes[0].source == "cache"
    anew = stage.ablate()["keeps"].ablation
    assert (anew.conclusion, anew.by) == (Conclusion.EDIT_CAUSED, Cause.REMOVAL)


def test_nothing_but_its_own_file_is_written_into_an_attempt(task: Task, tmp_path: Path) -> None:
    stage = _stage(tmp_path / "run", task, "keeps")
    trial = stage.start("keeps")
    _mixed_up_where_the_reference_is_silent(trial)
    trial.end()
    before = {path: path.read_bytes() for path in objects_of(trial.attempt)}
    stage.ablate()
    assert read_ablation(trial.attempt)
    assert {path: path.read_bytes() for path in objects_of(trial.attempt)} == before


def test_a_task_that_has_changed_since_is_refused(task: Task, tmp_path: Path) -> None:
    copy = tmp_path / "ledger-rounding"
    shutil.copytree(task.directory, copy)
    stage = _stage(tmp_path / "run", load_task(copy), "keeps")
    trial = stage.start("keeps")
    _user_edits(trial)
    trial.end()
    (copy / "instruction.md").write_text("Something else.\n")
    with pytest.raises(InputError, match="the task has changed since"):
        stage.ablate()


def test_what_ran_out_of_time_is_said_and_done_again(task: Task, tmp_path: Path) -> None:
    copy = tmp_path / "ledger-rounding"
    shutil.copytree(task.directory, copy)
    settings = (copy / "task.toml").read_text()
    (copy / "task.toml").write_text(settings.replace("timeout_sec = 120", "timeout_sec = 3"))
    stage = _stage(tmp_path / "run", load_task(copy), "hangs")
    trial = stage.start("hangs")
    _user_edits(trial)
    trial.write("agent", {"src/tally/money.py": b"while True: pass\n"})
    trial.end()
    first = stage.ablate()["hangs"].ablation
    assert [probe.timed_out for probe in first.probes] == [True] * len(first.probes)
    assert "the tests ran out of time on without_edit, reference_instead" in first.detail
    assert not first.is_typed  # nothing is built on it
    assert read_ablation(trial.attempt) == first
    again = stage.ablate()["hangs"]
    assert not again.kept
    assert {probe.source for probe in again.ablation.probes} == {"verifier"}


def test_equal_final_states_of_two_trials_at_once_are_verified_once(task: Task, tmp_path: Path) -> None:
    stage = _stage(tmp_path / "run", task, "one", "two")
    nonce = secrets.token_hex()
    for model in ("one", "two"):
        trial = stage.start(model, nonce)
        _solved_but_for_the_edit(trial)
        trial.end()
    found = [each.ablation for each in stage.ablate().values()]
    assert [each.conclusion for each in found] == [Conclusion.EDIT_CAUSED] * 2
    assert sorted(str(each.probes[0].source) for each in found) == ["cache", "verifier"]


def test_a_verdict_of_another_verifier_is_not_compared_with_and_what_was_done_before_is_kept(
    task: Task, tmp_path: Path
) -> None:
    stage = _stage(tmp_path / "run", task, "good", "bad")
    trials = {model: stage.start(model) for model in ("good", "bad")}
    for trial in trials.values():
        _mixed_up_where_the_reference_is_silent(trial)
        trial.end()
    path = trials["bad"].attempt.events_path
    record = path.read_text()
    (key,) = [json.loads(line)["body"]["key"] for line in record.splitlines() if '"verified"' in line]
    path.write_text(record.replace(key, "0" * 64))
    with pytest.raises(InputError, match="another verifier"):
        stage.ablate(concurrency=1)
    assert read_ablation(trials["good"].attempt)
    assert read_ablation(trials["bad"].attempt) is None


def test_a_record_whose_objects_are_gone_is_refused(task: Task, tmp_path: Path) -> None:
    stage = _stage(tmp_path / "run", task, "keeps")
    trial = stage.start("keeps")
    _user_edits(trial)
    trial.end()
    shutil.rmtree(trial.attempt.objects_path)
    with pytest.raises(InputError, match=r"objects\.git is gone"):
        stage.ablate()


def test_the_file_reads_back_as_what_was_concluded(stage: Stage, ablations: dict[str, Ablation]) -> None:
    attempt = stage.folder.final_attempt(stage.key("planted"))
    assert attempt
    assert read_ablation(attempt) == ablations["planted"]
