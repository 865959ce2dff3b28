"""Recorded replies are given back for what was asked then, in whatever order; the first other request is shown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientPayloadError, web
from aiohttp.test_utils import TestClient, TestServer

from fourhands.gateway.replay import ReplayServer
from fourhands.gateway.tape import Divergence
from fourhands.trajectories.normalising import normalised
from fourhands.trajectories.recording import Recorded, read_attempt
from fourhands.trajectories.run_folder import Attempt

from .scene import TOOLS, MakeScene, completion

Body = dict[str, Any]
STREAM = "text/event-stream"
PLACES = {"chat": "chat/completions", "responses": "responses", "messages": "messages?beta=true"}


def said(*texts: str) -> list[Body]:
    return [{"role": "user", "content": text} for text in texts]


def recorded(number: int, history: Sequence[Body], **changed: Any) -> Recorded:
    made = Recorded(
        number=number,
        thread="main",
        side=False,
        wire="chat",
        request={"model": "m", "tools": ["bash"]},
        history_key="messages",
        history=tuple(normalised(list(history))),
        status=200,
        content_type="application/json",
        response=json.dumps({"answer": number}).encode(),
        whole=True,
    )
    return replace(made, **changed)


@dataclass
class Replay:
    """A server of recordings and a client of it; ``found`` are the divergences that it told of."""

    server: ReplayServer
    client: TestClient[web.Request, web.Application]
    found: list[tuple[str, Divergence]] = field(default_factory=list)

    async def ask(
        self, *history: Body, trial: str = "t", wire: str = "chat", key: str = "messages", **more: Any
    ) -> tuple[int, Any]:
        body = {"model": "m", "tools": ["bash"], key: list(history), **more}
        async with self.client.post(f"{ReplayServer.path(trial)}/{PLACES[wire]}", json=body) as answer:
            return answer.status, await answer.json()

    async def answers(self, *histories: Sequence[Body]) -> list[Any]:
        return [(await self.ask(*history))[1].get("answer") for history in histories]


@asynccontextmanager
async def replaying(
    *exchanges: Recorded, secret: str = "", **others: Sequence[Recorded]
) -> AsyncIterator[Replay]:
    found: list[tuple[str, Divergence]] = []
    recordings = {"t": exchanges, **{slug: tuple(each) for slug, each in others.items()}}
    server = ReplayServer(
        recordings, secret_of=lambda _: secret, on_divergence=lambda slug, each: found.append((slug, each))
    )
    async with TestClient(TestServer(server.app)) as client:
        yield Replay(server, client, found)


async def test_threads_and_side_requests_may_come_in_any_order() -> None:
    exchanges = [
        recorded(1, said("main")),
        recorded(2, said("sub one"), thread="sub-1"),
        recorded(3, said("sub two"), thread="sub-2"),
        recorded(4, said("sub one", "more"), thread="sub-1"),
        recorded(5, said("title"), side=True, request={"model": "m", "tools": ["bash"], "temperature": 0}),
        recorded(6, said("main", "more")),
    ]
    async with replaying(*exchanges) as replay:
        assert (await replay.ask(*said("title"), temperature=0))[1] == {"answer": 5}
        histories = (
            said("sub two"),
            said("main"),
            said("main", "more"),
            said("sub one"),
            said("sub one", "more"),
        )
        assert await replay.answers(*histories) == [3, 1, 6, 2, 4]
        assert (replay.found, replay.server.unasked("t")) == ([], None)


async def test_requests_at_once_each_get_their_own() -> None:
    async with replaying(*(recorded(n, said(f"thread {n}")) for n in range(1, 21))) as replay:
        asked = await asyncio.gather(*(replay.ask(*said(f"thread {n}")) for n in range(20, 0, -1)))
        assert [answer["answer"] for _, answer in asked] == list(range(20, 0, -1))


async def test_the_same_request_gets_its_answers_in_the_order_in_which_they_came() -> None:
    """A retry: the provider failed, was busy, and then answered."""
    error: Body = {"status": 500, "response": b'{"answer": "down"}'}
    busy: Body = {"status": 429, "response": b'{"answer": "busy"}'}
    async with replaying(
        recorded(1, said("fix it"), **error), recorded(2, said("fix it"), **busy), recorded(3, said("fix it"))
    ) as replay:
        asked = [await replay.ask(*said("fix it")) for _ in range(3)]
        assert asked == [(500, {"answer": "down"}), (429, {"answer": "busy"}), (200, {"answer": 3})]
        assert (await replay.ask(*said("fix it")))[0] == 400
        ((_, found),) = replay.found
        assert (found.request, found.expected) == (4, None)
        assert "once more than it was made then" in found.diff


@pytest.mark.parametrize(
    ("wire", "key"), [("chat", "messages"), ("responses", "input"), ("messages", "messages")]
)
async def test_all_wires_are_spoken_and_refuse_in_their_own_words(wire: str, key: str) -> None:
    async with replaying(recorded(1, said("fix it"), wire=wire, history_key=key)) as replay:
        assert await replay.ask(*said("fix it"), wire=wire, key=key) == (200, {"answer": 1})
        status, body = await replay.ask(*said("fix that"), wire=wire, key=key)
        assert (status, "diverged at request 2" in body["error"]["message"]) == (400, True)
        assert (body.get("type") == "error") is (wire == "messages")


async def test_a_history_of_plain_text_is_compared_as_well() -> None:
    request = {"model": "m", "tools": ["bash"], "input": "fix it"}
    async with replaying(recorded(1, (), request=request, history_key="input")) as replay:
        place = f"{ReplayServer.path('t')}/responses"
        async with replay.client.post(place, json={**request, "input": "fix that"}) as answer:
            assert answer.status == 400
        assert '-"fix it"\n+"fix that"' in replay.found[0][1].diff
        replay.server.rewind("t")
        async with replay.client.post(place, json=request) as answer:
            assert await answer.json() == {"answer": 1}


async def test_what_must_differ_is_not_compared_nor_the_order_of_keys_nor_the_trials_token() -> None:
    exchanges = (recorded(1, said("Today is 2026-11-30. TOKEN=(secret)")),)
    async with replaying(*exchanges, secret="sEcReT-_") as replay:
        body = {
            "messages": [{"content": "Today is 2027-01-02. TOKEN=sEcReT-_", "role": "user"}],
            "prompt_cache_key": "another",
            "metadata": {"user_id": "another"},
            "tools": ["bash"],
            "model": "m",
        }
        async with replay.client.post(f"{ReplayServer.path('t')}/chat/completions", json=body) as answer:
            assert (answer.status, await answer.json()) == (200, {"answer": 1})


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"tools": ["bash", "edit"]}, "@@ tools @@"),
        ({"temperature": 1}, "@@ temperature @@"),
        ({"stream_options": {"include_usage": True}}, "@@ stream_options @@"),
    ],
)
async def test_any_other_part_of_a_request_counts_and_is_named(changed: Body, part: str) -> None:
    async with replaying(recorded(1, said("fix it"))) as replay:
        assert (await replay.ask(*said("fix it"), **changed))[0] == 400
        assert replay.found[0][1].diff.splitlines()[:3] == ["--- recorded as request 1", "+++ replayed", part]


async def test_the_first_divergence_alone_is_told_against_the_request_that_it_is_most_like() -> None:
    exchanges = [
        recorded(1, said("main")),
        recorded(2, said("sub")),
        recorded(3, said("sub", "line 1\nline 2\nline 3")),
        recorded(4, said("main", "done")),
    ]
    async with replaying(*exchanges) as replay:
        assert await replay.answers(said("main"), said("sub")) == [1, 2]
        for _ in range(2):
            status, body = await replay.ask(*said("sub", "line 1\nline two\nline 3"))
            assert (status, body["error"]["message"]) == (400, "the replay diverged at request 3")
        status, _ = await replay.ask(*said("main", "done"))
        assert status == 400, "nothing is given back from there on"
        ((slug, found),) = replay.found
        assert (slug, found.request, found.expected) == ("t", 3, 3)
        lines = found.diff.splitlines()
        assert lines[:3] == ["--- recorded as request 3", "+++ replayed", "@@ messages[1] @@"]
        assert ("-line 2" in lines, "+line two" in lines, ' line 3",' in lines) == (True, True, True)
        assert replay.server.unasked("t") is None


async def test_a_long_difference_is_cut_and_a_huge_one_takes_no_time() -> None:
    """A lot of short lines on both sides, all different: no diff of it would end."""
    then, now = ("\n".join(f"{word} {n % 7}" for n in range(90_000)) for word in ("old", "new"))
    async with replaying(recorded(1, said("fix it", then))) as replay:
        async with asyncio.timeout(60):
            assert (await replay.ask(*said("fix it", now)))[0] == 400
        lines = replay.found[0][1].diff.splitlines()
        assert len(lines) == 403
        assert lines[-1].endswith("more lines")


async def test_a_rewound_recording_begins_anew_also_after_a_divergence() -> None:
    async with replaying(recorded(1, said("one")), recorded(2, said("one", "two"))) as replay:
        assert await replay.answers(said("one")) == [1]
        replay.server.rewind("t")
        assert await replay.answers(said("one"), said("one", "two")) == [1, 2]
        assert (await replay.ask(*said("other")))[0] == 400
        replay.server.rewind("t")
        assert await replay.answers(said("one"), said("one", "two")) == [1, 2]
        assert replay.found[0][1].request == 3


async def test_each_trial_has_its_own_recording() -> None:
    same = [recorded(1, said("fix it"))]
    async with replaying(*same, u=[replace(same[0], response=b'{"answer": "u"}')]) as replay:
        assert (await replay.ask(*said("other")))[0] == 400
        assert (await replay.ask(*said("fix it"), trial="u"))[1] == {"answer": "u"}
        status, body = await replay.ask(*said("fix it"), trial="none")
        assert (status, body["error"]["message"]) == (404, "nothing was recorded for 'none'")
        assert [slug for slug, _ in replay.found] == ["t"]


async def test_what_was_never_asked_is_told_with_what_would_have_come_next() -> None:
    exchanges = [
        recorded(1, said("one")),
        recorded(2, said("title"), side=True),
        recorded(3, said("one"), status=500),
        recorded(4, said("one", "two")),
    ]
    async with replaying(*exchanges) as replay:
        left = replay.server.unasked("t")
        assert left is not None
        assert (left.asked, left.requests, left.steps) == (0, (1, 2, 3, 4), (1, 4))
        assert '-  "content": "one",' in left.diff or '- "content": "one",' in left.diff
        await replay.answers(said("one"))
        left = replay.server.unasked("t")
        assert left is not None
        assert (left.asked, left.requests, left.steps) == (1, (2, 3, 4), (4,))
        assert left.diff.startswith(
            "--- recorded as request 4, never asked for\n+++ replayed\n@@ messages[1] @@\n-"
        )
        await replay.answers(said("one"), said("one", "two"))
        left = replay.server.unasked("t")
        assert left is not None
        assert (left.requests, left.steps) == ((2,), ())


async def test_what_cannot_be_read_is_no_divergence_and_other_calls_are_not_there() -> None:
    async with replaying(recorded(1, said("fix it"))) as replay:
        path = ReplayServer.path("t")
        for body in (b"", b"{", b"[]", b'{"messages": 5}', b'{"messages": [{"content": "\\ud800"}]}'):
            async with replay.client.post(f"{path}/chat/completions", data=body) as answer:
                assert answer.status == 400
        async with replay.client.post(f"{path}/messages/count_tokens", json={}) as answer:
            assert answer.status == 404
        async with replay.client.get(f"{path}/models") as answer:
            assert [each["id"] for each in (await answer.json())["data"]] == ["m"]
        assert replay.found == []
        assert await replay.answers(said("fix it")) == [1]


async def test_a_stream_is_given_back_byte_for_byte_and_one_that_broke_off_breaks_off() -> None:
    events = b'data: {"a": 1}\n\ndata: [DONE]\n\n'
    stream: Body = {"content_type": f"{STREAM}; charset=utf-8", "response": events}
    async with replaying(
        recorded(1, said("one"), **stream), recorded(2, said("two"), **{**stream, "whole": False})
    ) as replay:
        place = f"{ReplayServer.path('t')}/chat/completions"
        body = {"model": "m", "tools": ["bash"]}
        async with replay.client.post(place, json={**body, "messages": said("one")}) as answer:
            assert await answer.read() == events
            assert answer.headers["content-type"] == f"{STREAM}; charset=utf-8"
        async with replay.client.post(place, json={**body, "messages": said("two")}) as answer:
            assert await answer.content.readexactly(len(events)) == events
            with pytest.raises(ClientPayloadError):
                await answer.content.read()


async def test_a_model_that_could_not_be_reached_cannot_be_reached_again() -> None:
    nobody: Body = {"status": 502, "content_type": "", "response": b""}
    async with replaying(recorded(1, said("one"), **nobody)) as replay:
        with pytest.raises(ClientConnectionError):
            await replay.ask(*said("one"))


async def test_an_answer_that_the_agent_did_not_wait_for_does_not_come() -> None:
    """The agent was stopped, or had lost its patience: it does so again, and nothing hangs on it."""
    gone: Body = {"status": 0, "content_type": "", "response": b""}
    async with (
        asyncio.timeout(20),
        replaying(recorded(1, said("one"), **gone), recorded(2, said("two"))) as replay,
    ):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await replay.ask(*said("one"))
        assert await replay.answers(said("two")) == [2]
        assert replay.server.unasked("t") is None


async def test_a_long_trial_is_found_again_request_by_request() -> None:
    """Three hundred requests, each with all the history: what came before is not read again."""
    history = [{"role": "tool", "content": f"output {n} " + "x" * 2_000} for n in range(300)]
    shared = normalised(history)
    exchanges = [replace(recorded(n, ()), history=tuple(shared[:n])) for n in range(1, 301)]
    async with asyncio.timeout(120), replaying(*exchanges) as replay:
        for n in range(1, 301, 7):
            assert (await replay.ask(*history[:n]))[1] == {"answer": n}


async def test_what_the_gateway_recorded_is_what_the_agent_gets_again(
    scene: MakeScene, tmp_path: Path
) -> None:
    """Good answers, errors, streams, whole and cut, and the user's message in the requests."""
    chunks = [b'data: {"choices": [{"delta": {"content": "hi"}}]}\n\n', b"data: [DONE]\n\n"]
    sent: list[Body] = []
    got: list[tuple[int, bytes]] = []
    async with scene() as made:
        await made.step("c1", "sed -n 9,11p a.txt")
        answers = [
            web.json_response({"error": {"message": "busy"}}, status=429),
            web.json_response({"error": {"message": "bad"}}, status=400),
            chunks,
            chunks[:1],
            completion("c2", "true"),
        ]
        for number, answer in enumerate(answers):
            made.provider.answers.append(answer)
            stream = isinstance(answer, list)
            body = {"model": "seen", "messages": made.messages, "tools": TOOLS, "n": number, "stream": stream}
            got.append(await made.post(body))
        sent = made.provider.bodies
    exchanges = tuple(read_attempt(Attempt(tmp_path)))
    assert [each.status for each in exchanges] == [200, 429, 400, 200, 200, 200]
    assert [each.whole for each in exchanges] == [True, True, True, True, False, True]
    assert "I changed it" in json.dumps(exchanges[-1].history)
    async with replaying(*exchanges) as replay:
        for body, (status, raw) in list(zip(sent[1:], got, strict=True)):
            async with replay.client.post(f"{ReplayServer.path('t')}/chat/completions", json=body) as answer:
                assert answer.status == status
                try:
                    assert await answer.read() == raw
                except ClientPayloadError:
                    assert raw == chunks[0]
        left = replay.server.unasked("t")
        assert left is not None
        assert left.requests == (1,)
        assert replay.found == []
