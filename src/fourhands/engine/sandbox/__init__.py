"""A sandbox on this machine, without containers: bubblewrap, for root and for ordinary users."""

from fourhands.engine.sandbox.local import GATEWAY_PORT, LocalSandbox
from fourhands.engine.sandbox.probe import Capability, probe
from fourhands.engine.sandbox.state import sweep

__all__ = ["GATEWAY_PORT", "Capability", "LocalSandbox", "probe", "sweep"]
