"""The only door to Harbor: local environment, agents, jobs, verification."""
