"""A run folder of any size, as the product would have left it: the shapes are real, the trials are made up.

Each trial has a record, payloads and an object store of its own. The agent reads, edits and tests; the user edits
once and speaks; half of the trials are touched. What is written depends on nothing but the numbers given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.run_folder import Plan, RunFolder
from recording import Recording, digest_of, plan_of

__all__ = ["write_run"]

_RUN: Final = "synthetic"
_CONDITIONS: Final = ("vanilla", "counter-edit")
_MODELS: Final = ("large", "small")
_REPEATS: Final = 5
_LINES: Final = 120
_EDIT_AT: Final = 60
_PATCH: Final = "--- a/src/module.py\n+++ b/src/module.py\n@@ -60,1 +60,2 @@\n line 60\n+# the user's\n"
_INTERVENTION: Final = {
    "id": "counter-edit-1",
    "event": "read_or_edit",
    "regions": [["src/module.py", 55, 65]],
    "moment": "after_action",
    "at": None,
    "patch": _PATCH,
    "message": "I changed a line: please build on it.",
}


def write_run(folder: Path, *, trials: int, events: int) -> None:
    """Write the run: so many trials with so many events each; both a little less where they do not divide."""
    per_task = len(_MODELS) * len(_CONDITIONS) * _REPEATS
    tasks = [f"task-{number:04d}" for number in range(max(1, trials // per_task))]
    keys = [
        TrialKey(task, AgentSpec("mini-swe-agent", model), Condition.parse(condition), repeat)
        for task in tasks
        for model in _MODELS
        for condition in _CONDITIONS
        for repeat in range(1, _REPEATS + 1)
    ][:trials]
    RunFolder(folder).write_plan(_plan(tasks, keys))
    for number, key in enumerate(keys):
        attempt = folder / "trials" / key.slug / "attempt-1"
        attempt.mkdir(parents=True)
        _Trial(attempt=attempt, key=key, number=number).write(events)


def _plan(tasks: list[str], keys: list[TrialKey]) -> Plan:
    shadow = _INTERVENTION | {"patch": None, "message": None}
    users = [
        user
        for task in tasks
        for user in (
            {"task": task, "condition": "vanilla", "interventions": [shadow], "shadow_of": ["counter-edit"]},
            {"task": task, "condition": "counter-edit", "interventions": [_INTERVENTION]},
        )
    ]
    return plan_of(_RUN, tasks, keys, users)


@dataclass(kw_only=True)
class _Trial(Recording):
    """Writes one attempt."""

    key: TrialKey
    number: int
    source: list[str] = field(default_factory=lambda: [f"line {n}\n" for n in range(1, _LINES + 1)])

    def write(self, events: int) -> None:
        """Write its record with about so many events, and its payloads."""
        touched = self.key.condition.label != "vanilla"
        self.objects()
        self.event("harness", "trial_started", self._start())
        step = 0
        while len(self.lines) < events - 4:
            step += 1
            self._step(step)
            if step == 4:  # early, so that most of the story comes after it
                self._intervention(touched=touched)
        if touched:
            self.event(
                "harness",
                "message_carried",
                {"message": "m1", "first_request": 5, "last_request": step, "requests": step - 4},
            )
        self._end(step, touched=touched)
        self.save()

    def _start(self) -> dict[str, Any]:
        planned = {"id": "counter-edit-1", "event": "read_or_edit", "moment": "after_action"}
        vanilla = self.key.condition.label == "vanilla"
        return {
            "run": _RUN,
            "task": self.key.task,
            "task_digest": digest_of(self.key.task),
            "record_status": "validated",
            "agent": self.key.agent.name,
            "model": self.key.agent.model,
            "condition": self.key.condition.label,
            "repeat": self.key.repeat,
            "attempt": 1,
            "base_tree": "0" * 40,
            "interventions": 1,
            "planned": [
                planned
                | {
                    "has_edit": not vanilla,
                    "has_message": not vanilla,
                    "shadow_of": ["counter-edit"] if vanilla else [],
                }
            ],
            "asking_tool": None,
            "step_limit": 100,
        }

    def _step(self, step: int) -> None:
        """One reply and what came of it; each third reads the file, each tenth edits it."""
        call = f"call_{step}"
        kind = step % 3
        usage = {"input": 900, "cache_read": 100 * step, "cache_write": 0, "output": 80, "reasoning": 10}
        self.event(
            "agent",
            "model_called",
            {
                "request": step, "step": step, "side": False, "model": "model", "status": 200, "complete": True,
                "usage": usage, "exchange": digest_of("exchange"), "tools": ["bash"],
                "text": self.blob(f"Step {kind}: I look at the module, and at what depends on it."),
                "milliseconds": 900.0, "elapsed": step * 1.5,
            },
        )  # fmt: skip
        command = ("sed -n 50,70p src/module.py", "python -m pytest -q", "git diff")[kind]
        read = [{"path": "src/module.py", "kind": "read", "lines": [[50, 70]]}] if kind == 0 else []
        arguments = self.blob(orjson.dumps({"command": command}).decode())
        self.event(
            "agent",
            "action_seen",
            {"step": step, "call": call, "tool": "bash", "arguments": arguments, "touches": read},
        )
        output = "".join(f"{n:6d}\tline {n} of the output of {command}\n" for n in range(60))
        self.event(
            "agent",
            "action_result",
            {
                "call": call,
                "output": self.blob(output),
                "bytes": len(output),
                "code": 0,
                "touches": read,
                "elapsed": step * 1.5 + 1,
            },
        )
        if step % 10 == 9:
            self._edit("agent", None, 10 + step % 30, f"line of step {step % 3}\n")

    def _intervention(self, *, touched: bool) -> None:
        body: dict[str, Any] = {
            "intervention": "counter-edit-1",
            "moment": "after_action",
            "why": "read of src/module.py:55-65",
            "calls": ["call_4"],
        }
        if not touched:
            self.event("user", "shadow_trigger_fired", body | {"conditions": ["counter-edit"]})
            return
        self.event("user", "trigger_fired", body)
        self.event("user", "edit_intended", {"intervention": "counter-edit-1", "patch": self.blob(_PATCH)})
        self._edit("user", "counter-edit-1", _EDIT_AT, "# the user's\n")
        applied = {"intervention": "counter-edit-1", "outcome": "applied", "detail": "1 of 1 hunks to write"}
        self.event(
            "user", "edit_applied", applied | {"files": [{"path": "src/module.py", "lines": [[61, 61]]}]}
        )
        self.event(
            "user",
            "message_sent",
            {
                "message": "m1",
                "intervention": "counter-edit-1",
                "text": _INTERVENTION["message"],
                "anchor": ["call_4"],
                "source": "fixed",
            },
        )
        self.event("harness", "message_carried", {"message": "m1", "first_request": 5})

    def _edit(self, by: str, intervention: str | None, after: int, line: str) -> None:
        """Put ``line`` behind line ``after``."""
        old = self.content("".join(self.source))
        self.source.insert(after, line)
        new = self.content("".join(self.source))
        written = {"intervention": intervention, "line": 1, "fate": "written", "path": "src/module.py"}
        fates = [written | {"number": after + 1, "whitespace": False}] if intervention else []
        place = {
            "modes": [33188, 33188],
            "binary": False,
            "hunks": [[after + 1, after, after + 1, after + 1]],
        }
        self.event(
            by,
            "workspace_changed",
            {
                "by": by, "intervention": intervention, "tree": "0" * 40,
                "files": [{"path": "src/module.py", "old": old, "new": new} | place],
                "lines": {"agent": len(self.source) - _LINES, "user": 1}, "user_lines": fates, "regions": [],
            },
        )  # fmt: skip

    def _end(self, steps: int, *, touched: bool) -> None:
        resolved = (self.number * 2654435761) % 100 < (55 if touched else 75)
        verdict = "resolved" if resolved else "unresolved"
        tests = {f"tests/test_module.py::test_{n}": "passed" if resolved else "failed" for n in range(5)}
        self.event(
            "verifier",
            "verified",
            {
                "key": digest_of(self.key.slug), "tree": "0" * 40, "verdict": verdict, "reward": float(resolved),
                "timed_out": False, "seconds": 1.5, "fail_to_pass": tests, "pass_to_pass": 40,
                "pass_to_pass_failed": {}, "missing": [], "restored": [], "output": self.blob("45 passed\n"),
            },
        )  # fmt: skip
        counts = {"input": 900 * steps, "cache_read": 50 * steps * steps, "output": 80 * steps}
        tokens = counts | {"cache_write": 0, "reasoning": 10 * steps, "total": sum(counts.values())}
        self.event(
            "harness",
            "trial_ended",
            {
                "verdict": verdict, "termination": "finished", "reward": float(resolved), "steps": steps,
                "sub_agent_calls": 0, "side_calls": 0, "retries": 0, "uncounted_replies": 0,
                "tokens": tokens, "triggered": int(touched), "shadow": int(not touched),
                "delivered": int(touched), "messages": int(touched), "user_tokens": 0,
                "user_lines": {"counter-edit-1": int(touched)},
            },
        )  # fmt: skip
