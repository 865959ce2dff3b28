"""Bodies of events, whole."""

from __future__ import annotations

ENDED = {
    "verdict": "resolved",
    "termination": "finished",
    "reward": 1.0,
    "steps": 1,
    "tokens": {"total": 0},
    **dict.fromkeys(("side_calls", "retries", "uncounted_replies"), 0),
    **dict.fromkeys(("triggered", "shadow", "delivered", "messages"), 0),
}
