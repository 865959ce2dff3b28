"""``fourhands conversations show``: what was said in a trial, by whom and why, and what it came to."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fourhands.trajectories.run_folder import Attempt

__all__ = ["show"]


def show(
    run: Annotated[Path, typer.Argument(help="Folder of a run, of one of its trials, or of an attempt.")],
    trial: Annotated[
        str | None,
        typer.Argument(
            help="Of a run: a trial's folder name, or a part of it; all that have it are printed."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON, schema 1.")] = False,
) -> None:
    """Print conversations: the opening, turns, moves, what was blocked, looks, checkpoints, and states at the end.

    Without times and hashes: a run that is repeated with the same models prints the same.

    Example: fourhands conversations show runs/a ledger-rounding

    Example: fourhands conversations show runs/a --json
    """
    from json import dumps

    import orjson

    from fourhands.cli.console import output
    from fourhands.report.conversation_text import SCHEMA, conversation_json, conversation_text

    found = _conversations(run, trial)
    if json:
        told = [
            {"trial": each.name, **conversation_json(each.events, each.read_blob, ablation=each.ablation)}
            for each in found
        ]
        document = {"schema": SCHEMA, "conversations": told}
        try:
            told_json = orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
        except orjson.JSONEncodeError:  # lone surrogates: file names that are not UTF-8 (PEP 383)
            told_json = dumps(document, indent=2)
        output().file.write(told_json + "\n")
        return
    output().file.write(
        "\n".join(conversation_text(each.events, each.read_blob, ablation=each.ablation) for each in found)
    )


class _Told:
    """One trial, as it was held, and what came of looking into it."""

    def __init__(self, name: str, attempt: Attempt) -> None:
        from fourhands.trajectories.ablations import read_ablation

        self.name = name
        self.events = attempt.read().events
        self.ablation = read_ablation(attempt)
        self._blobs = attempt.blobs

    def read_blob(self, digest: str) -> bytes:
        """Empty where it cannot be read."""
        try:
            return self._blobs.get(digest)
        except (OSError, zlib.error, ValueError):
            return b""


def _conversations(run: Path, trial: str | None) -> Sequence[_Told]:
    """The trials that are asked for.

    Raises:
        InputError: there is none, or nobody talks in it; says what there is.
    """
    from fourhands.cli.show import shown_attempt
    from fourhands.model.errors import InputError
    from fourhands.report.conversation_text import has_conversation

    if not run.exists():
        raise InputError(f"{run}: there is no such folder: give that of a run, of a trial, or of an attempt")
    if not (run / "plan.json").exists():
        if trial is not None:
            raise InputError(
                f"{run} is no run, so {trial!r} is none of its trials: give RUN TRIAL, or a trial's folder"
            )
        attempt = shown_attempt(run)
        one_told = _Told(attempt.path.parent.name, attempt)
        if not has_conversation(one_told.events):
            raise InputError(
                f"{run}: nobody talks in this trial: its condition is neither interactive nor four-hands"
            )
        return [one_told]
    folders = _folders(run, trial)
    told = [_Told(folder.name, shown_attempt(folder)) for folder in folders]
    if found := [each for each in told if has_conversation(each.events)]:
        return found
    one = f"{folders[0].name}: nobody talks in this trial" if len(folders) == 1 else ""
    called = f" called {trial!r}" if trial else ""
    what = one or f"{run}: nobody talks in any of the {len(folders)} trials{called}"
    raise InputError(f"{what}: run with --condition interactive or four-hands")


def _folders(run: Path, trial: str | None) -> list[Path]:
    """Of the trials that have an attempt and are called ``trial``, whole or in part, in the plan's order.

    Raises:
        InputError: none is called that.
    """
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import RunFolder

    folders = [run / "trials" / planned.key.slug for planned in RunFolder(run).plan().trials]
    started = [folder for folder in folders if any(folder.glob("attempt-*/events.jsonl"))]
    if trial is None:
        return started
    same = [folder for folder in started if folder.name == trial]
    found = same or [folder for folder in started if trial in folder.name]
    if found:
        return found
    names = "\n".join(f"  {folder.name}" for folder in started)
    raise InputError(
        f"{run}: {trial!r}: no trial that has begun is called so; there are\n{names or '  (none)'}"
    )
