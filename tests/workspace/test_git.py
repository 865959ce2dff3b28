from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.model.errors import MissingError
from fourhands.workspace.git import GitError, run_git
from fourhands.workspace.store import ObjectStore


def test_the_persons_own_configuration_is_not_read(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text(
        "[diff]\n\texternal = false\n\tnoprefix = true\n[color]\n\tui = always\n[user]\n\tname = X\n"
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "diff.external")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "false")
    listed = run_git(store.path, ["config", "--list", "--name-only"]).stdout.decode().split()
    assert "core.hookspath" in listed
    assert not {"diff.external", "diff.noprefix", "color.ui", "user.name"} & set(listed)


def test_an_error_says_what_git_said(store: ObjectStore) -> None:
    with pytest.raises(GitError, match="Not a valid object name") as caught:
        store.git("cat-file", "blob", "nothing")
    assert caught.value.code == 128


def test_a_missing_git_names_the_remedy(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MissingError, match="install git"):
        store.git("version")
