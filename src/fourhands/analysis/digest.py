"""The record of one attempt -> its rows in the tidy tables. Pure, but for the blobs it is given to read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import orjson

from fourhands.analysis.conversations import Conversation, conversation, is_talk, until_stop
from fourhands.analysis.costs import TrialCost, cost_json, trial_cost
from fourhands.analysis.delivery import DeliveryProof, delivery_proofs
from fourhands.analysis.failure_labels import failure_json, failure_labels, requirement_labels
from fourhands.analysis.failure_types import failure_typing
from fourhands.analysis.failures import failure_told
from fourhands.analysis.judged import judged_trial
from fourhands.analysis.labels.edits import of_final_state
from fourhands.analysis.ledger_labels import by_label, fate_json, with_labels
from fourhands.analysis.lines import InterventionLines, UserLines, follow_user_lines
from fourhands.analysis.objected import objected_json, told_out_of_order
from fourhands.analysis.requirement_states import state_counts
from fourhands.analysis.responses import Response, responses
from fourhands.analysis.schema import WHOLE
from fourhands.model.ablation import Ablation
from fourhands.model.audit import Opinion
from fourhands.model.condition import TALK_PARAMETERS
from fourhands.model.event import Event, EventKind, seconds_between
from fourhands.model.failure import FailureLabel, FailureTyping
from fourhands.model.judgement import Judgements
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.model.price import NO_PRICES, PriceTable
from fourhands.model.spending import spendings
from fourhands.model.trial import TrialKey
from fourhands.trajectories.ablations import failed_after_edit
from fourhands.trajectories.audits import opinion_json
from fourhands.trajectories.ledgers import recorded_ledger

__all__ = ["Digest", "Subject", "digest"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a trial is, apart from what happened in it: its plan's part, and its run's.

    ``not_applicable`` says what its task lacks, if it does. ``shadowed`` are labels of the conditions whose user is
    watched for in it; ``None`` where nobody watches.
    """

    run: str
    key: TrialKey
    benchmark: str | None = None
    record_status: str | None = None
    agent_version: str | None = None
    applicable: bool = True
    not_applicable: str | None = None
    shadowed: tuple[str, ...] | None = ()

    def row(self) -> dict[str, Any]:
        """Its columns of ``trials``."""
        condition = self.key.condition
        return {
            "run": self.run,
            "trial": self.key.slug,
            "task": self.key.task,
            "benchmark": self.benchmark,
            "record_status": self.record_status,
            "agent": self.key.agent.name,
            "agent_version": self.agent_version,
            "model": self.key.agent.model,
            "condition": condition.label,
            "condition_name": condition.name.value,
            "k": condition.k if condition.touches else None,
            "repeat": self.key.repeat,
            "applicable": self.applicable,
            "why": self.not_applicable,
            "scored": False,
            "attempt": 0,
            "shadowed": None if self.shadowed is None else list(self.shadowed),
            "would_trigger": None if self.shadowed is None else [],
            **({name: getattr(condition, name) for name in TALK_PARAMETERS} if condition.talks else {}),
        }


@dataclass(frozen=True, slots=True)
class Digest:
    """Rows of the tidy tables: one of ``trials``, and any number of the two others."""

    trial: dict[str, Any]
    interventions: tuple[dict[str, Any], ...] = ()
    lines: tuple[dict[str, Any], ...] = ()


