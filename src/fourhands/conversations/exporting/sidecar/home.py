"""What the user of an exported task knows: the files in ``held/``, written here and read in its container.

``ledger.json`` (as in a task folder, without the names of hidden tests), ``persona.json``, ``ground.json`` (what must
not get out), ``settings.json`` and, where checks can be run, ``checks.json`` and the files in ``checks/``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from fourhands.language.ground import Ground
from fourhands.model.ledger import Ledger
from fourhands.model.persona import Persona
from fourhands.user.talking.hidden import Hidden
from fourhands.user.talking.leaks import LeakGround
from fourhands.user.talking.personas_file import draw_persona, persona_of

__all__ = [
    "CHECKS",
    "GROUND",
    "LEDGER",
    "PERSONA",
    "SETTINGS",
    "CheckSettings",
    "Home",
    "Settings",
    "ground_json",
]

LEDGER: Final = "ledger.json"
PERSONA: Final = "persona.json"
GROUND: Final = "ground.json"
SETTINGS: Final = "settings.json"
CHECKS: Final = "checks.json"


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_version: Literal[1] = Field(default=1, alias="schema")

    def data(self) -> bytes:
        """As it stands in its file."""
        return self.model_dump_json(by_alias=True, indent=2).encode() + b"\n"


class Settings(_Document):
    """``seed`` names the task and what its user's sentences are drawn by."""

    task: str
    seed: int = 0


class CheckSettings(_Document):
    """How a state of the repository is checked.

    Attributes:
        ids: of the acceptance tests, as their runner names them.
        request: what the launcher is given, but for its key; ``paths`` in it are relative to the repository.
        env: variables of the task; ``{workdir}`` stands for where the repository lies.
        restore: a regular expression for the whole path of each file that has its base content while checks run.
        timeout: seconds for all of them.
    """

    ids: tuple[str, ...]
    request: dict[str, Any]
    env: dict[str, str]
    restore: str
    timeout: float


@dataclass(frozen=True)
class Home:
    """The folder with the files named above."""

    root: Path

    @property
    def settings(self) -> Settings:
        """See `Settings`."""
        return Settings.model_validate_json(self._read(SETTINGS))

    @property
    def ledger(self) -> Ledger:
        """What there is to say."""
        raw = orjson.loads(self._read(LEDGER))
        del raw["schema"]
        return TypeAdapter(Ledger).validate_python(raw)

    @property
    def persona(self) -> Persona:
        """Who says it; one of a mixture is drawn by the seed and the task's name."""
        settings = self.settings
        return draw_persona(persona_of(orjson.loads(self._read(PERSONA))), settings.seed, settings.task)

    @property
    def checks(self) -> CheckSettings | None:
        """``None`` where the user cannot run any."""
        path = self.root / CHECKS
        return CheckSettings.model_validate_json(path.read_bytes()) if path.is_file() else None

    @property
    def check_files(self) -> dict[str, bytes]:
        """Acceptance tests by the path at which each lies in the repository."""
        folder = self.root / "checks"
        found = sorted(path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    def ground(self, ledger: Ledger) -> LeakGround:
        """What must not get out."""
        raw = orjson.loads(self._read(GROUND))
        return LeakGround(
            ledger=ledger,
            hidden=TypeAdapter(Hidden).validate_python(raw["hidden"]),
            canaries=tuple(raw["canaries"]),
            base_words=frozenset(raw["base_words"]),
            own=Ground(raw["own"], None),
        )

    def _read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()


def ground_json(ground: LeakGround) -> bytes:
    """The content of ``ground.json``: equal grounds give equal bytes."""
    document = {
        "schema": 1,
        "hidden": {name: sorted(each) for name, each in asdict(ground.hidden).items()},
        "canaries": ground.canaries,
        "base_words": sorted(ground.base_words),
        "own": ground.own.task,
    }
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
