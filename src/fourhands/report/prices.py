"""Which prices a run's costs are told by: those it was run with, or those of another table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from fourhands.model.errors import InputError
from fourhands.model.price import PriceTable
from fourhands.presets import price_preset
from fourhands.trajectories.prices import read_prices
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["CURRENT", "price_table", "prices_of", "prices_text"]

CURRENT: Final = "current"
"""The preset that is used where none is named."""


def prices_text(choice: str) -> str:
    """The text of a price table that can be read: of a file, or of a preset (``current`` or ``prices-current``).

    Raises:
        InputError: it is neither, or no price table; names the file and the field.
    """
    path = Path(choice)
    try:
        text = path.read_text("utf-8") if path.is_file() else price_preset(choice.removeprefix("prices-"))
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    except InputError as error:
        raise InputError(f"prices: {error}") from None
    read_prices(text, str(path) if path.is_file() else f"prices-{choice.removeprefix('prices-')}")
    return text


def price_table(choice: str) -> PriceTable:
    """As `prices_text`, read."""
    return read_prices(prices_text(choice), choice)


def prices_of(folder: RunFolder, choice: str | None = None) -> PriceTable:
    """The table of that name or file; without one that of the run, else the current one.

    Raises:
        InputError: it is no price table.
    """
    if choice is not None:
        return price_table(choice)
    if folder.prices_path.exists():
        return read_prices(folder.prices_path.read_text("utf-8"), str(folder.prices_path))
    return price_table(CURRENT)
