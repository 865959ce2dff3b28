"""What an agent must not reach through the gateway: other hosts, other players, other trials, the provider's key."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.conversation import Conversation
from fourhands.gateway.playbook import Move
from fourhands.gateway.players import Player, PlayerServer, RecordedPlayer
from fourhands.gateway.server import Gateway, Seat
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.upstream import Upstream
from fourhands.model.sandbox import SandboxSpec
from fourhands.trajectories.blobs import BlobStore
from fourhands.workspace.store import ObjectStore

KEY = "the-providers-key"
EMPTY = {"messages": [{"role": "user", "content": "hello"}]}


async def raw(port: int, request: str) -> tuple[int, bytes]:
    """Send bytes that a client library would have tidied up; status and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.encode("latin-1"))
    received = await asyncio.wait_for(reader.read(), 20)
    writer.close()
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


def get(target: str, token: str) -> str:
    return f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"


def post(target: str, token: str, body: object) -> str:
    text = json.dumps(body)
    return (
        get(target, token)
        .replace("GET", "POST", 1)
        .replace("\r\n\r\n", f"\r\nContent-Length: {len(text)}\r\n\r\n{text}")
    )


@dataclass
class Host:
    """A machine of the network that answers whatever it is asked, and remembers."""

    port: int = 0
    seen: list[tuple[str, str | None]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)

    async def answer(self, request: web.BaseRequest) -> web.Response:
        told = request.headers.get("Authorization")
        self.seen.append((request.path_qs, told))
        self.bodies.append(await request.read())
        return web.json_response({"error": f"refused: {told}"}, status=self.status, headers=self.headers)


@pytest.fixture
async def hosts() -> AsyncIterator[tuple[Host, Host]]:
    """The provider, and one that nobody should ever reach."""
    made, runners = (Host(), Host()), []
    for host in made:
        runner = web.ServerRunner(web.Server(host.answer))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host.port = runner.addresses[0][1]
        runners.append(runner)
    yield made
    for runner in runners:
        await runner.cleanup()


@dataclass
class Gate:
    """A gateway at which trials can be seated, without a sandbox: nothing here is an action."""

    gateway: Gateway
    root: Path
    opened: list[Conversation] = field(default_factory=list)

    seats: list[Seat] = field(default_factory=list)

    async def seat(self, token: str, upstream: Upstream, *, money: bool = True) -> int:
        """The port at which the trial with ``token`` is answered, of a run that has money left or none."""
        folder = self.root / token
        folder.mkdir()
        store = ObjectStore(folder / "objects.git")
        workspace = SharedWorkspace(LocalSandbox(SandboxSpec(folder), folder), store, "0" * 40)
        conversation = Conversation(
            log_path=folder / "events.jsonl",
            blobs=BlobStore(folder / "blobs"),
            users=[],
            workspace=workspace,
            step_limit=10,
            on_limit=lambda: None,
            on_event=lambda _: None,
            on_usage=lambda *_: money,
        )
        self.opened.append(conversation)
        listener = socket.create_server(("127.0.0.1", 0))
        self.seats.append(Seat(token, conversation, upstream))
        await self.gateway.seat(self.seats[-1], listener)
        return int(listener.getsockname()[1])


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[Gate]:
    gateway = Gateway()
    gateway.start()
    made = Gate(gateway, tmp_path)
    yield made
    await asyncio.to_thread(gateway.close)
    for conversation in made.opened:
        conversation.log.close()


@pytest.mark.parametrize(
    "target",
    [
        "/v1@{evil}/models",
        "/v1:1@{evil}/models",
        "/v1.{evil}/models",
        "@{evil}/v1/models",
        "//{evil}/v1/models",
        "http://{evil}/elsewhere",
        "/v1/../elsewhere",
        "/v1/%2e%2e/elsewhere",
        "/v1/models/../../elsewhere",
        "/v1/models/%2e%2e%2f%2e%2e/elsewhere",
        "/v1/files",
        "/elsewhere",
    ],
)
@pytest.mark.parametrize("base", ["", "/v1", "/deep/below/v1"])
async def test_no_path_leads_out_of_the_providers_base(
    gate: Gate, hosts: tuple[Host, Host], base: str, target: str
) -> None:
    provider, evil = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}{base}", "m", KEY))
    for made in (get, lambda where, token: post(where, token, EMPTY)):
        status, body = await raw(port, made(target.format(evil=f"127.0.0.1:{evil.port}"), "token"))
        assert 400 <= status < 500
        assert KEY.encode() not in body
    assert (provider.seen, evil.seen) == ([], [])


