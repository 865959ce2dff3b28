"""mini-swe-agent's ``*.traj.json``, of version 1 (a fenced block a reply) and version 2 (tool calls)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.model.errors import InputError

__all__ = ["Recording", "Step", "read_mini_swe_agent"]

_FENCE: Final = re.compile(r"```bash\s*\n(.*?)\n```", re.DOTALL)
_SUBMIT_WORDS: Final = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")


@dataclass(frozen=True, slots=True)
class Step:
    """One reply of the model: what it said, and the commands that were run; one that submits is marked."""

    thought: str
    commands: tuple[str, ...]
    submits: bool


@dataclass(frozen=True, slots=True)
class Recording:
    """A recorded run. ``submission`` is the final diff as the agent handed it in."""

    model: str
    steps: tuple[Step, ...]
    submission: str


def read_mini_swe_agent(path: Path) -> Recording:
    """Read a trajectory of either version.

    Raises:
        InputError: the file is no mini-swe-agent trajectory; says what is missing.
    """
    try:
        raw = orjson.loads(path.read_bytes())
        form, info = raw["trajectory_format"], raw["info"]
        read = {"mini-swe-agent-1": _step_v1, "mini-swe-agent-1.1": _step_v2}[form]
        steps = [read(message) for message in raw["messages"] if message.get("role") == "assistant"]
        model = info["config"]["model"]["model_name"]
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read: {error.strerror}; give a mini-swe-agent *.traj.json"
        ) from None
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    except (KeyError, TypeError) as error:
        raise InputError(f"{path}: not a mini-swe-agent trajectory: {error} is missing or unknown") from None
    return Recording(str(model), tuple(steps), str(info.get("submission") or ""))


def _step_v1(message: dict[str, Any]) -> Step:
    text = message["content"]
    found = _FENCE.findall(text)
    # Version 1 ran a reply with exactly one block, and sent any other back as malformed.
    return _step(_FENCE.sub("", text).strip(), tuple(found) if len(found) == 1 else ())


def _step_v2(message: dict[str, Any]) -> Step:
    calls = message.get("tool_calls") or ()
    commands = tuple(orjson.loads(call["function"]["arguments"]).get("command", "") for call in calls)
    return _step(str(message.get("content") or ""), commands)


def _step(thought: str, commands: tuple[str, ...]) -> Step:
    submits = any(word in command for command in commands for word in _SUBMIT_WORDS)
    return Step(thought, commands, submits)
