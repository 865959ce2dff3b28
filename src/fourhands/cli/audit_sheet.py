"""``fourhands audit sheet``: what people are asked, without a word of whose work it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fourhands.judge.people.drawing import ShownItem
    from fourhands.judge.people.key_file import Key
    from fourhands.judge.people.population import JudgeAnswers, Population
    from fourhands.model.audit import Audit
    from fourhands.report.audit_sheet.model import SheetPage
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["population_of", "sheet"]


def sheet(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    audit: Annotated[
        Literal["swe-interact", "swe-touch", "goals"],
        typer.Option(
            help="What is asked: why conversations failed, why trials failed under edits, or how much of a goal a "
            "plan or a change reaches."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for the sheet.")],
    size: Annotated[
        int | None, typer.Option(min=1, help="Items in the sheet; default: all there are.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 0,
    judge: Annotated[
        str | None, typer.Option(help="Model by whose answers items are drawn, where several have answered.")
    ] = None,
) -> None:
    """Write a sheet for people to answer what a judge model is asked, not knowing whose work they read.

    FOLDER/sheet.html shows one item at a time, works from disk and saves answers-NAME.csv; FOLDER/sheet.csv is the
    same to fill in by hand. FOLDER/key.json says which item is whose: keep it from those who answer. With --size half
    of the items are of trials that execution and events leave open, by which a judge is trusted; where a judge has
    opinions, of these it is by its answers, so that rare labels and trials without them are among them. Only what it
    has read is drawn. The same command draws the same sheet.

    Example: fourhands audit sheet runs/a runs/b --audit swe-interact --out sheet --size 60

    Example: fourhands audit sheet runs/a --audit goals --out sheet --size 80 --judge NAME
    """
    from fourhands.cli.console import errors
    from fourhands.cli.destinations import see_that_folder_can_be
    from fourhands.judge.people.drawing import draw_key
    from fourhands.judge.people.key_file import see_that_sheet_can_be, write_key
    from fourhands.judge.people.population import judges_of
    from fourhands.judge.people.sheet_csv import blank_sheet
    from fourhands.model.audit import AUDITS, AuditName
    from fourhands.report.audit_sheet.page import sheet_page
    from fourhands.tasks.cache import write_whole

    see_that_folder_can_be(out, "--out")
    asked = AUDITS[AuditName(audit)]
    folders, found = population_of(runs, asked)
    judges = judges_of(folders, asked.name, found.units)
    by = _by(judges, judge)
    key = draw_key(folders, asked, found, by, size=size, seed=seed, out=out)
    items = _shown(folders, key)
    key = key.showing({each.name: each.left_out for each in items})
    see_that_sheet_can_be(out, key)
    page = sheet_page(_page(asked, key, items))
    write_whole(out / "sheet.html", page.encode("utf-8", "replace"))
    write_whole(out / "sheet.csv", blank_sheet(asked, [name for _, name in key.drawn]))
    write_key(out, key)
    for line in _told(out, key, by):
        errors().print(line, markup=False, soft_wrap=True)


def population_of(runs: Sequence[Path], audit: Audit) -> tuple[list[RunFolder], Population]:
    """The runs, and all that an audit may ask of them. Raises InputError: one is no run, or is given twice."""
    from fourhands.judge.audit.choosing import population
    from fourhands.judge.people.population import goal_population, trial_population
    from fourhands.model.audit import AuditName
    from fourhands.model.errors import InputError
    from fourhands.report.loading import load_study
    from fourhands.trajectories.run_folder import RunFolder

    folders = [RunFolder(run) for run in runs]
    ids = [folder.plan().run_id for folder in folders]
    if twice := next((run for at, run in enumerate(ids) if run in ids[:at]), None):
        raise InputError(f"{runs[ids.index(twice)]}: run {twice} is given twice: give it once")
    if audit.name is AuditName.GOALS:
        return folders, goal_population(folders)
    failed = [
        {each.trial.trial: bool(each.left) for each in population(load_study([run]), audit.name)}
        for run in runs
    ]
    return folders, trial_population(folders, failed)


def _by(judges: dict[str, JudgeAnswers], name: str | None) -> JudgeAnswers | None:
    from fourhands.judge.people.population import judge_named

    if name is not None:
        return judge_named(judges, name)
    if len(judges) > 1:
        from fourhands.model.errors import InputError

        raise InputError(f"{len(judges)} judges have answered: name one with --judge: {', '.join(judges)}")
    return next(iter(judges.values()), None)


def _shown(folders: Sequence[RunFolder], key: Key) -> list[ShownItem]:
    from fourhands.cli.console import errors
    from fourhands.judge.people.drawing import shown_items

    items = []
    for each in shown_items(folders, key):
        items.append(each)
        errors().print(f"[{len(items)}/{len(key.drawn)}] {each.name}", markup=False)
    return items


def _page(audit: Audit, key: Key, items: Sequence[ShownItem]) -> SheetPage:
    from fourhands.judge.people.answers_file import NO, YES
    from fourhands.judge.people.sheet_csv import ANNOTATOR, ITEM, NOTE, label_columns
    from fourhands.model.audit import AuditName, Choice
    from fourhands.report.audit_sheet.model import SheetItem, SheetPage

    return SheetPage(
        sheet=key.digest[:20],
        question=audit.question,
        labels=tuple((label.name, label.meaning) for label in audit.labels),
        any_of=audit.choice is Choice.ANY,
        columns=(ITEM, *label_columns(audit), NOTE, ANNOTATOR),
        words=(YES, NO),
        items=tuple(
            SheetItem(each.name, each.asks, each.text, audit.name is not AuditName.GOALS, each.left_out)
            for each in items
        ),
    )


def _told(out: Path, key: Key, by: JudgeAnswers | None) -> Iterator[str]:
    from fourhands.model.agreement import LEAST_ITEMS
    from fourhands.model.audit import AuditName

    of = len(key.population)
    how = "all there are"
    if key.sampled != "all":
        how = (
            f"of {of}, by the answers of {key.by}"
            if key.by
            else f"of {of}, at random: no judge has answered yet"
        )
    yield (
        f"{len(key.drawn)} items, {how}, in {out / 'sheet.html'} and {out / 'sheet.csv'}. "
        f"Keep {out / 'key.json'} from those who answer: it says whose each is."
    )
    if by and len(by.answers) < of:
        older = f" ({by.outdated} with an older prompt)" if by.outdated else ""
        yield f"{by.judge} has not read {of - len(by.answers)} of {of}{older}: the sheet has none of these."
    if key.audit is not AuditName.GOALS:
        left = len(key.counted & {place for place, _ in key.drawn})
        few = f"; with fewer than {LEAST_ITEMS} it cannot be" if left < LEAST_ITEMS else ""
        yield f"{left} of the items are left open by execution and events: by these a judge is trusted or not{few}."
