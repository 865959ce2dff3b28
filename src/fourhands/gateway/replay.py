"""A model that gives recorded replies back, as long as it is asked what it was asked then.

Served over HTTP like any stand-in. A request finds its recorded twin by what is left once all that must differ is
taken out, so that threads may come in any order. The first that has none is the divergence: it is shown against the
recorded request that it is most like, and nothing is given back from there on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Final
from urllib.parse import quote, unquote

from aiohttp import web

from fourhands.gateway.tape import Divergence, Tape, Unasked
from fourhands.trajectories.blobs import HIDDEN
from fourhands.trajectories.recording import Recorded, Recordings
from fourhands.wire.document import Document
from fourhands.wire.registry import wire_for
from fourhands.wire.types import MalformedError, Wire

__all__ = ["ReplayServer"]

_MAX_BODY: Final = 1 << 29
_LOOK: Final = 0.05
"""Seconds between looks whether an agent that gets no answer has left."""


class ReplayServer:
    """Serves recordings below ``/<trial>/v1``; ``app`` is a plain aiohttp application."""

    def __init__(
        self,
        recordings: Recordings,
        *,
        secret_of: Callable[[str], str],
        on_divergence: Callable[[str, Divergence], None],
    ) -> None:
        """Serve each trial's exchanges once.

        Args:
            recordings: by the trial's slug.
            secret_of: a trial's own secret, which stands in no recording; empty for none.
            on_divergence: called with the slug when a trial is asked what it was not asked then; once for each.
        """
        self._tapes = {slug: Tape(found) for slug, found in recordings.items()}
        self._secret_of = secret_of
        self._on_divergence = on_divergence
        self.app = web.Application(client_max_size=_MAX_BODY)
        self.app.router.add_get("/{trial}/v1/models", self._models)
        self.app.router.add_post("/{trial}/v1/{path:.+}", self._answer)

    @staticmethod
    def path(trial: str) -> str:
        """The base path at which a trial's recording is served."""
        return f"/{quote(trial, safe='')}/v1"

    def rewind(self, trial: str) -> None:
        """Begin a trial's recording anew: the trial was cut, and is run again."""
        self._tapes[trial].rewind()

    def unasked(self, trial: str) -> Unasked | None:
        """What of a trial's recording was never asked for; ``None`` if it was asked to the end, or has diverged."""
        return self._tapes[trial].unasked()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        trial = unquote(request.match_info["trial"])
        wire = wire_for("/" + request.match_info["path"])
        tape = self._tapes.get(trial)
        if tape is None or wire is None:
            said = f"nothing was recorded for {trial!r}" if tape is None else "no such call was recorded"
            return _error(wire, HTTPStatus.NOT_FOUND, said)
        raw = await request.read()
        if secret := self._secret_of(trial):
            raw = raw.replace(secret.encode(), HIDDEN)
        try:
            document = Document.read(wire, raw)
        except MalformedError as error:
            return _error(wire, HTTPStatus.BAD_REQUEST, str(error))
        had_diverged = tape.divergence is not None
        found = tape.find(document)
        if isinstance(found, Recorded):
            return await _give_back(request, found)
        if not had_diverged:
            self._on_divergence(trial, found)
        # At any other status, clients ask again.
        return _error(wire, HTTPStatus.BAD_REQUEST, f"the replay diverged at request {found.request}")

    async def _models(self, request: web.Request) -> web.Response:
        tape = self._tapes.get(unquote(request.match_info["trial"]))
        names = tape.models if tape else ()
        cards = [{"id": name, "object": "model", "type": "model", "display_name": name} for name in names]
        return web.json_response({"object": "list", "data": cards, "has_more": False})


async def _give_back(request: web.Request, recorded: Recorded) -> web.StreamResponse:
    if recorded.status == 0:
        # The agent had left before an answer came: by its own patience, or because it was stopped.
        while request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(_LOOK)
        return web.Response()
    if recorded.status == HTTPStatus.BAD_GATEWAY and not recorded.response:
        _break_off(request)  # what the gateway says of a model that it cannot reach, it says again
        return web.Response()
    headers = {"content-type": recorded.content_type} if recorded.content_type else {}
    if recorded.whole:
        return web.Response(status=recorded.status, headers=headers, body=recorded.response)
    response = web.StreamResponse(status=recorded.status, headers=headers)
    await response.prepare(request)
    await response.write(recorded.response)
    _break_off(request)  # as it was recorded: a stream that breaks off
    return response


def _break_off(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()


def _error(wire: Wire | None, status: HTTPStatus, message: str) -> web.Response:
    return web.json_response(wire.error(message) if wire else {"error": {"message": message}}, status=status)