def digest(
    subject: Subject,
    attempt: int,
    events: Sequence[Event],
    read_blob: Callable[[str], bytes],
    *,
    ablation: Ablation | None = None,
    judgements: Sequence[Judgements] = (),
    opinions: Sequence[Opinion] = (),
    prices: PriceTable = NO_PRICES,
) -> Digest:
    """Fold the events of the attempt that counts.

    Args:
        subject: which trial it is.
        attempt: its number, from 1.
        events: in order; without a `trial_ended` the trial has not been run.
        read_blob: the content of a blob of the attempt, by its hash.
        ablation: what causal ablation concluded on it; of another state than the final one it counts for nothing.
        judgements: what judge models said of its plans and states.
        opinions: what judge models said of why it failed.
        prices: by which its costs are told.
    """
    row = subject.row()
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    if ended is None:
        return Digest(row)
    key = {"run": subject.run, "trial": subject.key.slug}
    ablation = of_final_state(ablation, events)
    proofs = delivery_proofs(events)
    lines = follow_user_lines(events)
    cost = trial_cost(subject.key.agent.model, events, prices)
    row |= {
        "attempt": attempt,
        **_outcome(ended, events, applicable=subject.applicable),
        **_effort(ended, events),
        **_costs(cost),
        **_user(events, proofs),
        "failed_touched": failed_after_edit(events),
        **_ablation(ablation),
    }
    if row["scored"]:
        row |= _failure_type(failure_typing(events, read_blob, ablation))
    if subject.key.condition.talks:
        talk = conversation(events)
        row |= _conversation(talk, is_scored=row["scored"])
        row |= _effort_at_will([*until_stop(events)], subject.key.agent.model, prices)
        row["out_of_order"] = told_out_of_order(talk.fates, recorded_ledger(events, read_blob))
        row |= _why_it_failed(talk, events, read_blob, ablation)
    if judgements:
        row["judged"] = _json([asdict(each) for each in judged_trial(events, judgements)])
    if opinions:
        row["audits"] = _json([opinion_json(each) for each in opinions])
    return Digest(
        trial=row,
        interventions=tuple(
            key | each for each in _interventions(proofs, responses(events, read_blob), lines)
        ),
        lines=tuple(key | each for each in _lines(lines)),
    )


def _outcome(ended: dict[str, Any], events: Sequence[Event], *, applicable: bool) -> dict[str, Any]:
    outcome = Outcome(Verdict(ended["verdict"]), Termination(ended["termination"]), ended["reward"])
    scored = applicable and outcome.is_scored
    told = (failure_told(event) for event in reversed(events))
    return {
        "scored": scored,
        "verdict": outcome.verdict.value,
        "termination": outcome.termination.value,
        "resolved": outcome.verdict is Verdict.RESOLVED if scored else None,
        "reward": outcome.reward,
        "why": None if outcome.termination.is_scored else next(filter(None, told), None),
    }


def _effort(ended: dict[str, Any], events: Sequence[Event]) -> dict[str, Any]:
    tokens = ended["tokens"]
    return {
        "steps": ended["steps"],
        "sub_agent_calls": ended.get("sub_agent_calls"),
        "side_calls": ended.get("side_calls"),
        "retries": ended.get("retries"),
        "tokens": tokens["total"],
        "tokens_input": tokens.get("input"),
        "tokens_cache_read": tokens.get("cache_read"),
        "tokens_cache_write": tokens.get("cache_write"),
        "tokens_output": tokens.get("output"),
        "tokens_reasoning": tokens.get("reasoning"),
        "uncounted_replies": ended["uncounted_replies"],
        "started": events[0].time,
        "seconds": _seconds(events[0].time, events[-1].time),
    }


def _seconds(first: str, last: str) -> float | None:
    try:
        return seconds_between(first, last)
    except (ValueError, TypeError):  # a record that somebody wrote by hand
        return None


def _effort_at_will(events: Sequence[Event], model: str, prices: PriceTable) -> dict[str, Any]:
    """What a part of a trial took of the agent's model, counted as `trial_ended` counts the whole."""
    called = sum(event.kind is EventKind.MODEL_CALLED and event.body["step"] is not None for event in events)
    not_accepted = sum(
        event.kind is EventKind.NOTE
        and event.body["note"] == "reply_not_accepted"
        and event.body["step"] is not None
        for event in events
    )
    used = [each.usage for each in spendings(events) if each.user_model is None]
    return {
        "steps_at_will": called - not_accepted,
        "tokens_at_will": sum(usage.total for usage in used if usage),
        "uncounted_at_will": used.count(None),
        **cost_json("cost_at_will", trial_cost(model, events, prices).agent),
    }


def _costs(cost: TrialCost) -> dict[str, Any]:
    threads = {thread: cost_json("cost", each) for thread, each in cost.threads.items()}
    return {
        **cost_json("cost", cost.agent),
        **cost_json("user_cost", cost.user),
        "threads": _json(threads),
        "models": sorted(cost.models),
    }


