"""Programs that are laid into the agent's home, and run there."""
