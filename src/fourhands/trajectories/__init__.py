"""Readers of agents' logs and of our own events: every log format is known here and nowhere else."""
