"""Studies made by hand: two agents, three conditions, what was never scored, and lines of a user."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from fourhands.analysis.study import RunInfo, Study, TaskInfo
from fourhands.analysis.tidy import concat
from fourhands.model.failure import FailureLabel, FoundBy


def _neighbour(name: str) -> ModuleType:
    """The neighbour's module: tests are no package that could be imported from."""
    path = Path(__file__).parents[1] / "analysis" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


frames, said = _neighbour("frames"), _neighbour("said")
trial, talk, study = frames.trial, frames.talk, frames.study


def intervention(of: dict[str, Any], **values: Any) -> dict[str, Any]:
    """One that was delivered in a trial, and whose four lines fared as ``values`` say."""
    return {
        "run": of["run"],
        "trial": of["trial"],
        "intervention": "i1",
        "shadow_of": [],
        "event": "read",
        "moment": "after_action",
        "has_edit": True,
        "has_message": True,
        "triggers": 1,
        "edit_outcome": "applied",
        "delivered": True,
        "delivered_seq": 5,
        "announced": False,
        "written": 4,
        "kept": 4,
        "moved": 0,
        "changed": 0,
        "removed": 0,
        "ever_revised": 0,
        "absent_at_end": 0,
        "taken_out": 0,
        "put_back": 0,
        "ever_put_back": 0,
        "re_reads": 1,
        "changes": 0,
        "reads_after": 2,
        "edits_after": 1,
        "tests_after": 0,
        "asked": False,
        "mentioned": True,
        "mode": "ignores",
        "proof": '{"sent": {"seq": 6}}',
        **values,
    }


def line(of: dict[str, Any], **values: Any) -> dict[str, Any]:
    """A line that the user wrote after the first step."""
    return {
        "run": of["run"],
        "trial": of["trial"],
        "intervention": "i1",
        "kind": "written",
        "line": 1,
        "path": "a.py",
        "fate": "kept",
        "by": "user",
        "written_step": 1,
        "ever_revised": False,
        "absent_at_end": False,
        **values,
    }


def judged(**scores: float | None) -> str:
    """What two judges said of a trial, the second nothing of use."""
    known = {"prompt_version": 2, "points": 6}
    first = {"judge": "judge:j", **known, "unscored": 1, **scores}
    second = {"judge": "judge:k", **known, "unscored": 6, "plan": None, "final": None}
    return json.dumps([first, second])


def why() -> dict[str, Any]:
    """Of a trial that failed: one requirement was forgotten, and what a judge says of another that is left open."""
    found = said.labelled((FailureLabel.FORGOTTEN, FoundBy.EVENTS, "R1"), left=("R2",))
    return found | said.audits(said.opinion((FailureLabel.TECHNICAL, "R2")))


def conversing() -> Study:
    """Two tasks, told at once and in conversation with two simulators; one trial forgets, one is cut."""
    return study(
        [
            *(trial(task, "single-turn", model="t") for task in "ab"),
            talk("a", model="t", judged=judged(plan=80.0, final=90.0)),
            talk(
                "b", solved=False, forgotten=["R1"], model="t", judged=judged(plan=None, final=40.0), **why()
            ),
            talk("a", "interactive[simulator=x]", verifier_informed=True, model="t"),
            talk(
                "b",
                "interactive[simulator=x]",
                model="t",
                solved=False,
                termination="step_limit",
                held=["R2"],
                held_at_will=["R2"],
                missing=["R2"],
                missing_at_will=["R2"],
            ),
        ]
    )


def several() -> Study:
    """Four tasks × two repeats; `m` loses two tasks to a Counter-Edit, `n` none; one trial of `n` has no outcome."""
    trials, interventions, lines = [], [], []
    for model in ("m", "n"):
        for task in "abcd":
            status = "validated" if task in "ab" else "draft"
            for repeat in (1, 2):
                common = {
                    "repeat": repeat,
                    "model": model,
                    "record_status": status,
                    "benchmark": "verified",
                    "models": [model],
                    "agent_version": "1.0",
                }
                trials.append(trial(task, **common, would_trigger=["counter-edit"]))
                lost = model == "m" and task in "ab"
                touched = trial(
                    task,
                    "counter-edit",
                    solved=None if (model, task) == ("n", "d") else not lost,
                    **common,
                    steps=12,
                    ablation="edit_caused" if lost and repeat == 1 else None,
                    ablation_by="removal" if lost and repeat == 1 else None,
                )
                trials += [touched, trial(task, "counter-edit[k=1]", **common)]
                interventions.append(intervention(touched))
                lines.append(line(touched))
    task_infos = tuple(
        TaskInfo(
            name, "d", "verified", patches={"counter-edit": ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",)}
        )
        for name in "abcd"
    )
    run = RunInfo("run", "/runs/a", "run", tasks=task_infos, agents={"mini-swe-agent": "1.0"}, repeats=2)
    made: Study = study(trials, interventions, lines)
    return replace(made, runs=(run,), skipped=("runs/b: is a copy",))


def in_parts() -> Study:
    """Two tasks told at once, in conversation with two personas, touched, and both: one task never had the latter."""
    return study(
        [
            *(trial(task, "single-turn", model="p") for task in "ab"),
            *(talk(task, model="p", solved=task == "a", said=6) for task in "ab"),
            *(talk(task, "interactive[persona=neutral]", model="p", said=4) for task in "ab"),
            *(trial(task, "counter-edit", model="p", solved=task == "b") for task in "ab"),
            talk("a", "four-hands", model="p", solved=False, resolved_at_will=False),
            talk("b", "four-hands", model="p", solved=None),
        ]
    )


def everything() -> Study:
    """All together: every table has something to show."""
    touched, talked, parts = several(), conversing(), in_parts()
    return replace(touched, tables=concat([touched.tables, talked.tables, parts.tables]))
