from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count
from typing import Any

import openai  # noqa: F401 - so that no test's time-out holds the seconds of its import
import pytest
from aiohttp import web

from fourhands.model.errors import InputError
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.usage import Usage
from fourhands.model.user import Occasion, Speaker
from fourhands.user.message_checks import objections
from fourhands.user.speaking import MAX_REJECTED_CHARACTERS, FixedSpeaker, LiveSpeaker

KEY = "sk-a-key-of-the-users-model"
TASK = "Looking up a missing key raises KeyError. Make it give a default."
PATCH = b"""\
diff --git a/pkg/cache.py b/pkg/cache.py
--- a/pkg/cache.py
+++ b/pkg/cache.py
@@ -10,1 +10,1 @@ def lookup(self, key):
-        return self.items[key]
+        return self.items.get(key)
"""
FIXED = "I made a change in the code while you were working. Please build on it."
OCCASION = Occasion("i1", FIXED, PATCH)
GOOD = "I changed `lookup` in pkg/cache.py to use `get`, so that missing keys are fine. Go on from there."
USAGE = Usage(input=70, cache_read=30, output=20, reasoning=5)

Behaviour = Callable[[web.Request], Awaitable[web.StreamResponse]]
_SEQ = count()


def _body(content: Any, **message: Any) -> dict[str, Any]:
    finish = message.pop("finish_reason", "stop")
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m-2026",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 30},
            "completion_tokens": 20,
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


def says(content: Any, **message: Any) -> Behaviour:
    async def answer(request: web.Request) -> web.StreamResponse:
        del request
        return web.json_response(_body(content, **message))

    return answer


def sends(text: str, status: int = 200) -> Behaviour:
    async def answer(request: web.Request) -> web.StreamResponse:
        del request
        return web.Response(text=text, status=status, content_type="application/json")

    return answer


async def hangs(request: web.Request) -> web.StreamResponse:
    del request
    await asyncio.sleep(30)
    raise AssertionError("the speaker has waited")


