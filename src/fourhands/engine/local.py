"""Harbor's environment over the local sandbox: a trial without containers."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Final, override

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities
from harbor.models.task.config import NetworkMode, NetworkPolicy
from harbor.utils.path_filter import filter_paths_by_patterns

from fourhands.engine.containers.mailbox import OnCutOff, ignore
from fourhands.engine.sandbox import GATEWAY_PORT, LocalSandbox, probe
from fourhands.engine.sandbox.archive import pack, unpack
from fourhands.model.errors import InputError, SandboxError
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.cache import cache_root
from fourhands.tasks.environment import python_environment

__all__ = ["LocalEnvironment"]

_ADMITTED_HOSTS: Final = frozenset({"127.0.0.1", "localhost"})
_USERS: Final = frozenset({None, "root", "agent", "0", "1000", 0, 1000})
_BASH: Final = "/bin/bash"
_EXTRACT: Final = (
    'mkdir -p -- "$1" && exec tar --extract --preserve-permissions --no-same-owner --directory "$1" --file -'
)
_ARCHIVE: Final = 'cd -- "$1" || exit 3; shift; exec tar --create --file - "$@" .'
_ARCHIVE_FILE: Final = 'cd -- "$1" || exit 3; exec tar --create --dereference --file - "./$2"'
_TAR_INCOMPLETE: Final = frozenset({1, 2})  # a file changed, or could not be read: the rest is there


class LocalEnvironment(BaseEnvironment):
    """A task in a bubblewrap sandbox on this machine: no daemon, no image.

    One user exists inside: commands for ``root``, for ``agent`` and for nobody in particular all run as it, and
    without privileges. The network is off; ``127.0.0.1`` is the sandbox's own, where the gateway answers. The
    mode ``public`` shares the host's network, and is refused unless asked for. Folders go in and out by copies,
    never by mounts.

    Args:
        prefixes: absolute paths of the host that are readable inside at the same place, such as the agent's own.
        share_network: admit tasks whose network is public. Then whatever runs on this machine's loopback can be
            reached from inside, and the gateway's port is the machine's.
        args: as Harbor gives them.
        kwargs: as Harbor gives them.
    """

    def __init__(
        self, *args: Any, prefixes: Sequence[str] = (), share_network: bool = False, **kwargs: Any
    ) -> None:
        self._prefixes = tuple(Path(prefix) for prefix in prefixes)
        self._share_network = share_network
        self._started: tuple[SandboxSpec, LocalSandbox] | None = None
        super().__init__(*args, **kwargs)
        if self._host_mounts:
            raise InputError("the local environment mounts nothing: leave out mounts")

    gateway_host: Final = "127.0.0.1"
    """Where the gateway answers inside."""

    @staticmethod
    @override
    def type() -> str:
        return "local"

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(
            disable_internet=True,
            network_allowlist=True,
            network_allowlist_hostnames=True,
            network_allowlist_ipv4_addresses=True,
        )

    @classmethod
    @override
    def resource_capabilities(cls) -> EnvironmentResourceCapabilities:
        return EnvironmentResourceCapabilities(fractional_cpus=True)

    @classmethod
    @override
    def preflight(cls, kwargs: dict[str, Any] | None = None) -> None:
        """Try a sandbox. Raises SystemExit with the reason and the remedy when none can run here."""
        super().preflight(kwargs)
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - once a job

        with ThreadPoolExecutor(1) as thread:  # Harbor calls this from within its loop
            capability = thread.submit(asyncio.run, probe(_state_base())).result()
        if capability.problem:
            raise SystemExit(capability.problem)

    @property
    def sandbox(self) -> LocalSandbox:
        """The sandbox of this trial.

        Raises:
            SandboxError: it is not started.
        """
        return self._running()[1]

    @property
    def spec(self) -> SandboxSpec:
        """What the sandbox was made of.

        Raises:
            SandboxError: it is not started.
        """
        return self._running()[0]

    async def listen(self, port: int = GATEWAY_PORT, on_cut_off: OnCutOff = ignore) -> socket.socket:
        """Listen where only this sandbox reaches it, which nothing cuts off; see ``LocalSandbox.listen``."""
        del on_cut_off
        return await self.sandbox.listen(port)

    async def programs(self, folder: Path, agent: str) -> Path:
        """The folder itself, which is one of the ``prefixes``."""
        del agent
        return folder

    async def packages(self, lock: Path) -> str:
        """The virtual environment of a hashed lock: it lies in one of the ``prefixes``.

        Raises:
            MissingError: the package index cannot be reached.
        """
        return str((await asyncio.to_thread(python_environment, lock)).prefix)

    def _running(self) -> tuple[SandboxSpec, LocalSandbox]:
        if self._started is None:
            raise SandboxError("the local environment is not running: it was stopped, or never started")
        return self._started

    @override
    def _validate_definition(self) -> None:
        task_dir = self.environment_dir.parent
        if not task_dir.is_dir():
            raise InputError(f"task folder {task_dir} does not exist")

    @override
    def validate_network_policy_support(self, network_policy: NetworkPolicy | None = None) -> None:
        policy = network_policy or self.network_policy
        if policy.network_mode == NetworkMode.ALLOWLIST:
            refused = [host for host in policy.allowed_hosts if host not in _ADMITTED_HOSTS]
            if refused:
                raise InputError(
                    f"the local environment cannot allow {', '.join(refused)}: it reaches 127.0.0.1 alone, where the "
                    "gateway answers. Take the host out of the allowlist (Harbor adds an agent's model base URL to "
                    "it)"
                )
        if policy.network_mode == NetworkMode.PUBLIC and not self._share_network:
            raise InputError(
                f"{self.environment_dir.parent}/task.toml asks for the public network, which the local environment "
                'does not give unasked: set [environment] network_mode = "no-network"'
            )
        super().validate_network_policy_support(policy)

    async def _spec(self) -> SandboxSpec:
        """What the task needs of this machine."""
        from fourhands.tasks.prepare import prepare  # noqa: PLC0415 - only a started task is prepared

        return await prepare(self.environment_dir.parent)

    @override
    async def start(self, force_build: bool) -> None:
        """Prepare the task and start its sandbox; ``force_build`` has nothing to build."""
        spec = await self._spec()
        spec = replace(spec, prefixes=(*spec.prefixes, *self._prefixes))
        hidden = (self.environment_dir.parent, _run_folder(self.trial_paths.trial_dir))
        sandbox = LocalSandbox(spec, _state_base(), hidden=hidden, network=self._network_is_public)
        await sandbox.start()
        self._started = spec, sandbox

    @override
    async def stop(self, delete: bool) -> None:
        """End all processes and remove all traces, whatever ``delete`` says: nothing of it could be used again."""
        if self._started is not None:
            started, self._started = self._started, None
            await started[1].stop()

    @override
    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        """Run ``command`` in bash, in the task's working directory when ``cwd`` is ``None``.

        Raises:
            RuntimeError: it was out of time, as Harbor's own environments say it; all it started is dead.
            InputError: ``user`` does not exist inside.
        """
        user = self._resolve_user(user)
        if user not in _USERS:
            raise InputError(f"the local environment has one user (agent, or root): cannot run as {user!r}")
        done = await self.sandbox.run(
            [_BASH, "-c", command],
            cwd=cwd or self.task_env_config.workdir,
            env=self._merge_env(env),
            timeout=timeout_sec or None,
        )
        if done.timed_out:
            raise RuntimeError(f"Command timed out after {timeout_sec} seconds")
        return ExecResult(stdout=_text(done.stdout), stderr=_text(done.stderr), return_code=done.code)

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        """Copy a file in, with its permissions; a link's target is copied."""
        source = Path(source_path)
        target = PurePosixPath(target_path, *([source.name] if target_path.endswith("/") else []))
        archive = await asyncio.to_thread(lambda: pack(source.resolve(strict=True), target.name))
        await self._extract(archive, str(target.parent))

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """Copy what is in a folder into another, made where it is missing."""
        await self._extract(await asyncio.to_thread(pack, Path(source_dir)), target_dir)

    async def _extract(self, archive: bytes, target: str) -> None:
        done = await self.sandbox.run([_BASH, "-c", _EXTRACT, _BASH, target], cwd="/", stdin=archive)
        if done.code:
            raise RuntimeError(f"upload to {target} failed: {_text(done.stderr)}")

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        """Copy a file out, with its permissions; a link's target inside is copied."""
        source, target = PurePosixPath(source_path), Path(target_path)
        archive = await self._archive([_ARCHIVE_FILE, _BASH, str(source.parent), source.name], source_path)
        await asyncio.to_thread(_unpack_file, archive, source.name, target)

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        """Copy a folder out; links that lead out of it stay behind."""
        await self._download(source_dir, Path(target_dir))

    @override
    async def download_dir_with_exclusions(
        self, *, source_dir: str, target_dir: Path | str, exclude: list[str]
    ) -> None:
        """Copy a folder out, without what matches tar's patterns ``exclude``."""
        await self._download(
            source_dir, Path(target_dir), options=[f"--exclude={pattern}" for pattern in exclude]
        )

    @override
    async def download_dir_filtered(
        self,
        *,
        source_dir: str,
        target_dir: Path | str,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        protect: Sequence[str] | None = None,
    ) -> None:
        """Copy the files out that Harbor's patterns choose, and those named by ``protect``."""

        def chosen(name: str) -> bool:
            return name in (protect or ()) or bool(
                filter_paths_by_patterns([name], include=include, exclude=exclude)
            )

        await self._download(source_dir, Path(target_dir), chosen=chosen)

    async def _download(
        self,
        source: str,
        target: Path,
        *,
        options: Sequence[str] = (),
        chosen: Callable[[str], bool] = lambda _: True,
    ) -> None:
        archive = await self._archive([_ARCHIVE, _BASH, source, *options], source)
        left_out = await asyncio.to_thread(unpack, archive, target, select=chosen)
        if left_out:
            self.logger.warning(
                "download of %s left out special files and links that lead out: %s", source, left_out
            )

    async def _archive(self, script: list[str], source: str) -> bytes:
        done = await self.sandbox.run([_BASH, "-c", *script], cwd="/")
        if done.stdout_bytes > len(done.stdout):
            raise RuntimeError(f"download of {source} failed: it has more than {len(done.stdout)} bytes")
        if done.code in _TAR_INCOMPLETE and done.stdout:
            self.logger.warning("download of %s is incomplete: %s", source, _text(done.stderr))
        elif done.code:
            raise FileNotFoundError(f"download of {source} failed: {_text(done.stderr)}")
        return done.stdout


def _run_folder(trial: Path) -> Path:
    """What holds ``jobs/JOB/TRIAL`` and, beside it, the plan and the records; without a plan the trial's own."""
    run = trial.absolute().parents[2]
    return run if (run / "plan.json").is_file() else trial


def _state_base() -> Path:
    return cache_root() / "sandboxes"


def _unpack_file(archive: bytes, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        unpack(archive, Path(folder))
        got = Path(folder, name)
        if not got.is_file() or got.is_symlink():
            raise FileNotFoundError(f"download of {name} failed: it is not a file")
        got.replace(target)


def _text(data: bytes) -> str | None:
    return data.decode(errors="replace") or None
