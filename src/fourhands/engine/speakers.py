"""Settings of a run -> who puts the user's messages into words."""

from __future__ import annotations

import os
from collections.abc import Callable

from fourhands.model.errors import InputError
from fourhands.trajectories.run_folder import Settings
from fourhands.user.speaking import LiveSpeaker

__all__ = ["live_speaker"]


def live_speaker(settings: Settings, *, task: str, read_blob: Callable[[str], bytes]) -> LiveSpeaker:
    """A speaker that asks the user's model.

    Args:
        settings: of the run; the key, if there is one, is read from the environment.
        task: the instruction that the agent was given.
        read_blob: the bytes behind a hash in the trial's events.

    Raises:
        InputError: no model is named, or its address or key cannot be right.
    """
    if not (settings.user_model and settings.user_base_url):
        raise InputError(
            "message=live needs a model for the user's words: give --user-model and --user-base-url, or take "
            "message=live out of the conditions"
        )
    return LiveSpeaker(
        task=task,
        model=settings.user_model,
        base_url=settings.user_base_url,
        api_key=os.environ.get(settings.user_api_key_env) or None,
        read_blob=read_blob,
    )
