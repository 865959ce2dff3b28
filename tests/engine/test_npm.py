from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourhands.engine.agents import npm
from fourhands.engine.agents.npm import node_prefix, npm_packages, npm_prefix
from fourhands.model.errors import InputError, MissingError

LOCKS = Path(npm.__file__).parent / "locks"
NO_REGISTRY = {"npm_config_registry": "http://127.0.0.1:9/", "npm_config_fetch_retries": "0"}

Pin = Callable[..., Path]


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The Node.js of this machine's cache; from then on the cache is an empty one that holds nothing else."""
    prefix = node_prefix()
    (tmp_path / "cache" / "npm").mkdir(parents=True)
    (tmp_path / "cache" / "npm" / prefix.name).symlink_to(prefix)
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    return prefix


@pytest.fixture
def pin(node: Path, tmp_path: Path) -> Pin:
    """Pack packages by their manifests, and lock what depends on them; needs no registry."""
    del node

    def make(*manifests: dict[str, Any], optional: bool = False) -> Path:
        kind = "optionalDependencies" if optional else "dependencies"
        asked: dict[str, str] = {}
        packages: dict[str, Any] = {"": {"name": "agent", kind: asked}}
        for manifest in manifests:
            name = manifest["name"]
            packed = _pack(tmp_path / f"{name}.tgz", {"version": "1.0.0", **manifest})
            asked[name] = f"file:{packed}"
            packages[f"node_modules/{name}"] = {
                "version": "1.0.0",
                "resolved": asked[name],
                "integrity": f"sha512-{b64encode(hashlib.sha512(packed.read_bytes()).digest()).decode()}",
                "optional": optional,
                **{field: manifest[field] for field in ("os", "cpu", "libc", "engines") if field in manifest},
                **({"hasInstallScript": True} if "scripts" in manifest else {}),
            }
        return _lock(tmp_path, packages)

    return make


def _pack(place: Path, manifest: dict[str, Any]) -> Path:
    files = {"package.json": json.dumps(manifest), "main.js": "console.log(process.version, process.argv[2])"}
    with tarfile.open(place, "w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return place


def _lock(folder: Path, packages: dict[str, Any]) -> Path:
    lock = folder / "package-lock.json"
    lock.write_text(
        json.dumps({"name": "agent", "lockfileVersion": 3, "requires": True, "packages": packages})
    )
    lock.with_name("package.json").write_text(json.dumps({**packages[""], "private": True}))
    return lock


@pytest.mark.parametrize("folder", sorted(LOCKS.iterdir()), ids=lambda folder: folder.name)
def test_a_lock_pins_exact_versions_by_hash_and_names_no_host(folder: Path) -> None:
    text = (folder / "package-lock.json").read_text()
    assert "resolved" not in text
    for place, pinned in json.loads(text)["packages"].items():
        assert "resolved" not in pinned  # the address it came from
        # The first is the lock's own manifest; what a package bundles is hashed with it.
        assert not place or pinned.get("inBundle") or pinned["integrity"].startswith("sha512-")
    manifest = json.loads((folder / "package.json").read_text())
    asked = {**manifest.get("dependencies", {}), **manifest.get("optionalDependencies", {})}
    assert asked
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in asked.values())


def test_node_comes_along_whatever_node_the_machine_has() -> None:
    said = subprocess.run([node_prefix() / "bin" / "node", "--version"], capture_output=True, check=True)
    assert int(said.stdout.decode().lstrip("v").split(".")[0]) >= 22


def test_a_package_is_installed_once_and_runs_on_that_node(pin: Pin, node: Path) -> None:
    lock = pin({"name": "tool"})
    prefix, beside = npm_packages(lock)
    assert beside.samefile(node)
    said = subprocess.run(
        [beside / "bin" / "node", prefix / "node_modules" / "tool" / "main.js", "x"],
        capture_output=True,
        check=True,
    )
    assert re.fullmatch(rb"v2\d\.\S+ x\n", said.stdout)
    made = prefix.stat().st_ino
    assert npm_prefix(lock).stat().st_ino == made
    assert not (prefix / ".npm").exists()


def test_npm_itself_runs_on_that_node_too_and_holds_packages_against_its_version(pin: Pin) -> None:
    assert npm_prefix(pin({"name": "tool", "engines": {"node": ">=22 <23"}})).is_dir()


def test_a_package_that_wants_another_node_is_refused(pin: Pin) -> None:
    with pytest.raises(MissingError, match=r"package-lock\.json: .*EBADENGINE"):
        npm_prefix(pin({"name": "tool", "engines": {"node": ">=99"}}))


def test_no_install_script_is_run(pin: Pin, tmp_path: Path) -> None:
    npm_prefix(pin({"name": "tool", "scripts": {"postinstall": f"touch {tmp_path}/ran"}}))
    assert not (tmp_path / "ran").exists()


def test_other_bytes_than_were_pinned_are_refused_and_nothing_is_left(node: Path, tmp_path: Path) -> None:
    del node
    asked = {"name": "agent", "dependencies": {"is-number": "7.0.0"}}
    pinned = {"version": "7.0.0", "integrity": f"sha512-{'A' * 86}=="}
    lock = _lock(tmp_path, {"": asked, "node_modules/is-number": pinned})
    with pytest.raises(MissingError, match="EINTEGRITY"):
        npm_prefix(lock)
    assert len(list((tmp_path / "cache" / "npm").iterdir())) == 1  # the Node.js


def test_an_optional_package_that_npm_leaves_out_in_silence_is_named(
    node: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del node
    lock = Path(shutil.copytree(LOCKS / "node", tmp_path / "lock")) / "package-lock.json"
    lock.with_name("package.json").write_text(lock.with_name("package.json").read_text() + "\n")
    for name, value in NO_REGISTRY.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        MissingError, match=f"left out node_modules/node-linux-{npm.CPU}: .*npm reaches its registry"
    ):
        npm_prefix(lock)


@pytest.mark.parametrize(
    "elsewhere", [{"os": ["darwin"]}, {"os": ["!linux"]}, {"cpu": "ia32"}, {"libc": ["musl"]}]
)
def test_an_optional_package_for_another_machine_is_not_missed(pin: Pin, elsewhere: dict[str, Any]) -> None:
    lock = pin({"name": "tool"}, {"name": "binary", **elsewhere}, optional=True)
    assert (npm_prefix(lock) / "node_modules" / "tool").is_dir()


def test_a_lock_that_does_not_fit_its_manifest_is_an_input_error(pin: Pin) -> None:
    lock = pin({"name": "tool"})
    manifest = lock.with_name("package.json")
    manifest.write_text(
        manifest.read_text().replace("dependencies", "optionalDependencies").replace("tool", "to")
    )
    with pytest.raises(InputError, match=r"package-lock\.json does not fit .*make lock"):
        npm_prefix(lock)


def test_a_registry_that_cannot_be_reached_is_said_with_the_remedy(
    node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del node
    for name, value in NO_REGISTRY.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(MissingError, match=r"codex/package-lock\.json: .*npm reaches its registry"):
        npm_prefix(LOCKS / "codex" / "package-lock.json")


def test_a_machine_without_npm_is_told_how_to_get_it(node: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del node
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingError, match="apt install npm"):
        npm_prefix(LOCKS / "codex" / "package-lock.json")
