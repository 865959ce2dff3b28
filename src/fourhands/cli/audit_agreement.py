"""``fourhands audit agreement``: how far judges agree with people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from fourhands.judge.people.answers_file import PersonsAnswers
    from fourhands.judge.people.key_file import Key
    from fourhands.judge.people.measuring import Elsewhere, Measured
    from fourhands.judge.people.population import JudgeAnswers
    from fourhands.model.agreement import Agreement, ClassAgreement, Estimate
    from fourhands.model.audit import Audit
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["agreement"]

_COLUMNS = ("label", "people", "κ", "sensitivity", "specificity", "judged", "corrected")
_COUNTED = ("left open", "people", "κ", "people's own κ", "verdict")


def agreement(
    sheet: Annotated[Path, typer.Argument(help="Folder of the sheet.")],
    answers: Annotated[
        list[Path],
        typer.Argument(help="What people saved: answers-NAME.csv, or sheet.csv filled in, one for each."),
    ],
    judge: Annotated[
        str | None, typer.Option(help="Model that is measured; default: all that have answered.")
    ] = None,
    into: Annotated[
        list[Path] | None,
        typer.Option(help="Further runs that it is written into: they are of the same kind as the sheet's."),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            help="Take the place of what was measured by this sheet, though not all who answered then are among "
            "these."
        ),
    ] = False,
    epsilon: Annotated[
        float, typer.Option(min=0, max=1, help="Handicap of people in the alternative-annotator test.")
    ] = 0.2,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Hold what judges say of a sheet's items against what most people say, and write it into the sheet's runs.

    From then on a judge's numbers stand in the tables of these runs with its κ on what execution and events leave
    open, and no longer as unaudited; below 0.6, or where there is too little to say, they never make a headline. What
    other sheets came to stays beside it, and the least counts. A sample from which nobody could tell what a judge
    flags wrongly, and items that have changed since, are refused.

    Example: fourhands audit agreement sheet answers-ann.csv answers-bob.csv answers-eve.csv

    Example: fourhands audit agreement sheet answers-*.csv --judge NAME --into runs/c --json
    """
    from fourhands.cli.console import errors, output
    from fourhands.judge.people.answers_file import read_answers
    from fourhands.judge.people.drawing import see_that_records_are_the_same, unit_of
    from fourhands.judge.people.key_file import read_key
    from fourhands.judge.people.population import judge_named, judges_of

    key, audit, folders = read_key(sheet)
    see_that_records_are_the_same(folders, key)
    people = read_answers(audit, [name for _, name in key.drawn], answers)
    judges = judges_of(folders, audit.name, [unit_of(entry) for entry in key.population])
    wanted = [judge_named(judges, judge)] if judge else list(judges.values())
    measured, problems = _measure(key, audit, people, wanted, epsilon)
    places = [place for each in measured for place in _places(folders, into or [], each, audit)]
    if not replace:
        for place in places:
            _see_that_nobody_is_dropped(*place)
    written = [_write(*place) for place in places]  # only now: all of it, or nothing
    if json:
        output().file.write(_json(sheet, key, audit, people, measured, problems, written))
    else:
        _print(key, audit, people, measured)
    for line in [*problems, *(f"written: {path}" for path in written)]:
        errors().print(line, markup=False, soft_wrap=True)
    if problems:
        raise typer.Exit(1)


def _measure(
    key: Key, audit: Audit, people: Sequence[PersonsAnswers], judges: Sequence[JudgeAnswers], epsilon: float
) -> tuple[list[Measured], list[str]]:
    """What was found of each judge, and why nothing was of others; a lone judge's refusal is raised."""
    from fourhands.judge.people.measuring import measure
    from fourhands.model.errors import InputError

    measured, problems = [], []
    for each in judges:
        try:
            measured.append(measure(key, audit, people, each, epsilon=epsilon))
        except InputError as error:
            if len(judges) == 1:
                raise
            problems.append(f"unaudited: {error}")
    return measured, problems


def _places(
    folders: Sequence[RunFolder], into: Sequence[Path], measured: Measured, audit: Audit
) -> Iterator[tuple[RunFolder, Agreement]]:
    """The runs that an agreement is written into, with what it is there."""
    from fourhands.trajectories.run_folder import RunFolder

    yield from ((folder, measured.agreement) for folder in folders)
    own = {folder.path.resolve() for folder in folders}
    for path in into:
        if path.resolve() not in own:
            yield RunFolder(path), measured.elsewhere(_elsewhere(path, measured.agreement, audit))


def _elsewhere(run: Path, agreement: Agreement, audit: Audit) -> Elsewhere:
    from fourhands.cli.audit_sheet import population_of
    from fourhands.judge.people.measuring import Elsewhere
    from fourhands.judge.people.population import judges_of
    from fourhands.model.errors import InputError

    folders, found = population_of([run], audit)
    said = judges_of(folders, audit.name, found.units).get(agreement.judge)
    if said is None:
        return Elsewhere(dict.fromkeys(audit.names, 0), 0, len(found.units))
    if said.prompt_version != agreement.prompt_version:
        raise InputError(
            f"--into {run}: {agreement.judge} was asked there with version {said.prompt_version} of its prompt, and "
            f"of the sheet's items with version {agreement.prompt_version}: have it asked again"
        )
    answers = said.answers.values()
    gives = {label: sum(label in answer for answer in answers) for label in audit.names}
    return Elsewhere(gives, len(answers), len(found.units))


