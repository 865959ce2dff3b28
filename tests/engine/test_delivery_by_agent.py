"""What the proof of delivery claims of each real agent, held against the log of the server that its model is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from fourhands.analysis.delivery import DeliveryProof
from fourhands.engine.agents.registry import AGENTS
from fourhands.gateway.playbook import Edit, Move, Playbook, Temperament
from fourhands.gateway.players import Player, ScriptedPlayer
from fourhands.model.event import MAIN_THREAD, EventKind
from fourhands.wire.history import text_call

from .agent_trials import Entry, Played, Seen, play

pytestmark = pytest.mark.slow

FILE: Final = "src/tally/allocation.py"
STANDS: Final = "minors = [max(minor, round_up(share))"
"""Of the line that the user writes."""
SHOW: Final = f"sed -n '20,40p' {FILE}; sleep 0.2"
"""The region that the user watches; some agents lose the output of a command that is over at once."""
QUESTION: Final = "Shall I keep what you wrote?"
DELEGATES: Final = frozenset({"claude-code", "codex", "opencode", "openhands-sdk", "qwen-code"})
REPORT: Final = frozenset(
    {"claude-code", "codex", "opencode", "openhands-sdk", "pi", "qwen-code", "terminus-2"}
)
"""Agents that say how many tokens they took."""
UNTOLD: Final = {"openhands-sdk": {"cache_read", "reasoning"}, "terminus-2": {"reasoning"}}
"""What some of them leave out."""

AFTER: Final = "counter-edit[k=1,trigger=step:2]"
BEFORE: Final = "counter-edit[k=1,moment=before_action]"
WORDS: Final = "message-only[k=1]"
IN_A_SUB_AGENT: Final = "counter-edit[k=1]"


def player(*moves: Move) -> Player:
    """Goes through ``moves``; spoken to, it looks what has changed, and asks."""
    reaction = (
        Move(thought="What has changed?", command="git diff; sleep 0.2"),
        Move(thought=QUESTION, ask=True),
    )
    end = Move(thought="I am done.", submit=True)
    return ScriptedPlayer(
        Playbook(
            schema_version=1,
            moves=(*moves, end),
            temperaments={"keeps": Temperament(then="continue", on_message=reaction)},
        ),
        "keeps",
    )


WORKS: Final = player(
    Move(thought="I read it.", read=FILE),
    Move(thought="Two looks at once.", parallel=("ls src; sleep 0.2", "git log --oneline -n 3; sleep 0.2")),
    Move(
        thought="A better word.",
        edit=Edit(
            path=FILE, old="sign = -1 if total.minor < 0 else 1", new="sign = 1 if total.minor >= 0 else -1"
        ),
    ),
)
VARIABLES: Final = (
    "cat /proc/[0-9]*/environ 2> /dev/null | tr '\\0' '\\n' | grep -aE '(KEY|TOKEN)=' | sort -u"
)
SPIES: Final = player(
    Move(thought="What is there?", command=f"{VARIABLES}; sleep 0.2"),
    Move(thought="And else?", command="ls"),
)
TOKENS: Final = "ANTHROPIC_API_KEY|GATEWAY_TOKEN|OPENAI_API_KEY"
"""Where agents are given the trial's."""
HANDS_ON: Final = player(
    Move(thought="Let somebody else look.", delegate=(SHOW, "git diff; sleep 0.2")),
    Move(thought="And now I.", command="python -c 'import sys; print(sys.prefix)'; sleep 0.2"),
)


@dataclass(frozen=True)
class Trials:
    """All trials of one agent."""

    agent: str
    by_condition: dict[str, Played]

    def proof(self, condition: str) -> tuple[Played, DeliveryProof]:
        played = self.by_condition[condition]
        (proof,) = played.proofs
        return played, proof


@pytest.fixture(scope="module", params=[name for name in AGENTS if name != "thin"])
def agent(request: pytest.FixtureRequest, needs_agent: Callable[[str], None]) -> str:
    name = str(request.param)
    needs_agent(name)
    return name


@pytest.fixture(scope="module")
def trials(agent: str, tmp_path_factory: pytest.TempPathFactory) -> Trials:
    folder = tmp_path_factory.mktemp(agent)
    asking, conditions = ["--asking", "--step-limit", "20"], [AFTER, BEFORE, WORDS]
    works = play(folder / "works", agent, WORKS, *asking, conditions=conditions)
    hands_on = play(folder / "hands-on", agent, HANDS_ON, *asking, conditions=[IN_A_SUB_AGENT])
    return Trials(agent, dict(zip([*conditions, IN_A_SUB_AGENT], [*works, *hands_on], strict=True)))


