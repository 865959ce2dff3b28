"""``fourhands tasks``: which there are, and whether they are sound."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="List tasks, and check that they are sound.", no_args_is_help=True)


@app.command(name="list")
def list_tasks(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """List the tasks that can be run by name.

    Example: fourhands tasks list
    """
    import orjson
    from rich.table import Table

    from fourhands.cli.console import output
    from fourhands.tasks.find import list_known

    known = list_known()
    if json:
        rows = [
            {
                "name": task.name,
                "kind": task.kind,
                "title": task.title,
                "licence": task.licence,
                "lacks": task.lacks,
            }
            for task in known
        ]
        document = orjson.dumps({"schema": 1, "tasks": rows}, option=orjson.OPT_INDENT_2)
        output().file.write(document.decode() + "\n")
        return
    table = Table("name", "kind", "title", "licence")
    for task in known:
        table.add_row(task.name, task.kind, task.title, task.licence)
    output().print(table)
    for task in known:
        if task.lacks:
            output().print(task.lacks, markup=False, soft_wrap=True)


@app.command()
def check(
    tasks: Annotated[list[str], typer.Argument(help="Task names or folders.")],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Run a task's verifier on its base, its reference and its edits. Exits with 1 when one is not as it must be.

    Example: fourhands tasks check ledger-rounding
    """
    import asyncio

    import orjson

    from fourhands.cli.console import errors, output
    from fourhands.edits.check import Check, check_task
    from fourhands.tasks.find import find_tasks
    from fourhands.tasks.folder import Task, load_task

    async def work(task: Task) -> list[Check]:
        found = []
        async for each in check_task(task):
            mark = (
                "NOT AS IT MUST BE"
                if not each.holds
                else "either is sound"
                if each.expected is None
                else "ok"
            )
            line = f"{task.name}: {each.state}: {each.found} ({each.detail}): {mark}"
            errors().print(line, markup=False, soft_wrap=True)
            found.append(each)
        return found

    results = {task.name: asyncio.run(work(task)) for task in map(load_task, find_tasks(tasks))}
    if json:
        rows = [
            {
                "task": name,
                "state": c.state,
                "found": c.found,
                "expected": c.expected,
                "holds": c.holds,
                "detail": c.detail,
            }
            for name, checks in results.items()
            for c in checks
        ]
        output().file.write(
            orjson.dumps({"schema": 1, "checks": rows}, option=orjson.OPT_INDENT_2).decode() + "\n"
        )
    if not all(each.holds for checks in results.values() for each in checks):
        raise typer.Exit(1)
