"""``fourhands doctor``: can this machine run trials?"""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["doctor"]


def doctor(json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False) -> None:
    """Check what trials need of this machine, and name the remedy for what is missing.

    Example: fourhands doctor
    """
    import asyncio

    import orjson

    from fourhands.cli.console import output
    from fourhands.engine.doctor import examine

    findings = asyncio.run(examine())
    if json:
        rows = [{"what": f.what, "ok": f.ok, "found": f.found, "remedy": f.remedy} for f in findings]
        output().file.write(
            orjson.dumps({"schema": 1, "findings": rows}, option=orjson.OPT_INDENT_2).decode() + "\n"
        )
    else:
        for finding in findings:
            mark = "ok     " if finding.ok else "missing"
            output().print(f"{mark}  {finding.what}: {finding.found}", markup=False, soft_wrap=True)
            if not finding.ok:
                output().print(f"         → {finding.remedy}", markup=False, soft_wrap=True)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(4)