@pytest.fixture(scope="module", params=[AFTER, BEFORE, WORDS, IN_A_SUB_AGENT])
def condition(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_trial_ends_by_itself_and_each_request_is_recorded_as_the_model_got_it(
    trials: Trials, condition: str
) -> None:
    played = trials.by_condition[condition]
    ended = played.ended
    assert (ended["termination"], ended["retries"], ended["uncounted_replies"]) == ("finished", 0, 0)
    recorded = played.recorded_requests()
    assert sorted(recorded) == list(range(1, len(played.seen) + 1))
    for number, request in recorded.items():
        assert request == played.request(number).body, number
    assert not any("error" in seen.reply and seen.reply["error"] for seen in played.seen)


def test_the_message_is_once_in_each_request_from_the_first_to_the_last_that_the_proof_names(
    trials: Trials, condition: str
) -> None:
    played, proof = trials.proof(condition)
    assert proof.sent
    assert proof.carried
    (sent,) = played.bodies(EventKind.MESSAGE_SENT)
    places = {number: seen.places(sent["text"]) for number, seen in enumerate(played.seen, 1)}
    carrying = [number for number, found in places.items() if found]
    assert carrying == [number for number in played.main if number >= carrying[0]]
    assert all(len(places[number]) == 1 for number in carrying)
    assert not any(played.request(number).holds(sent["text"]) for number in range(1, carrying[0]))
    assert (proof.carried.first_request, proof.carried.last_request, proof.carried.requests) == (
        *(carrying[0], carrying[-1]),
        len(carrying),
    )
    assert carrying[-1] == played.main[-1]
    assert proof.displaced == () or condition == IN_A_SUB_AGENT


def test_the_message_is_right_behind_the_results_of_the_batch_that_the_proof_names(
    trials: Trials, condition: str
) -> None:
    played, proof = trials.proof(condition)
    assert proof.sent
    (sent,) = played.bodies(EventKind.MESSAGE_SENT)
    moved = [each.anchor for each in proof.displaced if each.what == "moved"]
    anchor = moved[-1] if moved else proof.sent.anchor
    found = set()
    for number in played.main:
        for place in played.request(number).places(sent["text"]):
            seen = played.request(number)
            assert seen.entries[place].kind == "user"
            found.add(place)
            assert _batch_before(played, seen, place) == set(anchor)
    assert len(found) == 1  # of later requests, too


def _batch_before(played: Played, seen: Seen, place: int) -> set[str]:
    """The calls whose results stand right before a place, and none behind it."""
    entries = seen.entries
    if played.traits.text_actions:
        model, screen = entries[place - 2 : place]
        assert (model.kind, screen.kind) == ("model", "user")
        return {text_call(model.text)}
    assert place + 1 == len(entries) or entries[place + 1].kind != "result"
    calls = set()
    while entries[place - 1].kind == "result":
        place -= 1
        calls.add(entries[place].call)
    return calls


def test_the_first_action_is_of_the_reply_to_the_first_request_with_the_message_and_was_carried_out(
    trials: Trials, condition: str
) -> None:
    played, proof = trials.proof(condition)
    assert proof.carried
    assert proof.answered
    assert proof.first_action
    assert proof.answered.request == proof.first_action.request == proof.carried.first_request
    seen = played.request(proof.carried.first_request)
    after = played.request(played.main[played.main.index(proof.carried.first_request) + 1])
    call, *_ = _actions(played, seen)
    assert proof.first_action.call == call
    if played.traits.text_actions:
        assert _said(seen) in [entry.text for entry in after.entries]
    else:
        assert proof.first_action.tool == seen.calls[0]["tool"]
        assert after.result(call)


def _actions(played: Played, seen: Seen) -> tuple[str, ...]:
    """What the reply makes the agent do; without tools, its text is the one thing."""
    if played.traits.text_actions:
        return (text_call(_said(seen)),)
    return tuple(call["id"] for call in seen.calls)


def _said(seen: Seen) -> str:
    (choice,) = seen.reply["choices"]
    return str(choice["message"]["content"])


def test_two_calls_of_one_reply_are_one_batch(trials: Trials) -> None:
    played, proof = trials.proof(AFTER)
    (fired,) = proof.triggered
    seen = played.request(2)
    assert "Two looks at once." in str(seen.reply)
    assert set(fired.calls) == set(_actions(played, seen))
    assert len(fired.calls) == (1 if played.traits.text_actions else 2)
    assert proof.carried
    assert proof.carried.first_request == 3


def _shown(played: Played, number: int) -> str:
    """What came back to the model for its reply to a request of the main loop."""
    following = played.request(played.main[played.main.index(number) + 1])
    before = len(played.request(number).entries)
    return "\n".join(entry.text for entry in following.entries[before:] if entry.kind in {"result", "user"})


def test_the_edit_stands_before_the_agents_next_action_and_not_before(trials: Trials) -> None:
    played, proof = trials.proof(AFTER)
    assert proof.edit
    assert proof.carried
    first = proof.carried.first_request
    assert not played.request(first).holds(STANDS)
    assert f"+    {STANDS}" in _shown(played, first)


def test_an_edit_before_an_action_is_what_the_action_meets(trials: Trials) -> None:
    played, proof = trials.proof(BEFORE)
    (fired,) = proof.triggered
    assert fired.moment == "before_action"
    assert fired.calls == _actions(played, played.request(1))
    assert STANDS in _shown(played, 1)


def test_a_message_without_an_edit_changes_nothing_in_the_files(trials: Trials) -> None:
    played, proof = trials.proof(WORDS)
    assert proof.is_delivered
    assert (proof.edit, played.ended["delivered"], played.ended["messages"]) == (None, 0, 1)
    assert not played.seen[-1].holds(STANDS)
    changed = played.bodies(EventKind.WORKSPACE_CHANGED)
    assert {body["by"] for body in changed} == {"agent"}


def test_what_a_sub_agent_touches_is_edited_at_once_and_said_to_the_main_loop(trials: Trials) -> None:
    played, proof = trials.proof(IN_A_SUB_AGENT)
    (fired,) = proof.triggered
    delegated = [seen for seen in played.seen if seen.is_delegated]
    assert bool(delegated) == (trials.agent in DELEGATES)
    assert fired.thread == ("sub-1" if delegated else MAIN_THREAD)
    assert proof.sent
    (sent,) = played.bodies(EventKind.MESSAGE_SENT)
    assert not any(seen.holds(sent["text"]) for seen in delegated)
    assert played.ended["sub_agent_calls"] == len(delegated)
    if delegated:
        first_look = delegated[1].entries[-1].text
        assert STANDS not in first_look
        assert STANDS in delegated[2].entries[-1].text
        assert proof.sent.anchor == ()


def test_the_announcements_are_those_that_the_model_was_sent(trials: Trials, condition: str) -> None:
    played, proof = trials.proof(condition)
    sent = [
        (number, words)
        for number in played.main
        for words in played.traits.announcements
        if any(words in entry.text for entry in _new(played, number))
    ]
    assert [(each["request"], each["words"]) for each in played.notes("client_announced")] == sent
    if proof.edit:
        assert [(each.request, each.words) for each in proof.announced] == sent


def _new(played: Played, number: int) -> Iterator[Entry]:
    before = max((each for each in played.main if each < number), default=None)
    known = played.request(before).entries if before else []
    return (entry for entry in played.request(number).entries if entry not in known and entry.kind != "call")


def test_it_asks_and_the_model_reads_the_answer(trials: Trials, condition: str) -> None:
    played, proof = trials.proof(condition)
    assert [body["text"] for body in played.bodies(EventKind.ASKED)] == [QUESTION]
    (answered,) = played.bodies(EventKind.ANSWERED)
    said = "".join(answered["text"].split())
    assert any(said in "".join(entry.text.replace("\\n", "").split()) for entry in played.seen[-1].entries)
    offered = [
        number
        for number in played.main
        if any("ask_the_user" in tool for tool in played.request(number).tools)
    ]
    assert bool(offered) != played.traits.asks_by_command
    if offered:
        assert proof.asking
        assert proof.asking.request == offered[0] == 1


def test_its_own_count_of_tokens_is_the_gateways(trials: Trials, condition: str) -> None:
    played = trials.by_condition[condition]
    reported = played.reported_usage()
    assert (reported is not None) == (trials.agent in REPORT)
    if reported is not None:
        names = played.ended["tokens"].keys() - UNTOLD.get(trials.agent, set())
        counted = {name: played.ended["tokens"][name] for name in names}
        assert {name: getattr(reported, name) for name in names} == counted


def test_its_commands_run_in_the_tasks_environment_and_its_own_files_lie_elsewhere(trials: Trials) -> None:
    played, _ = trials.proof(IN_A_SUB_AGENT)
    found = {
        path
        for e in played.seen[-1].entries
        for path in re.findall(r"/\S*/environments/[0-9a-f]{32}", e.text)
    }
    (prefix,) = found
    assert Path(prefix, "pyvenv.cfg").is_file()
    assert {body["by"] for body in played.bodies(EventKind.WORKSPACE_CHANGED)} == {"user"}


def test_a_limit_of_steps_ends_it_and_no_secret_is_found_or_kept(agent: str, tmp_path: Path) -> None:
    (played,) = play(tmp_path, agent, SPIES, "--step-limit", "2")
    assert (played.ended["termination"], played.ended["steps"]) == ("step_limit", 2)
    assert len(played.main) == 2
    # The trial's own token may be found inside; it opens this trial alone, and our record does not keep it.
    found = set(re.findall(rf"(?:{TOKENS})=([\w-]{{32}})\b", _shown(played, 1)))
    assert len(found) <= 1
    assert not played.request(2).holds(played.key)
    read = set()
    for path, data in played.written():
        read.add(path.parts[0])
        assert played.key.encode() not in data, path
        # What the agent prints is in its own log, which is its own.
        assert path.parts[0] == "jobs" or not any(token.encode() in data for token in found), path
    assert {"jobs", "trials", "plan.json"} <= read


def test_a_spent_budget_ends_it(agent: str, tmp_path: Path) -> None:
    table = tmp_path / "prices.toml"
    table.write_text(
        'schema = 1\nname = "dear"\n[[model]]\nname = "some-model"\ninput = 1000000\ncache_read = 1000000\n'
        'cache_write = 1000000\noutput = 1000000\nsource = "made up"\ndate = 2026-11-30\nnote = "dear"\n'
    )
    (played,) = play(tmp_path, agent, WORKS, "--prices", table, "--budget", "1")
    assert (played.ended["termination"], played.ended["steps"]) == ("budget", 1)
    assert len(played.main) == 1
