"""``fourhands audit judge``: what a judge model says of why trials failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourhands.analysis.findings.evidence import Failure
    from fourhands.analysis.trust import Trust
    from fourhands.judge.audit.auditing import AuditedTrial
    from fourhands.judge.audit.auditor import Auditor
    from fourhands.judge.audit.choosing import On
    from fourhands.model.audit import Audit
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["judge"]

_POPULATIONS = {
    "swe-interact": "conversations that failed",
    "swe-touch": "failed trials of tasks that are mostly solved without the user's edits, and mostly not with them",
}


def judge(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    audit: Annotated[
        Literal["swe-interact", "swe-touch"],
        typer.Option(help="What is asked: why conversations failed, or why trials failed under edits."),
    ],
    judge_model: Annotated[str, typer.Option(help="Model that judges, as its provider calls it.")],
    base_url: Annotated[str, typer.Option(help="Where it is reached (…/v1).")],
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the provider's key.")
    ] = "OPENAI_API_KEY",
    on: Annotated[
        Literal["undecided", "all", "sample"],
        typer.Option(
            help="Trials it is asked about: those that execution and events left open, all, or a stratified sample."
        ),
    ] = "undecided",
    size: Annotated[int | None, typer.Option(min=1, help="Of a sample.")] = None,
    seed: Annotated[int, typer.Option(help="Of a sample.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Trials at once.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Have a model read the records of failed trials, and say why each failed, with the events that show it.

    It is not told whose a record is. What execution and events decide stays as it is, whatever it says: by itself it
    is asked about the rest, by which it is trusted or not. To see what it flags wrongly elsewhere as well, give --on
    sample, or all. What has been asked once is not asked again; an interrupted command is gone on with by giving it
    again. Ends with 1 when a trial got no opinion.

    Example: fourhands audit judge runs/a --audit swe-interact --judge-model NAME --base-url URL

    Example: fourhands audit judge runs/a --audit swe-touch --judge-model NAME --base-url URL --on sample --size 50
    """
    from fourhands.cli.console import errors, output
    from fourhands.judge.audit.choosing import chosen, population
    from fourhands.judge.live import live_auditor
    from fourhands.model.audit import AUDITS, AuditName
    from fourhands.model.errors import InputError
    from fourhands.report.loading import load_study
    from fourhands.trajectories.run_folder import RunFolder

    folder = RunFolder(run)
    if not folder.plan_path.exists():
        raise InputError(f"{run} is no run: it has no plan.json")
    if (on == "sample") != (size is not None):
        raise InputError("--size N: a sample needs it, and nothing else does: give --on sample --size N")
    asked = AUDITS[AuditName(audit)]
    auditor = live_auditor(folder, model=judge_model, base_url=base_url, api_key_env=api_key_env)
    with folder.locked():
        failures = population(load_study([run]), asked.name)
        wanted = chosen(failures, on, size=size, seed=seed)
        trials = _ask(folder, auditor, asked, [each.trial.trial for each in wanted], jobs)
    trust = _trust(folder, asked, auditor.name)
    if json:
        output().file.write(_json(folder, auditor.name, asked, trust, on, failures, trials))
    else:
        _print(auditor.name, asked, trust, on, failures, trials)
    _tell_of_ablation(folder, wanted)
    if failed := [each for each in trials if each.opinion.problem]:
        for each in failed:
            errors().print(f"{each.key}: {each.opinion.problem}", markup=False, soft_wrap=True)
        errors().print("The same command asks for these again.", markup=False)
        raise typer.Exit(1)


def _ask(
    folder: RunFolder, auditor: Auditor, audit: Audit, trials: Sequence[str], jobs: int
) -> tuple[AuditedTrial, ...]:
    import asyncio

    from fourhands.cli.console import errors
    from fourhands.judge.audit.auditing import audit_trials

    def say(done: int, total: int, audited: AuditedTrial) -> None:
        opinion = audited.opinion
        labels = ", ".join(dict.fromkeys(label.label for label in opinion.labels)) or "none of the labels"
        said = "no opinion" if opinion.problem else labels
        how = ", known" if audited.cached else ""
        errors().print(f"[{done}/{total}] {audited.key}: {said}{how}", markup=False, soft_wrap=True)

    try:
        return asyncio.run(audit_trials(folder, auditor, audit, trials, concurrency=jobs, watch=say))
    except KeyboardInterrupt:
        errors().print("Interrupted. The same command goes on from what is done.", markup=False)
        raise typer.Exit(130) from None