def _see_that_nobody_is_dropped(folder: RunFolder, found: Agreement) -> None:
    """Raises InputError: by the same sheet more people have been heard: who does not suit could be left out."""
    from fourhands.model.errors import InputError
    from fourhands.trajectories.audits import agreement_path, read_agreement

    path = agreement_path(folder, found)
    if not path.exists():
        return
    dropped = set(read_agreement(path).annotators) - set(found.annotators)
    if dropped:
        raise InputError(
            f"{path}: was measured with the answers of {', '.join(sorted(dropped))} as well: give theirs too, or "
            "--replace it"
        )


def _write(folder: RunFolder, found: Agreement) -> Path:
    from fourhands.trajectories.audits import agreement_path, write_agreement

    path = agreement_path(folder, found)
    write_agreement(path, found)
    return path


def _verdict(found: Agreement) -> str:
    from fourhands.analysis.trust import Trust
    from fourhands.model.agreement import Verdict

    told = Trust(found).told
    return told if found.verdict() is Verdict.TOO_LITTLE else f"{found.verdict()}: {told}"


def _json(
    sheet: Path,
    key: Key,
    audit: Audit,
    people: Sequence[PersonsAnswers],
    measured: Sequence[Measured],
    problems: Sequence[str],
    written: Sequence[Path],
) -> str:
    from dataclasses import asdict

    import orjson

    from fourhands.judge.people.pairs import among_people

    document = {
        "schema": 1,
        "sheet": str(sheet),
        "audit": audit.name,
        "audit_version": audit.version,
        "sampled": key.sampled,
        "items": len(key.drawn),
        "answered": {person.name: len(person.answers) for person in people},
        "people": among_people(key, audit, people),
        "judges": [
            {
                "trusted": each.agreement.is_trusted,
                "verdict": _verdict(each.agreement),
                "ties": each.ties,
                "unanswered": each.unanswered,
                "without_opinion": each.without_opinion,
                "notes": each.notes,
                "agreement": asdict(each.agreement),
            }
            for each in measured
        ],
        "problems": problems,
        "written": [str(path) for path in written],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _print(key: Key, audit: Audit, people: Sequence[PersonsAnswers], measured: Sequence[Measured]) -> None:
    from fourhands.cli.console import output
    from fourhands.judge.people.pairs import among_people

    answered = ", ".join(f"{person.name} {len(person.answers)}" for person in people)
    among = among_people(key, audit, people)
    output().print(
        f"{audit.name}: {len(key.drawn)} items ({key.sampled}); answered: {answered}",
        markup=False,
    )
    output().print(f"People among themselves: κ {_number(among)}", markup=False)
    if not measured:
        output().print("No judge has answered: there is nobody to measure.", markup=False)
    for each in measured:
        _print_judge(audit, each)


def _print_judge(audit: Audit, measured: Measured) -> None:
    from fourhands.cli.console import output
    from fourhands.model.audit import AuditName, Choice
    from fourhands.report.rendering.terminal import plain_table

    found = measured.agreement
    output().print(f"\n{found.judge}: {_verdict(found)}", style="bold", markup=False)
    output().print(plain_table(_COLUMNS, (False, *[True] * 6), map(_cells, found.classes)))
    name = "AC2" if audit.choice is Choice.STEP else "AC1"
    output().print(
        f"κ {_estimate(found.kappa)}, {name} {_estimate(found.ac2)}, of {found.items} items that both have answered; "
        f"the judge has read {found.read} of {found.population}",
        markup=False,
    )
    if audit.name is not AuditName.GOALS:
        _print_counted(found)
    if test := found.alternative:
        output().print(
            f"Alternative-annotator test, ε {test.epsilon:g}, {test.annotators} people: "
            f"{'passed' if test.passed else 'not passed'}, winning rate {test.winning_rate:.2f}, "
            f"advantage {test.advantage:.2f}",
            markup=False,
        )
    for note in _notes(measured):
        output().print(note, markup=False)


def _print_counted(found: Agreement) -> None:
    """What the verdict goes by."""
    from fourhands.cli.console import output
    from fourhands.report.rendering.terminal import plain_table

    counted = found.counted
    rows = [
        [
            each.label,
            f"{each.positives} of {each.items}",
            _estimate(each.kappa),
            _number(each.people),
            found.verdict(each.label),
        ]
        for each in counted.classes
    ]
    if rows:
        output().print(plain_table(_COUNTED, (False, True, True, True, False), rows))
    own = f"κ {_estimate(counted.kappa)}, people's own κ {_number(counted.people)}, " if rows else ""
    output().print(
        f"{own}of {counted.items} items that execution and events leave open: the verdict goes by these",
        markup=False,
    )


def _notes(measured: Measured) -> Iterator[str]:
    counts: Mapping[str, int] = {
        "on which people are divided": measured.ties,
        "that nobody answered": measured.unanswered,
        "of which the judge has no opinion": measured.without_opinion,
    }
    told = [f"{n} {what}" for what, n in counts.items() if n]
    if told:
        yield f"Left out: items {', '.join(told)}."
    yield from (f"{note[0].upper()}{note[1:]}." for note in measured.notes)


def _cells(found: ClassAgreement) -> list[str]:
    return [
        found.label,
        f"{found.positives} of {found.items}",
        _estimate(found.kappa),
        _estimate(found.sensitivity),
        _estimate(found.specificity),
        _number(found.judged),
        _estimate(found.corrected),
    ]


def _estimate(found: Estimate | None) -> str:
    if found is None or found.low is None or found.high is None:
        return _number(found.value if found else None)
    return f"{_number(found.value)} [{_number(found.low)}, {_number(found.high)}]"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")