async def drips(request: web.Request) -> web.StreamResponse:
    """Never silent, never done."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(600):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    raise AssertionError("the speaker has waited")


async def closes(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.abort()
    return web.Response()


async def closes_half_way(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"choices": [')
    assert request.transport is not None
    request.transport.abort()
    return response


async def floods(request: web.Request) -> web.StreamResponse:
    """Sends until nobody listens."""
    response = web.StreamResponse()
    await response.prepare(request)
    for _ in range(4096):
        await response.write(b"x" * (1 << 16))
    raise AssertionError("256 MB were read")


class Provider:
    """An endpoint whose model does one scripted thing after the other; it remembers what it was asked."""

    def __init__(self) -> None:
        self.script: list[Behaviour] = []
        self.asked: list[dict[str, Any]] = []
        self.told: list[str] = []
        self.port = 0
        self.was_asked = asyncio.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(await request.json())
        self.was_asked.set()
        self.told.append(request.headers.get("Authorization", ""))
        return await self.script[min(len(self.asked), len(self.script)) - 1](request)

    def prompt(self, number: int = 0) -> str:
        return "\n".join(message["content"] for message in self.asked[number]["messages"])


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    provider = Provider()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", provider.answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.port = runner.addresses[0][1]
    yield provider
    await runner.cleanup()


def _speaker(provider: Provider, *script: Behaviour, **settings: Any) -> LiveSpeaker:
    provider.script = list(script)
    blobs = {
        "a1": b'{"command": "sed -n 1,20p pkg/cache.py"}',
        "a2": b'{"command": "echo ' + b"x" * 999 + b'"}',
    }
    whole: dict[str, Any] = {
        "task": TASK,
        "model": "m",
        "base_url": provider.base_url,
        "api_key": KEY,
        "read_blob": blobs.__getitem__,
    }
    return LiveSpeaker(**whole | settings)


def _event(kind: EventKind, actor: Actor = Actor.AGENT, **body: Any) -> Event:
    return Event(next(_SEQ), "", MAIN_THREAD, actor, kind, body)


async def test_fixed_words_are_said_as_they_are() -> None:
    speaker: Speaker = FixedSpeaker()
    speaker.observe(_event(EventKind.MESSAGE_SENT, Actor.USER))
    said = await speaker.phrase(OCCASION)
    assert (said.text, said.source, said.rejected, said.model) == (FIXED, "fixed", (), None)


async def test_a_good_message_is_said(provider: Provider) -> None:
    speaker: Speaker = _speaker(provider, says(f' "{GOOD}"\n'))
    said = await speaker.phrase(OCCASION)
    assert (said.text, said.source, said.rejected) == (GOOD, "live", ())
    assert (said.usage, said.model) == (USAGE, "m")
    assert provider.told == [f"Bearer {KEY}"]


async def test_content_in_parts_is_a_message_too(provider: Provider) -> None:
    said = await _speaker(provider, says([{"type": "text", "text": GOOD}])).phrase(OCCASION)
    assert (said.text, said.source) == (GOOD, "live")


async def test_a_refused_draft_is_asked_for_again_with_the_reason(provider: Provider) -> None:
    bad = "I changed `lookup` so that the hidden tests pass."
    said = await _speaker(provider, says(bad), says(GOOD)).phrase(OCCASION)
    assert (said.text, said.source) == (GOOD, "live")
    assert said.usage == USAGE + USAGE
    (rejected,) = said.rejected
    assert rejected.text == bad
    assert "speaks of tests" in rejected.reason
    assert bad not in provider.prompt(0)
    assert f"{bad}\nRefused, because it {rejected.reason}." in provider.prompt(1)


@pytest.mark.parametrize(
    ("behaviour", "reason", "attempts"),
    [
        (says(""), "is empty", 3),
        (says(None), "is empty", 3),
        (says("<think>What now?</think>"), "is empty", 3),
        (says("I changed `lookup` so that the tests pass."), "speaks of tests", 3),
        (says("I changed `lookup` for SWE-bench Verified."), "speaks of a benchmark", 3),
        (says(" ".join(["word"] * 4000)), "is too long (4000 words", 3),
        (says("I changed `find_key` in pkg/store.py."), "names what is not in", 3),
        (says("I have changed nothing at all so far."), "denies the edit", 3),
        (says("I changed \ud800 it in `lookup`."), "answer is no completion", 3),  # orjson takes none
        (says(f"I changed `lookup`, with {KEY}."), "holds the provider's key", 3),
        (says(GOOD, finish_reason="length"), "was not finished (length)", 3),
        (says(None, refusal="I can't do that."), "the model refused", 3),
        (says(GOOD, refusal="I can't do that."), "the model refused", 3),
        (sends("{"), "no completion", 3),
        (sends("<html>Bad gateway</html>"), "no completion", 3),
        (sends("[]"), "no completion", 3),
        (sends("null"), "no completion", 3),
        (sends('{"choices": []}'), "no completion", 3),
        (sends('{"choices": {"0": 1}}'), "no completion", 3),
        (
            sends('{"choices": [{"message": {"content": "Hi"}}], "usage": {"prompt_tokens": "x"}}'),
            "no comp",
            3,
        ),
        (sends('{"error": {"message": "overloaded"}}'), "no completion", 3),
        (sends('{"error": {"message": "broken"}}', 500), "answered 500", 3),
        (sends("", 503), "answered 503", 3),
        (sends("{}", 429), "answered 429", 3),
        (sends("{}", 401), "answered 401", 1),
        (sends("{}", 404), "answered 404", 1),
        (closes, "could not be reached", 3),
        (closes_half_way, "could not be read", 3),
    ],
)
async def test_whatever_a_bad_model_does_the_fixed_words_are_said(
    provider: Provider, behaviour: Behaviour, reason: str, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourhands.user.speaking._PAUSE_SECONDS", 0.0)
    said = await _speaker(provider, behaviour).phrase(OCCASION)
    assert (said.text, said.source, said.model) == (FIXED, "fallback", "m")
    assert len(said.rejected) == len(provider.asked) == attempts
    for rejected in said.rejected:
        assert reason in rejected.reason
        assert len(rejected.text) <= MAX_REJECTED_CHARACTERS
        assert json.dumps(rejected.text, ensure_ascii=False).encode()
        assert KEY not in rejected.text + rejected.reason


@pytest.mark.parametrize("behaviour", [hangs, drips])
async def test_a_model_that_never_finishes_is_not_waited_for(
    provider: Provider, behaviour: Behaviour
) -> None:
    began = time.monotonic()
    said = await _speaker(provider, behaviour, timeout=1.0).phrase(OCCASION)
    assert time.monotonic() - began < 15
    assert (said.text, said.source) == (FIXED, "fallback")
    assert said.rejected[0].text == ""
    assert len(provider.asked) == 1


async def test_a_reply_without_end_is_cut_off(provider: Provider) -> None:
    said = await _speaker(provider, floods, max_attempts=1).phrase(OCCASION)
    assert said.source == "fallback"
    assert said.rejected[0].reason == "is over 1048576 bytes"
    assert len(said.rejected[0].text) == MAX_REJECTED_CHARACTERS


async def test_a_provider_that_is_not_there_leaves_the_fixed_words(
    unused_port: int, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourhands.user.speaking._PAUSE_SECONDS", 0.0)
    base_url = f"http://127.0.0.1:{unused_port}/v1"
    said = await _speaker(provider, base_url=base_url, max_attempts=2).phrase(OCCASION)
    assert (said.source, len(said.rejected), provider.asked) == ("fallback", 2, [])
    assert "could not be reached" in said.rejected[0].reason


@pytest.fixture
async def unused_port() -> int:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return port


async def test_an_error_that_repeats_the_key_is_recorded_without_it(provider: Provider) -> None:
    said = await _speaker(provider, sends(f"Incorrect API key provided: {KEY}", 401)).phrase(OCCASION)
    assert said.rejected[0].text == "Incorrect API key provided: [key]"


async def test_a_second_try_after_an_error_is_good(provider: Provider) -> None:
    said = await _speaker(provider, sends("{}", 500), says(GOOD)).phrase(OCCASION)
    assert (said.text, said.source, said.usage) == (GOOD, "live", USAGE)
    assert [rejected.reason for rejected in said.rejected] == ["the provider answered 500"]
    assert "refused_draft" not in provider.prompt(1)


async def test_the_prompt_tells_the_moment_and_no_more(provider: Provider) -> None:
    speaker = _speaker(provider, says(GOOD))
    speaker.observe(_event(EventKind.ACTION_SEEN, call="c1", tool="bash", arguments="a1", touches=[]))
    touch = {"path": "pkg/cache.py", "kind": "read", "lines": None}
    speaker.observe(_event(EventKind.ACTION_RESULT, call="c1", touches=[touch]))
    speaker.observe(_event(EventKind.ACTION_SEEN, call="c2", tool="bash", arguments="a2", touches=[]))
    speaker.observe(_event(EventKind.ACTION_RESULT, call="c2", touches=[]))
    speaker.observe(_event(EventKind.WORKSPACE_CHANGED, files=[{"path": "pkg/new.py", "hunks": []}]))
    theirs = [{"path": "pkg/theirs.py", "hunks": []}]
    speaker.observe(_event(EventKind.WORKSPACE_CHANGED, Actor.USER, files=theirs))
    speaker.observe(_event(EventKind.ACTION_SEEN, call="c3", tool="bash", arguments="gone", touches=[]))
    speaker.observe(_event(EventKind.NOTE, Actor.HARNESS, note="reply_not_accepted", step=3, calls=["c3"]))
    speaker.observe(_event(EventKind.ACTION_SEEN, call="c4", tool="bash", arguments="a1", touches=[]))
    await speaker.phrase(OCCASION)
    asked = provider.asked[0]
    assert (set(asked), asked["model"]) == ({"model", "messages"}, "m")
    told = provider.prompt()
    assert "bash: sed -n 1,20p pkg/cache.py; read pkg/cache.py\n" in told
    assert f"bash: echo {'x' * 295} …; edited pkg/new.py\n" in told
    assert "bash: sed -n 1,20p pkg/cache.py; not carried out yet\n" in told
    assert "pkg/theirs.py" not in told
    for part in (TASK, PATCH.decode().strip(), FIXED):
        assert part in told


async def test_without_an_edit_no_change_is_asked_for_or_let_through(provider: Provider) -> None:
    wish = "I want missing keys to give a default. Please see to that."
    said = await _speaker(provider, says(GOOD), says(wish)).phrase(Occasion("i1", "Give a default.", None))
    assert (said.text, said.source) == (wish, "live")
    assert "claims a change that was not made" in said.rejected[0].reason
    assert "the_developers_edit" not in provider.prompt()
    assert "never say or imply" in provider.prompt()


async def test_what_the_fixed_words_name_may_be_named(provider: Provider) -> None:
    named = "I changed `lookup` as the KeyErrorPolicy wants it."
    speaker = _speaker(provider, says(named), max_attempts=1)
    assert (await speaker.phrase(OCCASION)).source == "fallback"
    said = await speaker.phrase(Occasion("i1", "I made a change for the KeyErrorPolicy.", PATCH))
    assert (said.text, said.source) == (named, "live")


async def test_the_tone_follows_how_often_the_user_has_spoken(provider: Provider) -> None:
    speaker = _speaker(provider, says(GOOD))
    tones = []
    for _ in range(4):
        await speaker.phrase(OCCASION)
        speaker.observe(_event(EventKind.MESSAGE_SENT, Actor.USER))
        tones.append(provider.prompt(-1).split("Tone: ")[1].split("\n")[0])
    assert [
        word in tone for word, tone in zip(["Friendly", "Brief", "Firm", "Firm"], tones, strict=True)
    ] == [True] * 4
    assert "3 times" in tones[3]


async def test_long_edits_tasks_and_lone_surrogates_make_a_bounded_request(provider: Provider) -> None:
    speaker = _speaker(provider, says(GOOD), task=f"\ud800 lookup get pkg/cache.py {'t' * 100_000}")
    said = await speaker.phrase(Occasion("i1", FIXED, PATCH + b"\xff" * 100_000))
    assert said.source == "live"
    assert len(provider.prompt()) < 20_000


async def test_many_speakers_share_a_loop(provider: Provider) -> None:
    speakers = [_speaker(provider, says(GOOD)) for _ in range(8)]
    said = await asyncio.gather(*(speaker.phrase(OCCASION) for speaker in speakers))
    assert {each.text for each in said} == {GOOD}
    assert len(provider.asked) == 8


async def test_a_trial_that_is_cancelled_is_not_held_up(provider: Provider) -> None:
    asking = asyncio.create_task(_speaker(provider, hangs).phrase(OCCASION))
    await asyncio.wait_for(provider.was_asked.wait(), 30)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        ({"model": ""}, "the name"),
        ({"base_url": "127.0.0.1:8000/v1"}, "base URL"),
        ({"base_url": "http://[::1/v1"}, "base URL"),
        ({"base_url": ""}, "base URL"),
        ({"api_key": ""}, "API key"),
        ({"api_key": "sk-\u2026\n"}, "API key"),
        ({"max_attempts": 0}, "attempts"),
        ({"timeout": 0.0}, "attempts"),
    ],
)
def test_a_wrong_setting_is_named_before_anything_runs(wrong: dict[str, Any], names: str) -> None:
    right: dict[str, Any] = {
        "task": TASK,
        "model": "m",
        "base_url": None,
        "api_key": None,
        "read_blob": bytes.fromhex,
    }
    LiveSpeaker(**right)
    with pytest.raises(InputError, match=names) as caught:
        LiveSpeaker(**right | wrong)
    assert "\u2026" not in str(caught.value)


def test_the_good_message_of_these_tests_is_one() -> None:
    assert not objections(GOOD, task=TASK, patch=PATCH)


def test_the_sdk_is_imported_only_when_a_model_is_asked() -> None:
    probe = (
        "import sys, fourhands.user.speaking as s\n"
        "s.LiveSpeaker(task='t', model='m', base_url=None, api_key=None, read_blob=bytes.fromhex)\n"
        "sys.exit(f'imported: {heavy}' if (heavy := {'openai', 'httpx', 'httpx2'} & set(sys.modules)) else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
