"""What a reader of the tables must know: sentences that are there only where they apply."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from fourhands.analysis.findings.arms import FEW_REPEATS, Agent, Arm, Pairing, Trial, agents_of, trials_of
from fourhands.analysis.judge_cautions import judge_cautions
from fourhands.analysis.simulator_cautions import simulator_cautions
from fourhands.analysis.study import Study
from fourhands.analysis.words import count, listed, percent
from fourhands.model.outcome import Termination
from fourhands.model.trial import RECORDED, SCRIPTED

__all__ = ["cautions"]

_STAND_INS: Final = (
    (SCRIPTED, "scripted models. They follow a playbook; their numbers measure this product, not a model."),
    (RECORDED, "recorded actions, repeated whatever is said to them: no measurement of a live model."),
)
_VALIDATED: Final = "validated_counter_edit"


def cautions(study: Study) -> tuple[str, ...]:
    """All that apply, what weighs most first."""
    trials = trials_of(study)
    agents = agents_of(study)
    return (
        *_stand_ins(trials),
        *_missing_vanilla(agents),
        *_unscored(trials),
        *_incomplete(agents),
        *_fewer_tasks(agents),
        *_repeats(agents),
        *_not_delivered(agents),
        *_messages(agents),
        *_protocol(agents),
        *_budget(trials),
        *_tokens(trials),
        *_records(trials),
        *_pooled(trials),
        *_versions(trials),
        *_digests(study),
        *_rubric_judges(study),
        *judge_cautions(study),
        *simulator_cautions(study),
    )


def _stand_ins(trials: Sequence[Trial]) -> Iterator[str]:
    models = sorted({trial.model for trial in trials})
    for prefix, says in _STAND_INS:
        if names := [model for model in models if model.startswith(prefix)]:
            yield f"{listed(names)}: {says}"


def _missing_vanilla(agents: Sequence[Agent]) -> Iterator[str]:
    alone = [agent for agent in agents if agent.vanilla is None]
    for talks, what in ((False, "vanilla was not run"), (True, "neither vanilla nor single-turn was run")):
        if names := [_name(agent) for agent in alone if all(arm.talks for arm in agent.arms) is talks]:
            yield f"{listed(names)}: {what}, so there is nothing to compare with."


def _unscored(trials: Sequence[Trial]) -> Iterator[str]:
    lacking = [trial for trial in trials if trial.applies and not trial.scored]
    if not lacking:
        return
    whys = Counter(trial.why or trial.termination or "not run" for trial in lacking)
    told = listed([f"{why} ({n})" for why, n in whys.most_common()])
    yield (
        f"{len(lacking)} of {count(len(trials), 'trial')} have no outcome that counts and are not scored, as a loss "
        f"or otherwise: {told}."
    )


def _incomplete(agents: Sequence[Agent]) -> Iterator[str]:
    for arm, pairing, baseline in _compared(agents):
        if not pairing.incomplete:
            continue
        tasks: dict[str, list[str]] = defaultdict(list)
        for each in pairing.incomplete:
            sides = [f"{baseline.condition} {each.vanilla}"] if each.vanilla else []
            sides += [f"{arm.condition} {each.condition}"] if each.condition else []
            tasks[" and ".join(sides)].append(each.task)
        told = "; ".join(f"{why}: {listed(names)}" for why, names in tasks.items())
        lacking = len(pairing.incomplete)
        of = len(pairing.tasks) + lacking
        yield f"{_label(arm)}: {lacking} of {count(of, 'pair')} incomplete and left out of Δ: {told}."


def _fewer_tasks(agents: Sequence[Agent]) -> Iterator[str]:
    """A condition that was planned for some of its baseline's tasks is compared on those alone."""
    for arm, _, baseline in _compared(agents):
        left, right = ({trial.task for trial in each.trials} for each in (baseline, arm))
        if left - right:
            yield (
                f"{_label(arm)}: planned for {len(left & right)} of the {count(len(left), 'task')} of "
                f"{baseline.condition}; Δ is of those."
            )


def _repeats(agents: Sequence[Agent]) -> Iterator[str]:
    few = [arm.condition for agent in agents for arm in agent.arms if arm.has_few_repeats]
    if few:
        yield (
            f"Fewer than {FEW_REPEATS} scored repeats of a task under {listed(list(dict.fromkeys(few)))}: "
            "majority votes, retention and transitions rest on little."
        )
    for arm, pairing, _ in _compared(agents):
        uneven = sum(len(a) != len(b) for a, b in zip(pairing.before, pairing.after, strict=True))
        if uneven:
            yield (
                f"{_label(arm)}: {uneven} of {count(len(pairing.tasks), 'pair')} have unlike numbers of scored "
                "repeats on the two sides."
            )


