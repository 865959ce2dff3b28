"""What became of the user's edits, and what the agent did after them, per agent and condition. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import fmean
from typing import Any, Final

from fourhands.analysis.ablation import AblatedTrial, ablation_row
from fourhands.analysis.delivery import DeliveryProof
from fourhands.analysis.lines import InterventionLines, UserLines
from fourhands.analysis.responses import Response, after_final_edit
from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

__all__ = ["Aftermath", "AftermathRow", "aftermath_table"]


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What became of the interventions of one trial, and what followed those that were delivered.

    ``lines`` is ``None`` where the record does not tell.
    """

    key: TrialKey
    lines: UserLines | None
    responses: tuple[Response, ...]
    ablated: AblatedTrial
    proofs: tuple[DeliveryProof, ...] = ()

    def as_json(self) -> list[dict[str, Any]]:
        """One object for each intervention, with the proof of its delivery and each of its lines."""
        return [
            {"trial": self.key.slug, **self._followed(proof), "proof": proof.as_json()}
            for proof in self.proofs
        ]

    def _followed(self, proof: DeliveryProof) -> dict[str, Any]:
        """What followed an intervention: nulls, and no lines, where it was not delivered."""
        name = proof.intervention
        response = next((each for each in self.responses if each.intervention == name), None)
        if proof.shadow_of or response is None:
            return {**_NO_RESPONSE, "intervention": name, "lines": None, "each_line": []}
        summaries = self.lines.interventions() if self.lines else ()
        lines = self.lines.lines if self.lines else ()
        return {
            **asdict(response),
            "lines": next((asdict(each) for each in summaries if each.intervention == name), None),
            "each_line": [asdict(line) for line in lines if line.intervention == name],
        }


_NO_RESPONSE: Final = {each.name: None for each in fields(Response)}


@dataclass(frozen=True, slots=True)
class AftermathRow:
    """One agent under one condition.

    ``interventions`` were delivered, in ``trials`` trials. ``written`` to ``absent_at_end`` count lines of the user,
    as `InterventionLines` does; ``revised_trials`` are trials in which the agent changed or removed at least one.
    ``re_read``, ``tested``, ``asked`` and ``mentioned`` count interventions after which the agent did so at least
    once; ``modes`` counts first responses, as `ResponseMode` names them. ``reads_``, ``edits_`` and
    ``tests_after_final_edit`` are means over the trials with an edit (the paper's F5a; see `Activity`), ``None``
    without one. The others count failed trials in which an edit was delivered, as `AblationRow` does.
    """

    agent: str
    model: str
    condition: str
    trials: int
    interventions: int
    written: int
    kept: int
    moved: int
    changed: int
    removed: int
    ever_revised: int
    absent_at_end: int
    revised_trials: int
    re_read: int
    tested: int
    asked: int
    mentioned: int
    modes: dict[str, int]
    reads_after_final_edit: float | None
    edits_after_final_edit: float | None
    tests_after_final_edit: float | None
    failed_touched: int
    edit_caused: int
    by_removal: int
    by_replacement: int
    also_broken_without: int
    cannot_compose: int
    not_ablated: int

    def as_json(self) -> dict[str, Any]:
        """As ``results --json`` prints it."""
        return asdict(self)


def aftermath_table(trials: Iterable[Aftermath]) -> list[AftermathRow]:
    """One row per agent and condition under which anything was delivered, in order of appearance."""
    groups: dict[tuple[AgentSpec, Condition], list[Aftermath]] = defaultdict(list)
    for trial in trials:
        if trial.responses:
            groups[trial.key.agent, trial.key.condition].append(trial)
    return [_row(agent, condition, found) for (agent, condition), found in groups.items()]


def _row(agent: AgentSpec, condition: Condition, trials: Sequence[Aftermath]) -> AftermathRow:
    responses = [response for trial in trials for response in trial.responses]
    lines = [each for trial in trials if trial.lines for each in trial.lines.interventions()]
    failures = ablation_row(
        agent, condition, [trial.ablated.ablation for trial in trials if trial.ablated.applies]
    )

    def total(name: str) -> int:
        return sum(getattr(each, name) for each in lines)

    final = [found for trial in trials if (found := after_final_edit(trial.responses)) is not None]

    def mean(name: str) -> float | None:
        return fmean(getattr(each, name) for each in final) if final else None

    return AftermathRow(
        agent=agent.name,
        model=agent.model,
        condition=condition.label,
        trials=len(trials),
        interventions=len(responses),
        written=total("written"),
        kept=total("kept"),
        moved=total("moved"),
        changed=total("changed"),
        removed=total("removed"),
        ever_revised=total("ever_revised"),
        absent_at_end=total("absent_at_end"),
        revised_trials=sum(_is_revised(trial.lines.interventions()) for trial in trials if trial.lines),
        re_read=sum(response.re_reads > 0 for response in responses),
        tested=sum(response.activity.tests > 0 for response in responses),
        asked=sum(bool(response.asked) for response in responses),
        mentioned=sum(bool(response.mentioned) for response in responses),
        modes=dict(sorted(Counter(str(r.mode) for r in responses if r.mode is not None).items())),
        reads_after_final_edit=mean("reads"),
        edits_after_final_edit=mean("edits"),
        tests_after_final_edit=mean("tests"),
        failed_touched=failures.failed_touched,
        edit_caused=failures.edit_caused,
        by_removal=failures.by_removal,
        by_replacement=failures.by_replacement,
        also_broken_without=failures.also_broken_without,
        cannot_compose=failures.cannot_compose,
        not_ablated=failures.not_yet,
    )


def _is_revised(lines: Iterable[InterventionLines]) -> bool:
    return any(each.ever_revised for each in lines)
