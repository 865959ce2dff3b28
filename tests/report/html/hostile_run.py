"""A run in which everybody writes what breaks pages, terminals and parsers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.model.condition import Condition
from fourhands.model.event import Actor, EventKind
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.run_folder import Plan, RunFolder

MARKUP: Final = "</script><script>owned=1;alert(1)</script><img src=x onerror=alert(2)>"
_NAME: Final = f"{MARKUP}\u202egnp.exe"
_OUTPUT: Final = (
    b"\x1b[2J\x1b]0;title\x07 \xff\xfe "
    + "\u202e".encode()
    + f" {MARKUP} <!--<script> {{{{ 7*7 }}}} ${{7*7}} \u2028\n".encode()
    + b"x" * 10_000_000
    + b"\n</textarea></style></title>\n"
)
_USAGE: Final = {"input": 1, "cache_read": 0, "cache_write": 0, "output": 1, "reasoning": 0}


def write_hostile_run(folder: Path) -> None:
    """Write a run of one trial."""
    key = TrialKey(_NAME, AgentSpec("mini-swe-agent", _NAME), Condition.parse("counter-edit"), 1)
    run = RunFolder(folder)
    task: dict[str, Any] = {"name": _NAME, "path": "/nowhere", "digest": "0" * 64, "record_status": MARKUP}
    trial = {
        "task": _NAME,
        "agent": "mini-swe-agent",
        "model": _NAME,
        "condition": "counter-edit",
        "repeat": 1,
    }
    user = {"task": _NAME, "condition": "counter-edit", "interventions": []}
    plan = {
        "schema": 2,
        "run_id": MARKUP,
        "settings": {"user_model": _NAME},
        "tasks": [task],
        "users": [user],
        "trials": [trial],
    }
    run.write_plan(Plan.model_validate(plan))
    attempt = run.new_attempt(key)
    blobs = BlobStore(attempt.path / "blobs")
    log = EventLog(attempt.path / "events.jsonl", lambda _: None)
    planned = {"id": MARKUP, "event": "edit", "moment": "after_action", "shadow_of": []}
    start = {
        "run": MARKUP, "task": _NAME, "task_digest": "0", "record_status": MARKUP, "agent": "mini-swe-agent",
        "model": _NAME, "condition": "counter-edit", "repeat": 1, "attempt": 1, "base_tree": "0" * 40,
        "interventions": 1, "planned": [planned | {"has_edit": True, "has_message": True}],
        "asking_tool": None, "step_limit": 9,
    }  # fmt: skip
    called = {
        "request": 1, "step": 1, "side": False, "model": _NAME, "status": 200, "complete": True, "usage": _USAGE,
        "exchange": blobs.put(b"{}"), "tools": [MARKUP], "text": blobs.put(_OUTPUT), "milliseconds": 1.0,
        "elapsed": 0.1,
    }  # fmt: skip
    arguments = blobs.put(orjson.dumps({"command": _OUTPUT.decode("utf-8", "replace")}))
    touch = {"path": _NAME, "kind": "read", "lines": None}
    message = {
        "message": "m1",
        "intervention": MARKUP,
        "text": f"{_NAME}\x1b[31m \ud800",
        "anchor": ["c"],
        "source": "fixed",
    }
    verified = {
        "key": "0", "tree": "0" * 40, "verdict": "unresolved", "reward": 0.0, "timed_out": False, "seconds": 1.0,
        "fail_to_pass": {_NAME: "failed"}, "pass_to_pass": 1, "pass_to_pass_failed": {MARKUP: "failed"},
        "missing": [MARKUP], "restored": [MARKUP], "output": blobs.put(_OUTPUT),
    }  # fmt: skip
    ended = {
        "verdict": "unresolved", "termination": "finished", "reward": 0.0, "steps": 1, "sub_agent_calls": 0,
        "side_calls": 0, "retries": 0, "uncounted_replies": 0, "tokens": {**_USAGE, "total": 2},
        "triggered": 1, "shadow": 0, "delivered": 0, "messages": 1, "user_tokens": 0, "user_lines": {},
    }  # fmt: skip
    agent, user_, harness = Actor.AGENT, Actor.USER, Actor.HARNESS
    log.append(harness, EventKind.TRIAL_STARTED, start)
    log.append(agent, EventKind.MODEL_CALLED, called)
    log.append(
        agent,
        EventKind.ACTION_SEEN,
        {"step": 1, "call": "c", "tool": MARKUP, "arguments": arguments, "touches": []},
    )
    result = {
        "call": "c",
        "output": blobs.put(_OUTPUT),
        "bytes": len(_OUTPUT),
        "code": 1,
        "touches": [touch],
        "elapsed": 0.2,
    }
    log.append(agent, EventKind.ACTION_RESULT, result)
    log.append(user_, EventKind.MESSAGE_SENT, message)
    log.append(harness, EventKind.NOTE, {"note": "client_announced", "request": 1, "words": MARKUP})
    log.append(Actor.VERIFIER, EventKind.VERIFIED, verified)
    log.append(harness, EventKind.TRIAL_ENDED, ended)
    log.close()
