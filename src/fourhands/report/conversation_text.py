"""A trial's conversation as text and as JSON: who said what and why, what was looked at, and what the work was worth.

Without times, hashes and sizes: of a run that is repeated both are the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any, Final

from fourhands.analysis.conversations import SHOWN, conversation, is_talk
from fourhands.analysis.failure_labels import failure_labels, requirement_labels
from fourhands.analysis.ledger_labels import Fate, fate_json, with_labels
from fourhands.model.ablation import Ablation
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.condition import Condition
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.failure import FoundLabel, Undecided
from fourhands.model.persona import MoveKind
from fourhands.report.text import visible

__all__ = ["SCHEMA", "conversation_json", "conversation_text", "has_conversation"]

SCHEMA: Final = 1
"""Of the JSON."""

type ReadBlob = Callable[[str], bytes]


def _no_blob(_digest: str) -> bytes:
    return b""


_OF: Final[Mapping[str, str]] = {
    CheckpointKind.PLAN: "plan",
    CheckpointKind.COMMIT: "commit",
    CheckpointKind.WORKING: "uncommitted work",
    CheckpointKind.STOP: "the agent wants to end",
    CheckpointKind.END: "the end",
}
_WORDS: Final = "    "


def has_conversation(events: Iterable[Event]) -> bool:
    """Whether a talking user was in it; checkpoints alone are taken of a `single-turn` trial as well."""
    conditions = (event.body["condition"] for event in events if event.kind is EventKind.TRIAL_STARTED)
    return any(Condition.parse(label).talks for label in conditions)


def conversation_json(
    events: Sequence[Event], read_blob: ReadBlob = _no_blob, *, ablation: Ablation | None = None
) -> dict[str, Any]:
    """The conversation of an attempt, in order, and what it came to; ``entries`` have a ``kind`` and a ``turn``.

    A turn is one message of the user with the question, if there was one, that it answers; ``null`` after the last.
    ``persona`` and ``brief``, who opens it and how, are ``null`` where the record does not tell. ``read_blob`` gives
    the content of a blob of the attempt, empty where it cannot be read; without any, why a requirement that was said
    was never met is left undecided.
    """
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), {})
    return {
        "schema": SCHEMA,
        **{name: started.get(name) for name in ("task", "agent", "model", "condition", "repeat")},
        **{name: started.get(name) for name in ("persona", "brief")},
        "entries": _entries(events),
        "outcome": _outcome(events, read_blob, ablation),
    }


def conversation_text(
    events: Sequence[Event], read_blob: ReadBlob = _no_blob, *, ablation: Ablation | None = None
) -> str:
    """The same for people; ends with a line feed."""
    told = conversation_json(events, read_blob, ablation=ablation)
    names = (told["task"], told["agent"], told["model"], told["condition"], f"repeat {told['repeat']}")
    lines = [" · ".join(map(str, names))]
    if told["brief"] is not None:  # not in records of earlier versions
        lines += ["", f"the user opens: {told['brief']}"]
    turn: int | None = 0
    for entry in told["entries"]:
        if entry["turn"] != turn:
            turn = entry["turn"]
            lines += ["", "after the last turn" if turn is None else f"turn {turn}"]
        lines += _lines(entry)
    lines += ["", *_outcome_lines(told["outcome"])]
    return visible("\n".join(lines)) + "\n"


_BEGIN: Final = frozenset({EventKind.CHECKPOINT, EventKind.VERIFIED})
"""What begins a turn, as everything does that the agent does."""


def _entries(events: Sequence[Event]) -> list[dict[str, Any]]:
    last = sum(map(is_talk, events))
    said = 0
    is_after = False
    entries = []
    for event in events:
        # What follows the user's words, up to what the agent does next, belongs to them.
        if event.kind in _BEGIN or event.actor is Actor.AGENT:
            is_after = False
        if is_talk(event):
            said += 1
            is_after = True
        turn = said if is_after else said + 1
        if (entry := _entry(event)) is not None:
            entries.append({"turn": turn if turn <= last else None, **entry})
    return entries


def _entry(event: Event) -> dict[str, Any] | None:
    """What is told of an event; ``None`` of one that is no part of a conversation."""
    told = _TOLD.get(event.kind)
    return told(event.body) if told else None


def _asked(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "asked", "who": "agent", "question": body["question"], "text": body["text"]}


def _answered(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "answered", "who": "user", "question": body["question"], **_said(body)}


def _message(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "said", "who": "user", "intervention": body["intervention"], **_said(body)}


def _looked(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "looked", "who": "user", "argv": body["argv"], "refused": body["refused"]}


def _moved(body: Mapping[str, Any]) -> dict[str, Any]:
    kept = ("requirement", "from", "to", "evidence")
    return {"kind": "moved", "who": "user", **{name: body[name] for name in kept}}


def _edited(body: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "edited", "who": "user", **{name: body[name] for name in ("intervention", "outcome")}}


def _verified(body: Mapping[str, Any]) -> dict[str, Any]:
    phase = body.get("phase", "final")
    return {"kind": "verified", "who": "verifier", "phase": phase, "verdict": body["verdict"]}


def _said(body: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "move": body.get("move"),
        "requirements": list(body.get("requirements", ())),
        "why": body.get("why"),
        "source": body.get("source", "fixed"),
        "text": body["text"],
        "blocked": [{"text": each["text"], "reason": each["reason"]} for each in body.get("rejected", ())],
    }


def _checkpoint(body: Mapping[str, Any]) -> dict[str, Any]:
    kept = (
        "checkpoint",
        "of",
        "subject",
        "amended",
        "merge",
        "additions",
        "deletions",
        "files",
        "tests_only",
    )
    of_work = ("requirements", "goals", "score", "source", "problem")
    return {"kind": "checkpoint", "who": "harness", **{name: body[name] for name in (*kept, *of_work)}}


_TOLD: Final[Mapping[EventKind, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    EventKind.ASKED: _asked,
    EventKind.ANSWERED: _answered,
    EventKind.MESSAGE_SENT: _message,
    EventKind.LOOKED: _looked,
    EventKind.REQUIREMENT_MOVED: _moved,
    EventKind.CHECKPOINT: _checkpoint,
    EventKind.EDIT_APPLIED: _edited,
    EventKind.EDIT_NOT_APPLIED: _edited,
    EventKind.VERIFIED: _verified,
}


def _outcome(events: Sequence[Event], read_blob: ReadBlob, ablation: Ablation | None) -> dict[str, Any]:
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    found = conversation(events)
    why = failure_labels(events, read_blob, ablation=ablation) or requirement_labels(
        events, read_blob, ablation=ablation
    )
    return {
        "ended": ended is not None,
        "verdict": ended and ended["verdict"],
        "termination": ended and ended["termination"],
        "at_will": found.at_will and found.at_will.value,
        "held": list(found.held),
        "held_at_will": list(found.held_at_will),
        "slips": list(found.slips),
        "verifier_informed": found.is_verifier_informed,
        "requirements": [
            {**fate_json(fate), "label_at_will": early.label and early.label.value}
            for fate, early in _paired(with_labels(found.fates, why), found.at_will_fates)
        ],
        "why": [
            *(_labelled(each) for each in why.found),
            *(_found(each) for each in why.undecided),
        ],
    }


def _labelled(found: FoundLabel) -> dict[str, Any]:
    return {**_found(found), "label": found.label.value, "by": found.by.value, "told_by": found.told_by}


def _found(found: FoundLabel | Undecided) -> dict[str, Any]:
    return {
        "requirement": found.requirement,
        "label": None,
        "by": None,
        "told_by": None,
        "events": list(found.events),
        "why": found.why,
    }


def _paired(final: Iterable[Fate], early: Iterable[Fate]) -> Iterator[tuple[Fate, Fate]]:
    return zip(final, early, strict=True)


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    match entry["kind"]:
        case "asked":
            yield "  agent:"
            yield indent(entry["text"], _WORDS)
        case "answered" | "said":
            yield from _user_lines(entry)
        case "looked":
            how = f" (refused: {entry['refused']})" if entry["refused"] else ""
            is_shown = entry["argv"] == SHOWN
            what = "is shown what changed" if is_shown else f"looks: {' '.join(entry['argv'])}"
            yield f"  the user {what}{how}"
        case "moved":
            by = ", ".join(f"{name} {value}" for name, value in _evidence(entry["evidence"]))
            yield f"  {entry['requirement']}: {entry['from']} → {entry['to']}{f' ({by})' if by else ''}"
        case "checkpoint":
            yield from _checkpoint_lines(entry)
        case "edited":
            yield f"  the user edits, {entry['intervention']}: {entry['outcome'].replace('_', ' ')}"
        case _:
            what = "as it was when it first wanted to end" if entry["phase"] == "at-will" else "in the end"
            yield f"  verified {what}: {entry['verdict']}"


def _evidence(evidence: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("question", "message", "checkpoint", "judge"):
        if name in evidence:
            yield name, str(evidence[name])


def _user_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    if entry.get("intervention") is not None:
        yield f"  user, of {entry['intervention']}:"
    else:
        about = f" {', '.join(entry['requirements'])}" if entry["requirements"] else ""
        said = entry["why"] or ""
        # A plan is approved on no other occasion.
        said = said.removeprefix("plan: ") if entry["move"] == MoveKind.APPROVE_PLAN else said
        why = f" ({said})" if said else ""
        yield f"  user, {(entry['move'] or 'says').replace('_', ' ')}{about}{why}:"
    yield indent(entry["text"], _WORDS)
    for each in entry["blocked"]:
        yield f"  not said, {each['reason']}:"
        yield indent(each["text"], _WORDS)


def _checkpoint_lines(entry: Mapping[str, Any]) -> Iterator[str]:
    subject = f" “{entry['subject']}”" if entry["subject"] else ""
    marks = [name for name in ("amended", "merge") if entry[name]] + ["tests only"] * entry["tests_only"]
    marked = f" ({', '.join(marks)})" if marks else ""
    lines = "" if entry["of"] == CheckpointKind.PLAN else f", +{entry['additions']} −{entry['deletions']}"
    score = "no score" if entry["score"] is None else f"{entry['score']:.1f} by {entry['source']}"
    yield f"  {entry['checkpoint']}, {_OF[entry['of']]}{subject}{marked}{lines}: {score}"
    if entry["requirements"]:
        yield f"    {_met(entry['requirements'])}"
    if entry["problem"]:
        yield f"    {entry['problem']}"


def _met(found: Mapping[str, bool | None]) -> str:
    told = [
        (what, [name for name, met in found.items() if met is is_so])
        for what, is_so in (("met", True), ("not met", False), ("not known", None))
    ]
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in told if names)


def _outcome_lines(outcome: Mapping[str, Any]) -> Iterator[str]:
    if not outcome["ended"]:
        yield "the trial has not ended"
    else:
        yield f"outcome: {outcome['verdict']} ({outcome['termination']})"
    if outcome["at_will"]:
        yield f"at will: {outcome['at_will']}"
    if outcome["slips"]:
        yield f"agreement broken: {', '.join(outcome['slips'])}"
    if outcome["verifier_informed"]:
        yield "verifier-informed: hidden tests stood in for checks"
    asked_for = len(outcome["requirements"])
    yield f"told: {asked_for - len(outcome['held'])} of {asked_for}" + (
        f"; when it first wanted to end not: {', '.join(outcome['held_at_will'])}"
        if outcome["held_at_will"]
        else ""
    )
    width = max((len(each["requirement"]) for each in outcome["requirements"]), default=0)
    for each in outcome["requirements"]:
        turn = "never told" if each["turn"] is None else f"told in turn {each['turn'] + 1}"
        label = f", {each['label']}" if each["label"] else ""
        early = each["label_at_will"]
        before = f" (at will: {early})" if early and early != each["label"] else ""
        yield f"  {each['requirement']:<{width}}  {each['state']}, {turn}{label}{before}"
    for each in outcome["why"]:
        what = f"{each['label']}, by {each['told_by']}" if each["label"] else "undecided"
        yield f"  {each['requirement'] or 'the trial as a whole'} is {what}: {each['why']}"
