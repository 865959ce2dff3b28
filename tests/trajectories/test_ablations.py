from __future__ import annotations

import json
from pathlib import Path

import pytest

from fourhands.model.ablation import Ablation, Cause, Conclusion, Probe, ProbeName
from fourhands.model.errors import InputError
from fourhands.model.outcome import Verdict
from fourhands.trajectories.ablations import ablation_path, read_ablation, write_ablation
from fourhands.trajectories.run_folder import Attempt

ABLATION = Ablation(
    conclusion=Conclusion.EDIT_CAUSED,
    by=Cause.REPLACEMENT,
    detail="because",
    stood=True,
    user_lines={"counter-edit-1": 2},
    tree="a" * 40,
    key="b" * 64,
    probes=(
        Probe(ProbeName.WITHOUT_EDIT, Verdict.NONE, conflicts=("d\\xff/ü",)),
        Probe(ProbeName.REFERENCE_INSTEAD, Verdict.RESOLVED, "c" * 40, "d" * 64, 1.5, "verifier", "place"),
    ),
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path / "attempt-1")
    assert read_ablation(attempt) is None
    write_ablation(attempt, ABLATION)
    assert read_ablation(attempt) == ABLATION
    assert json.loads(ablation_path(attempt).read_bytes())["schema"] == 1


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda raw: raw | {"schema": 2}, "schema: must be 1"),
        (lambda raw: raw | {"conclusion": "guilty"}, "conclusion"),
        (lambda raw: {name: value for name, value in raw.items() if name != "probes"}, "probes"),
        (lambda _: [], "schema"),
    ],
)
def test_a_file_that_is_not_ours_names_itself_the_field_and_the_remedy(
    tmp_path: Path, spoil: object, says: str
) -> None:
    attempt = Attempt(tmp_path / "attempt-1")
    write_ablation(attempt, ABLATION)
    path = ablation_path(attempt)
    assert callable(spoil)
    path.write_text(json.dumps(spoil(json.loads(path.read_bytes()))))
    with pytest.raises(InputError, match=says) as refused:
        read_ablation(attempt)
    assert str(path) in str(refused.value)
    assert "fourhands ablate" in str(refused.value)


def test_half_a_file_is_refused(tmp_path: Path) -> None:
    attempt = Attempt(tmp_path / "attempt-1")
    write_ablation(attempt, ABLATION)
    ablation_path(attempt).write_bytes(ablation_path(attempt).read_bytes()[:40])
    with pytest.raises(InputError, match="is not JSON"):
        read_ablation(attempt)
