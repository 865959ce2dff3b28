"""A run of conversations that was never run: records made by hand, with what judges said of them beside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from fourhands.model.audit import AuditName, Opinion, OpinionLabel
from fourhands.model.condition import Condition
from fourhands.model.event import Actor, EventKind
from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements
from fourhands.model.ledger import Goal, Ledger, Requirement
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.audits import agreement_path, opinion_path, write_agreement, write_opinion
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.judgements import judgements_path, write_judgements
from fourhands.trajectories.run_folder import Attempt, Plan, RunFolder

from ...analysis.said import agreement  # noqa: TID252 - tests are no package to name
from ...analysis.talks import Talk  # noqa: TID252

NIGHT: Final = "It is open until 02:00."
COUNT: Final = "`minutesOpen` counts 240."
TASK: Final = "hours"
GOOD, OTHER = "scripted/good", "scripted/other"
TRIALS: Final = (
    (GOOD, "interactive"),
    (GOOD, "interactive[persona=neutral]"),
    (GOOD, "single-turn"),
    (OTHER, "interactive"),
)
_NOTHING: Final = {"R1": False, "R2": False}
_ONE: Final = {"R1": True, "R2": False}
_ALL: Final = {"R1": True, "R2": True}
_USAGE: Final = {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}


def ledger(text: str = NIGHT) -> Ledger:
    """Two requirements and their goal."""
    wanted = (
        Requirement("R1", text, (0, 5), values=("02:00",), weight=50),
        Requirement("R2", COUNT, (6, 9), values=("240",), weight=50),
    )
    return Ledger("It is never open.", wanted, (Goal("G1", "Open all night", 100, "it is", ("R1", "R2")),))


def slug(model: str, condition: str) -> str:
    """Of a trial."""
    return _key(model, condition).slug


def _key(model: str, condition: str, task: str = TASK) -> TrialKey:
    return TrialKey(task, AgentSpec("thin", model), Condition.parse(condition), 1)


def write_talk_run(folder: Path) -> None:
    """A run of one task: two personas, a trial without talk, and another model, whose trial fails."""
    run = RunFolder(folder)
    run.write_plan(_plan(TASK, TRIALS))
    for model, condition in TRIALS:
        attempt = run.new_attempt(_key(model, condition))
        _write(attempt, _held(BlobStore(attempt.path / "blobs"), model, condition))
        if model == OTHER:
            _judge(attempt)
    known = agreement(0.41, judge="judge:weak", version=1, measured_on=("talks",))
    write_agreement(agreement_path(run, known), known)


def write_hostile_talk(folder: Path, words: str) -> None:
    """A run of one conversation in which everybody says ``words``, and everything is called so."""
    run = RunFolder(folder)
    run.write_plan(_plan(words, [(GOOD, "interactive")]))
    attempt = run.new_attempt(_key(GOOD, "interactive", words))
    blobs = BlobStore(attempt.path / "blobs")
    talk = Talk()
    talk.events[0].body.update(task=words, brief=words, persona=words, opening=blobs.put(words.encode()))
    wanted = Requirement(words, words, (0, 1), weight=100)
    told = Ledger(words, (wanted,), (Goal(words, words, 100, words, (words,)),))
    talk.events[0].body["ledger"] = blobs.put(msgspec.json.encode(told))
    question = talk.ask(words)
    talk.checkpoint("plan", {words: False}, text=blobs.put(words.encode()), goals={words: 0.0}, problem=words)
    blocked = [{"text": words, "reason": words}]
    talk.answer(
        question, "reveal", words, text=words, why=words, rejected=blocked, source="live", model=words
    )
    talk.checkpoint("commit", {words: True}, subject=words, checks={words: False}, goals={words: 1.0})
    talk.checkpoint("stop", {words: False}, diff=blobs.put(f"+{words}\n".encode()))
    talk.verify("unresolved", fail_to_pass={words: "failed"}, output=blobs.put(words.encode()))
    _write(attempt, talk_ended(talk, slips=[{"slip": words, "seq": 3, "paths": []}]))
    label = OpinionLabel(words, (3,), words, words)
    write_opinion(
        opinion_path(attempt, AuditName.SWE_INTERACT, f"judge:{words}"),
        Opinion(AuditName.SWE_INTERACT, 1, f"judge:{words}", 1, "k", (label,)),
    )


def talk_ended(talk: Talk, verdict: str = "unresolved", **more: Any) -> Talk:
    """The same, ended."""
    talk.end(verdict, **more)
    return talk


def _plan(name: str, trials: Any) -> Plan:
    task: dict[str, Any] = {"name": name, "path": "/nowhere", "digest": "0" * 64, "record_status": None}
    planned = [
        {"task": name, "agent": "thin", "model": model, "condition": condition, "repeat": 1}
        for model, condition in trials
    ]
    plan = {"schema": 2, "run_id": "talks", "settings": {}, "tasks": [task], "users": [], "trials": planned}
    return Plan.model_validate(plan)


def _write(attempt: Attempt, talk: Talk) -> None:
    log = EventLog(attempt.path / "events.jsonl", lambda _: None)
    for event in talk.events:
        log.append(event.actor, event.kind, event.body)
    log.close()


def _held(blobs: BlobStore, model: str, condition: str) -> Talk:
    talk = Talk(condition=condition)
    about = {"task": TASK, "model": model, "ledger": blobs.put(msgspec.json.encode(ledger()))}
    talk.events[0].body.update(about)
    blobs.put(b"")
    if condition == "single-turn":
        talk.checkpoint("end", _ALL)
        talk.verify("resolved")
        return talk_ended(talk, "resolved")
    persona = "neutral" if "neutral" in condition else "nitpicker"
    opening = blobs.put(b"It is never open.\nAsk before you change anything.\n")
    talk.events[0].body.update(brief="It is never open.", persona=persona, opening=opening)
    _act(talk, blobs, "I ask first.", "ask-the-user 'My plan'")
    plan = talk.ask(f"My plan, by {model}: open it.")
    talk.checkpoint("plan", _NOTHING, text=blobs.put(f"1. open it, as {model}".encode()), goals={"G1": 0.25})
    talk.look("changes")
    blocked = [{"text": "the test says 7", "reason": "leaks: hidden ('7')"}]
    more: Mapping[str, Any] = {"rejected": blocked} if persona == "nitpicker" else {}
    talk.answer(plan, "reveal", "R1", text=f"Until 02:00, says the {persona} one.", why="plan: held", **more)
    talk.look("git", "log")
    review = talk.ask("It is open until 02:00 now. Right?")
    talk.move("R1", "acknowledged", {"question": review})
    checks = {"open": True, "count": False}
    commit = talk.checkpoint(
        "commit",
        _ONE,
        lines=4,
        subject="Open it",
        commit="ab" * 20,
        checks=checks,
        diff=blobs.put(b"+open\n"),
    )
    talk.move("R1", "satisfied", {"checkpoint": commit})
    talk.answer(
        review, "reveal", "R2", text="Count 240.", why="review: held", source="fallback", model="small"
    )
    found = _NOTHING if model == OTHER else _ALL
    stop = talk.checkpoint("stop", found, lines=1, goals={"G1": 0.5})
    if model == OTHER:
        talk.move("R1", "violated", {"checkpoint": stop})
    _act(talk, blobs, "It is done: I am at your service.", None)
    talk.checkpoint("end", found, goals={"G1": 0.5})
    verdict = "unresolved" if model == OTHER else "resolved"
    talk.verify("unresolved", phase="at-will")
    talk.verify(verdict)
    return talk_ended(talk, verdict, at_will="unresolved")


def _act(talk: Talk, blobs: BlobStore, words: str, command: str | None) -> None:
    """A reply of the model; with a command, or with words alone."""
    number = sum(event.kind is EventKind.MODEL_CALLED for event in talk.events) + 1
    called = {
        "request": number, "step": number, "side": False, "model": "m", "status": 200, "complete": True,
        "usage": _USAGE, "exchange": blobs.put(b"{}"), "tools": ["bash"], "text": blobs.put(words.encode()),
        "milliseconds": 1.0, "elapsed": 0.1 * number,
    }  # fmt: skip
    talk.log(Actor.AGENT, EventKind.MODEL_CALLED, called)
    if command is not None:
        arguments = blobs.put(msgspec.json.encode({"command": command}))
        seen = {"step": number, "call": f"c{number}", "tool": "bash", "arguments": arguments, "touches": []}
        talk.log(Actor.AGENT, EventKind.ACTION_SEEN, seen)


def _judge(attempt: Attempt) -> None:
    label = OpinionLabel("forgotten requirement", (3,), "Nothing counts 240.", "R2")
    for judge in ("judge:new", "judge:weak"):
        opinion = Opinion(AuditName.SWE_INTERACT, 1, judge, 1, "k", (label,))
        write_opinion(opinion_path(attempt, AuditName.SWE_INTERACT, judge), opinion)
    score = Judgement("k", "plan", (CriterionScore("G1", 0.75, (), 0.75),), 75.0)
    states = (JudgedState("c1", "plan", score),)
    write_judgements(judgements_path(attempt, "judge:new"), Judgements("judge:new", 1, states))
