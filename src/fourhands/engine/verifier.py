"""Harbor's verifier, ours: it asks the trial's session, and only our process writes the reward."""

from __future__ import annotations

from typing import override

from harbor.models.verifier.result import VerifierResult
from harbor.verifier.base import BaseVerifier

from fourhands.engine.active import ActiveRun
from fourhands.model.errors import FourhandsError

__all__ = ["Verifier"]


class Verifier(BaseVerifier):
    """Verifies the final state of a trial that one of our agents ran."""

    @override
    async def verify(self) -> VerifierResult:
        """See Harbor's `BaseVerifier.verify`.

        Raises:
            FourhandsError: the trial has no session: its agent is none of ours.
        """
        session = ActiveRun.of(self.environment.context_id)
        if session is None:
            raise FourhandsError("the trial has no session: this verifier works with the agents of fourhands")
        verification = await session.verify()
        return VerifierResult(rewards={"reward": verification.reward})
