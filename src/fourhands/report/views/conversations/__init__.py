"""Conversations: one file a table."""
