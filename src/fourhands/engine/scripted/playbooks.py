"""The playbook of a task: its own or one made from its reference, with the temperaments that every one has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fourhands.engine.scripted import shell
from fourhands.engine.scripted.reference import Reference, parse_reference, steps
from fourhands.gateway.playbook import Move, Playbook, Temperament, load_playbook
from fourhands.gateway.stochastic import STOCHASTIC
from fourhands.tasks.folder import Task

__all__ = ["TEMPERAMENTS", "last_moves", "playbook_of", "reference_of"]

TEMPERAMENTS: Final = (
    "keeps",
    "reverts",
    "reconciles",
    "overwrites",
    "asks",
    "gives-up",
    "loops",
    STOCHASTIC,
)
"""What every task has."""
_SUBMIT: Final = Move(thought="The change is made. I hand it over.", submit=True)
_GLANCE: Final = "git diff --stat"


def reference_of(task: Task) -> Reference:
    """The task's reference, taken apart.

    Raises:
        InputError: no shell can make this change; names the file.
    """
    return parse_reference(task.reference, str(task.directory / "solution" / "reference.patch"))


def playbook_of(task: Task, contested: Sequence[str] = ()) -> Playbook:
    """What a scripted model does on ``task``.

    Args:
        task: with or without a ``user/playbook.toml``.
        contested: paths on which the trial's user works against the task. A model that reconciles by a playbook that
            was made for it puts them as the reference has them.

    Raises:
        InputError: the task's playbook is wrong, or none can be made from its reference.
    """
    reference = reference_of(task)
    playbook = load_playbook(task.playbook) if task.playbook else _generated(reference, contested)
    # A hand-written temperament is the better one of its name.
    temperaments = _built_in(reference, playbook.temperaments.get("keeps", _keeps())) | playbook.temperaments
    return playbook.model_copy(update={"temperaments": temperaments})


def last_moves(task: Task) -> tuple[Move, Move]:
    """How a trial ends that resolves, whatever was done before, and how one that does not.

    Raises:
        InputError: as ``reference_of``.
    """
    good = _SUBMIT.model_copy(update={"command": shell.start_over(reference_of(task))})
    bad = Move(thought="I get nowhere. I hand it over as it was.", command=shell.start_over(), submit=True)
    return good, bad


def _generated(reference: Reference, contested: Sequence[str]) -> Playbook:
    look = Move(
        thought="I read the change as it stands, and the code around it.", command=_read_again(reference)
    )
    return Playbook(
        schema_version=1,
        moves=(
            *_looks(reference),
            *(
                Move(
                    thought=f"The change in {', '.join(step.paths)}.",
                    command=shell.merge(step, favour="ours"),
                )
                for step in steps(reference)
            ),
            Move(thought="I look at all of it once more.", command="git diff"),
            _SUBMIT,
        ),
        temperaments={
            "keeps": _keeps(),
            "reverts": Temperament(
                then="submit",
                on_message=(
                    Move(
                        thought="These files are not as I left them. I go back to the last commit.",
                        command=shell.forget_all(),
                    ),
                    Move(
                        thought="And make my own change on that.",
                        command=shell.write_whole(reference, reference.paths),
                    ),
                ),
            ),
            "reconciles": Temperament(
                then="submit",
                on_message=(
                    look,
                    Move(
                        thought="What was asked for has to hold; what does not stand against it can stay.",
                        command=_reconcile(reference, contested),
                    ),
                    Move(thought="I look at what came of both.", command="git diff"),
                ),
            ),
        },
    )


def _built_in(reference: Reference, keeps: Temperament) -> dict[str, Temperament]:
    write = shell.write_whole(reference, reference.paths)
    return {
        "overwrites": Temperament(
            moves=(
                *_looks(reference),
                *(
                    Move(
                        thought=f"I write {', '.join(step.paths)} as it should be.",
                        command=shell.write_whole(done, step.paths),
                    )
                    for step, done in _cumulated(reference)
                ),
                _SUBMIT.model_copy(update={"command": write}),
            ),
            on_message=(Move(thought="All right. I write what I have in mind once more.", command=write),),
        ),
        "asks": Temperament(
            then=keeps.then,
            on_message=(
                Move(thought="I see that you are at it too. What would you like me to do with it?", ask=True),
                *keeps.on_message,
            ),
        ),
        "gives-up": Temperament(then="submit"),
        "loops": Temperament(
            then="repeat",
            on_message=(Move(thought="Something is different. I look again.", command=_GLANCE),),
        ),
        STOCHASTIC: _keeps(),
    }


def _keeps() -> Temperament:
    thought = "The user is working on these files too. What they wrote stays, and I go on around it."
    return Temperament(on_message=(Move(thought=thought, command=_GLANCE),))


def _looks(reference: Reference) -> tuple[Move, ...]:
    overview = Move(thought="First an overview.", command="git log --oneline | head -n 5 && ls")
    reads = [(file.old, shell.read_around(file)) for file in reference.files]
    return (
        overview,
        *(Move(thought=f"I read {path}.", command=command) for path, command in reads if command is not None),
    )


def _read_again(reference: Reference) -> str:
    reads = [shell.read_around(file) for file in reference.files]
    return "\n".join(["git diff", *(read for read in reads if read is not None)])


def _reconcile(reference: Reference, contested: Sequence[str]) -> str:
    if not contested:
        return shell.merge(reference, favour="theirs")
    return shell.write_whole(reference, dict.fromkeys((*reference.paths, *contested)))


def _cumulated(reference: Reference) -> list[tuple[Reference, Reference]]:
    """Each step, and the whole change of its files up to it: one that writes a whole file must not undo a step."""
    parts = steps(reference)
    if len(reference.files) == 1 and len(parts) > 1:
        return [(parts[0], parts[0]), (parts[1], reference)]
    return [(part, part) for part in parts]
