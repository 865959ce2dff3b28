"""Where agents run: our local sandbox, or one of Harbor's own environments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from harbor.models.environment_type import EnvironmentType
from harbor.models.task.config import NetworkMode, TaskConfig
from harbor.models.trial.config import EnvironmentConfig

from fourhands.engine.containers.address import BESIDE_US, HOST_NAME
from fourhands.model.errors import InputError, SandboxError

__all__ = [
    "LOCAL",
    "environment_config",
    "see_that_harbor_has",
    "see_that_it_runs",
    "see_that_the_gateway_is_reached",
    "see_that_the_network_is_held_back",
]

LOCAL: Final = "local"
_OPTIONS_NEEDED: Final = ("aca-sandbox", "ec2", "gke")
"""What Harbor starts no sandbox in without options of the user's own."""
_OVERLAY: Final = Path(__file__).with_name("containers") / "host-gateway.yaml"


def see_that_harbor_has(name: str) -> None:
    """See that an environment is one that agents can be run in.

    Raises:
        InputError: it is none; says which there are.
    """
    known = [LOCAL, *(kind.value for kind in EnvironmentType)]
    if name not in known:
        raise InputError(f"unknown environment {name!r}: choose from {', '.join(known)}")


def see_that_the_gateway_is_reached(name: str) -> None:
    """See that sandboxes can be had there from which an agent reaches the gateway, which runs on this machine.

    Raises:
        InputError: they cannot, or it is no environment.
    """
    see_that_harbor_has(name)
    if name in _OPTIONS_NEEDED:
        raise InputError(
            f"--env {name}: Harbor starts no sandbox there without options of your account, which --env cannot give: "
            f"choose another environment. Harbor's configuration for {name} is shown by --dry-run"
        )


def see_that_the_network_is_held_back(name: str, tasks: Iterable[Path]) -> None:
    """See that no task is open to the network where what holds it back is also the way to the gateway.

    Args:
        name: of the environment.
        tasks: folders.

    Raises:
        InputError: one is; names its file and the field.
    """
    if name not in BESIDE_US:
        return
    for folder in tasks:
        path = folder / "task.toml"
        mode = TaskConfig.model_validate_toml(path.read_text("utf-8")).environment.network_mode
        if mode == NetworkMode.PUBLIC:
            raise InputError(
                f"{path} asks for the public network, which --env {name} does not give: set [environment] "
                'network_mode = "no-network"; the gateway is let through'
            )


def environment_config(name: str, prefixes: Sequence[Path] = ()) -> EnvironmentConfig:
    """Harbor's configuration of an environment; ``prefixes`` are what an agent needs of this machine to run here."""
    if name == LOCAL:
        return EnvironmentConfig(
            import_path="fourhands.engine.local:LocalEnvironment",
            kwargs={"prefixes": [str(path) for path in prefixes]},
        )
    if name in BESIDE_US:
        return EnvironmentConfig(
            type=EnvironmentType(name), extra_docker_compose=[_OVERLAY], extra_allowed_hosts=[HOST_NAME]
        )
    return EnvironmentConfig(type=EnvironmentType(name))


def see_that_it_runs(name: str) -> None:
    """Ask Harbor whether an environment of its own can run on this machine; ours is tried with the first trial.

    Raises:
        SandboxError: it cannot; with Harbor's reason.
    """
    from harbor.environments.factory import EnvironmentFactory  # noqa: PLC0415 - imports much

    if name == LOCAL:
        return
    try:
        EnvironmentFactory.run_preflight(EnvironmentType(name))
    except (SystemExit, ImportError, ValueError, OSError) as error:
        raise SandboxError(
            f"--env {name} cannot run here: {error} Once it can, the same command goes on with this run; "
            "--env local needs no container engine"
        ) from error
