"""``fourhands agents``: which there are, and whether they work on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from fourhands.engine.agents.checking.check import Checked
    from fourhands.engine.agents.registry import AgentEntry

__all__ = ["app"]

app = typer.Typer(help="List agents, and check that they work on this machine.", no_args_is_help=True)


@app.command(name="list")
def list_agents(
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """List the agents that can be run by name. Nothing is installed.

    Example: fourhands agents list
    """
    from rich.table import Column, Table

    from fourhands.cli.console import output
    from fourhands.engine.agents.registry import AGENTS

    rows = [_row(name, entry) for name, entry in AGENTS.items()]
    if json:
        _print_json({"schema": 1, "agents": rows})
        return
    table = Table(
        Column("name", no_wrap=True), "version", "wire", "asks by", "here", "needs", "reasoning efforts"
    )
    for row in rows:
        here = "no" if row["megabytes"] is None else f"{row['megabytes']} MB"
        shown = (row["name"], row["version"], row["wire"], row["asks_by"], here)
        table.add_row(*shown, ", ".join(row["needs"]), " ".join(row["efforts"]))
    output().print(table)


@app.command()
def check(
    agents: Annotated[
        list[str] | None, typer.Argument(help="Names; default: all that are installed.", show_default=False)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All there are; what is not here is installed, which takes minutes.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print one table, as in docs/agents.md.")
    ] = False,
) -> None:
    """Play one trial with each agent, and see that it is touched, spoken to, asks, ends, and is counted.

    It takes some ten seconds an agent, once that is installed. The model is a scripted one, served over HTTP on the
    agent's own API. Exits with 1 when something is not as it must be.

    Example: fourhands agents check claude-code codex
    """
    from fourhands.cli.console import output
    from fourhands.engine.agents.checking.check import check_agent
    from fourhands.engine.agents.checking.table import markdown_table

    checked = []
    for name in _chosen(agents or [], everything=everything):
        checked.append(_watched(name, check_agent))
        if not (json or markdown):
            _print_findings(checked[-1])
    if json:
        _print_json({"schema": 1, "agents": [_as_json(each) for each in checked]})
    if markdown:
        output().file.write(markdown_table(checked))
    if not all(each.ok for each in checked):
        raise typer.Exit(1)


def _chosen(names: list[str], *, everything: bool) -> list[str]:
    from fourhands.engine.agents.checking.installed import find_installed
    from fourhands.engine.agents.registry import AGENTS
    from fourhands.model.errors import InputError, MissingError

    if unknown := [name for name in names if name not in AGENTS]:
        raise InputError(f"unknown agent {unknown[0]!r}: choose from {', '.join(AGENTS)}")
    if everything and names:
        raise InputError("--all: leave out the names, or the option")
    if everything:
        return list(AGENTS)
    found = names or [name for name, entry in AGENTS.items() if find_installed(entry)]
    if not found:
        raise MissingError("no agent is installed here: name one, or give --all")
    return found


def _row(name: str, entry: AgentEntry) -> dict[str, Any]:
    from fourhands.engine.agents.checking.installed import find_installed

    installed = find_installed(entry)
    return {
        "name": name,
        "version": entry.version,
        "wire": entry.wire,
        "asks_by": "command" if entry.traits.asks_by_command else "tool",
        "efforts": list(entry.efforts),
        "megabytes": installed.megabytes if installed else None,
        "needs": list(entry.needs),
    }


def _watched(name: str, work: Any) -> Checked:
    """Check an agent, with what goes on shown while it does."""
    from rich.status import Status

    from fourhands.cli.console import errors

    console = errors()
    console.print(f"Checking {name} …", markup=False, soft_wrap=True)
    with Status(name, console=console) as status:

        def see(event: Any) -> None:
            status.update(f"{name}: {event.kind.value.replace('_', ' ')}")

        done: Checked = work(name, see)
    return done


def _print_findings(checked: Checked) -> None:
    from fourhands.cli.console import output

    output().print(checked.agent, markup=False)
    for finding in checked.findings:
        mark = "ok    " if finding.ok else "failed"
        output().print(f"  {mark}  {finding.what}: {finding.seen}", markup=False, soft_wrap=True)
        if not finding.ok:
            output().print(f"          → {finding.remedy}", markup=False, soft_wrap=True)
    if checked.kept:
        output().print(f"          its run is kept in {checked.kept}", markup=False, soft_wrap=True)


def _as_json(checked: Checked) -> dict[str, Any]:
    return {
        "name": checked.agent,
        "ok": checked.ok,
        "findings": [
            {"what": each.what, "ok": each.ok, "seen": each.seen, "remedy": each.remedy}
            for each in checked.findings
        ],
        "kept": str(checked.kept) if checked.kept else None,
    }


def _print_json(document: dict[str, Any]) -> None:
    import orjson

    from fourhands.cli.console import output

    output().file.write(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
