"""Evidence -> findings: what can be expected of an agent, one by one. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fourhands.engine.agents.checking import scene
from fourhands.engine.agents.checking.evidence import Evidence
from fourhands.engine.agents.checking.reaction import reaction
from fourhands.model.event import MAIN_THREAD, EventKind
from fourhands.model.outcome import Termination
from fourhands.model.usage import Usage
from fourhands.wire.serving.tools import ASK_TOOL, read_tool, sub_agent_tool
from fourhands.wire.serving.types import Asked, ModelTurn, UserTurn

__all__ = ["ASPECTS", "Finding", "findings"]

_TRAITS: Final = "its traits in fourhands/engine/agents/registry.py"
_FILE: Final = "its file in fourhands/engine/agents"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. ``cell`` is the same in some words, for a table."""

    what: str
    ok: bool
    seen: str
    cell: str = ""
    remedy: str = ""


def findings(evidence: Evidence) -> list[Finding]:
    """Everything there is to say about a trial, in the order of `ASPECTS`."""
    return [look(evidence) for look in ASPECTS.values()]


def _runs(evidence: Evidence) -> Finding:
    ended = evidence.ended
    termination = ended.get("termination", "no end")
    seen = f"{termination} after {evidence.seconds:.0f} s: {ended.get('steps', 0)} steps"
    if ended.get("retries"):
        seen += f", {ended['retries']} replies not accepted"
    if termination == Termination.FINISHED and not ended["retries"]:
        return Finding("runs", ok=True, seen=f"{seen}, ended by itself")
    notes = [event.body["reason"] for event in evidence.of(EventKind.NOTE) if "reason" in event.body]
    said = "; ".join([*notes, *([f"its log ends: {evidence.log}"] if evidence.log else [])])
    remedy = f"run it by hand with what {_FILE} gives it; {said}" if said else f"look at {_FILE}"
    return Finding("runs", ok=False, seen=seen, remedy=remedy)


def _wire(evidence: Evidence) -> Finding:
    spoken = sorted({each.wire.name for each in evidence.heard})
    refused = [str(each.answered["error"]) for each in evidence.heard if each.asked is None]
    streamed = sum(bool(each.body.get("stream")) for each in evidence.heard)
    seen = f"{' and '.join(spoken) or 'nothing'}: {len(evidence.heard)} requests, {streamed} of them streamed"
    if refused:
        return Finding(
            "wire",
            ok=False,
            seen=f"{seen}; {len(refused)} refused: {refused[0]}",
            remedy="what stands between agent and model has damaged the history: report it",
        )
    if spoken != [evidence.entry.wire]:
        return Finding(
            "wire",
            ok=False,
            seen=seen,
            remedy=f"its registry entry says {evidence.entry.wire}: say what it speaks",
        )
    return Finding("wire", ok=True, seen=seen, cell=spoken[0])


def _touched(evidence: Evidence) -> Finding:
    by_tool = _tool(evidence, scene.READ)
    by_shell = _tool(evidence, scene.PARALLEL)
    missing = [
        problem
        for path, later in ((scene.ALPHA, scene.READ_AGAIN), (scene.BETA, scene.LOOK_AT_ALL))
        if (problem := _not_edited(evidence, path, evidence.came_back(later)))
    ]
    reader = read_tool(evidence.tools)
    if reader and by_tool != reader.name:
        missing.append(
            f"its tool {reader.name} was not used: the model could not tell where the repository is"
        )
    if missing:
        return Finding(
            "touched",
            ok=False,
            seen="; ".join(missing),
            remedy="see that fourhands/touch knows what its tools take, and that it tells its model where it works",
        )
    tools = [by_tool] if by_tool == by_shell else [by_tool, by_shell]
    return Finding(
        "touched",
        ok=True,
        seen=f"a read by {' and one by '.join(tools)} brought the user's edit, there before its next action",
        cell=", ".join(tools),
    )


