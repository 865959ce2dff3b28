"""``fourhands conversations score``: what a judge model makes of plans and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from fourhands.analysis.trust import Trust
    from fourhands.judge.judge import Judge
    from fourhands.judge.scoring import RunScores, ScoredAnchors, ScoredTrial
    from fourhands.judge.subjects import Which
    from fourhands.model.judgement import Judgements
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["score"]

_ARMS = ("condition", "trials", "plan", "end", "unscored", "off the checks")
_ANCHORS = ("task", "nothing", "reference", "reference as plan", "unscored")


def score(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    judge_model: Annotated[str, typer.Option(help="Model that judges, as its provider calls it.")],
    base_url: Annotated[str, typer.Option(help="Where it is reached (…/v1).")],
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the provider's key.")
    ] = "OPENAI_API_KEY",
    checkpoints: Annotated[
        Literal["all", "plan", "end"],
        typer.Option(help="What is judged: every plan and state, the plans, or the final state."),
    ] = "all",
    jobs: Annotated[int, typer.Option(min=1, help="Trials at once.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Have a model score the rubric of each task, goal by goal, on plans and on the code at each checkpoint.

    Only scores whose quotations stand in the plan or the diff count. Beside them stands what the judge gives for
    nothing, for the reference, and for the reference as a plan. What has been asked once is not asked again; an
    interrupted command is gone on with by giving it again. Ends with 1 when something could not be judged at all.

    Example: fourhands conversations score runs/a --judge-model NAME --base-url URL

    Example: fourhands conversations score runs/a --judge-model NAME --base-url URL --checkpoints plan --json
    """
    from fourhands.cli.console import errors, output
    from fourhands.judge.live import live_judge
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import RunFolder

    folder = RunFolder(run)
    if not folder.plan_path.exists():
        raise InputError(f"{run} is no run: it has no plan.json")
    judge = live_judge(folder, model=judge_model, base_url=base_url, api_key_env=api_key_env)
    with folder.locked():
        scores = _score(folder, judge, checkpoints, jobs)
    trust = _trust(folder, scores)
    if json:
        output().file.write(_json(folder, scores, trust))
    else:
        _print(scores, trust)
    if failed := _without_answer(scores):
        for line in failed:
            errors().print(line, markup=False, soft_wrap=True)
        errors().print("The same command asks for these again.", markup=False)
        raise typer.Exit(1)


def _score(folder: RunFolder, judge: Judge, which: Which, jobs: int) -> RunScores:
    import asyncio

    from fourhands.cli.console import errors
    from fourhands.judge.scoring import score_run

    def say(done: int, total: int, scored: ScoredTrial | ScoredAnchors) -> None:
        states = len(scored.judgements.states)
        line = f"[{done}/{total}] {_name(scored)}: {states} texts, {scored.asked} asked about"
        errors().print(line, markup=False, soft_wrap=True)

    try:
        return asyncio.run(score_run(folder, judge, which=which, concurrency=jobs, watch=say))
    except KeyboardInterrupt:
        errors().print("Interrupted. The same command goes on from what is done.", markup=False)
        raise typer.Exit(130) from None


def _name(scored: ScoredTrial | ScoredAnchors) -> str:
    from fourhands.judge.scoring import ScoredTrial

    return str(scored.key) if isinstance(scored, ScoredTrial) else f"{scored.task} · anchors"


def _without_answer(scores: RunScores) -> list[str]:
    scored: list[ScoredTrial | ScoredAnchors] = [*scores.anchors, *scores.trials]
    return [
        f"{_name(each)} · {state.state}: {state.judgement.problem}"
        for each in scored
        for state in each.judgements.states
        if state.judgement.problem
    ]


def _trust(folder: RunFolder, scores: RunScores) -> Trust:
    """How far the judge agrees with people on goals, as it was measured for this run."""
    from fourhands.analysis.findings.judged import goals_voice
    from fourhands.analysis.trust import trust_among
    from fourhands.judge.prompts import PROMPT_VERSION
    from fourhands.trajectories.audits import agreements_of

    return trust_among(agreements_of(folder), goals_voice(scores.judge, PROMPT_VERSION))


def _json(folder: RunFolder, scores: RunScores, trust: Trust) -> str:
    from dataclasses import asdict

    import orjson

    from fourhands.judge.prompts import PROMPT_VERSION
    from fourhands.judge.summary import arm_scores
    from fourhands.trajectories.judgements import judgements_json

    document = {
        "schema": 1,
        "run": str(folder.path),
        "judge": scores.judge,
        "prompt_version": PROMPT_VERSION,
        "audited": trust.is_audited,
        "trusted": trust.is_trusted,
        "kappa": trust.kappa,
        "rows": [asdict(arm) for arm in arm_scores(scores)],
        "trials": [
            {"trial": each.key.slug, "states": judgements_json(each.judgements)["states"]}
            for each in scores.trials
        ],
        "anchors": [
            {"task": each.task, "states": judgements_json(each.judgements)["states"]}
            for each in scores.anchors
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _print(scores: RunScores, trust: Trust) -> None:
    from fourhands.cli.console import output
    from fourhands.judge.summary import arm_scores
    from fourhands.report.rendering.terminal import plain_table

    if not scores.trials:
        output().print(
            "Nothing to score: no ended trial of a task with a ledger has checkpoints. They are taken under "
            "single-turn, interactive and four-hands."
        )
        return
    arms = arm_scores(scores)
    for agent in dict.fromkeys(f"{arm.agent} · {arm.model}" for arm in arms):
        rows = [
            [
                arm.condition,
                str(arm.trials),
                _number(arm.plan),
                _number(arm.end),
                f"{arm.unscored} of {arm.points}",
                _number(arm.from_checks),
            ]
            for arm in arms
            if f"{arm.agent} · {arm.model}" == agent
        ]
        output().print(agent, style="bold", markup=False)
        output().print(plain_table(_ARMS, (False, *[True] * 5), rows))
    output().print("What the judge gives for", style="bold", markup=False)
    output().print(plain_table(_ANCHORS, (False, *[True] * 4), map(_anchor_cells, scores.anchors)))
    note = (
        f"Rubric scores, 0 to 100, by {scores.judge}: {_standing(trust)} "
        "Points whose evidence does not stand in the text are unscored and left out. Off the checks: how far it is "
        "on average from what executable checks found, point by point."
    )
    output().print(note, markup=False)


def _standing(trust: Trust) -> str:
    if not trust.is_audited:
        return "unaudited, no person has checked how far it can be trusted."
    return f"{trust.told} with people, on goals."


def _anchor_cells(scored: ScoredAnchors) -> list[str]:
    from fourhands.judge.summary import state_named, unscored

    found: Judgements = scored.judgements
    points: int = sum(len(each.judgement.scores) for each in found.states)
    values: list[Any] = [state_named(found, name) for name in ("empty", "reference", "reference-as-plan")]
    return [scored.task, *map(_number, values), f"{unscored(found.states)} of {points}"]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