def _user(events: Sequence[Event], proofs: Iterable[DeliveryProof]) -> dict[str, Any]:
    """What the user planned, did and said."""
    bodies: dict[EventKind, list[dict[str, Any]]] = {kind: [] for kind in EventKind}
    for event in events:
        bodies[event.kind].append(event.body)
    said = [event.body for event in events if event.kind is EventKind.MESSAGE_SENT and not is_talk(event)]
    words = {body["message"] for body in said}
    carried = {body["message"] for body in bodies[EventKind.MESSAGE_CARRIED]}
    missed = [body["outcome"] for body in bodies[EventKind.EDIT_NOT_APPLIED]]
    shadows = bodies[EventKind.SHADOW_TRIGGER_FIRED]
    changed = bodies[EventKind.WORKSPACE_CHANGED]
    return {
        "intended": next((body.get("interventions", 0) for body in bodies[EventKind.TRIAL_STARTED]), 0),
        "triggered": len(bodies[EventKind.TRIGGER_FIRED]),
        "would_trigger": sorted({label for body in shadows for label in body.get("conditions", ())}),
        "delivered": len({body["intervention"] for body in (*bodies[EventKind.EDIT_APPLIED], *said)}),
        "edits_applied": len(bodies[EventKind.EDIT_APPLIED]),
        "announced": sum(bool(proof.announced) for proof in proofs),
        "messages": len(said),
        "fallback_messages": sum(body.get("source") == "fallback" for body in said),
        "never_carried": len(words - carried),
        "already_present": missed.count("already_present"),
        "not_applied": sum(outcome != "already_present" for outcome in missed),
        "user_lines_at_end": changed[-1]["lines"].get("user", 0) if changed else 0,
    }


def _conversation(found: Conversation, *, is_scored: bool) -> dict[str, Any]:
    """What a talking user's trial came to."""
    judged = is_scored and found.at_will not in {None, Verdict.NONE}
    return {
        "at_will": found.at_will and found.at_will.value,
        "resolved_at_will": found.at_will is Verdict.RESOLVED if judged else None,
        "reward_at_will": found.at_will_reward,
        "requirements": [fate.requirement for fate in found.fates],
        "held_at_will": list(found.held_at_will),
        "held": list(found.held),
        "missing_at_will": by_label(found.at_will_fates, FailureLabel.MISSING),
        "fates_at_will": _json([fate_json(fate) for fate in found.at_will_fates]),
        "slips": list(found.slips),
        "questions": found.questions,
        "said": found.said,
        "said_at_will": found.said_at_will,
        "corrections": found.corrections,
        "corrections_at_will": found.corrections_at_will,
        "blocked": found.blocked,
        "fallbacks": found.fallbacks,
        "objected": _json(objected_json(found.objected)),
        "looks": found.looks,
        "looks_at_will": found.looks_at_will,
        "shown": found.shown,
        "plan_score": found.plan_score,
        "final_score": found.final_score,
        "scores": _json([asdict(score) for score in found.scores]),
        "verifier_informed": found.is_verifier_informed,
        "revisions": _json(found.churn.lines),
        "final_lines": found.churn.final,
        "churn_overhead": found.churn.overhead,
        "late_change_share": found.churn.late_share,
    }


_LABELLED: Final = {
    "missing": FailureLabel.MISSING,
    "forgotten": FailureLabel.FORGOTTEN,
    "regressed": FailureLabel.REGRESSION,
    "misread": FailureLabel.MISINTERPRETATION,
    "buggy": FailureLabel.TECHNICAL,
}


def _why_it_failed(
    talk: Conversation, events: Sequence[Event], read_blob: Callable[[str], bytes], ablation: Ablation | None
) -> dict[str, Any]:
    """The requirements that are not met, by label; `WHOLE` stands for what is of the trial as a whole."""
    failed = failure_labels(events, read_blob, ablation=ablation)
    found = failed or requirement_labels(events, read_blob, ablation=ablation)
    fates = with_labels(talk.fates, found)
    return {
        **{
            name: [each.requirement or WHOLE for each in found.found if each.label is label]
            for name, label in _LABELLED.items()
        },
        "undecided": [each.requirement or WHOLE for each in found.undecided],
        "failure_labels": failed and failure_json(failed),
        "fates": _json([fate_json(fate) for fate in fates]),
        "states": _json(state_counts(events, fates, messages=talk.said)),
    }


