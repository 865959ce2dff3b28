"""``fourhands power``: how many tasks and repeats it takes to show a difference."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourhands.model.errors import InputError

if TYPE_CHECKING:
    from fourhands.analysis.sizing import Needed, Sizing
    from fourhands.report.table import TableView

__all__ = ["power"]

_SCHEMA = 1
_POINTS = 100
"""A difference of rates is no larger."""


def power(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUN…]", help="Finished runs to estimate from; without any, give --rate."),
    ] = None,
    delta: Annotated[
        float, typer.Option(help="The difference to show, in percentage points: -5 is from 75% to 70%.")
    ] = -5.0,
    repeats: Annotated[
        str, typer.Option(help="Repeats of each task under each condition, comma-separated.")
    ] = "1,3,5",
    power: Annotated[float, typer.Option(help="The chance to show it, from 0 to 1.")] = 0.8,
    rate: Annotated[
        float | None, typer.Option(help="Without a run: the resolve rate under vanilla, from 0 to 1.")
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            help="With --rate: how much of outcomes' variance lies between tasks, from 0 (all are equally hard) to 1 "
            "(each is always solved or never); default: 0.3."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """Tell how many tasks and repeats show a difference between vanilla and a condition.

    From how outcomes varied in finished runs, or from rates that are assumed. The test is paired by task, two-sided
    at 5%.

    Example: fourhands power runs/a --delta -5

    Example: fourhands power --rate 0.75 --delta -5 --repeats 1,3
    """
    # Not a number is neither side of anything: `not` refuses it as well.
    if not (delta and -_POINTS <= delta <= _POINTS):
        raise InputError(f"--delta {delta:g}: give percentage points from -100 to 100, and not 0, such as -5")
    counts = _counts(repeats)
    if rate is None and runs and spread is None:
        document, table = _from_runs(runs, delta, counts, chance=power)
    elif rate is not None and not runs:
        spread = _SPREAD if spread is None else spread
        document, table = _from_rates(rate, spread, delta, counts, chance=power)
    else:
        raise InputError("power: give a finished run, or --rate (and maybe --spread) without a run")
    _print(document | {"delta": delta / 100, "power": power}, table, json=json)


_SPREAD = 0.3


def _from_runs(
    runs: Sequence[Path], delta: float, repeats: Sequence[int], *, chance: float
) -> tuple[dict[str, Any], TableView]:
    from fourhands.analysis.sizing import sizings
    from fourhands.cli.console import errors
    from fourhands.report.loading import load_study
    from fourhands.report.views.sizing import sizes

    study = load_study(runs)
    for told in study.skipped:
        errors().print(f"· {told}", markup=False, highlight=False, soft_wrap=True)
    rows = sizings(study, delta / 100, repeats, chance=chance)
    table = sizes(rows, delta / 100, repeats, chance=chance)
    if table is None:
        names = ", ".join(map(str, runs))
        raise InputError(f"{names}: nothing but vanilla was run: there is no difference to size a run for")
    return {"source": "runs", "runs": [str(run) for run in runs], "rows": list(map(_row_json, rows))}, table


def _from_rates(
    rate: float, spread: float, delta: float, repeats: Sequence[int], *, chance: float
) -> tuple[dict[str, Any], TableView]:
    from fourhands.analysis.sizing import needed
    from fourhands.analysis.statistics import assumed_variance
    from fourhands.report.views.sizing import assumed_sizes

    rows = needed(delta / 100, repeats, assumed_variance(rate, delta / 100, spread), chance=chance)
    table = assumed_sizes(rows, delta / 100, rate=rate, chance=chance)
    assert table
    document = {"source": "assumed", "rate": rate, "spread": spread, "needed": list(map(_needed_json, rows))}
    return document, table


def _counts(repeats: str) -> list[int]:
    texts = [text.strip() for text in repeats.split(",")]
    if not all(text.isascii() and text.isdigit() and int(text) for text in texts):
        raise InputError(f"--repeats {repeats!r}: give whole numbers from 1, such as 1,3,5")
    return list(dict.fromkeys(map(int, texts)))


def _print(document: dict[str, Any], table: TableView, *, json: bool) -> None:
    import orjson

    from fourhands.cli.console import output
    from fourhands.report.rendering.terminal import terminal

    if json:
        text = orjson.dumps({"schema": _SCHEMA, **document}, option=orjson.OPT_INDENT_2).decode()
        output().file.write(text + "\n")
    else:
        output().print(terminal(table))


def _row_json(row: Sizing) -> dict[str, Any]:
    variance = row.variance
    return {
        "agent": row.agent,
        "model": row.model,
        "condition": row.condition,
        "tasks": row.tasks,
        "repeats": row.repeats,
        "delta": row.delta,
        "variance": variance
        and {
            "between": variance.between,
            "within": variance.within,
            "separated": variance.separated,
        },
        "power": row.power,
        "needed": list(map(_needed_json, row.needed)),
        "factors": row.factors,
        "lacks": row.lacks or None,
    }


def _needed_json(needed: Needed) -> dict[str, Any]:
    """Of what is only known to be enough, ``tasks`` and ``trials`` are unknown, and ``tasks_at_most`` is given."""
    known = None if needed.is_most else needed
    return {
        "repeats": needed.repeats,
        "tasks": known and known.tasks,
        "trials": known and known.trials,
        "tasks_at_most": needed.tasks,
    }