def _not_delivered(agents: Sequence[Agent]) -> Iterator[str]:
    for arm in (arm for agent in agents for arm in agent.others if arm.touches):
        missed = sum(not trial.delivered for trial in arm.scored)
        if missed:
            yield (
                f"{_label(arm)}: in {missed} of {count(len(arm.scored), 'scored trial')} nothing was delivered; they "
                "count all the same, as intended."
            )


def _messages(agents: Sequence[Agent]) -> Iterator[str]:
    for arm in (arm for agent in agents for arm in agent.others):
        said = arm.total("messages")
        if fallback := arm.total("fallback_messages"):
            yield (
                f"{_label(arm)}: {fallback} of {count(said, 'message')} were said in fixed words: the user's model "
                "failed, or what it wrote was refused; fourhands show tells why."
            )
        if lost := arm.total("never_carried"):
            yield (
                f"{_label(arm)}: {lost} of {count(said, 'message')} never reached the model: the agent ended first, "
                "or its history lost their place."
            )


def _protocol(agents: Sequence[Agent]) -> Iterator[str]:
    for arm in (arm for agent in agents for arm in agent.arms):
        if arm.strict_rate is not None and arm.rate is not None and arm.strict_rate != arm.rate:
            yield (
                f"{_label(arm)}: with protocol failures as unresolved the rate is {percent(arm.strict_rate)}, not "
                f"{percent(arm.rate)}."
            )


def _budget(trials: Sequence[Trial]) -> Iterator[str]:
    if cut := sum(trial.termination == Termination.BUDGET for trial in trials):
        yield (
            f"{cut} of {count(len(trials), 'trial')} ended with the run's money, and are scored as they stood."
        )


def _tokens(trials: Sequence[Trial]) -> Iterator[str]:
    live = {trial.model for trial in trials if not trial.model.startswith((SCRIPTED, RECORDED))}
    if len(live) > 1:
        yield "Tokens are counted by each model's own tokenizer: compare them within a model, not across models."
    if uncounted := sum(trial.uncounted_replies or 0 for trial in trials):
        yield (
            f"The provider did not tell the tokens of {count(uncounted, 'reply', 'replies')}: tokens and costs with "
            "them are lower bounds."
        )


def _records(trials: Sequence[Trial]) -> Iterator[str]:
    statuses = {trial.task: trial.record_status for trial in trials if trial.record_status is not None}
    doubtful = Counter(status for status in statuses.values() if status != _VALIDATED)
    if doubtful:
        told = listed([f"{status} ({n})" for status, n in doubtful.most_common()])
        yield (
            f"The records of {doubtful.total()} of {count(len(statuses), 'task')} are not fully validated: {told}; "
            "the table by record status keeps them apart."
        )


def _pooled(trials: Sequence[Trial]) -> Iterator[str]:
    names = list(dict.fromkeys(trial.benchmark for trial in trials if trial.benchmark))
    if len(names) > 1:
        yield f"Rates are over the tasks of {listed(names)} together; the long-horizon table has each apart."


def _versions(trials: Sequence[Trial]) -> Iterator[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for trial in trials:
        if trial.agent_version:
            found[trial.agent].update(trial.agent_version.split(", "))
    for agent, versions in found.items():
        if len(versions) > 1:
            yield f"{agent}: versions {listed(sorted(versions))} are counted together."


def _digests(study: Study) -> Iterator[str]:
    found: dict[str, set[str]] = defaultdict(set)
    for task in (task for run in study.runs for task in run.tasks):
        found[task.name].add(task.digest)
    if changed := [task for task, digests in found.items() if len(digests) > 1]:
        yield f"{listed(changed)}: not the same in all runs, and yet counted as one task."


def _rubric_judges(study: Study) -> Iterator[str]:
    judges = sorted({name for run in study.runs if (name := run.settings.get("judge_model"))})
    for name in judges:
        yield (
            f"judge:{name} is part of the verdicts on tasks whose verifier has a rubric: unaudited, no person has "
            "checked how far it can be trusted."
        )


def _compared(agents: Sequence[Agent]) -> Iterator[tuple[Arm, Pairing, Arm]]:
    for agent in agents:
        for arm in agent.others:
            if baseline := agent.baseline_of(arm):
                yield arm, agent.pairings[arm.condition], baseline


def _name(agent: Agent) -> str:
    return f"{agent.agent} · {agent.model}"


def _label(arm: Arm) -> str:
    return f"{arm.agent} · {arm.model}, {arm.condition}"