@pytest.mark.parametrize("base", ["", "/v1", "/deep/below/v1/"])
async def test_what_an_agent_needs_arrives_below_the_base(
    gate: Gate, hosts: tuple[Host, Host], base: str
) -> None:
    """The control: plain requests do arrive, with the key."""
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}{base}", "m", KEY))
    for target in ("/v1/models?limit=2", "/models/some-model"):
        assert (await raw(port, get(target, "token")))[0] == 200
    assert (await raw(port, post("/v1/chat/completions", "token", EMPTY)))[0] == 200
    below = base.rstrip("/")
    assert provider.seen == [
        (f"{below}/models?limit=2", f"Bearer {KEY}"),
        (f"{below}/models/some-model", f"Bearer {KEY}"),
        (f"{below}/chat/completions", f"Bearer {KEY}"),
    ]


async def test_a_redirect_is_not_followed(gate: Gate, hosts: tuple[Host, Host]) -> None:
    provider, evil = hosts
    provider.status, provider.headers = 307, {"Location": f"http://127.0.0.1:{evil.port}/elsewhere"}
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    for request in (get("/v1/models", "token"), post("/v1/chat/completions", "token", EMPTY)):
        assert (await raw(port, request))[0] == 307
    assert len(provider.seen) == 2
    assert evil.seen == []


@pytest.mark.parametrize("status", [400, 401, 500])
async def test_a_provider_that_repeats_the_key_in_a_refusal_is_not_quoted(
    gate: Gate, hosts: tuple[Host, Host], status: int, tmp_path: Path
) -> None:
    provider, _ = hosts
    provider.status = status
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    for request in (get("/v1/models", "token"), post("/v1/chat/completions", "token", EMPTY)):
        answered, body = await raw(port, request)
        assert answered == status
        assert b"refused" in body
        assert KEY.encode() not in body
    recorded = BlobStore(tmp_path / "token" / "blobs")
    names = [path.parent.name + path.name for path in (tmp_path / "token" / "blobs").glob("??/*")]
    assert any(b"refused" in recorded.get(name) for name in names)
    assert all(KEY.encode() not in recorded.get(name) for name in names)


async def test_the_token_of_one_trial_opens_no_other(gate: Gate, hosts: tuple[Host, Host]) -> None:
    provider, _ = hosts
    upstream = Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY)
    first, second = await gate.seat("first", upstream), await gate.seat("second", upstream)
    assert (await raw(first, get("/v1/models", "first")))[0] == 200
    for port, token in (
        (first, "second"),
        (second, "first"),
        (first, ""),
        (first, "fir"),
        (first, "first\xff"),
    ):
        for request in (get("/v1/models", token), post("/v1/chat/completions", token, EMPTY)):
            assert (await raw(port, request))[0] == 401
    assert len(provider.seen) == 1


async def test_another_player_cannot_be_asked(gate: Gate) -> None:
    """Players of all trials are served by one server: each gateway seat leads to its own alone."""
    moves: dict[str, Player] = {
        name: RecordedPlayer((Move(thought=f"{name} thinks", command="true"),)) for name in ("mine", "theirs")
    }
    address = await gate.gateway.serve(PlayerServer(moves).app)
    port = await gate.seat("token", Upstream(address + PlayerServer.path("mine"), "m"))
    body = {**EMPTY, "tools": [{"function": {"name": "bash", "parameters": {"properties": {"command": {}}}}}]}
    for target in (
        "/v1/../../theirs/v1/chat/completions",
        "/v1/%2e%2e/%2e%2e/theirs/v1/chat/completions",
        "/v1/..%2f..%2ftheirs%2fv1/chat/completions",
        "/../../theirs/v1/chat/completions",
        f"{address}/theirs/v1/chat/completions",
    ):
        status, answer = await raw(port, post(target, "token", body))
        assert b"theirs" not in answer, target
        assert status == 404 or b"mine thinks" in answer, target
    status, answer = await raw(port, post("/v1/chat/completions", "token", body))
    assert (status, b"mine thinks" in answer) == (200, True)


