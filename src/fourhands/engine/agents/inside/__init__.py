"""Programs of ours that run an agent, inside, in the environment of its lock."""
