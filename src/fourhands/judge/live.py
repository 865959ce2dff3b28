"""Settings -> a judge, or an auditor, that asks a provider, and keeps its answers in a run's folder."""

from __future__ import annotations

import os
from pathlib import Path

from fourhands.judge.answers import Answers
from fourhands.judge.audit.auditor import OPINIONS, Auditor
from fourhands.judge.judge import JUDGEMENTS, Judge
from fourhands.model.errors import InputError
from fourhands.trajectories.audits import audit_answers_path
from fourhands.trajectories.judgements import answers_path
from fourhands.trajectories.run_folder import RunFolder
from fourhands.user.talking.asking_a_model import LiveClient

__all__ = ["live_auditor", "live_judge"]

_SECONDS = 180.0
"""For one request: a judge has much to read."""


def live_judge(
    folder: RunFolder, *, model: str, base_url: str | None, api_key_env: str, replayed: Path | None = None
) -> Judge:
    """A judge for the run in ``folder``. Its key is read from our environment, and goes nowhere but to its provider.

    Args:
        folder: where answers are kept.
        model: as its provider calls it.
        base_url: of an OpenAI-compatible API, with its version; ``None`` for the SDK's own default.
        api_key_env: the environment variable that holds the key; one that is not set means none.
        replayed: another run, whose answers are taken over.

    Raises:
        InputError: a setting cannot be right.
    """
    client = _client(model, base_url, api_key_env)
    earlier = answers_path(RunFolder(replayed)) if replayed else None
    return Judge(client, Answers(answers_path(folder), JUDGEMENTS, earlier=earlier))


def live_auditor(folder: RunFolder, *, model: str, base_url: str | None, api_key_env: str) -> Auditor:
    """An auditor of the trials of the run in ``folder``. Arguments and errors as of `live_judge`."""
    client = _client(model, base_url, api_key_env)
    return Auditor(client, Answers(audit_answers_path(folder), OPINIONS), provider=base_url or "")


def _client(model: str, base_url: str | None, api_key_env: str) -> LiveClient:
    key = os.environ.get(api_key_env) or None
    try:
        return LiveClient(model, base_url=base_url, api_key=key, timeout=_SECONDS)
    except InputError as error:
        raise InputError(f"the judge: {str(error).removeprefix("the user's model: ")}") from None
