"""What a provider at an address has is seen before a run begins: real servers, asked over HTTP."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.providers import see_that_providers_answer
from fourhands.model.errors import InputError
from fourhands.trajectories.run_folder import Plan, PlannedTrial, Settings

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
KEY = "the-providers-key"


@dataclass
class Provider:
    """Answers each path with its status, any other with 404; ``0`` hangs up. Remembers what it was sent."""

    statuses: Mapping[str, int]
    asked: list[tuple[str, bytes, str | None, str | None]] = field(default_factory=list)
    url: str = ""


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Provider]]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    servers: list[ThreadingHTTPServer] = []

    def start(statuses: Mapping[str, int]) -> Provider:
        provider = Provider(statuses)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                keys = self.headers["authorization"], self.headers["x-api-key"]
                provider.asked.append((self.path, body, *keys))
                status = provider.statuses.get(self.path, 404)
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
                del format, args

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        provider.url = f"http://127.0.0.1:{server.server_port}/v1"
        return provider

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def plan(provider: Provider, *agents: str, model: str = "some-model") -> Plan:
    trials = tuple(
        PlannedTrial(task="t", agent=agent, model=model, condition="vanilla", repeat=repeat)
        for agent in agents
        for repeat in (1, 2)
    )
    settings = Settings(base_url=provider.url)
    return Plan(run_id="r", settings=settings, tasks=(), users=(), trials=trials)


@pytest.mark.parametrize("absent", [404, 405])
@pytest.mark.parametrize(
    ("agent", "path", "api"),
    [
        ("thin", CHAT, "OpenAI Chat Completions"),
        ("codex", RESPONSES, "OpenAI Responses"),
        ("claude-code", MESSAGES, "Anthropic Messages"),
    ],
)
def test_an_api_that_a_provider_has_not_is_named_with_the_agent_that_speaks_it_and_the_remedy(
    agent: str, path: str, api: str, absent: int, serve: Callable[..., Provider]
) -> None:
    has_the_others = dict.fromkeys({CHAT, RESPONSES, MESSAGES} - {path}, 400)
    provider = serve({**has_the_others, path: absent})
    with pytest.raises(InputError) as refused:
        see_that_providers_answer(plan(provider, agent))
    said = str(refused.value)
    lacks = f"no …{path.removeprefix('/v1')} ({absent}): {agent} speaks {api}."
    assert f"--base-url: the provider at {provider.url} has {lacks}" in said
    assert "a proxy that translates" in said
    assert KEY not in said


@pytest.mark.parametrize("status", [200, 400, 415, 422, 429, 500, 503, 0])
def test_whatever_else_is_answered_the_api_is_there(status: int, serve: Callable[..., Provider]) -> None:
    provider = serve({CHAT: status})
    see_that_providers_answer(plan(provider, "thin"))
    assert {path for path, *_ in provider.asked} == {CHAT}


def test_each_api_is_asked_for_once_with_nothing_and_the_key_as_its_agents_send_it(
    serve: Callable[..., Provider],
) -> None:
    provider = serve({CHAT: 400, RESPONSES: 400, MESSAGES: 400})
    see_that_providers_answer(plan(provider, "mini-swe-agent", "claude-code", "codex", "thin"))
    bearer = f"Bearer {KEY}"
    assert sorted(provider.asked, key=lambda each: each[0]) == [
        (CHAT, b"", bearer, None),
        (MESSAGES, b"", None, KEY),
        (RESPONSES, b"", bearer, None),
    ]


def test_all_that_is_missing_is_said_at_once(serve: Callable[..., Provider]) -> None:
    provider = serve({CHAT: 400})
    with pytest.raises(
        InputError, match=r"no …/messages \(404\): claude-code speaks Anthropic Messages"
    ) as refused:
        see_that_providers_answer(plan(provider, "claude-code", "codex", "thin"))
    assert "no …/responses (404): codex speaks OpenAI Responses" in str(refused.value)
    assert "/chat/completions" not in str(refused.value)


def test_agents_of_one_api_are_named_together(serve: Callable[..., Provider]) -> None:
    provider = serve({})
    with pytest.raises(InputError, match="thin, pi and opencode speak OpenAI Chat Completions"):
        see_that_providers_answer(plan(provider, "thin", "pi", "opencode"))


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_told_by_the_variable_it_stands_in(
    serve: Callable[..., Provider], status: int
) -> None:
    provider = serve({CHAT: status})
    with pytest.raises(InputError, match=rf"refuses the key in OPENAI_API_KEY \({status}\)"):
        see_that_providers_answer(plan(provider, "thin"))


def test_nobody_is_asked_for_models_that_are_not_live(serve: Callable[..., Provider]) -> None:
    provider = serve({})
    see_that_providers_answer(plan(provider, "claude-code", model="scripted/keeps"))
    assert provider.asked == []


def test_every_agent_of_the_registry_speaks_an_api_that_can_be_asked_for(
    serve: Callable[..., Provider],
) -> None:
    provider = serve({CHAT: 400, RESPONSES: 400, MESSAGES: 400})
    see_that_providers_answer(plan(provider, *AGENTS))
    assert len(provider.asked) == 3


def test_a_run_is_refused_before_its_plan_is_written_so_that_it_can_be_asked_for_again(
    tmp_path: Path, serve: Callable[..., Provider]
) -> None:
    provider = serve({CHAT: 400})
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("fourhands"), "run", "--tasks", "ledger-rounding"),
            *("--agent", "claude-code", "--model", "some-model", "--base-url", provider.url),
            *("--out", tmp_path / "run"),
        ],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "…/messages (404): claude-code speaks Anthropic Messages" in said
    assert "docs/models.md" in said
    assert not (tmp_path / "run" / "plan.json").exists()
