"""Programs that run by themselves, in a sandbox or in a process of their own: the standard library only."""
