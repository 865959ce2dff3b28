"""Fourhands measures how coding agents work when a person shares their workspace."""
