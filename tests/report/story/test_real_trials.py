"""Stories of real trials agree with what was recorded; torn, spoiled and bare records are told as far as they go."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourhands.model.event import EventKind
from fourhands.report.story import Contents, Story, story, story_bytes, story_of
from fourhands.report.story.payloads import AttemptPayloads
from fourhands.trajectories.run_folder import Attempt, RunFolder
from fourhands.workspace.store import ObjectStore

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def attempts(thin_run: Path) -> list[Attempt]:
    folder = RunFolder(thin_run)
    found = [folder.final_attempt(trial.key) for trial in folder.plan().trials]
    return [attempt for attempt in found if attempt is not None]


@pytest.fixture(scope="module")
def touched(attempts: list[Attempt]) -> Attempt:
    """One under `counter-edit` whose agent keeps what the user wrote, and fails for it."""
    (found,) = (a for a in attempts if a.path.parent.name.startswith("ledger") and _is(a, "keeps__counter"))
    return found


def _is(attempt: Attempt, part: str) -> bool:
    return part in attempt.path.parent.name


def _recorded(attempt: Attempt) -> dict[str, int]:
    changed = [e.body["lines"] for e in attempt.read().events if e.kind is EventKind.WORKSPACE_CHANGED]
    return {who: count for who, count in changed[-1].items() if count}


def test_authors_are_those_that_were_counted_live_after_every_change(attempts: list[Attempt]) -> None:
    by_user = 0
    for attempt in attempts:
        events = attempt.read().events
        ends = [n for n, event in enumerate(events, 1) if event.kind is EventKind.WORKSPACE_CHANGED]
        assert ends
        for end in ends:
            told = story(events[:end], AttemptPayloads(attempt))
            assert told.authors == {w: n for w, n in events[end - 1].body["lines"].items() if n}
            assert not told.problems
            by_user += told.authors.get("user", 0)
    assert by_user > 0


def test_each_added_line_of_a_diff_has_the_author_the_counts_have(attempts: list[Attempt]) -> None:
    for attempt in attempts:
        standing: dict[str, int] = {}
        for entry in story_of(attempt).entries:
            for line in (line for diff in entry.diffs for hunk in diff.hunks for line in hunk.lines):
                if line.sign != " ":
                    standing[line.author] = standing.get(line.author, 0) + (1 if line.sign == "+" else -1)
        standing.pop("base", None)  # its lines stood before
        assert {who: count for who, count in standing.items() if count} == _recorded(attempt)


def test_the_diffs_lead_from_the_base_to_the_final_files(touched: Attempt) -> None:
    events = touched.read().events
    store = ObjectStore(touched.objects_path)
    for event, entry in zip(
        (event for event in events if event.kind is EventKind.WORKSPACE_CHANGED),
        (entry for entry in story_of(touched).entries if entry.diffs),
        strict=True,
    ):
        for file, diff in zip(event.body["files"], entry.diffs, strict=True):
            old, new = (store.get_blob(file[side]).decode().split("\n") for side in ("old", "new"))
            for line in (line for hunk in diff.hunks for line in hunk.lines):
                assert line.old is None or old[line.old - 1] == line.text
                assert line.new is None or new[line.new - 1] == line.text


def test_a_touched_trial_is_told_from_both_sides(touched: Attempt) -> None:
    told = story_of(touched)
    kinds = [entry.kind for entry in told.entries]
    in_order = ["said", "acted", "triggered", "edited", "messaged", "carried", "verified", "ended"]
    places = [kinds.index(kind) for kind in in_order]
    assert places == sorted(places)
    (fired,) = (entry for entry in told.entries if entry.kind == "acted" and entry.fired)
    assert [touch.path for touch in fired.touches if touch.fired] == ["src/tally/allocation.py"]
    (message,) = (entry for entry in told.entries if entry.kind == "messaged")
    assert message.carried
    assert told.verification
    failed = [test for test, status in told.verification.fail_to_pass if status != "passed"]
    assert failed
    assert told.verdict == "unresolved"
    assert told.ablation
    assert told.lines
    assert {line.fate for line in told.lines} == {"kept"}
    assert all(line.text for line in told.lines)
    (delivery,) = (each for each in told.delivery if each.is_delivered)
    assert any(fact.text.startswith("the model answered request") for fact in delivery.facts)


def test_what_the_user_took_out_is_told_in_its_words(attempts: list[Attempt]) -> None:
    gone = [line for attempt in attempts for line in story_of(attempt).deletions]
    written = [line for attempt in attempts for line in story_of(attempt).lines or ()]
    assert written
    assert all(line.text is not None for line in [*gone, *written])


def test_contents_read_for_one_trial_serve_the_next(attempts: list[Attempt]) -> None:
    shared = Contents()
    for attempt in attempts:
        assert story_of(attempt, shared=shared) == story_of(attempt)


def _copy(attempt: Attempt, folder: Path) -> Attempt:
    shutil.copytree(attempt.path, folder / attempt.path.parent.name / "attempt-1")
    return Attempt(folder / attempt.path.parent.name / "attempt-1")


def test_without_its_base_and_its_payloads_a_trial_is_told_all_the_same(
    touched: Attempt, tmp_path: Path
) -> None:
    attempt = _copy(touched, tmp_path)
    whole = story_of(attempt)
    (attempt.objects_path / "objects" / "info" / "alternates").unlink()
    bare = story_of(attempt)
    (edited,) = (entry for entry in bare.entries if entry.kind == "edited")
    assert [diff.missing for diff in edited.diffs] == [True]
    assert bare.authors == whole.authors
    assert bare.problems == (
        "contents of files are not there any more: who wrote the lines they held is told by place alone",
    )
    shutil.rmtree(attempt.objects_path)
    shutil.rmtree(attempt.path / "blobs")
    gone = story_of(attempt)
    assert [entry.kind for entry in gone.entries if entry.kind != "said"] == [
        entry.kind for entry in whole.entries if entry.kind != "said"
    ]
    assert not attempt.objects_path.exists()


def test_spoiled_payloads_are_told_as_gone(touched: Attempt, tmp_path: Path) -> None:
    attempt = _copy(touched, tmp_path)
    for path in [*(attempt.path / "blobs").rglob("*"), *(attempt.objects_path / "objects").glob("??/*")]:
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"\0spoiled")
    told = story_of(attempt)
    acted = [entry for entry in told.entries if entry.kind == "acted"]
    assert acted
    assert all(entry.text and entry.text.head == "(not in the record any more)" for entry in acted)
    (attempt.path / "ablation.json").write_text("{")
    assert any("ablation.json" in problem for problem in story_of(attempt).problems)


def test_a_torn_log_is_told_as_far_as_it_goes(touched: Attempt, tmp_path: Path) -> None:
    attempt = _copy(touched, tmp_path)
    data = attempt.events_path.read_bytes()
    attempt.events_path.write_bytes(data[: len(data) // 2])
    told = story_of(attempt)
    assert told.entries
    assert not told.ended
    assert told.verification is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.randoms(use_true_random=False))
def test_whatever_is_missing_doubled_or_out_of_order_the_rest_is_told(
    touched: Attempt, chance: random.Random
) -> None:
    events = list(touched.read().events)
    kept = [event for event in events if chance.random() < 0.8]
    kept += [event for event in events if chance.random() < 0.1]
    if chance.random() < 0.3:
        chance.shuffle(kept)
    told: Story = story(kept, AttemptPayloads(touched))
    assert {entry.seq for entry in told.entries} <= {event.seq for event in kept}
    assert orjson.loads(story_bytes(told))["schema"] == 2
