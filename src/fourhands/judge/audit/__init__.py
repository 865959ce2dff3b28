"""Audits by a judge: why a trial failed, asked of a model that must name the events that show it."""
