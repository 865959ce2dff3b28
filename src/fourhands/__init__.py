"""Fourhands measures how coding agents work when a person shares their workspace."""

from importlib.metadata import version

__all__ = ["__version__"]

__version__ = version("fourhands")
