"""A model that gives recorded replies back, as long as it is asked what it was asked then.

Served over HTTP like any stand-in. A request finds its recorded twin by what is left once all that must differ is
taken out, so that threads may come in any order. The first that has none is the divergence: it is shown against the
recorded request that should have come, and no reply is made up from there on.
"""

from __future__ import annotations

import difflib
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

import orjson
from aiohttp import web

from fourhands.trajectories.cassette import Recorded, digest
from fourhands.trajectories.normalising import normalised
from fourhands.wire.registry import wire_for

__all__ = ["Divergence", "ReplayServer"]

_MAX_BODY: Final = 1 << 29
_CONTEXT: Final = 2
_LONGEST_DIFF: Final = 400
"""Lines of a difference that are shown."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """A request that differs from the recorded one: ``request`` counts those that were replayed, from 1.

    ``expected`` is the recorded request's number, ``None`` when none was left.
    """

    request: int
    expected: int | None
    diff: str


class ReplayServer:
    """Serves recordings below ``/<trial>/v1``; ``app`` is a plain aiohttp application."""

    def __init__(
        self,
        recordings: Mapping[str, Sequence[Recorded]],
        on_divergence: Callable[[str, Divergence], None],
    ) -> None:
        """Serve each trial's exchanges once.

        Args:
            recordings: by the trial's slug.
            on_divergence: called with the slug when a trial is asked what it was not asked then; once for each.
        """
        self._tapes = {slug: _Tape(found) for slug, found in recordings.items()}
        self._on_divergence = on_divergence
        self.app = web.Application(client_max_size=_MAX_BODY)
        self.app.router.add_get("/{trial}/v1/models", _models)
        self.app.router.add_post("/{trial}/v1/{path:.+}", self._answer)

    @staticmethod
    def path(trial: str) -> str:
        """The base path at which a trial's recording is served."""
        return f"/{quote(trial, safe='')}/v1"

    def rewind(self, trial: str) -> None:
        """Begin a trial's recording anew: the trial was cut, and is run again."""
        if trial in self._tapes:
            self._tapes[trial].rewind()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        trial = unquote(request.match_info["trial"])
        wire = wire_for("/" + request.match_info["path"])
        tape = self._tapes.get(trial)
        if tape is None or wire is None:
            said = f"nothing was recorded for {trial!r}" if tape is None else "no such call was recorded"
            return web.json_response({"error": {"message": said}}, status=404)
        found = tape.find(normalised(orjson.loads(await request.read())))
        if isinstance(found, Divergence):
            if not tape.has_diverged:
                tape.has_diverged = True
                self._on_divergence(trial, found)
            message = f"the replay diverged at request {found.request}"
            return web.json_response(wire.error(message), status=400)  # at any other, clients ask again
        return await _give_back(request, found)


class _Tape:
    """The exchanges of one trial, each given back once."""

    def __init__(self, recorded: Sequence[Recorded]) -> None:
        self._recorded = tuple(recorded)
        self.rewind()

    def rewind(self) -> None:
        """All of them are there again."""
        self.has_diverged = False
        self._played = 0
        self._left: defaultdict[str, deque[Recorded]] = defaultdict(deque)
        for each in self._recorded:
            self._left[digest(each.request)].append(each)

    def find(self, request: dict[str, Any]) -> Recorded | Divergence:
        """The recorded exchange that begins with this request, or how it differs from the one that is due."""
        self._played += 1
        twins = self._left.get(digest(request))
        if twins and not self.has_diverged:
            return twins.popleft()
        due = self._due(request)
        shown = _difference(due.request if due else {}, request)
        return Divergence(self._played, due.number if due else None, shown)

    def _due(self, request: dict[str, Any]) -> Recorded | None:
        """Of those that are left, the first whose history begins alike: a thread goes on in its own order."""
        left = [each for twins in self._left.values() for each in twins]
        return max(left, key=lambda each: (_alike(each, request), -each.number), default=None)


def _alike(recorded: Recorded, request: Mapping[str, Any]) -> int:
    """How many items of two histories are the same from the start; one more when both offer the same tools."""
    then, now = recorded.request.get(recorded.history_key), request.get(recorded.history_key)
    same = 0
    if isinstance(then, list) and isinstance(now, list):
        for one, other in zip(then, now, strict=False):
            if one != other:
                break
            same += 1
    return same + (recorded.request.get("tools") == request.get("tools"))


def _difference(then: Any, now: Any) -> str:
    """A unified diff of two requests, one value a line; text is shown as lines."""
    lines = list(
        difflib.unified_diff(_pretty(then), _pretty(now), "recorded", "replayed", lineterm="", n=_CONTEXT)
    )
    cut = [f"… {len(lines) - _LONGEST_DIFF} more lines"] if len(lines) > _LONGEST_DIFF else []
    return "\n".join([*lines[:_LONGEST_DIFF], *cut])


def _pretty(value: Any) -> list[str]:
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    # A text of many lines is one value: shown as one line nobody would find what differs in it.
    return text.replace("\\n", "\n").splitlines()


async def _give_back(request: web.Request, recorded: Recorded) -> web.StreamResponse:
    if recorded.status == 0:
        assert request.transport
        request.transport.abort()
        return web.Response()
    headers = {"content-type": recorded.content_type} if recorded.content_type else {}
    if recorded.whole:
        return web.Response(status=recorded.status, headers=headers, body=recorded.response)
    response = web.StreamResponse(status=recorded.status, headers=headers)
    await response.prepare(request)
    await response.write(recorded.response)
    assert request.transport
    request.transport.abort()  # as it was recorded: a stream that breaks off
    return response


async def _models(request: web.Request) -> web.Response:
    del request
    return web.json_response({"object": "list", "data": [{"id": "model", "object": "model"}]})
