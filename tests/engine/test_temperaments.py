"""Temperament × condition, with real trials: each cell ends as its temperament implies.

A further condition is one more row of the table. Counter-Edits of the task come when the region is read or edited,
its Co-Edit once it was edited: after the repair, that is, which explains that column.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from fourhands.gateway.stochastic import draw
from fourhands.model.event import EventKind
from fourhands.tasks.find import bundled_tasks
from fourhands.trajectories.run_folder import PlannedTrial, RunFolder

from .thin_runs import models_of, run_trials, without_playbook

pytestmark = pytest.mark.slow

CONDITIONS: Final = ("vanilla", "counter-edit", "co-edit", "neutral-edit", "message-only", "edit-only")
DRAWN: Final = "scripted/stochastic[p=0.5]"
SEED: Final = 3
"""With this one the draws are good for the trial with an edit that nobody speaks of, and bad for the others."""


class Cell(NamedTuple):
    """``stands`` says whether lines of the user are there at the end; ``None`` where they wrote none."""

    verdict: str
    stands: bool | None
    termination: str = "finished"


KEEPS: Final = {
    "vanilla": Cell("resolved", None),
    "counter-edit": Cell("unresolved", stands=True),
    "co-edit": Cell("resolved", stands=True),
    "neutral-edit": Cell("resolved", stands=True),
    "message-only": Cell("resolved", None),
    "edit-only": Cell("unresolved", stands=True),  # nobody told it, so it works as if alone
}
LEAVES: Final = {  # what was not done when the user spoke is never done
    "counter-edit": Cell("unresolved", stands=True),
    "neutral-edit": Cell("unresolved", stands=True),
    "message-only": Cell("unresolved", None),
}
GONE: Final = {
    condition: cell if cell.stands is None else Cell("resolved", stands=False)
    for condition, cell in KEEPS.items()
}
EXPECTED: Final[dict[str, dict[str, Cell]]] = {
    "keeps": KEEPS,
    "asks": KEEPS,
    "reverts": GONE | {"edit-only": KEEPS["edit-only"]},
    "reconciles": KEEPS | {"counter-edit": Cell("resolved", stands=False)},
    "overwrites": GONE,
    "gives-up": KEEPS | LEAVES,
    "loops": {
        condition: cell._replace(termination="step_limit")
        for condition, cell in (KEEPS | LEAVES).items()
        if condition not in {"vanilla", "edit-only"}
    }
    | {condition: KEEPS[condition] for condition in ("vanilla", "edit-only")},
}
HAND_WRITTEN: Final = {
    "keeps": KEEPS,
    "reverts": EXPECTED["reverts"],
    # Its author found a way to have both.
    "reconciles": KEEPS | {"counter-edit": Cell("resolved", stands=True)},
}


def _cells(run: RunFolder) -> dict[PlannedTrial, Cell]:
    cells = {}
    for trial in run.plan().trials:
        attempt = run.final_attempt(trial.key)
        assert attempt
        assert attempt.ended
        events, body = attempt.read().events, attempt.ended.body
        has_written = any(event.kind is EventKind.EDIT_APPLIED for event in events)
        stands = any(body["user_lines"].values()) if has_written else None
        cells[trial] = Cell(body["verdict"], stands, body["termination"])
    return cells


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_playbook(tmp_path_factory.mktemp("tasks"))


@pytest.fixture(scope="module")
def matrix(generated: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Cell]:
    folder = tmp_path_factory.mktemp("generated")
    run = run_trials(
        folder, [generated], "--model", models_of([*EXPECTED]), "--condition", ",".join(CONDITIONS)
    )
    return {(trial.model, trial.condition): cell for trial, cell in _cells(run).items()}


@pytest.fixture(scope="module")
def hand_written(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Cell]:
    folder = tmp_path_factory.mktemp("hand-written")
    models = models_of([*HAND_WRITTEN])
    run = run_trials(folder, ["ledger-rounding"], "--model", models, "--condition", ",".join(CONDITIONS))
    return {(trial.model, trial.condition): cell for trial, cell in _cells(run).items()}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("temperament", EXPECTED)
def test_a_trial_ends_as_its_temperament_and_its_condition_imply(
    matrix: dict[tuple[str, str], Cell], temperament: str, condition: str
) -> None:
    assert matrix[f"scripted/{temperament}", condition] == EXPECTED[temperament][condition]


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("temperament", HAND_WRITTEN)
def test_a_hand_written_playbook_ends_as_its_temperaments_imply(
    hand_written: dict[tuple[str, str], Cell], temperament: str, condition: str
) -> None:
    assert hand_written[f"scripted/{temperament}", condition] == HAND_WRITTEN[temperament][condition]


def test_a_stochastic_trial_resolves_exactly_when_its_draw_says_so_whatever_the_user_does(
    generated: Path, tmp_path: Path
) -> None:
    sure, lost = "scripted/stochastic[p=1,touched=0]", "scripted/stochastic[p=0,touched=1]"
    conditions = "vanilla,counter-edit,co-edit,edit-only"
    models = f"{sure},{lost},{DRAWN}"
    run = run_trials(tmp_path, [generated], "--model", models, "--condition", conditions, "--seed", str(SEED))
    cells = _cells(run)
    told = {"counter-edit", "co-edit"}
    for trial, cell in cells.items():
        resolves = {
            sure: trial.condition not in told,
            lost: trial.condition in told,
            DRAWN: draw(SEED, trial.key) < 0.5,
        }[trial.model]
        assert cell.verdict == ("resolved" if resolves else "unresolved"), trial
        assert cell.termination == "finished"
        assert cell.stands is (None if trial.condition == "vanilla" else False)
    assert {cell.verdict for trial, cell in cells.items() if trial.model == DRAWN} == {
        "resolved",
        "unresolved",
    }


def test_an_agent_that_forgets_a_question_ends_by_a_command_all_the_same(
    generated: Path, tmp_path: Path
) -> None:
    """mini-swe-agent keeps no reply without a tool call in its history."""
    models = "scripted/asks,scripted/overwrites"
    run = run_trials(
        tmp_path, [generated], "--model", models, "--condition", "counter-edit", agent="mini-swe-agent"
    )
    asks, overwrites = _cells(run).items()
    assert asks[1] == EXPECTED["asks"]["counter-edit"]
    assert overwrites[1] == EXPECTED["overwrites"]["counter-edit"]
    attempt = run.final_attempt(asks[0].key)
    assert attempt
    assert attempt.ended
    assert attempt.ended.body["retries"] == 1


def test_a_task_without_a_playbook_is_repaired_in_steps_that_a_user_can_come_between(tmp_path: Path) -> None:
    task = shutil.copytree(bundled_tasks()["config-layers"], tmp_path / "config-layers")  # two files
    (task / "user" / "playbook.toml").unlink()
    run = run_trials(tmp_path, [task], "--model", "scripted/keeps", "--condition", "vanilla")
    ((trial, cell),) = _cells(run).items()
    assert cell == KEEPS["vanilla"]
    attempt = run.final_attempt(trial.key)
    assert attempt
    changes = [event for event in attempt.read().events if event.kind is EventKind.WORKSPACE_CHANGED]
    assert len(changes) == 2
