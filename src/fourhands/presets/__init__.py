"""Experiments of published papers, as YAML with a list of what differs from the paper; and price tables, as TOML."""

from __future__ import annotations

from importlib.resources import files

from fourhands.model.errors import InputError

__all__ = ["preset", "presets", "price_preset", "price_presets"]


def presets() -> tuple[str, ...]:
    """Their names."""
    found = (path.name for path in files(__name__).iterdir() if path.name.endswith(".yaml"))
    return tuple(sorted(name.removesuffix(".yaml") for name in found))


def preset(name: str) -> str:
    """The YAML of a preset.

    Raises:
        InputError: there is none of that name; says which there are.
    """
    if name not in presets():
        raise InputError(f"no preset {name!r}: choose from {', '.join(presets())}")
    return files(__name__).joinpath(f"{name}.yaml").read_text("utf-8")


def price_presets() -> tuple[str, ...]:
    """The names of the price tables."""
    names = (path.name.removesuffix(".toml") for path in files(__name__).iterdir())
    return tuple(sorted(name.removeprefix("prices-") for name in names if name.startswith("prices-")))


def price_preset(name: str) -> str:
    """The TOML of a price table.

    Raises:
        InputError: there is none of that name; says which there are.
    """
    if name not in price_presets():
        raise InputError(f"no price table {name!r}: name a file, or one of {', '.join(price_presets())}")
    return files(__name__).joinpath(f"prices-{name}.toml").read_text("utf-8")
