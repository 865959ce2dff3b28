"""Where the gateway listens so that containers of this machine reach it, and nobody farther away if possible."""

from __future__ import annotations

import socket
import subprocess
from typing import Final

from fourhands.model.errors import SandboxError

__all__ = ["BESIDE_US", "HOST_NAME", "listen_for"]

BESIDE_US: Final = ("docker", "podman")
"""Container engines of this machine, through Compose, which gives the machine a name inside."""

HOST_NAME: Final = "host.docker.internal"
"""What this machine is called inside a container: ``host-gateway.yaml`` sees to it."""
_LOOPBACK: Final = "127.0.0.1"
_EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - see listen_for
_BRIDGE: Final = ("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
_TIMEOUT: Final = 10


def listen_for(engine: str) -> socket.socket:
    """A listening socket on a free port that the containers of ``engine`` reach as ``HOST_NAME``.

    Docker on Linux leads that name to the address of its bridge, Docker Desktop to the loopback. Podman leads it to
    any address of the machine but the loopback: there the socket listens on all of them, and the token of the
    trial is what keeps others out.

    Raises:
        SandboxError: the address cannot be had.
    """
    address = _bridge(engine) if engine == "docker" else _EVERYWHERE
    try:
        return socket.create_server((address, 0), backlog=128)
    except OSError:
        if engine != "docker":
            raise SandboxError(
                f"the gateway cannot listen on {address}: is this machine's network up?"
            ) from None
        return socket.create_server((_LOOPBACK, 0), backlog=128)  # the bridge is in a virtual machine


def _bridge(engine: str) -> str:
    try:
        done = subprocess.run(
            [engine, *_BRIDGE], capture_output=True, text=True, timeout=_TIMEOUT, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{engine} does not tell the address of its bridge network: {error}") from error
    return done.stdout.strip() or _LOOPBACK
