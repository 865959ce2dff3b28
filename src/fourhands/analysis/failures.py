"""What the record of a trial says of a failure that is not the agent's."""

from __future__ import annotations

from fourhands.model.event import Event, EventKind

__all__ = ["failure_told"]


def failure_told(event: Event) -> str | None:
    """What an event tells of a failure of ours, the machine's or the provider's; ``None`` if nothing."""
    body = event.body
    if event.kind is not EventKind.NOTE:
        return None
    if body["note"] != "provider_failed":
        return body.get("reason")
    if not body["status"]:
        return "the provider broke off"
    return f"the provider answered {body['status']}: {' '.join(body['said'].split())}"
