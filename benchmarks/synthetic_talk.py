"""A run of conversations, as the product would have left it: the shapes are real, the trials are made up.

Each task has a ledger of 17 requirements with names, values and negations. The agent asks for a review in each turn,
in words of its own about what it was told last; the user looks and tells the next. Half of the trials fail: one
requirement is forgotten, lost, misread or botched, or never told. What is written depends on nothing but the numbers
given.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.run_folder import RunFolder
from recording import Recording, digest_of, plan_of

__all__ = ["REQUIREMENTS", "write_talks"]

REQUIREMENTS: Final = 17
_MODELS: Final = ("large", "small")
_CONDITIONS: Final = ("interactive", "interactive[persona=neutral]")
_REPEATS: Final = 2
_FAULTS: Final = ("forgets", "loses", "misreads", "botches", "never told")
_GOALS: Final = 5
_THINGS: Final = (
    ("interval", "seconds"), ("margin", "columns"), ("quota", "entries"), ("balance", "cents"), ("window", "days"),
    ("offset", "rows"), ("ratio", "per cent"), ("timeout", "seconds"), ("depth", "levels"), ("buffer", "bytes"),
    ("retry", "attempts"), ("stride", "steps"), ("limit", "records"), ("indent", "spaces"), ("precision", "digits"),
    ("threshold", "points"), ("batch", "items"),
)  # fmt: skip


def write_talks(folder: Path, *, conversations: int, turns: int) -> int:
    """Write so many conversations of so many turns, and for each task and model a trial told at once.

    Returns the number of events in all.
    """
    per_task = len(_MODELS) * len(_CONDITIONS) * _REPEATS
    tasks = [f"talk-{number:03d}" for number in range(max(1, conversations // per_task))]
    keys = [
        TrialKey(task, AgentSpec("mini-swe-agent", model), Condition.parse(condition), repeat)
        for task in tasks
        for model in _MODELS
        for condition, repeats in (("single-turn", 1), *((each, _REPEATS) for each in _CONDITIONS))
        for repeat in range(1, repeats + 1)
    ]
    RunFolder(folder).write_plan(plan_of("synthetic-talk", tasks, keys))
    events = 0
    for number, key in enumerate(keys):
        attempt = folder / "trials" / key.slug / "attempt-1"
        attempt.mkdir(parents=True)
        talk = _Talk(attempt=attempt, key=key, number=number)
        talk.write(turns if key.condition.talks else 0)
        events += len(talk.lines)
    return events


def _ledger(task: str) -> dict[str, Any]:
    """Of one task: the numbers differ from task to task."""
    requirements = []
    for place, (thing, unit) in enumerate(_THINGS, 1):
        value = int(digest_of(f"{task} {place}")[:4], 16) % 900 + 10
        text = (
            f"The {thing} is `{thing}_of` of the module and comes to {value} {unit} by default; it must not be "
            "rounded before the report is written."
        )
        requirements.append(
            {
                "id": f"R{place}",
                "text": text,
                "span": [place, place + 1],
                "identifiers": [f"{thing}_of"],
                "values": [str(value)],
                "negations": ["must not"],
                "depends_on": [],
                "weight": round(100 / REQUIREMENTS, 6),
                "checks": [f"tests/test_acceptance.py::test_{thing}_{n}" for n in (1, 2)],
                "tests": [f"tests/test_module.py::test_{thing}"],
            }
        )
    ids = [each["id"] for each in requirements]
    goals = [
        {
            "id": f"G{n + 1}",
            "text": f"Part {n + 1} works.",
            "weight": 20.0,
            "evidence": "It is used.",
            "requirements": ids[n::_GOALS],
        }
        for n in range(_GOALS)
    ]
    return {
        "schema": 1,
        "brief": "The report is off, can you look?",
        "requirements": requirements,
        "goals": goals,
    }


@dataclass(kw_only=True)
class _Talk(Recording):
    """Writes one attempt."""

    key: TrialKey
    number: int
    step: int = 0
    states: dict[str, str] = field(default_factory=dict)
    met: dict[str, bool] = field(default_factory=dict)
    checkpoints: int = 0
    source: list[str] = field(default_factory=lambda: [f"line {n}\n" for n in range(1, 121)])

    def write(self, turns: int) -> None:
        """Write its record, and its payloads."""
        self.objects()
        self.ledger = _ledger(self.key.task)
        self.ids = [each["id"] for each in self.ledger["requirements"]]
        self.met = dict.fromkeys(self.ids, False)
        # Each task has as many trials as the one before: so that each kind of trial meets each fault.
        fault = _FAULTS[(self.number // 2 + self.number // 10) % len(_FAULTS)]
        self.fault = fault if turns and self.number % 2 else None
        # What goes wrong is among the first: there are turns enough after it.
        self.victim = self.ids[self.number % 5] if self.fault else None
        self._start(talks=bool(turns))
        for turn in range(turns):
            self._turn(turn, turns)
        if not turns:
            self._work(0, 4)
            self.met = dict.fromkeys(self.ids, self.number % 3 > 0)
        self._end(turns)
        self.save()

    def _start(self, *, talks: bool) -> None:
        body: dict[str, Any] = {
            "run": "synthetic-talk", "task": self.key.task, "task_digest": digest_of(self.key.task),
            "record_status": "validated", "agent": self.key.agent.name, "model": self.key.agent.model,
            "condition": self.key.condition.label, "repeat": self.key.repeat, "attempt": 1, "base_tree": "0" * 40,
            "interventions": 0, "planned": [], "asking_tool": None, "step_limit": 400,
            "ledger": self.blob(orjson.dumps(self.ledger).decode()),
        }  # fmt: skip
        if talks:
            brief = self.ledger["brief"]
            body |= {"persona": self.key.condition.persona, "brief": brief, "opening": self.blob(brief * 20)}
        self.event("harness", "trial_started", body)

    def _turn(self, turn: int, turns: int) -> None:
        """The agent works and asks; the user looks, sees what holds and tells the next."""
        told = [name for name in self.ids if name in self.states]
        self._work(turn, 2)
        self._write_code(told, turn, turns)
        question = f"q{turn + 1}"
        self.event(
            "agent", "asked", {"question": question, "text": self._review(told), "elapsed": turn * 10.0}
        )
        if turn == 0:
            self._checkpoint("plan", 0, turn)
        self._checkpoint("commit", 6, turn)
        look = {"argv": ["changes"], "code": 0, "output": self.blob(self._diff(turn)), "bytes": 700}
        self.event("user", "looked", look | {"refused": None})
        for name in told:
            self._see(name, turn)
        waiting = [name for name in self.ids if name not in self.states and not self._is_kept_back(name)]
        unmet = [name for name in told if not self.met[name]]
        reveal = waiting[:1]
        move = "reveal" if reveal else "correct" if unmet else "approve"
        about = reveal or unmet[:1]
        text = " ".join(each["text"] for each in self.ledger["requirements"] if each["id"] in about)
        body = {
            "question": question, "text": text or "Ship it.", "source": "fixed", "elapsed": turn * 10.0 + 5,
            "move": move, "requirements": about, "why": "held, and the next in order", "occasion": "review",
        }  # fmt: skip
        self.event("user", "answered", body)
        for name in reveal:
            self._move(name, "revealed", turn, {"question": question})

    def _diff(self, turn: int) -> str:
        """What a turn changed: the code for what was told last, with its name and number."""
        told = [name for name in self.ids if name in self.states]
        name = told[turn % len(told)] if told else None
        lines = [f"    rows.append(line_{turn}_{n})" for n in range(8)]
        if name and not (name == self.victim and self.fault == "forgets"):
            each = self.ledger["requirements"][self.ids.index(name)]
            lines[:2] = [
                f"def {each['identifiers'][0]}(report):",
                f"    return report.width * {self._value(name)}",
            ]
        return (
            "diff --git a/src/module.py b/src/module.py\n--- a/src/module.py\n+++ b/src/module.py\n"
            f"@@ -{turn + 10},4 +{turn + 10},12 @@\n before\n before\n"
            + "".join(f"+{line}\n" for line in lines)
            + " after\n after\n"
        )

    def _is_kept_back(self, name: str) -> bool:
        return self.fault == "never told" and name == self.victim

    def _write_code(self, told: list[str], turn: int, turns: int) -> None:
        for name in told:
            if name != self.victim:
                self.met[name] = True
            elif self.fault == "loses":
                self.met[name] = turn < turns * 2 // 3

    def _review(self, told: list[str]) -> str:
        """What the agent says of the last it was told, and of all before, in its own words."""
        if not told:
            return f"Here is my plan: I read the module ({self.number}), then change what you describe. Fine?"
        said = []
        for name in told[-3:]:
            each = self.ledger["requirements"][self.ids.index(name)]
            if not (name == self.victim and self.fault == "forgets"):
                thing, value = each["identifiers"][0], self._value(name)
                said.append(f"- `{thing}` now gives {value}, without rounding it before the report")
        done = "\n".join(said) or "- I went through the module again"
        return f"Pass {self.number}.{len(told)} is committed.\n{done}\nThe tests pass here. Is that what you want?"

    def _value(self, name: str) -> int:
        """The number of a requirement, as the agent understands it."""
        told = int(self.ledger["requirements"][self.ids.index(name)]["values"][0])
        return told + (name == self.victim and self.fault == "misreads")

    def _see(self, name: str, turn: int) -> None:
        """What the user finds of a requirement that was told."""
        state, evidence = self.states[name], {"checkpoint": f"c{self.checkpoints}", "checks": {}}
        is_forgotten = name == self.victim and self.fault == "forgets"
        if state == "revealed" and not is_forgotten:
            self._move(name, "acknowledged", turn, {"question": f"q{turn + 1}"})
            state = "acknowledged"
        if state in {"acknowledged", "violated"} and self.met[name]:
            self._move(name, "satisfied", turn, evidence)
        elif state in {"acknowledged", "satisfied"} and not self.met[name]:
            self._move(name, "violated", turn, evidence)

    def _move(self, name: str, to: str, turn: int, evidence: dict[str, Any]) -> None:
        before = self.states.get(name, "held")
        self.states[name] = to
        body = {"requirement": name, "from": before, "to": to, "turn": turn, "evidence": evidence}
        self.event("user", "requirement_moved", body)

    def _work(self, turn: int, steps: int) -> None:
        for _ in range(steps):
            self.step += 1
            self._step(turn)
        before = self.content("".join(self.source))
        self.source[self.step % 100] = f"line {self.number} {self.step}\n"
        place = {"modes": [33188, 33188], "binary": False, "hunks": [[self.step % 100 + 1, 1] * 2]}
        file = {"path": "src/module.py", "old": before, "new": self.content("".join(self.source))}
        self.event(
            "agent",
            "workspace_changed",
            {
                "by": "agent", "intervention": None, "tree": "0" * 40, "files": [file | place],
                "lines": {"agent": self.step, "user": 0}, "user_lines": [], "regions": [],
            },
        )  # fmt: skip

    def _step(self, turn: int) -> None:
        call, elapsed = f"call_{self.step}", self.step * 1.5
        usage = {"input": 900, "cache_read": 100 * self.step, "cache_write": 0, "output": 80, "reasoning": 10}
        self.event(
            "agent",
            "model_called",
            {
                "request": self.step, "step": self.step, "side": False, "model": "model", "status": 200,
                "complete": True, "usage": usage, "exchange": digest_of("exchange"), "tools": ["bash"],
                "text": self.blob(f"I look at the module again, for what you said in turn {turn} ({self.number})."),
                "milliseconds": 900.0, "elapsed": elapsed,
            },
        )  # fmt: skip
        command = ("sed -n 50,70p src/module.py", "python -m pytest -q")[self.step % 2]
        arguments = self.blob(orjson.dumps({"command": command}).decode())
        seen = {"step": self.step, "call": call, "tool": "bash", "arguments": arguments, "touches": []}
        self.event("agent", "action_seen", seen)
        output = "".join(f"{n:6d}\tline {n} of the output of {command}\n" for n in range(60))
        result = {"call": call, "output": self.blob(output), "bytes": len(output), "code": 0, "touches": []}
        self.event("agent", "action_result", result | {"elapsed": elapsed + 1})

    def _checkpoint(self, of: str, lines: int, turn: int) -> None:
        self.checkpoints += 1
        is_plan = of == "plan"
        goals = {
            goal["id"]: sum(self.met[name] for name in goal["requirements"]) / len(goal["requirements"])
            for goal in self.ledger["goals"]
        }
        checks = {
            check: self.met[each["id"]] for each in self.ledger["requirements"] for check in each["checks"]
        }
        body: dict[str, Any] = {
            "checkpoint": f"c{self.checkpoints}", "of": of, "commit": None if is_plan else "1" * 40,
            "subject": None if is_plan else f"Pass {turn}", "amended": False, "merge": False, "tree": "0" * 40,
            "before": "0" * 40, "diff": self.blob(self._diff(turn) if lines else ""), "additions": lines,
            "deletions": 0,
            "files": ["src/module.py"] if lines else [], "tests_only": False, "checks": None if is_plan else checks,
            "requirements": dict(self.met), "goals": goals, "score": 20 * sum(goals.values()),
            "source": "words" if is_plan else "checks", "problem": None, "elapsed": turn * 10.0 + 4,
        }  # fmt: skip
        nothing = {"additions": 0, "deletions": 0}
        if is_plan:
            body["text"] = self.blob(self._review([]))
        else:
            body["since_base"] = {"additions": self.step, "deletions": 0, "tests": nothing}
        self.event("harness", "checkpoint", body)

    def _end(self, turns: int) -> None:
        for of in ("stop", "end"):
            self._checkpoint(of, 0, turns)
        resolved = all(self.met.values())
        verdict = "resolved" if resolved else "unresolved"
        tests = {
            test: "passed" if self.met[each["id"]] else "failed"
            for each in self.ledger["requirements"]
            for test in each["tests"]
        }
        verified = {
            "key": digest_of(self.key.slug), "tree": "0" * 40, "verdict": verdict, "reward": float(resolved),
            "timed_out": False, "seconds": 1.5, "fail_to_pass": tests, "pass_to_pass": 40,
            "pass_to_pass_failed": {}, "missing": [], "restored": {"written": [], "removed": []},
            "output": self.blob("57 tests\n"),
        }  # fmt: skip
        self.event("verifier", "verified", verified)
        counts = {"input": 900 * self.step, "cache_read": 50 * self.step**2, "output": 80 * self.step}
        tokens = counts | {"cache_write": 0, "reasoning": 0, "total": sum(counts.values())}
        body: dict[str, Any] = {
            "verdict": verdict, "termination": "finished", "reward": float(resolved), "steps": self.step,
            "sub_agent_calls": 0, "side_calls": 0, "retries": 0, "uncounted_replies": 0, "tokens": tokens,
            "triggered": 0, "shadow": 0, "delivered": 0, "messages": 0, "user_tokens": 0, "user_lines": {},
        }  # fmt: skip
        if turns:
            body |= {
                "at_will": {"verdict": verdict, "reward": float(resolved), "tree": "0" * 40},
                "coverage": {
                    "told": [name for name in self.ids if name in self.states],
                    "held": [name for name in self.ids if name not in self.states],
                },
                "slips": [],
            }
        self.event("harness", "trial_ended", body)
