"""Requests to the gateway that no agent would send, as bytes on the wire."""

from __future__ import annotations

_TARGETS = """
/ /v1 /v1/ /metrics /v1/files /v1/files/x/content /v1/organization/api_keys /v1/completions
/v1/.. /v1/../secret /v1/../../secret /v1/./../../secret /v1//../../secret //secret/secret /../../secret
/v1/%2e%2e/%2e%2e/secret /v1/..%2f..%2fsecret /v1/..;/..;/secret /v1/\\..\\..\\secret
/v1/models/../../../secret /v1/models/%2e%2e/%2e%2e/secret /v1/models?x=1/../../..#/../..
http://{host}/secret http://{host}/v1/secret http://user@{host}/v1/../secret //{host}/secret ///{host}/v1/models/..
/v1@{host}/secret /v1.{host}/secret /@{host}/secret
/v1/chat/completions/../../../secret /v1/x/../chat/completions /v1/chat/completions/.
/v1/../../x/v1/chat/completions *
"""
_BODIES = (
    '{"messages": []}',
    '{"messages": [], "tools": 5}',
    '{"messages": [{"role": "assistant", "tool_calls": 5}]}',
    '{"messages": [], "stream": true, "stream_options": 5}',
    "[" * 20_000,
)


def requests_from_inside(port: int) -> list[str]:
    """Requests in latin-1, with TOKEN for the trial's own token; ``port`` is one of the host's."""
    host = f"127.0.0.1:{port}"
    chat, models = "/v1/chat/completions", "/v1/models"
    made = [
        _request(method, target)
        for method in ("GET", "POST")
        for target in _TARGETS.format(host=host).split()
    ]
    for method in ("DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"):
        made += [_request(method, models), _request(method, chat)]
    made += [_request("GET", models), _request("CONNECT", host)]
    made += [_request("GET", models, token=token) for token in ("", "wrong", "\xff\xfe")]
    made += [_request("POST", chat, token="wrong", body=_BODIES[0])]
    made += [_request("POST", chat, body=body) for body in _BODIES]
    made += [_request("POST", chat, body=_BODIES[0], host=host)]
    return made


def _request(
    method: str, target: str, *, token: str = "TOKEN", body: str = "", host: str = "localhost"
) -> str:
    return (
        f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nX-Forwarded-Host: {host}\r\n"
        f"Authorization: Bearer {token}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
