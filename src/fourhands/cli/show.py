"""``fourhands show``: a trial's story in the terminal. Who did what, when, with diffs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fourhands.trajectories.run_folder import Attempt

__all__ = ["show"]


def show(
    trial: Annotated[
        Path, typer.Argument(help="Folder of a trial (RUN/trials/KEY), or of one attempt at it.")
    ],
    output_lines: Annotated[
        int, typer.Option("--output-lines", min=0, help="Lines of each action's output to show.")
    ] = 4,
) -> None:
    """Tell the story of a trial: both pairs of hands, the diffs, the verdict.

    Example: fourhands show runs/a/trials/ledger-rounding__mini-swe-agent-scripted-keeps__counter-edit__r1
    """
    from fourhands.analysis.delivery import delivery_proofs
    from fourhands.analysis.lines import follow_user_lines
    from fourhands.cli.console import output
    from fourhands.cli.proof import tell_proofs
    from fourhands.cli.story import tell, tell_lines

    attempt = _attempt(trial)
    read = attempt.read()
    for line in tell(read.events, attempt, output_lines=output_lines):
        output().print(line, soft_wrap=True)
    for line in tell_proofs(delivery_proofs(read.events)):
        output().print(line, soft_wrap=True)
    if lines := follow_user_lines(read.events):
        for line in tell_lines(lines):
            output().print(line, soft_wrap=True)
    for problem in read.problems:
        output().print(problem, style="yellow", markup=False)


def _attempt(path: Path) -> Attempt:
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import Attempt

    if (path / "events.jsonl").exists():
        return Attempt(path)
    attempts = sorted(path.glob("attempt-*/events.jsonl"), key=lambda p: Attempt(p.parent).number)
    if attempts:
        found = [Attempt(events.parent) for events in attempts]
        return next((attempt for attempt in reversed(found) if attempt.ended), found[-1])
    if (path / "plan.json").exists():
        keys = "\n".join(f"  {trial}" for trial in sorted((path / "trials").glob("*")))
        raise InputError(f"{path} is a run; show one of its trials:\n{keys or '  (none has started)'}")
    raise InputError(f"{path} is no trial: give RUN/trials/KEY")