async def test_nothing_but_the_token_is_needed_to_be_refused(gate: Gate, hosts: tuple[Host, Host]) -> None:
    """Without it every address looks the same."""
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    async with ClientSession() as client:
        answers = set()
        for path in ("/", "/v1/models", "/v1/chat/completions", "/v1/none"):
            async with client.get(f"http://127.0.0.1:{port}{path}") as answer:
                answers.add((answer.status, await answer.text()))
    assert len(answers) == 1
    assert provider.seen == []


ASKING: dict[str, dict[str, object]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hello"}]},
    "/v1/responses": {"input": "hello"},
    "/v1/messages": {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 1},
}


@pytest.mark.parametrize("path", ASKING)
async def test_the_token_opens_the_trials_own_model_and_no_other(
    gate: Gate, hosts: tuple[Host, Host], path: str
) -> None:
    """Whatever name an agent sends, once, twice or not at all: the provider is asked for the trial's."""
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "the-trials-own", KEY))
    plain = json.dumps(ASKING[path])
    for body in (
        plain,
        plain[:-1] + ', "model": "a-dearer-one"}',
        '{"model": "a-dearer-one", ' + plain[1:-1] + ', "mod\\u0065l": "another"}',
        plain[:-1] + ', "model": ["a-dearer-one"]}',
    ):
        empty = post(path, "token", {})
        request = empty.replace("Length: 2\r\n\r\n{}", f"Length: {len(body)}\r\n\r\n{body}")
        status, _ = await raw(port, request)
        assert status == 200
        sent = json.loads(provider.bodies[-1], object_pairs_hook=list)
        assert [value for name, value in sent if name == "model"] == ["the-trials-own"]
    assert len(provider.bodies) == 4
    assert not any(b"dearer" in body or b"another" in body for body in provider.bodies)


async def test_the_token_is_worth_nothing_once_the_trial_has_ended(
    gate: Gate, hosts: tuple[Host, Host]
) -> None:
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    other = await gate.seat("other", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    assert (await raw(port, post("/v1/chat/completions", "token", EMPTY)))[0] == 200
    await gate.gateway.call(gate.opened[0].close())
    for path, body in ASKING.items():
        status, said = await raw(port, post(path, "token", body))
        assert (status, b"the trial takes no more requests" in said) == (403, True)
    await gate.gateway.leave(gate.seats[0])
    with pytest.raises(ConnectionRefusedError):
        await raw(port, get("/v1/models", "token"))
    for path, body in ASKING.items():
        assert (await raw(other, post(path, "token", body)))[0] == 401
    assert len(provider.seen) == 1


async def test_the_token_buys_nothing_beyond_the_runs_budget(gate: Gate, hosts: tuple[Host, Host]) -> None:
    """Neither a step nor a side request, and no other trial's money."""
    provider, _ = hosts
    upstream = Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY)
    port = await gate.seat("token", upstream, money=False)
    tools: dict[str, object] = {"tools": [{"type": "function", "name": "bash", "function": {"name": "bash"}}]}
    for path, body in ASKING.items():
        for more in ({}, tools):
            status, said = await raw(port, post(path, "token", {**body, **more}))
            assert (status, b"the run's budget is spent" in said) == (403, True)
    assert provider.seen == []


BESIDE: dict[str, dict[str, object]] = {
    "/v1/messages/count_tokens": ASKING["/v1/messages"],
    "/v1/responses/input_tokens": ASKING["/v1/responses"],
}


async def test_nothing_beside_the_model_is_open_longer_than_the_model(
    gate: Gate, hosts: tuple[Host, Host]
) -> None:
    """Counts of tokens and lists of models: neither after the end nor once a limit is reached."""
    provider, _ = hosts
    upstream = Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY)
    ended, spent = await gate.seat("ended", upstream), await gate.seat("spent", upstream, money=False)
    await gate.gateway.call(gate.opened[0].close())
    assert (await raw(spent, post("/v1/chat/completions", "spent", EMPTY)))[0] == 403
    for port, token in ((ended, "ended"), (spent, "spent")):
        asked = [get("/v1/models", token), get("/v1/models/m", token)]
        for request in (*asked, *(post(path, token, body) for path, body in BESIDE.items())):
            status, said = await raw(port, request)
            assert (status, b"the trial takes no more requests" in said) == (403, True)
    assert provider.seen == []


