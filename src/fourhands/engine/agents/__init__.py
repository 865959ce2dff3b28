"""Agents: one small file each, of data and glue."""
