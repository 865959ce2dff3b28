"""``fourhands compare``: two runs, before and after a change, task by task, with gates for CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fourhands.analysis.comparison import Comparison
    from fourhands.analysis.gates import GateResult

__all__ = ["compare"]

_FORMATS = ("terminal", "markdown", "json")


def compare(
    before: Annotated[Path, typer.Argument(help="Folder of the first run.")],
    after: Annotated[Path, typer.Argument(help="Folder of the second run, of the same tasks.")],
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            help="What must not be: retention<0.9, counter-edit:change<-0.05, …; may be given several times; "
            "default: regression (it became worse, and that is more than chance: 5 %, one-sided)."
        ),
    ] = None,
    format: Annotated[  # noqa: A002 - what the option is called
        str | None,
        typer.Option(help="terminal, markdown (as GitHub shows it), or json; default: terminal."),
    ] = None,
    junit: Annotated[Path | None, typer.Option(help="Also write JUnit's XML to this file.")] = None,
    story: Annotated[
        str | None, typer.Option(help="A task: put its trials in both runs side by side, on a page.")
    ] = None,
    condition: Annotated[
        str | None, typer.Option(help="Of which condition the story is; default: the first but vanilla.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The story's page; default: story.html.")] = None,
) -> None:
    """Compare two runs task by task; exits with 1 where a gate fails.

    Example: fourhands compare runs/main runs/branch --fail-if "retention<0.9" --junit compare.xml
    """
    from fourhands.analysis.comparison import compare as compared
    from fourhands.analysis.gates import REGRESSION, check, parse_gate
    from fourhands.cli.console import errors, output
    from fourhands.cli.destinations import see_that_file_can_be
    from fourhands.model.errors import InputError
    from fourhands.report.junit import junit as as_junit
    from fourhands.report.loading import load_study
    from fourhands.trajectories.run_folder import write_atomically

    if story is not None:
        from fourhands.cli.side_by_side import write_side_by_side

        _see_that_none_is_given(
            {"--fail-if": fail_if, "--format": format, "--junit": junit}, "without --story"
        )
        page = out or Path("story.html")
        see_that_file_can_be(page, "--out")
        address = write_side_by_side((before, after), story, condition, page)
        output().print(f"Side by side: {address}", markup=False, highlight=False, soft_wrap=True)
        return
    _see_that_none_is_given({"--condition": condition, "--out": out}, "with --story TASK")
    form = format or _FORMATS[0]
    if form not in _FORMATS:
        raise InputError(f"format {form!r}: choose from {', '.join(_FORMATS)}")
    if junit is not None:
        see_that_file_can_be(junit, "--junit")
    gates = [parse_gate(text) for text in (fail_if or [REGRESSION])]
    studies = [load_study([run]) for run in (before, after)]
    comparison = compared(*studies)
    if not comparison.changes:
        only = "; ".join(comparison.unmatched) or "no trials"
        raise InputError(f"{before} and {after} have nothing in common to compare: {only}")
    results = check(comparison, gates)
    _print(comparison, results, form)
    for told in (*(skipped for study in studies for skipped in study.skipped), *comparison.unmatched):
        errors().print(f"· {told}", markup=False, highlight=False, soft_wrap=True)
    if junit is not None:
        write_atomically(junit, as_junit(comparison, results))
    if any(result.failed for result in results):
        raise typer.Exit(1)


def _see_that_none_is_given(options: Mapping[str, object], only: str) -> None:
    """See that no option is given that would be left unheeded.

    Raises:
        InputError: one is; names it, and says how alone it can be given.
    """
    from fourhands.model.errors import InputError

    for name, given in options.items():
        if given not in (None, []):
            raise InputError(f"{name}: can be given only {only}")


def _print(comparison: Comparison, results: Sequence[GateResult], format_name: str) -> None:
    from fourhands.cli.console import output
    from fourhands.report.rendering.markdown import markdown
    from fourhands.report.rendering.terminal import terminal
    from fourhands.report.views import comparison as views

    if format_name == "json":
        output().file.write(_json(comparison, results) + "\n")
        return
    tables = [views.arms(comparison), views.tasks(comparison, changed_only=True)]
    if format_name == "markdown":
        parts = [markdown(table) for table in tables if table]
        parts.append("\n".join(f"- {line}" for line in _verdicts(results)) + "\n")
        output().file.write("\n".join(parts))
        return
    for table in tables:
        if table:
            output().print(terminal(table))
    output().print()
    for line in _verdicts(results):
        output().print(line, markup=False, highlight=False, soft_wrap=True)


def _verdicts(results: Sequence[GateResult]) -> list[str]:
    from fourhands.report.text import visible

    return [
        visible(
            f"{'FAILED' if each.failed else 'passed'}: {each.gate.text} · {each.arm} ({each.why})", keep=""
        )
        for each in results
    ]


def _json(comparison: Comparison, results: Sequence[GateResult]) -> str:
    import orjson

    from fourhands.analysis.comparison import lacking
    from fourhands.report.rendering.records import records
    from fourhands.report.views import comparison as views

    arms, tasks = views.arms(comparison), views.tasks(comparison, changed_only=False)
    document = {
        "schema": 1,
        "arms": records(arms) if arms else [],
        "tasks": records(tasks) if tasks else [],
        "incomplete": [
            {"arm": arm.name, "task": missing.task, "why": lacking(missing)}
            for arm in comparison.changes
            for missing in arm.incomplete
        ],
        "gates": [
            {
                "gate": each.gate.text,
                "arm": each.arm,
                "value": each.value,
                "failed": each.failed,
                "why": each.why,
            }
            for each in results
        ],
        "failed": any(each.failed for each in results),
        "unmatched": list(comparison.unmatched),
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
