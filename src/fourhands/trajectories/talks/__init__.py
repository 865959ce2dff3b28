"""Agents' logs as talks: what a person said in a session, and what the agent said to them."""
