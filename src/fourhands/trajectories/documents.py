"""Documents beside a record: what a command made of it, of one type, with a schema version, never half written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from fourhands.model.errors import InputError
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["DocumentKind"]

_SCHEMA: Final = 1


@dataclass(frozen=True)
class DocumentKind[T]:
    """Documents that ``command`` makes, each of one value."""

    adapter: TypeAdapter[T]
    command: str

    def read(self, path: Path) -> T:
        """What one file holds.

        Raises:
            InputError: it is none of these, or is not there.
        """
        again = f"remove it, and run {self.command} again"
        try:
            raw = json.loads(path.read_bytes())
        except FileNotFoundError:
            raise InputError(f"{path} is not there: {self.command} makes it") from None
        except ValueError as error:
            raise InputError(f"{path} is not JSON: {error}; {again}") from None
        if not isinstance(raw, dict) or raw.pop("schema", None) != _SCHEMA:
            raise InputError(f"{path}: schema: must be {_SCHEMA}; {again}")
        try:
            return self.adapter.validate_python(raw)
        except ValidationError as error:
            raise InputError(f"{path}: {error}; {again}") from None

    def write(self, path: Path, value: T) -> None:
        """Write a file, whole or not at all."""
        document = {"schema": _SCHEMA, **self.fields(value)}
        write_atomically(path, json.dumps(document, indent=1, ensure_ascii=False).encode() + b"\n")

    def fields(self, value: T) -> dict[str, Any]:
        """The fields that a file holds."""
        found: dict[str, Any] = self.adapter.dump_python(value, mode="json")
        return found