def _not_edited(evidence: Evidence, path: str, seen_later: str) -> str | None:
    """What is missing of the user's edit of a file."""
    if evidence.body(EventKind.TRIGGER_FIRED, path) is None:
        return f"{path}: no trigger fired when the agent read it"
    if evidence.body(EventKind.EDIT_APPLIED, path) is None:
        return f"{path}: the user's edit did not apply"
    if scene.user_line(path).strip() not in seen_later:
        return f"{path}: the model was not shown the user's line when it looked again"
    return None


def _spoken_to(evidence: Evidence) -> Finding:
    problems = [
        problem
        for path in (scene.ALPHA, scene.BETA, scene.GAMMA)
        if (problem := _not_carried(evidence.main, scene.message_of(path)))
    ]
    if problems:
        return Finding(
            "spoken to",
            ok=False,
            seen="; ".join(problems),
            remedy=f"see whether {_TRAITS} tell its threads apart, and whether it shortens its history",
        )
    calls = evidence.made(scene.PARALLEL)
    several = calls is not None and len(calls.calls) > 1
    behind = ", once behind two parallel calls" if several else ""
    return Finding(
        "spoken to",
        ok=True,
        seen=f"each of 3 messages once in every request, right behind the results of its batch{behind}",
        cell="yes, parallel" if several else "yes",
    )


def _not_carried(requests: Sequence[Asked], message: str) -> str | None:
    """What is wrong with how the requests of the main loop carry a message."""
    places = [
        [
            index
            for index, turn in enumerate(asked.turns)
            if isinstance(turn, UserTurn) and turn.text == message
        ]
        for asked in requests
    ]
    first = next((number for number, found in enumerate(places) if found), None)
    about = repr(message.partition(" while")[0])
    if first is None:
        return f"{about} reached the model in no request"
    if any(found != places[first] for found in places[first:]) or len(places[first]) > 1:
        return f"{about} stood at {places[first:]} in the requests from {first + 1} on, and not once at one place"
    (place,) = places[first]
    turns = requests[first].turns
    if place != len(turns) - 1 or not _is_behind_results(turns[:place]):
        return f"{about} was not right behind the results of a batch"
    return None


def _is_behind_results(turns: Sequence[ModelTurn | UserTurn]) -> bool:
    """Whether all that was called last has come back; without tools, a word of the terminal's."""
    if not turns:
        return False
    last = turns[-1]
    if isinstance(last, ModelTurn):
        return bool(last.calls) and {call.id for call in last.calls} == set(last.results)
    return len(turns) > 1 and isinstance(turns[-2], ModelTurn) and not turns[-2].calls


def _sub_agent(evidence: Evidence) -> Finding:
    tool = sub_agent_tool(evidence.tools)
    if tool is None:
        return Finding("sub-agent", ok=True, seen="offers its model none", cell="none")
    event = next(
        (e for e in evidence.of(EventKind.TRIGGER_FIRED) if e.body["intervention"] == scene.GAMMA), None
    )
    thread = event.thread if event else "none"
    looks = [
        text
        for asked in evidence.delegated[-1:]
        for turn in asked.turns
        if isinstance(turn, ModelTurn)
        for text in turn.results.values()
    ]
    again = looks[1] if len(looks) > 1 else ""
    problems = [
        text
        for text, holds in (
            (f"{scene.GAMMA} was edited in thread {thread}", thread not in {MAIN_THREAD, "none"}),
            ("its second look did not show the user's line", scene.user_line(scene.GAMMA).strip() in again),
            (
                "the message was said to it, and not to the main loop",
                not any(
                    scene.message_of(scene.GAMMA) == turn.text for a in evidence.delegated for turn in a.turns
                ),
            ),
        )
        if not holds
    ]
    if problems:
        return Finding(
            "sub-agent",
            ok=False,
            seen=f"{tool.name}: {'; '.join(problems)}",
            remedy=f"see that {_TRAITS} name the headers of its threads",
        )
    return Finding(
        "sub-agent",
        ok=True,
        seen=f"{tool.name}: the edit came in its thread at once, the message went to the main loop",
        cell=tool.name,
    )


