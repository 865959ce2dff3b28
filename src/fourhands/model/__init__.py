"""The words of Fourhands as types: no I/O, and nothing of ours is imported here."""