def _failure_type(found: FailureTyping | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "failure_type": found.type and found.type.value,
        "failure_type_by": found.by and found.by.value,
        "failure_typing": _json(asdict(found)),
    }


def _ablation(found: Ablation | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "ablation": found.conclusion.value,
        "ablation_by": found.by and found.by.value,
        "ablation_stood": found.stood,
        "ablation_final": found.is_final,
        "ablation_typed": found.is_typed,
    }


def _interventions(
    proofs: Iterable[DeliveryProof], found: Iterable[Response], lines: UserLines | None
) -> Iterable[dict[str, Any]]:
    followed = {response.intervention: response for response in found}
    summaries = {each.intervention: each for each in lines.interventions()} if lines else {}
    for proof in proofs:
        row = _delivery(proof)
        if not proof.shadow_of:
            row |= _response(followed.get(proof.intervention))
            row |= _line_counts(summaries.get(proof.intervention))
        yield row


def _delivery(proof: DeliveryProof) -> dict[str, Any]:
    tried = [fired.edit for fired in proof.triggered if fired.edit]
    edit = proof.edit
    delivered = edit.seq if edit else proof.sent.seq if proof.sent else None
    return {
        "intervention": proof.intervention,
        "shadow_of": list(proof.shadow_of),
        "event": proof.planned and proof.planned.event,
        "moment": proof.planned and proof.planned.moment,
        "has_edit": proof.planned and proof.planned.has_edit,
        "has_message": proof.planned and proof.planned.has_message,
        "triggers": len(proof.triggered),
        "edit_outcome": tried[-1].outcome.value if tried else None,
        "delivered": proof.is_delivered,
        "delivered_seq": delivered,
        "message_source": proof.sent and proof.sent.source,
        "first_request": proof.carried and proof.carried.first_request,
        "last_request": proof.carried and proof.carried.last_request,
        "answered_request": proof.answered and proof.answered.request,
        "first_action_step": proof.first_action and proof.first_action.step,
        "announced": bool(proof.announced),
        "proof": _json(proof.as_json()),
    }


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # lone surrogates: broken text from a model, in a call's name or its words
        return json.dumps(value, separators=(",", ":"))


def _response(found: Response | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "delivered_step": found.step,
        "re_reads": found.re_reads,
        "first_re_read_step": found.first_re_read_step,
        "changes": found.changes,
        "first_change_step": found.first_change_step,
        "reads_after": found.activity.reads,
        "edits_after": found.activity.edits,
        "tests_after": found.activity.tests,
        "asked": found.asked,
        "mentioned": found.mentioned,
        "mode": found.mode and found.mode.value,
    }


def _line_counts(found: InterventionLines | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "written": found.written,
        "kept": found.kept,
        "moved": found.moved,
        "changed": found.changed,
        "removed": found.removed,
        "ever_revised": found.ever_revised,
        "absent_at_end": found.absent_at_end,
        "taken_out": found.deleted,
        "put_back": found.put_back,
        "ever_put_back": found.ever_put_back,
    }


def _lines(found: UserLines | None) -> Iterable[dict[str, Any]]:
    if found is None:
        return
    for line in found.lines:
        yield {
            "intervention": line.intervention,
            "kind": "written",
            "line": line.line,
            "path": line.path,
            "fate": line.fate,
            "by": line.by,
            "step": line.step,
            "seq": line.seq,
            "written_step": line.written_step,
            "first_revised_step": line.first_revised_step,
            "gone_step": line.gone_step,
            "ever_revised": line.ever_revised,
            "absent_at_end": line.absent_at_end,
            "whitespace_only": line.whitespace_only,
        }
    for gone in found.deletions:
        yield {
            "intervention": gone.intervention,
            "kind": "taken_out",
            "line": gone.line,
            "path": gone.path,
            "fate": "put_back" if gone.put_back else "out",
            "by": gone.by,
            "step": gone.step,
            "seq": gone.seq,
            "written_step": gone.taken_out_step,
            "first_revised_step": gone.first_put_back_step,
            "ever_revised": gone.ever_put_back,
        }