def _asks(evidence: Evidence) -> Finding:
    by_command = evidence.entry.traits.asks_by_command
    offered = next((tool.name for tool in evidence.tools if tool.name.endswith(ASK_TOOL)), None)
    asked = next((event.body["text"] for event in evidence.of(EventKind.ASKED)), None)
    answer = next((event.body["text"] for event in evidence.of(EventKind.ANSWERED)), None)
    heard = [text for turn in _last_turns(evidence) for text in _texts(turn)]
    arrived = answer is not None and any(_squeezed(answer) in _squeezed(text) for text in heard)
    how = "the command ask-the-user" if by_command else offered or f"no tool {ASK_TOOL}"
    problem = (
        f"the model was offered {how}"
        if not by_command and offered is None
        else f"{how}: the user was asked {asked!r}, not {scene.ASK.thought!r}"
        if asked != scene.ASK.thought
        else f"{how}: the answer did not come back to the model"
        if not arrived
        else None
    )
    if problem:
        return Finding(
            "asks", ok=False, seen=problem, remedy=f"see how {_FILE} names the server, and its time-outs"
        )
    return Finding(
        "asks",
        ok=True,
        seen=f"{how}: the question reached the user, the answer the model",
        cell="command" if by_command else "tool",
    )


def _counted(evidence: Evidence) -> Finding:
    ended = evidence.ended
    counted: dict[str, Any] = ended.get("tokens") or {}
    total = counted.get("total", 0)
    if ended.get("uncounted_replies") or not total:
        return Finding(
            "counted",
            ok=False,
            seen=f"{total} tokens, and {ended.get('uncounted_replies', 0)} replies that told none",
            remedy="the wire must ask for the usage of a streamed reply: report it",
        )
    if evidence.reported is None:
        return Finding("counted", ok=True, seen=f"{total} tokens; it reports none", cell="reports none")
    gateway, own = (counted["total"], counted["output"]), _sums(evidence.reported)
    if gateway != own:
        return Finding(
            "counted",
            ok=False,
            seen=f"{gateway[0]} tokens, {gateway[1]} of them output, and by its own report {own[0]} and {own[1]}",
            remedy="see which of its logs its reported_usage reads, and whether a thread is missing in it",
        )
    return Finding("counted", ok=True, seen=f"{total} tokens, as it reports itself", cell="as it reports")


def _sums(usage: Usage) -> tuple[int, int]:
    return usage.total, usage.output


def _changed_file(evidence: Evidence) -> Finding:
    found = reaction(evidence)
    return Finding("changed file", ok=not found.remedy, seen=found.seen, cell=found.cell, remedy=found.remedy)


def _keeps_secrets(evidence: Evidence) -> Finding:
    if evidence.leaks:
        return Finding(
            "secrets",
            ok=False,
            seen=f"it wrote the trial's token to {', '.join(evidence.leaks)}",
            remedy=f"let {_FILE} hand it over in a variable that the agent does not log",
        )
    return Finding("secrets", ok=True, seen="it wrote the trial's token to no file", cell="kept")


ASPECTS: Final[dict[str, Callable[[Evidence], Finding]]] = {
    "runs": _runs,
    "wire": _wire,
    "touched": _touched,
    "spoken to": _spoken_to,
    "sub-agent": _sub_agent,
    "asks": _asks,
    "counted": _counted,
    "changed file": _changed_file,
    "secrets": _keeps_secrets,
}
"""What is looked at, in order."""


def _tool(evidence: Evidence, move: Any) -> str:
    """What a move was made with."""
    turn = evidence.made(move)
    return turn.calls[0].tool if turn and turn.calls else "its terminal"


def _last_turns(evidence: Evidence) -> Sequence[ModelTurn | UserTurn]:
    return evidence.main[-1].turns if evidence.main else ()


def _texts(turn: ModelTurn | UserTurn) -> Sequence[str]:
    return tuple(turn.results.values()) if isinstance(turn, ModelTurn) else (turn.text,)


def _squeezed(text: str) -> str:
    """Without white space: a terminal breaks lines as they come, and JSON writes them as letters."""
    return re.sub(r"\\n|\s", "", text)
