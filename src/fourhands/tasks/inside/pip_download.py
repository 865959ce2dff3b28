"""Run ``pip download`` so that nothing of what it fetches is ever run.

pip asks an sdist for its metadata by running its ``setup.py`` or build back end. Here pip is told the metadata
instead (name and version are pinned already), and this process can start no program at all: should a later pip
go another way, it fails rather than runs foreign code.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from typing import Any

_STARTS_A_PROGRAM = frozenset(
    {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.spawn"}
)


def _refuse_programs(event: str, _arguments: tuple[Any, ...]) -> None:
    if event in _STARTS_A_PROGRAM:
        # An OSError: pip's own curiosity (lsb_release, rustc) takes it for "not installed".
        raise PermissionError(f"{event}: fetching starts no program")


def _tell_metadata(distribution: Any, *_arguments: Any, **_options: Any) -> None:
    """In place of ``SourceDistribution.prepare_distribution_metadata``: write what the pin already says."""
    requirement = distribution.req.req
    name, version = requirement.name, next(iter(requirement.specifier)).version
    folder = Path(tempfile.mkdtemp(), f"{name}-{version}.dist-info")
    folder.mkdir()
    Path(folder, "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
    distribution.req.metadata_directory = str(folder)


def _find_pip() -> None:
    if importlib.util.find_spec("pip") is None:
        import ensurepip  # noqa: PLC0415 - only an environment without pip needs it

        bundled = sorted(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl"))
        sys.path[:0] = [str(wheel) for wheel in bundled[-1:]]


def main() -> int:
    """Run pip with this program's arguments."""
    _find_pip()
    # By name: pip is found only now, and its types are not ours to rely on.
    command = importlib.import_module("pip._internal.cli.main")
    sdist: Any = importlib.import_module("pip._internal.distributions.sdist").SourceDistribution
    if not hasattr(sdist, "prepare_distribution_metadata"):
        sys.exit("ERROR: this version of pip cannot be told an sdist's metadata: use pip 23 to 26")
    sdist.prepare_distribution_metadata = _tell_metadata
    sys.addaudithook(_refuse_programs)
    return int(command.main(sys.argv[1:]))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        tempfile.tempdir = scratch
        status = main()
    sys.exit(status)
