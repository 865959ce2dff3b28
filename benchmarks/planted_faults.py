"""Conversations with a planted fault: is each failure found to be what it was planted as, without any judge?

Real trials of the bundled tasks with the thin agent, a grounded user, and scripted models that do one thing wrong.
The matrix is planted × found, of the requirement that was spoilt; of trials in which nothing was told, of all that
was not. What finds the label knows the record alone: no script, and not which requirement it was.

    python benchmarks/planted_faults.py [TASK …] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fourhands.analysis.failure_labels import failure_from_json
from fourhands.analysis.findings.arms import Trial, trials_of
from fourhands.engine.scripted.manners import planted_in
from fourhands.engine.scripted.subsets import Subsets
from fourhands.engine.scripted.walk import Known
from fourhands.engine.session import base_objects
from fourhands.model.failure import FailureLabel, LabelledFailure
from fourhands.report.loading import load_study
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.tasks.ledger_file import load_ledger, without_patches
from fourhands.tasks.repository import base_repository
from measure import Figure, Outcome

__all__ = ["main", "measure"]

PLANTED: Final = {
    "forgets": FailureLabel.FORGOTTEN,
    "breaks": FailureLabel.REGRESSION,
    "misreads": FailureLabel.MISINTERPRETATION,
    "botches": FailureLabel.TECHNICAL,
    "hurries": FailureLabel.MISSING,
}
_PERSONA: Final = "paster"
"""Says four things at a time: a conversation is over sooner."""
_UNDECIDED: Final = "undecided"
_SHORT: Final = {
    FailureLabel.TECHNICAL: "technical",
    FailureLabel.FORGOTTEN: "forgotten",
    FailureLabel.REGRESSION: "regression",
    FailureLabel.MISINTERPRETATION: "misinterpr.",
    FailureLabel.MISSING: "missing",
}


@dataclass(frozen=True, slots=True)
class _Case:
    """One trial. ``spoilt`` are the requirements in question; ``found`` is ``None`` where the trial is no failure."""

    task: str
    manner: str
    spoilt: tuple[str, ...]
    found: LabelledFailure | None
    outcome: str

    @property
    def names(self) -> tuple[str, ...]:
        """What was found of the requirements in question."""
        if self.found is None:
            return ()
        labels = [_SHORT[each.label] for each in self.found.found if each.requirement in self.spoilt]
        left = any(each.requirement in self.spoilt for each in self.found.undecided)
        return tuple(dict.fromkeys([*labels, *([_UNDECIDED] if left else [])]))

    @property
    def beside(self) -> tuple[str, ...]:
        """What was found of others, or of the trial as a whole."""
        if self.found is None:
            return ()
        labels = [(each.requirement, _SHORT[each.label]) for each in self.found.found]
        labels += [(each.requirement, _UNDECIDED) for each in self.found.undecided]
        return tuple(f"{name}: {label}" for name, label in labels if name not in self.spoilt)


def measure() -> Outcome:
    """All bundled tasks."""
    with tempfile.TemporaryDirectory() as folder:
        cases = list(_cases(Path(folder), list(bundled_tasks())))
    played = [case for case in cases if case.found is not None]
    right = sum(case.names == (_SHORT[PLANTED[case.manner]],) for case in played)
    left = sum(_UNDECIDED in case.names for case in played)
    figures = (
        Figure("planted faults found as planted, and as nothing else", "%", 100 * right / len(played)),
        Figure("planted faults left undecided", "%", 100 * left / len(played)),
    )
    return Outcome(figures, tuple(_told(cases)))


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", help="bundled tasks; all of them by default")
    parser.add_argument(
        "--out", type=Path, help="where to put the two runs, kept; elsewhere they are thrown away"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases = list(_cases(options.out or Path(folder), options.tasks or list(bundled_tasks())))
    print("\n".join(_told(cases)))


def _cases(folder: Path, tasks: Sequence[str]) -> Iterator[_Case]:
    """Run all, in two runs: what was never told can be missing only where nothing is handed over."""
    spoiling = [manner for manner in PLANTED if manner != "hurries"]
    for name, manners, more in (("spoilt", spoiling, ()), ("untold", ["hurries"], ("--coverage", "at-will"))):
        run = folder / name
        if not (run / "plan.json").exists():
            _run(run, tasks, manners, more)
        for trial in trials_of(load_study([run])):
            yield _case(trial)


def _run(run: Path, tasks: Sequence[str], manners: Iterable[str], more: Sequence[str]) -> None:
    models = ",".join(f"scripted/{manner}" for manner in manners)
    subprocess.run(
        [
            *(str(Path(sys.executable).with_name("fourhands")), "run", "--tasks", ",".join(tasks)),
            *("--agent", "thin", "--model", models, "--condition", "interactive", "--persona", _PERSONA),
            *("--step-limit", "80", "--out", str(run), *more),
        ],
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _case(trial: Trial) -> _Case:
    manner = trial.model.removeprefix("scripted/")
    spoilt = planted_in(manner, _known(trial.task))
    return _Case(
        trial.task,
        manner,
        tuple(trial.held or ()) if spoilt is None else (spoilt,),
        failure_from_json(trial.failure_labels) if trial.failure_labels else None,
        f"{trial.verdict}, {trial.termination}",
    )


@cache
def _known(name: str) -> Known:
    """What the script of a task knew."""
    task = load_task(bundled_tasks()[name])
    assert task.ledger
    objects, base_tree = base_objects(base_repository(task))
    code = Subsets(objects, base_tree, task.reference, without_patches(task))
    return Known(load_ledger(task.ledger, task.instruction), task.instruction, code)


def _told(cases: Sequence[_Case]) -> Iterator[str]:
    for case in cases:
        what = ", ".join(case.names) or f"no failure to label ({case.outcome})"
        beside = f"; beside it {', '.join(case.beside)}" if case.beside else ""
        spoilt = ",".join(case.spoilt) or "nothing"
        yield f"{case.task:<17} {case.manner:<9} {spoilt}: {what}{beside}"
    yield ""
    columns = [*_SHORT.values(), _UNDECIDED]
    yield " ".join(["planted \\ found".ljust(24), "n", *columns])
    for manner, label in PLANTED.items():
        played = [case for case in cases if case.manner == manner and case.found is not None]
        counts = Counter(name for case in played for name in case.names)
        cells = (str(counts[name] or "·").rjust(len(name)) for name in columns)
        yield " ".join([f"{manner} ({_SHORT[label]})".ljust(24), str(len(played)), *cells])


if __name__ == "__main__":
    main()
