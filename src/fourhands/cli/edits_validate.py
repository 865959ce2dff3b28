"""``fourhands edits validate``: is each edit what it claims to be?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fourhands.edits.validation.asked import Asked
    from fourhands.edits.validation.batch import Answer
    from fourhands.edits.validation.beside import Beside
    from fourhands.edits.validation.verdict import Validation
    from fourhands.model.outcome import Verdict

__all__ = ["validate"]

_HEADERS = ("task", "edit", "kind", "answer", "lines", "files", "parses", "lint", "breaks")
_NUMERIC = (False, False, False, False, True, True, False, True, False)
_QUALITY = 4
"""Where the columns begin that say how an edit looks."""
_BESIDE = ("task", "edit", "here", "ref alone both", "record", "ref alone both")
_EDIT = 1
"""The column of edits' names, in both tables."""
_CONFLICT = (
    "With a stroke: edit and reference contradict each other; if the reference wins / if the edit wins."
)


def validate(
    inputs: Annotated[
        list[str],
        typer.Argument(
            help="Files of candidates or of records, JSON or JSONL, and tasks that carry a record."
        ),
    ],
    tasks: Annotated[
        str | None,
        typer.Option(help="Task names or folders, with commas between; edits of others are left out."),
    ] = None,
    runs: Annotated[
        int,
        typer.Option(
            min=1, help="How often the tests are run on each state: from 2 on, flaky ones are found."
        ),
    ] = 1,
    jobs: Annotated[int, typer.Option(min=1, help="Sandboxes at once.")] = 2,
    out: Annotated[
        Path | None, typer.Option(help="File to append the answers to (validations.jsonl).")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Run the verifier on the reference, on each edit, and on both together; exit with 1 where that cannot be done.

    What has been verified once is not verified again, so an interrupted command is gone on with by giving it again.
    Edits of records are shown beside what the record says of them.

    Example: fourhands edits validate candidates.jsonl --out validations.jsonl
    """
    from fourhands.cli.console import errors, output
    from fourhands.edits.validation.asked import read_questions
    from fourhands.model.errors import InputError

    names = None if tasks is None else [name.strip() for name in tasks.split(",") if name.strip()]
    if names == []:
        raise InputError(f"--tasks {tasks}: name at least one task")
    questions = read_questions(inputs, names)
    for note in questions.notes:
        errors().print(_shown(note), markup=False, soft_wrap=True)
    answers = _answered(questions.asked, out, jobs=jobs, runs=runs)
    if json:
        output().file.write(_as_json(answers, questions.notes) + "\n")
    else:
        _print(answers)
    if not all(answer.is_known for answer in answers):
        raise typer.Exit(1)


def _answered(questions: Sequence[Asked], out: Path | None, *, jobs: int, runs: int) -> list[Answer]:
    """All answers, in order; those that ``out`` does not hold yet are appended to it as they become known."""
    import asyncio

    from fourhands.cli.console import errors
    from fourhands.edits.validation.batch import answer_all
    from fourhands.edits.validations_file import append_validation, read_validations

    there = read_validations(out) if out is not None and out.exists() else {}
    answers: list[Answer] = []
    told = 0

    def done(answer: Answer) -> None:
        answers.append(answer)
        found = answer.validation
        if out is not None and there.get((found.task, found.candidate)) != found:
            append_validation(out, found)

    def watch(answer: Answer) -> None:
        nonlocal told
        told += 1
        found = answer.validation
        line = f"[{told}/{len(questions)}] {found.task} {found.candidate}: {found.status}"
        errors().print(_shown(line), markup=False, soft_wrap=True)

    try:
        asyncio.run(answer_all(questions, jobs=jobs, runs=runs, done=done, watch=watch))
    except KeyboardInterrupt:
        errors().print("Interrupted. To go on, give the same command again.")
        raise typer.Exit(130) from None
    return answers


def _print(answers: Sequence[Answer]) -> None:
    from fourhands.cli.console import output

    if not answers:
        output().print("Nothing to validate: the inputs hold no edit.")
        return
    _print_answers([_row(answer) for answer in answers])
    compared = [answer for answer in answers if answer.beside is not None]
    if compared:
        output().print("Does it resolve the task? Here, and in the record:", style="bold")
        _print_table(_BESIDE, [False] * len(_BESIDE), [_compared(answer) for answer in compared])
    if any("/" in _both(answer.validation) for answer in answers):
        output().print(_CONFLICT, soft_wrap=True)
    for answer in answers:
        if said := _said(answer):
            name = f"{answer.validation.task} {answer.validation.candidate}"
            output().print(_shown(f"{name}: {said}"), markup=False, soft_wrap=True)


def _print_answers(rows: Sequence[tuple[str, ...]]) -> None:
    """One table, or, where the terminal is too narrow for it, two: the answers, and how the edits look."""
    from rich.cells import cell_len

    from fourhands.cli.console import output

    widths = [max(map(cell_len, column)) for column in zip(_HEADERS, *rows, strict=True)]
    if sum(widths) + len(widths) < output().width:
        _print_table(_HEADERS, _NUMERIC, rows)
        return
    for part in (range(_QUALITY), (0, _EDIT, *range(_QUALITY, len(_HEADERS)))):
        names, numeric = [_HEADERS[at] for at in part], [_NUMERIC[at] for at in part]
        _print_table(names, numeric, [tuple(row[at] for at in part) for row in rows])


def _print_table(headers: Sequence[str], numeric: Sequence[bool], rows: Sequence[tuple[str, ...]]) -> None:
    """All words are folded where they find no room, but the names of edits, which people copy."""
    from rich.cells import cell_len

    from fourhands.cli.console import output
    from fourhands.report.rendering.terminal import plain_table

    # rich cuts off what finds no room and must not be folded.
    finds_room = max(cell_len(_shown(row[_EDIT])) for row in rows) <= output().width // 2
    output().print(plain_table(headers, numeric, rows, whole=[_EDIT] if finds_room else []))


def _row(answer: Answer) -> tuple[str, ...]:
    found, quality = answer.validation, answer.validation.quality
    head = (
        found.task,
        found.candidate,
        answer.asked.candidate.kind.removesuffix("-edit"),
        found.status.value,
    )
    if quality is None:
        return (*head, *["–"] * (len(_HEADERS) - len(head)))
    lint = "–" if quality.lint is None else str(len(quality.lint))
    return (
        *head,
        *(str(quality.lines), str(quality.files), _yes(quality.parses), lint, _yes(quality.breaks_passing)),
    )


def _compared(answer: Answer) -> tuple[str, ...]:
    assert answer.beside is not None
    found, recorded = answer.validation, answer.beside.recorded
    ours: dict[str, Verdict] = {state.state: state.verdict for state in found.states}
    theirs: dict[str, Verdict] = {state.state: state.verdict for state in recorded.states}
    status = _status(answer.beside)
    return (
        found.task,
        found.candidate,
        found.status.value,
        " ".join([*(_resolves(ours.get(state)) for state in ("reference", "edit")), _both(found)]),
        "the same" if status == found.status.value else status,
        " ".join(_resolves(theirs.get(state)) for state in ("reference", "edit", "edit+reference")),
    )


def _both(validation: Validation) -> str:
    together = [state for state in validation.states if state.state.startswith("edit+reference")]
    return "/".join(_resolves(state.verdict) for state in together) or "–"


def _said(answer: Answer) -> str:
    """What there is to say beyond the tables: why it is refused, and what explains that a record says otherwise."""
    from fourhands.edits.validation.verdict import ValidationStatus

    found = answer.validation
    sentences = [] if found.status is ValidationStatus.VALIDATED else [found.reason]
    if found.quality is not None:
        sentences += found.quality.lint or ()
    if answer.beside is not None:
        sentences += [sentence for sentence in answer.beside.why if found.reason not in sentence]
    return " ".join(sentences)


def _status(beside: Beside) -> str:
    recorded = beside.recorded
    return recorded.status.value if recorded.status else str(recorded.released.get("status", "–"))


def _resolves(verdict: Verdict | None) -> str:
    from fourhands.model.outcome import Verdict

    return "–" if verdict in {None, Verdict.NONE} else _yes(verdict is Verdict.RESOLVED)


def _yes(value: bool | None) -> str:
    return "–" if value is None else "yes" if value else "no"


def _shown(text: str) -> str:
    from fourhands.report.text import visible

    return visible(text, keep="")


def _as_json(answers: Sequence[Answer], notes: Sequence[str]) -> str:
    import json

    return json.dumps(
        {"schema": 1, "validations": [_answer_json(answer) for answer in answers], "notes": list(notes)},
        indent=2,
    )


def _answer_json(answer: Answer) -> dict[str, Any]:
    from fourhands.edits.validations_file import validation_json

    found = {name: value for name, value in validation_json(answer.validation).items() if name != "schema"}
    beside = answer.beside
    held = beside and {
        "recorded": beside.recorded.model_dump(mode="json", by_alias=True),
        "differs": beside.differs,
        "why": list(beside.why),
    }
    return {"kind": answer.asked.candidate.kind.value, **found, "beside": held}
