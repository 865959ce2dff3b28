"""What the gateway must know of an agent's program beyond what its wire says: data, one value per agent."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AgentTraits"]


@dataclass(frozen=True, slots=True)
class AgentTraits:
    """Facts about one agent.

    ``thread_headers`` are the headers whose values together name the thread (main loop or sub-agent) that a request
    belongs to; without them a thread is told by its calls. ``announcements`` are words by which the agent's own
    client tells the model that a file changed under it. ``text_actions`` says that the agent offers no tools and
    acts on the text of a reply. ``native_framing`` is how the agent's own client words a message that its user sends
    in mid-turn, with ``{message}`` in it; ``None`` when it passes plain user text.
    """

    thread_headers: tuple[str, ...] = ()
    announcements: tuple[str, ...] = ()
    text_actions: bool = False
    native_framing: str | None = None
