"""The notes of a record in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["note_words"]

_NAMED: Final = 8
"""Requests that a sentence names."""

_Body = Mapping[str, Any]


def note_words(body: _Body) -> str:
    """What a `note` event says; of one that is not known, or lacks a field, its fields as they are."""
    tell = _TOLD.get(str(body.get("note")), _as_it_is)
    try:
        return tell(body)
    except (KeyError, TypeError):
        return _as_it_is(body)


def _as_it_is(body: _Body) -> str:
    fields = ", ".join(f"{name}={value}" for name, value in body.items() if name != "note")
    return f"note: {body.get('note')} {fields}".rstrip()


def _not_accepted(body: _Body) -> str:
    step = body["step"]
    which = "a sub-agent's reply" if step is None else f"the model's reply (step {step})"
    return f"the agent did not take up {which}: it counts as a retry"


def _moved(body: _Body) -> str:
    anchor = ", ".join(body["anchor"])
    where = f"behind the result of {anchor}" if anchor else "with the main loop's next actions"
    return f"message {body['message']} now stands {where}"


def _reinserted(body: _Body) -> str:
    where = (
        f"message {body['message']} stands behind the user's first words from request {body['request']} on"
    )
    return f"{where}: the agent's history was shortened and had lost its place"


def _announced(body: _Body) -> str:
    said = f"the agent's own client told its model of a changed file: “{body['words']}”"
    return f"{said} (request {body['request']})"


def _cut_off(body: _Body) -> str:
    return (
        f"the agent has no way to its model any more, through the doing of the {body['by']}: {body['reason']}"
    )


def _unfinished(body: _Body) -> str:
    left = ", ".join(map(str, body["left"][:_NAMED])) + (", …" if len(body["left"]) > _NAMED else "")
    return f"the replay ended after {body['asked']} requests; never asked for was recorded request {left}"


def _provider(body: _Body) -> str:
    what = f"answered {body['status']}" if body["status"] else "broke off"
    return f"the provider {what}: {' '.join(body['said'].split())}"


_TOLD: Final[Mapping[str, Callable[[_Body], str]]] = {
    "reply_not_accepted": _not_accepted,
    "message_moved": _moved,
    "message_reinserted": _reinserted,
    "client_announced": _announced,
    "gateway_cut_off": _cut_off,
    "replay_unfinished": _unfinished,
    "harness_failed": lambda body: f"our own side failed: {body['reason']}",
    "provider_failed": _provider,
    "no_verdict": lambda body: f"there is no verdict: {body['reason']}",
}
