"""``fourhands show``: a trial's story in the terminal. Who did what, when, with diffs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from fourhands.model.agreement import Agreement
    from fourhands.trajectories.run_folder import Attempt

__all__ = ["show", "shown_attempt"]

_DIFF_LINES: Final = 60
_LINE_BYTES: Final = 200
"""Of an output line that is asked for, on average: the story's limit is in bytes as well."""


def show(
    trial: Annotated[
        Path, typer.Argument(help="Folder of a trial (RUN/trials/KEY), or of one attempt at it.")
    ],
    output_lines: Annotated[
        int | None,
        typer.Option("--output-lines", min=0, help="Lines of each action's output to show: 4, in JSON 40."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the story as JSON, schema 2.")] = False,
) -> None:
    """Tell the story of a trial: both pairs of hands, the diffs, the verdict.

    Example: fourhands show runs/a/trials/ledger-rounding__mini-swe-agent-scripted-keeps__counter-edit__r1
    """
    from fourhands.cli.console import output
    from fourhands.report.story import Limits, story_bytes, story_of

    default = Limits()
    lines = (default.output if json else 4) if output_lines is None else output_lines
    limits = Limits(
        output=lines,
        output_bytes=max(default.output_bytes, _LINE_BYTES * lines),
        diff=default.diff if json else _DIFF_LINES,
    )
    attempt = shown_attempt(trial)
    found = story_of(attempt, limits=limits)
    if json:
        output().file.write(story_bytes(found).decode() + "\n")
        return
    from fourhands.cli.story import tell

    for line in tell(found, _agreements(attempt)):
        output().print(line, soft_wrap=True)


def _agreements(attempt: Attempt) -> list[Agreement]:
    """How far judges agree with people, as measured for the run of an attempt; none of one that lies alone."""
    from fourhands.trajectories.audits import agreements_of
    from fourhands.trajectories.run_folder import RunFolder

    run = attempt.path.absolute().parents[2]
    return agreements_of(RunFolder(run)) if (run / "plan.json").exists() else []


def shown_attempt(path: Path) -> Attempt:
    """The attempt that ``path`` is, or that counts of the trial it is.

    Raises:
        InputError: it is neither; of a run, names its trials.
    """
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import Attempt, last_ended

    if (path / "events.jsonl").exists():
        return Attempt(path)
    attempts = sorted(path.glob("attempt-*/events.jsonl"), key=lambda p: Attempt(p.parent).number)
    if attempts:
        found = [Attempt(events.parent) for events in attempts]
        return last_ended(found) or found[-1]
    if (path / "plan.json").exists():
        keys = "\n".join(f"  {trial}" for trial in sorted((path / "trials").glob("*")))
        raise InputError(f"{path} is a run; show one of its trials:\n{keys or '  (none has started)'}")
    raise InputError(f"{path} is no trial: give RUN/trials/KEY")