def _trust(folder: RunFolder, audit: Audit, judge: str) -> Trust:
    from fourhands.analysis.trust import Voice, trust_among
    from fourhands.judge.audit.prompts import AUDIT_PROMPT_VERSION
    from fourhands.trajectories.audits import agreements_of

    return trust_among(agreements_of(folder), Voice(audit.name, audit.version, judge, AUDIT_PROMPT_VERSION))


def _tell_of_ablation(folder: RunFolder, wanted: Sequence[Failure]) -> None:
    from fourhands.cli.console import errors

    if waiting := sum(each.waits for each in wanted):
        line = (
            f"{waiting} of these are not ablated, or not to the end; execution may decide them: fourhands ablate "
            f"{folder.path}"
        )
        errors().print(line, markup=False, soft_wrap=True)


def _json(
    folder: RunFolder,
    judge: str,
    audit: Audit,
    trust: Trust,
    on: On,
    failures: Sequence[Failure],
    trials: Sequence[AuditedTrial],
) -> str:
    from dataclasses import asdict

    import orjson

    from fourhands.judge.audit.prompts import AUDIT_PROMPT_VERSION
    from fourhands.judge.audit.summary import audit_counts
    from fourhands.trajectories.audits import opinion_json

    document = {
        "schema": 1,
        "run": str(folder.path),
        "audit": audit.name,
        "audit_version": audit.version,
        "judge": judge,
        "prompt_version": AUDIT_PROMPT_VERSION,
        "audited": trust.is_audited,
        "trusted": trust.is_trusted,
        "kappa": trust.kappa,
        "on": on,
        "population": len(failures),
        "undecided": sum(bool(each.left) for each in failures),
        "counts": asdict(audit_counts(audit, trials)),
        "trials": [
            {"trial": each.key.slug, "cached": each.cached, **opinion_json(each.opinion)} for each in trials
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _print(
    judge: str,
    audit: Audit,
    trust: Trust,
    on: On,
    failures: Sequence[Failure],
    trials: Sequence[AuditedTrial],
) -> None:
    from fourhands.cli.console import output
    from fourhands.judge.audit.summary import audit_counts
    from fourhands.report.rendering.terminal import plain_table

    what = _POPULATIONS[audit.name]
    if not trials:
        decided = len(failures)
        why = f"execution and events decide all {decided} {what}" if decided else f"there are no {what}"
        more = "; --on all asks about them all the same" if decided else ""
        output().print(f"Nothing to ask about: {why}{more}.", markup=False)
        return
    found = audit_counts(audit, trials)
    rows = [[name, str(count)] for name, count in found.labels.items()]
    rows += [["none of these", str(found.none)]] if found.none else []
    rows += [["no opinion", str(found.without)]] if found.without else []
    output().print(f"{audit.name}, by {judge}, {trust.told}", style="bold", markup=False)
    output().print(plain_table(("label", "trials"), (False, True), rows))
    which = {
        "undecided": f"the {len(trials)} that execution and events left open, of {len(failures)}",
        "all": f"all {len(failures)}",
        "sample": f"a stratified sample of {len(trials)} of {len(failures)}",
    }
    note = f"Asked about {which[on]} {what}. {_worth(trust)}"
    output().print(note, markup=False)


def _worth(trust: Trust) -> str:
    """What the numbers are worth, in a sentence."""
    if trust.is_trusted:
        return f"Its agreement with people, {trust.told}, is enough for a headline; its labels are estimates still."
    if trust.is_audited:
        return f"It agrees too little with people ({trust.told}) for any headline."
    if trust.agreement:
        return "Unaudited: of what people have read there is too little to say how far it can be trusted."
    return "Unaudited: no person has checked how far it can be trusted."