@pytest.mark.parametrize("path", BESIDE)
async def test_tokens_are_counted_for_the_trials_own_model_alone(
    gate: Gate, hosts: tuple[Host, Host], path: str
) -> None:
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "the-trials-own", KEY))
    for more in ({}, {"model": "a-dearer-one"}, {"model": ["a-dearer-one"]}):
        assert (await raw(port, post(path, "token", {**BESIDE[path], **more})))[0] == 200
        assert json.loads(provider.bodies[-1]) == {**BESIDE[path], "model": "the-trials-own"}
    for odd in (["x"], "text", 5):
        assert (await raw(port, post(path, "token", odd)))[0] == 400
    assert len(provider.bodies) == 3


@pytest.mark.parametrize(
    "path", ["/v1/threads/t/messages", "/v1/batches/b/chat/completions", "/v1/x/responses"]
)
async def test_a_path_that_ends_like_the_models_is_another(
    gate: Gate, hosts: tuple[Host, Host], path: str
) -> None:
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    assert (await raw(port, post(path, "token", EMPTY)))[0] == 404
    assert provider.seen == []


async def test_a_provider_that_is_gone_is_said_in_the_apis_own_words(gate: Gate) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        base = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
    port = await gate.seat("token", Upstream(base, "m", KEY))
    for request, kind in (
        (get("/v1/models", "token"), None),
        (post("/v1/responses/input_tokens", "token", BESIDE["/v1/responses/input_tokens"]), None),
        (post("/v1/messages/count_tokens", "token", BESIDE["/v1/messages/count_tokens"]), "error"),
    ):
        status, said = await raw(port, request)
        body = json.loads(said)
        assert (status, body.get("type")) == (502, kind)
        assert "the model cannot be reached" in body["error"]["message"]


DEEP = "[" * 1200 + "]" * 1200
ODD = {
    "deep": DEEP,
    "deeper": "[" * 5000 + "]" * 5000,
    "deepest": "[" * 1_000_000,
    "objects": '{"x": ' * 5000 + "1" + "}" * 5000,
    "no text": '"\xff"',
}


@pytest.mark.parametrize("path", [*ASKING, *BESIDE])
async def test_no_body_voids_the_trial_that_sends_it(gate: Gate, hosts: tuple[Host, Host], path: str) -> None:
    """However it is nested and wherever: it is refused, or passed on, and the trial goes on."""
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    body = {**ASKING, **BESIDE}[path]
    tool = '"tools": [{"type": "function", "name": "bash", "function": {"name": "bash"}}]'
    keys = (
        "messages",
        "input",
        "model",
        "stream",
        "stream_options",
        "tools",
        "previous_response_id",
        "other",
    )
    for odd in ODD.values():
        for said in (odd, f'[{{"role": "user", "content": {odd}}}]'):
            for key in keys:
                for more in ("", f", {tool}"):
                    text = f'{json.dumps(body)[:-1]}{more}, "{key}": {said}}}'
                    request = post(path, "token", {}).replace(
                        "Length: 2\r\n\r\n{}", f"Length: {len(text)}\r\n\r\n{text}"
                    )
                    assert (await raw(port, request))[0] in {200, 400}, (key, said[:40])
    assert gate.opened[0].failure is None
    assert (await raw(port, post(path, "token", body)))[0] == 200


@pytest.mark.parametrize(
    "path", ["/mcp", "/ask", "/v1/mcp", "/v1/batches", "/v1/fine_tuning/jobs", "/v1/uploads"]
)
@pytest.mark.parametrize("token", ["token", "wrong"])
async def test_the_token_opens_nothing_beside_the_model(
    gate: Gate, hosts: tuple[Host, Host], path: str, token: str
) -> None:
    """Also where an agent may ask its user, in a trial whose user is not asked."""
    provider, _ = hosts
    port = await gate.seat("token", Upstream(f"http://127.0.0.1:{provider.port}/v1", "m", KEY))
    for request in (get(path, token), post(path, token, EMPTY)):
        assert (await raw(port, request))[0] == (404 if token == "token" else 401)
    assert provider.seen == []
